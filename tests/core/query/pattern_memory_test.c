/* Queries about several entities while memory is short: each allocation fails once, in a query that has used none yet. */
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/bulk.h"
#include "mica/query_text.h"
#include "mica/relation.h"

MICA_RELATION(Likes)
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
MICA_RELATION_WITH(Near, (.symmetric = true, .transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

enum { LENGTH = 40 };

static reports heard;

typedef struct line {
    faulty_allocator faulty;
    mica_world *world;
    mica_entity entities[LENGTH];
} line;

/* Entities in a row, each of which likes, leads to, is near to and is part of the one before it. */
static void open_line(line *line)
{
    faulty_allocator_init(&line->faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&line->faulty);
    line->world = open_world_with(&heard, def);
    mica_define(line->world, Position);
    for (uint32_t i = 0; i < LENGTH; ++i) {
        line->entities[i] = mica_create(line->world, MICA_WITH(Number, {i}), MICA_WITH(Enemy));
        if (!i)
            continue;
        mica_relate(line->world, line->entities[i], Likes, line->entities[i - 1]);
        mica_relate(line->world, line->entities[i], LeadsTo, line->entities[i - 1]);
        mica_relate(line->world, line->entities[i], Near, line->entities[i - 1]);
        mica_relate(line->world, line->entities[i], PartOf, line->entities[i - 1]);
    }
}

static void close_line(line *line)
{
    close_world(line->world, &heard);
    ck_assert_uint_eq(line->faulty.live_blocks, 0);
    faulty_allocator_free(&line->faulty);
}

/* What is done with a query. Each returns how much it found. */
static uint64_t visit(line *line, mica_query *query)
{
    uint64_t found = 0;
    (void)line;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        found += view.count;
    return found;
}

static uint64_t count(line *line, mica_query *query)
{
    (void)line;
    return mica_query_count(query);
}

static uint64_t match(line *line, mica_query *query)
{
    return mica_query_matches(query, line->entities[LENGTH - 2]);
}

/* The tag stays if it was added: then nothing is left to do. */
static uint64_t add(line *line, mica_query *query)
{
    (void)line;
    return mica_add_all_id(query, (mica_value)MICA_WITH(Frozen)) == MICA_OK;
}

static uint64_t (*const uses[])(line *line, mica_query *query) = {visit, count, match, add};

static const char *const texts[] = {
    "Number, Likes($this, $other), LeadsTo($this, $third), Enemy(up PartOf)",
    "Number, ?Position(cascade PartOf)",
    "Number, LeadsTo($this, $other), !LeadsTo($other, $this)",
    "Number, LeadsTo($other, $this), Number($other)",
    "Number, Near($this, $other)",
    "Number, Number($other), !LeadsTo($this, $other)",
    "Number, Likes($this, $other), LeadsTo($other, $third) | Near($this, $other), Number($third)",
};

START_TEST(a_query_is_created_or_the_lack_of_memory_is_reported)
{
    line line;
    open_line(&line);
    for (uint32_t i = 0; i < COUNT_OF(texts); ++i) {
        bool was_short = true;
        for (uint64_t k = 1; was_short; ++k) {
            mica_value_error error;
            faulty_allocator_fail_at(&line.faulty, k, false);
            mica_query *query = mica_query_text(line.world, texts[i], &error);
            was_short = line.faulty.failures != 0;
            faulty_allocator_fail_at(&line.faulty, 0, false);
            ck_assert_msg(query || was_short, "%s: %s", texts[i], error.text);
            ck_assert_msg(query || (heard.count == 1 && error.result == MICA_ERROR_MEMORY), "%s: %u reports", texts[i],
                          heard.count);
            mica_query_destroy(query);
            forget_reports(&heard);
        }
    }
    close_line(&line);
}
END_TEST

START_TEST(what_a_query_finds_is_complete_or_the_lack_of_memory_is_reported)
{
    for (uint32_t i = 0; i < COUNT_OF(texts); ++i)
        for (uint32_t use = 0; use < COUNT_OF(uses); ++use) {
            line line;
            mica_value_error error;
            open_line(&line);
            mica_query *undisturbed = mica_query_text(line.world, texts[i], &error);
            ck_assert_msg(undisturbed != NULL, "%s: at %u: %s", texts[i], error.position, error.text);
            uint64_t expected = uses[use] == add ? 1 : uses[use](&line, undisturbed);
            ck_assert_uint_gt(expected, 0);
            bool was_short = true;
            for (uint64_t k = 1; was_short; ++k) {
                mica_query *query = mica_query_text(line.world, texts[i], &error);
                faulty_allocator_fail_at(&line.faulty, k, false);
                uint64_t found = uses[use](&line, query);
                was_short = line.faulty.failures != 0;
                faulty_allocator_fail_at(&line.faulty, 0, false);
                ck_assert_msg(found == expected || (was_short && heard.count), "%s: use %u: %u found without report",
                              texts[i], use, (unsigned)found);
                ck_assert_msg(found <= expected, "%s: use %u: too many", texts[i], use);
                forget_reports(&heard);
                ck_assert_msg(uses[use](&line, query) == expected, "%s: use %u: later", texts[i], use);
                mica_query_destroy(query);
            }
            close_line(&line);
        }
}
END_TEST

TEST_SUITE(pattern_memory, a_query_is_created_or_the_lack_of_memory_is_reported,
           what_a_query_finds_is_complete_or_the_lack_of_memory_is_reported)
