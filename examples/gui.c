/* A GUI framework: widgets are combinations of components. The component Animation has different effects on buttons and text
 * boxes, and a widget without it is not animated. */
#include "mica/flow.h"
#include "mica/hierarchy.h"

#include <stdio.h>
#include <string.h>

typedef struct Layout { float x, y, width, height; } Layout;
typedef struct Animation { float phase; } Animation;
typedef struct Button { int32_t clicks; float glow; } Button;
typedef struct TextBox { char text[24]; bool cursor; } TextBox;
MICA_COMPONENT(Layout, x, y, width, height)
MICA_POOL(Animation, phase) /* optional, added and removed often: stored in a pool */
MICA_COMPONENT(Button, clicks, glow)
MICA_COMPONENT(TextBox, text, cursor)
MICA_POOL_TAG(Focused)
MICA_TAG_WITH(Visible, (.toggle = true))

typedef struct Click { float x, y; } Click;
typedef struct Key { char letter; } Key;
MICA_STRUCT(Click, x, y)
MICA_STRUCT(Key, letter)

static mica_stream *clicks, *keys; /* from the window system */

static bool is_inside(const Layout *layout, const Click *click)
{
    return click->x >= layout->x && click->x < layout->x + layout->width && click->y >= layout->y &&
           click->y < layout->y + layout->height;
}

static void press_buttons(const mica_frame *frame)
{
    uint32_t count;
    for (const Click *click; (click = mica_stream_read(clicks, Click, &count));)
        for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
            const Layout *layout = mica_view_read(&view, Layout);
            Button *button = mica_view_write(&view, Button);
            for (uint32_t i = 0; i < view.count; ++i)
                for (uint32_t c = 0; c < count; ++c)
                    if (is_inside(&layout[i], &click[c]))
                        button[i] = (Button){button[i].clicks + 1, 1};
        }
}

/* A click in a box sets the focus, a click elsewhere removes it. Changing a pool tag moves no row. */
static void focus_boxes(const mica_frame *frame)
{
    uint32_t count;
    for (const Click *click; (click = mica_stream_read(clicks, Click, &count));)
        for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
            const Layout *layout = mica_view_read(&view, Layout);
            for (uint32_t i = 0; i < view.count; ++i)
                if (is_inside(&layout[i], &click[count - 1]))
                    mica_add(frame->world, view.entities[i], Focused);
                else
                    mica_remove(frame->world, view.entities[i], Focused);
        }
}

static void type_letters(const mica_frame *frame)
{
    uint32_t count;
    for (const Key *key; (key = mica_stream_read(keys, Key, &count));)
        for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
            TextBox *box = mica_view_write(&view, TextBox);
            for (uint32_t i = 0; i < view.count; ++i)
                for (uint32_t k = 0; k < count && strlen(box[i].text) + 1 < sizeof box[i].text; ++k)
                    box[i].text[strlen(box[i].text)] = key[k].letter;
        }
}

static void animate_buttons(mica_view *view)
{
    Button *button = mica_view_write(view, Button);
    for (uint32_t i = 0; i < view->count; ++i)
        button[i].glow = button[i].glow > 0.25f ? button[i].glow - 0.25f : 0;
}

static void animate_boxes(mica_view *view)
{
    TextBox *box = mica_view_write(view, TextBox);
    Animation *animation = mica_view_write(view, Animation);
    for (uint32_t i = 0; i < view->count; ++i) {
        animation[i].phase += view->dt;
        box[i].cursor = (int)(animation[i].phase * 2) % 2 == 0;
    }
}

static void show(mica_world *world, mica_entity window, const char *title)
{
    printf("%s\n", title);
    for (mica_entity widget = mica_first_child(world, window); !mica_is_nil(widget);
         widget = mica_next_sibling(world, widget)) {
        const Button *button = mica_get(world, widget, Button);
        const TextBox *box = mica_get(world, widget, TextBox);
        const char *kind = mica_has(world, widget, Animation) ? "animated" : "still";
        if (!mica_is_enabled(world, widget, Visible))
            printf("  hidden\n");
        else if (button)
            printf("  button, %s: %d clicks, glow %.2f\n", kind, button->clicks, button->glow);
        else
            printf("  box, %s: \"%s%s\"%s\n", kind, box->text, box->cursor ? "|" : "",
                   mica_has(world, widget, Focused) ? ", focused" : "");
    }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    clicks = mica_stream_create(world, MICA_STREAM(Click));
    keys = mica_stream_create(world, MICA_STREAM(Key));
    mica_system_add(world, MICA_SYSTEM_WITH(press_buttons, (MICA_USES(MICA_USE_STREAM_READ(clicks))), MICA_READ(Layout),
                                            MICA_WRITE(Button), MICA_HAS(Visible)));
    mica_system_add(world, MICA_SYSTEM_WITH(focus_boxes, (MICA_USES(MICA_USE_STREAM_READ(clicks))), MICA_READ(Layout),
                                            MICA_HAS(TextBox), MICA_HAS(Visible)));
    mica_system_add(world, MICA_SYSTEM_WITH(type_letters, (MICA_USES(MICA_USE_STREAM_READ(keys))), MICA_WRITE(TextBox),
                                            MICA_HAS(Focused)));
    mica_system_add(world, MICA_SYSTEM(animate_buttons, MICA_WRITE(Button), MICA_HAS(Animation)));
    mica_system_add(world, MICA_SYSTEM(animate_boxes, MICA_WRITE(TextBox), MICA_WRITE(Animation)));

    mica_entity window = mica_create(world);
    mica_entity save = mica_create_child(world, window, MICA_WITH(Layout, {0, 0, 10, 2}), MICA_WITH(Button, {0, 0}),
                                         MICA_WITH(Animation, {0}), MICA_WITH(Visible));
    mica_create_child(world, window, MICA_WITH(Layout, {10, 0, 10, 2}), MICA_WITH(Button, {0, 0}), MICA_WITH(Visible));
    mica_create_child(world, window, MICA_WITH(Layout, {0, 2, 20, 2}), MICA_WITH(TextBox, {"", true}),
                      MICA_WITH(Animation, {0}), MICA_WITH(Visible));

    mica_stream_push(clicks, Click, {3, 1});
    mica_stream_push(clicks, Click, {12, 1});
    mica_stream_push(clicks, Click, {5, 3});
    mica_step(world, 0.5f);
    show(world, window, "clicked everywhere");

    for (const char *letter = "Mica"; *letter; ++letter)
        mica_stream_push(keys, Key, {*letter});
    mica_remove(world, save, Animation); /* no animation; everything else continues */
    mica_step(world, 0.5f);
    show(world, window, "typed, and one button lost its animation");

    mica_disable(world, save, Visible);
    mica_stream_push(clicks, Click, {3, 1});
    mica_step(world, 0.5f);
    show(world, window, "a hidden button does not hear clicks");
    mica_world_destroy(world);
}
