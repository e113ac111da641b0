/* What the tests of streams share: a stream of notes, systems that write and read it, and what a reader has got. */
#ifndef MICA_TESTS_FLOW_NOTES_H
#define MICA_TESTS_FLOW_NOTES_H

#include "faulty_allocator.h"
#include "mica/flow.h"
#include "random.h"
#include "reports.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

typedef struct Number { uint32_t value; } Number;
MICA_COMPONENT(Number, value)

/* Which system wrote it, for which entity, and its number. */
typedef struct Note { uint32_t writer, entity, call; } Note;
MICA_STRUCT(Note, writer, entity, call)

MICA_UNUSED_ static mica_stream *notes;

MICA_UNUSED_ static void use_workers(mica_world *world, uint32_t count)
{
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = count;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
}

/* What a reader has got, in order. */
typedef struct reading {
    uint32_t count;
    Note list[100000];
} reading;

MICA_UNUSED_ static void read_all(reading *log)
{
    uint32_t count;
    for (const Note *some; (some = mica_stream_read(notes, Note, &count)); log->count += count) {
        ck_assert_uint_le(log->count + count, 100000);
        memcpy(log->list + log->count, some, count * sizeof *some);
    }
}

MICA_UNUSED_ static void read_into_context(const mica_frame *frame)
{
    read_all(frame->context);
}

MICA_UNUSED_ static void emit_number(uint32_t writer, uint32_t value)
{
    ck_assert(mica_stream_push(notes, Note, {writer, value, 0}));
}

MICA_UNUSED_ static void expect_values(const reading *log, const char *values)
{
    char text[512] = "";
    for (uint32_t i = 0; i < log->count; ++i)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " " : "", log->list[i].entity);
    ck_assert_str_eq(text, values);
}

/* Takes what the application reads next and compares it. */
MICA_UNUSED_ static void expect_read(const char *values)
{
    reading *seen = calloc(1, sizeof *seen);
    read_all(seen);
    expect_values(seen, values);
    free(seen);
}

/* Writes as many notes as the number of the entity says. */
MICA_UNUSED_ static void write_notes(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    uint32_t writer = (uint32_t)(uintptr_t)view->frame->context;
    for (uint32_t i = 0; i < view->count; ++i)
        for (uint32_t call = 0; call < (number[i].value + writer) % 3; ++call)
            mica_stream_push(notes, Note, {writer, number[i].value, call});
}

MICA_UNUSED_ static void add_writer(mica_world *world, const char *name, uint32_t writer, mica_phase phase)
{
    mica_system_def def = *MICA_SYSTEM_WITH(
        write_notes, (MICA_USES(MICA_USE_STREAM_WRITE(notes)), .parallel = MICA_PARALLEL_EVEN), MICA_READ(Number));
    def.name = name;
    def.context = (void *)(uintptr_t)writer;
    def.phase = phase;
    ck_assert_uint_ne(mica_system_add(world, &def).id, 0);
}

MICA_UNUSED_ static mica_system add_reader(mica_world *world, const char *name, reading *log, mica_phase phase)
{
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(read_into_context, (MICA_USES(MICA_USE_STREAM_READ(notes))));
    def.name = name;
    def.context = log;
    def.phase = phase;
    mica_system system = mica_system_add(world, &def);
    ck_assert_uint_ne(system.id, 0);
    return system;
}

MICA_UNUSED_ static void create_numbers(mica_world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
}

/* As if writers ran one after the other, each over all entities. */
MICA_UNUSED_ static void write_as_expected(reading *log, uint32_t first_writer, uint32_t last_writer, uint32_t entities)
{
    for (uint32_t writer = first_writer; writer <= last_writer; ++writer)
        for (uint32_t i = 0; i < entities; ++i)
            for (uint32_t call = 0; call < (i + writer) % 3; ++call)
                log->list[log->count++] = (Note){writer, i, call};
}

MICA_UNUSED_ static void expect_same(const reading *a, const reading *b)
{
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_int_eq(memcmp(a->list, b->list, a->count * sizeof *a->list), 0);
}

MICA_UNUSED_ static void write_frame(const mica_frame *frame)
{
    emit_number(1, (uint32_t)frame->tick + 1);
}

MICA_UNUSED_ static void add_frame_writer(mica_world *world)
{
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(write_frame, (MICA_USES(MICA_USE_STREAM_WRITE(notes)))));
}

MICA_UNUSED_ static const uint32_t worker_counts[] = {1, 2, 3, 4, 7, 16};
enum { WORKER_COUNTS = sizeof worker_counts / sizeof *worker_counts };

#endif
