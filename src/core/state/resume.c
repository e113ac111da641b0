#include "core/state/resume.h"

#include "base/argument.h"
#include "core/state/resume_index.h"
#include "core/state/resume_marks.h"
#include "core/state/resume_pools.h"
#include "core/state/resume_rows.h"
#include "core/state/stale_references.h"
#include "core/world/report.h"

bool mica_world_is_unused(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_entities *entities = &world->entities;
    bool is_unused = world->archetypes.count == 1 && entities->fresh_next == 1 && !entities->first_page &&
                     !entities->spare_count && !entities->hole_count && !entities->preset && !world->recording_depth &&
                     !world->flushing && !world->undo.before && !world->pools.dead_count &&
                     entities->high_water == MICAP_PAGE_RECORDS && !micap_thread_context_of(world) &&
                     !micap_commands_count_handles(world).pending;
    for (uint32_t id = 0; is_unused && id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->is_unused)
            is_unused = world->modules[id].ops->is_unused(world, world->modules[id].state);
    return is_unused;
}

/* Finds the records; false if they do not fill the bytes. */
static bool find_records(micap_reader *reader, micap_reader *records)
{
    while (!reader->failed && micap_reader_left(reader)) {
        uint32_t kind = micap_reader_take32(reader), count = micap_reader_take32(reader);
        const char *begin = micap_reader_take(reader, count);
        if (!begin)
            return false;
        if (kind < MICAP_STATE_KINDS)
            records[kind] = (micap_reader){begin, begin, begin + count, false};
    }
    return !reader->failed && records[MICAP_STATE_WORLD].begin && records[MICAP_STATE_INDEX].begin;
}

bool mica_state_check(const void *bytes, size_t byte_count)
{
    if (MICAP_MISSING_ARRAY(NULL, bytes, byte_count))
        return false;
    micap_reader records[MICAP_STATE_KINDS] = {0};
    micap_reader reader = {bytes, bytes, byte_count ? (const char *)bytes + byte_count : bytes, false};
    return find_records(&reader, records);
}

bool mica_state_has_time(const void *bytes, size_t byte_count)
{
    if (MICAP_MISSING_ARRAY(NULL, bytes, byte_count))
        return false;
    micap_reader records[MICAP_STATE_KINDS] = {0};
    micap_reader reader = {bytes, bytes, byte_count ? (const char *)bytes + byte_count : bytes, false};
    return find_records(&reader, records) && records[MICAP_STATE_MODULES + MICAP_MODULE_FLOW].begin;
}

static bool read_modules(mica_resume *resume)
{
    mica_world *world = resume->world;
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        micap_reader *reader = &resume->records[MICAP_STATE_MODULES + id];
        if (!reader->begin || !module->ops || !module->ops->read || resume->modules[id])
            continue;
        resume->modules[id] = module->ops->read(world, module->state, reader);
        if (!resume->modules[id])
            return false;
    }
    return true;
}

static void release(mica_resume *resume)
{
    mica_world *world = resume->world;
    world->entities.preset = NULL;
    world->entities.preset_count = 0;
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (resume->modules[id])
            world->modules[id].ops->drop(world, world->modules[id].state, resume->modules[id]);
    micap_release(&world->memory, resume, sizeof *resume, MICAP_ARRAY_ALIGNMENT);
}

/* Reads what has to be there before entities are created. */
static bool read_begin(mica_resume *resume, micap_reader bytes, const mica_entity *entities, uint32_t entity_count)
{
    mica_world *world = resume->world;
    micap_reader *records = resume->records;
    if (!find_records(&bytes, records))
        return false;
    resume->version = micap_reader_take64(&records[MICAP_STATE_WORLD]);
    bool has_space = micap_reader_left(&records[MICAP_STATE_WORLD]) > 0;
    uint32_t space = has_space ? (uint32_t)micap_reader_take_up_to(&records[MICAP_STATE_WORLD], MICAP_SPACE_MAX) : 0;
    micap_entities_set_space(world, space);
    return !records[MICAP_STATE_WORLD].failed && resume->version && resume->version < UINT64_MAX / 2 &&
           micap_resume_read_index(world, &records[MICAP_STATE_INDEX], entities, entity_count) &&
           micap_resume_read_buffers(world, &records[MICAP_STATE_BUFFERS]) && read_modules(resume) &&
           micap_resume_check_unused_slots(world) &&
           micap_resume_read_archetypes(world, &records[MICAP_STATE_ARCHETYPES]);
}

/* Says why a state can't be restored: memory was short since then, or something else. */
static mica_result fail(mica_world *world, uint32_t failures_before, mica_result result, const char *text)
{
    if (micap_memory_failures(&world->memory) != failures_before)
        return micap_fail_memory(world, "resume");
    return micap_fail(world, result, (mica_location){0}, "resume: %s", text);
}

mica_result mica_resume_begin(mica_world *world, const void *bytes, size_t byte_count, const mica_entity *entities,
                              uint32_t entity_count, mica_resume **out_resume)
{
    if (MICAP_MISSING(world, out_resume))
        return MICA_ERROR_INVALID;
    *out_resume = NULL;
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, bytes, byte_count) ||
        MICAP_MISSING_ARRAY(world, entities, entity_count))
        return MICA_ERROR_INVALID;
    uint32_t failures = micap_memory_failures(&world->memory);
    if (!mica_world_is_unused(world))
        return fail(world, failures, MICA_ERROR_REFUSED,
                    "refused, because the world has or had entities, or has run a frame");
    mica_resume *resume = micap_allocate_zeroed(&world->memory, sizeof *resume, MICAP_ARRAY_ALIGNMENT);
    if (!resume)
        return micap_fail_memory(world, "resume");
    resume->world = world;
    resume->handle_space = world->def.handle_space;
    micap_reader reader = {bytes, bytes, byte_count ? (const char *)bytes + byte_count : bytes, false};
    if (!read_begin(resume, reader, entities, entity_count)) {
        mica_resume_cancel(resume);
        return fail(world, failures, MICA_ERROR_DATA, "the state is invalid");
    }
    resume->archetype_count = world->archetypes.count;
    world->entities.preset = entities;
    world->entities.preset_count = entity_count;
    *out_resume = resume;
    return MICA_OK;
}

void mica_resume_cancel(mica_resume *resume)
{
    if (!resume)
        return;
    mica_world *world = resume->world;
    uint32_t handle_space = resume->handle_space;
    release(resume);
    if (micap_entity_count(world)) {
        micap_resume_free_handles(world);
    } else {
        micap_resume_reset(world);
        micap_entities_set_space(world, handle_space);
    }
}

static bool prepare_modules(mica_resume *resume)
{
    mica_world *world = resume->world;
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        if (resume->modules[id] && module->ops->prepare &&
            !module->ops->prepare(world, module->state, resume->modules[id]))
            return false;
    }
    return true;
}

/* Handles that no batch took are free. */
static void free_preset(mica_world *world)
{
    micap_entities *entities = &world->entities;
    for (uint32_t i = 0; i < entities->preset_count; ++i)
        micap_entity_give_unused(entities, entities->preset[i]);
    entities->preset = NULL;
    entities->preset_count = 0;
}

mica_result mica_resume_end(mica_resume *resume)
{
    if (MICAP_MISSING(NULL, resume))
        return MICA_ERROR_INVALID;
    mica_world *world = resume->world;
    const micap_reader *records = resume->records;
    uint32_t failures = micap_memory_failures(&world->memory);
    free_preset(world);
    /* Modules that were not in use before the entities were created are read now. */
    bool fine = !world->undo.before && read_modules(resume) && prepare_modules(resume) &&
                micap_resume_prepare_pools(world, records[MICAP_STATE_POOLS]) &&
                micap_resume_load_removals(world, records[MICAP_STATE_REMOVALS]) &&
                micap_scoped_names_load(world, records[MICAP_STATE_NAMES]) &&
                micap_resume_arrange_rows(world, records[MICAP_STATE_ARCHETYPES]);
    if (!fine) {
        mica_resume_cancel(resume);
        return fail(world, failures, MICA_ERROR_DATA, "the state is invalid, or a hook took a snapshot");
    }
    micap_resume_forget_archetypes(world, resume->archetype_count);
    micap_resume_arrange_pools(world, records[MICAP_STATE_POOLS], resume->version);
    micap_stale_references_load(world, records[MICAP_STATE_REFERENCES]);
    micap_resume_load_marks(world, records[MICAP_STATE_MARKS]);
    micap_resume_load_stamps(world, records[MICAP_STATE_ARCHETYPES], resume->version);
    atomic_store_explicit(&world->version, resume->version, memory_order_relaxed);
    ++world->structure;
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) /* after stamps: modules compare them with what they have seen */
        if (resume->modules[id])
            world->modules[id].ops->load(world, world->modules[id].state, resume->modules[id]);
    release(resume);
    return MICA_OK;
}
