/* What the tests of observers share: components, and a diary of what observers were told. */
#ifndef MICA_TESTS_FLOW_DIARY_H
#define MICA_TESTS_FLOW_DIARY_H

#include "faulty_allocator.h"
#include "mica/flow.h"
#include "reports.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

typedef struct Heat { float degrees; } Heat;
typedef struct Weight { float kilos; } Weight;
typedef struct Lamp { int32_t watts; } Lamp;
MICA_COMPONENT(Heat, degrees)
MICA_COMPONENT(Weight, kilos)
MICA_COMPONENT_WITH(Lamp, (.toggle = true), watts)
MICA_TAG(Torch)
typedef struct Buff { int32_t strength; } Buff;
MICA_POOL_WITH(Buff, (.toggle = true), strength)

enum { ALARM = MICA_EVENT_USER, QUIET };

/* What observers were called with, as words: "+Heat1" for entity 1, the first that the test creates. */
typedef struct diary {
    char text[2048];
    mica_entity base; /* the entity that is called 0 */
} diary;

MICA_UNUSED_ static void write_down(diary *diary, const char *word)
{
    strncat(diary->text, word, sizeof diary->text - strlen(diary->text) - 1);
}

MICA_UNUSED_ static const char *const signs[] = {"+", "=", "-", "x", "on ", "off "};

MICA_UNUSED_ static void note(const mica_event *seen)
{
    diary *diary = seen->context;
    char word[64];
    for (uint32_t i = 0; i < seen->count; ++i) {
        const char *name = seen->component ? mica_component_type(seen->component)->name : "";
        const char *sign = seen->kind < MICA_EVENT_USER ? signs[seen->kind] : "!";
        snprintf(word, sizeof word, "%s%s%u ", sign, name, seen->entities[i].index - diary->base.index);
        write_down(diary, word);
    }
}

MICA_UNUSED_ static void observe(mica_world *world, diary *diary, mica_event_kind event, mica_component component)
{
    mica_observer_def def = {.name = "note", .event = event, .component = component, .fn = note, .context = diary};
    ck_assert_uint_ne(mica_observer_add(world, &def).id, 0);
}

MICA_UNUSED_ static void observe_everything(mica_world *world, diary *diary)
{
    *diary = (struct diary){0};
    for (mica_event_kind event = MICA_EVENT_ADD; event <= MICA_EVENT_REMOVE; ++event) {
        observe(world, diary, event, MICA_ID(Heat));
        observe(world, diary, event, MICA_ID(Weight));
        observe(world, diary, event, MICA_ID(Lamp));
    }
    observe(world, diary, MICA_EVENT_DESTROY, 0);
    observe(world, diary, MICA_EVENT_ENABLE, MICA_ID(Lamp));
    observe(world, diary, MICA_EVENT_DISABLE, MICA_ID(Lamp));
}

MICA_UNUSED_ static void expect_diary(diary *diary, const char *text)
{
    size_t length = strlen(diary->text);
    if (length && diary->text[length - 1] == ' ')
        diary->text[length - 1] = '\0';
    ck_assert_str_eq(diary->text, text);
    diary->text[0] = '\0';
}

#endif
