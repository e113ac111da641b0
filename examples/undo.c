/* Undo and redo: an editor keeps one snapshot per step and restores any of them. */
#include "mica/mica.h"
#include "mica/snapshot.h"

#include <stdio.h>

enum { STEPS_MAX = 32 };

typedef struct Brick { int32_t x, y; } Brick;
typedef struct Paint { uint32_t color; } Paint;
MICA_COMPONENT(Brick, x, y)
MICA_COMPONENT(Paint, color)

/* The world is at step `at`; later steps, up to `count`, can be redone. */
typedef struct Editor {
    mica_world *world;
    mica_snapshot steps[STEPS_MAX];
    uint32_t at, count;
} Editor;

/* Call this after an edit. Steps that were undone before can no longer be redone. */
static void commit(Editor *editor)
{
    while (editor->count > editor->at + 1)
        mica_snapshot_drop(editor->world, editor->steps[--editor->count]);
    editor->steps[editor->count++] = mica_snapshot_take(editor->world);
    editor->at = editor->count - 1;
}

static bool undo(Editor *editor)
{
    return editor->at > 0 && mica_snapshot_restore(editor->world, editor->steps[--editor->at]) == MICA_OK;
}

static bool redo(Editor *editor)
{
    return editor->at + 1 < editor->count &&
           mica_snapshot_restore(editor->world, editor->steps[++editor->at]) == MICA_OK;
}

static void show(const Editor *editor, const char *what)
{
    printf("%s:", what);
    mica_query *bricks = mica_query_create(editor->world, &(mica_query_def){MICA_TERMS(MICA_READ(Brick))});
    for (mica_view view = mica_query_begin(bricks); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const Brick *brick = &mica_view_read(&view, Brick)[i];
            const Paint *paint = mica_get(editor->world, view.entities[i], Paint);
            printf(" (%d, %d)%s", brick->x, brick->y, paint ? " red" : "");
        }
    mica_query_destroy(bricks);
    printf("\n");
}

int main(void)
{
    Editor editor = {.world = mica_world_create(NULL)};
    mica_world *world = editor.world;
    commit(&editor);

    mica_entity first = mica_create(world, MICA_WITH(Brick, {0, 0}));
    mica_entity second = mica_create(world, MICA_WITH(Brick, {1, 0}));
    commit(&editor);
    show(&editor, "two bricks");

    mica_write(world, second, Brick)->y = 5;
    commit(&editor);
    show(&editor, "move");

    mica_set(world, first, Paint, {0xFF0000});
    mica_destroy(world, second);
    commit(&editor);
    show(&editor, "paint, cut");

    while (undo(&editor))
        show(&editor, "undo");
    redo(&editor);
    show(&editor, "redo");
    redo(&editor);
    show(&editor, "redo");
    printf("the second brick is %s\n", mica_is_alive(world, second) ? "alive" : "dead");

    mica_create(world, MICA_WITH(Brick, {9, 9}));
    commit(&editor);
    show(&editor, "another one");
    printf("nothing to redo: %s\n", redo(&editor) ? "wrong" : "right");
    undo(&editor);
    show(&editor, "undo");
    mica_world_destroy(world);
}
