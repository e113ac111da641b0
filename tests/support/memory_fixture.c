#include "memory_fixture.h"

#include "mica/flow.h"
#include "require.h"

#include <stdio.h>
#include <string.h>

static void hear(const mica_report *report, void *context)
{
    (void)report;
    ++((fixture *)context)->report_count;
}

void fixture_make_world(fixture *fixture)
{
    mica_world_def def = mica_world_def_default();
    def.allocator = fixture->interface;
    def.chunk_bytes_first = 512;
    def.chunk_bytes_last = 2048;
    def.report = hear;
    def.report_context = fixture;
    fixture->world = mica_world_create(&def);
}

static void populate(fixture *fixture)
{
    static const sample_kind extras[] = {SAMPLE_TAG, SAMPLE_OWNER, SAMPLE_SWITCHED, SAMPLE_DATED};
    for (uint32_t i = 0; i < POPULATION; ++i) {
        mica_value values[] = {fixture->values[SAMPLE_SMALL], fixture->values[extras[i % 4]]};
        mica_entity entity = mica_create_id(fixture->world, values, 2);
        uint32_t number = i * 7 % 31;
        REQUIRE(!mica_is_nil(entity));
        samples[SAMPLE_SMALL].assign(mica_write_id(fixture->world, entity, sample_id(SAMPLE_SMALL)), number);
        char name[16];
        snprintf(name, sizeof name, "name%u", i);
        if (i % 5 == 0)
            REQUIRE(mica_name_set(fixture->world, entity, mica_nil(), name) == MICA_OK);
        fixture->population[i] = entity;
    }
}

void fixture_begin(fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    faulty_allocator_init(&fixture->allocator);
    fixture->interface = faulty_allocator_interface(&fixture->allocator);
    sample_owners_use(&fixture->interface);
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        fixture->values[kind] = sample_value_begin(kind, 100 + kind, &fixture->rooms[kind]);
}

void fixture_open(fixture *fixture)
{
    fixture_begin(fixture);
    fixture_make_world(fixture);
    REQUIRE(fixture->world);
    populate(fixture);
}

void fixture_run_alone(fixture *fixture)
{
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    REQUIRE(mica_flow_configure(fixture->world, &flow) == MICA_OK);
}

void fixture_close(fixture *fixture)
{
    mica_world_destroy(fixture->world);
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        sample_value_end(kind, &fixture->rooms[kind]);
    REQUIRE_SAYING(sample_owners_alive() == 0, "%lld owners left", (long long)sample_owners_alive());
    faulty_allocator_free(&fixture->allocator);
    sample_owners_use(NULL);
}
