#include "replication/replica.h"

#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/world/callback.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "mica/entity.h"
#include "replication/replica_apply.h"
#include "replication/replica_names_links.h"
#include "replication/replica_plan.h"
#include "replication/replica_restore.h"

mica_entity micap_replica_living(const mica_replica *replica, mica_entity sender)
{
    const micap_twin *twin = micap_entity_map_find(&replica->twins, sender);
    return twin && micap_is_row(micap_locate(replica->world, twin->other)) ? twin->other : mica_nil();
}

mica_entity mica_replica_local(const mica_replica *replica, mica_entity sender_entity)
{
    if (MICAP_MISSING(NULL, replica))
        return mica_nil();
    return micap_replica_living(replica, sender_entity);
}

mica_entity mica_replica_remote(const mica_replica *replica, mica_entity local_entity)
{
    if (MICAP_MISSING(NULL, replica))
        return mica_nil();
    const micap_twin *twin = micap_entity_map_find(replica->mapped ? &replica->remotes : &replica->twins, local_entity);
    return twin ? twin->other : mica_nil();
}

mica_version mica_replica_version(const mica_replica *replica)
{
    if (MICAP_MISSING(NULL, replica))
        return 0;
    return replica->version;
}

const void *mica_replica_state(const mica_replica *replica, size_t *out_byte_count)
{
    if (MICAP_MISSING(NULL, replica) || MICAP_MISSING(replica->world, out_byte_count))
        return NULL;
    *out_byte_count = replica->mapped ? 0 : replica->state.count;
    return *out_byte_count ? replica->state.data : NULL;
}

mica_replica *mica_replica_create(mica_world *world, const mica_replica_def *def)
{
    if (MICAP_MISSING(NULL, world) || (def && MICAP_MISSING_ARRAY(world, def->rules, def->rule_count)))
        return NULL;
    mica_replica *replica = micap_allocate_zeroed(&world->memory, sizeof *replica, MICAP_ARRAY_ALIGNMENT);
    if (replica)
        replica->world = world;
    if (!replica || !micap_replica_list(replica)) {
        micap_release(&world->memory, replica, sizeof *replica, MICAP_ARRAY_ALIGNMENT);
        return micap_fail_memory(world, "replica"), NULL;
    }
    if (def && !micap_delta_rules_set(world, &replica->rules, def->rules, def->rule_count)) {
        mica_replica_destroy(replica);
        return NULL;
    }
    replica->mapped = def && def->mapped;
    replica->index_limit = replica->mapped ? UINT32_MAX : def && def->index_limit ? def->index_limit : 1u << 24;
    return replica;
}

static void free_tables(micap_memory *memory, micap_replica_table *tables, uint32_t count, uint32_t capacity)
{
    for (uint32_t i = 0; i < count; ++i) {
        MICAP_RELEASE_ARRAY(memory, tables[i].types, tables[i].type_capacity);
        MICAP_RELEASE_ARRAY(memory, tables[i].rows, tables[i].row_capacity);
        MICAP_RELEASE_ARRAY(memory, tables[i].locals, tables[i].local_capacity);
        MICAP_RELEASE_ARRAY(memory, tables[i].next, tables[i].next_capacity);
    }
    MICAP_RELEASE_ARRAY(memory, tables, capacity);
}

void mica_replica_destroy(mica_replica *replica)
{
    if (!replica)
        return;
    if (replica->is_applying) {
        micap_fail(replica->world, MICA_ERROR_REFUSED, (mica_location){0},
                   "replica_destroy: refused inside a hook or a rule, while a delta is applied");
        return;
    }
    micap_memory *memory = &replica->world->memory;
    micap_replica_unlist(replica);
    free_tables(memory, replica->tables, replica->tables_count, replica->tables_capacity);
    free_tables(memory, replica->pools, replica->pools_count, replica->pools_capacity);
    micap_delta_rules_free(replica->world, &replica->rules);
    MICAP_RELEASE_ARRAY(memory, replica->state.data, replica->state.capacity);
    MICAP_RELEASE_ARRAY(memory, replica->singletons, replica->singletons_capacity);
    MICAP_RELEASE_ARRAY(memory, replica->twins.entries, replica->twins.capacity);
    MICAP_RELEASE_ARRAY(memory, replica->remotes.entries, replica->remotes.capacity);
    micap_release(memory, replica, sizeof *replica, MICAP_ARRAY_ALIGNMENT);
}

static mica_result apply(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    mica_result result = micap_replica_plan(work);
    if (result != MICA_OK) {
        micap_replica_give_up(work);
        return result;
    }
    micap_replica_apply(work);
    replica->world_count = ++replica->applied_count;
    result = micap_replica_name_and_link(work);
    if (result == MICA_OK) {
        micap_bytes before = replica->state;
        replica->version = work->version;
        replica->state = work->state;
        work->state = before; /* freed with the work */
    }
    micap_hooks_end(work->world);
    return result;
}

mica_result mica_delta_apply(mica_replica *replica, const void *bytes, size_t byte_count)
{
    if (MICAP_MISSING(NULL, replica) || (byte_count && MICAP_MISSING(replica->world, bytes)))
        return MICA_ERROR_INVALID;
    mica_world *world = replica->world;
    mica_result result = micap_refuse_while_recording(world, "delta");
    if (result != MICA_OK)
        return result;
    if (replica->world_count != replica->applied_count)
        return micap_fail(
            world, MICA_ERROR_REFUSED, (mica_location){0},
            "delta: the world restored a snapshot from before the last delta: restore one from after it, or "
            "start again with a new replica in an empty world");
    micap_delta_work work = {.world = world, .replica = replica};
    replica->is_applying = true;
    micap_world_hold(world);
    result = micap_delta_read(&work, bytes, byte_count);
    if (result == MICA_OK && work.base > replica->version)
        result = micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                            "delta: it begins at version %llu of the sender, and this replica is at %llu",
                            (unsigned long long)work.base, (unsigned long long)replica->version);
    if (result == MICA_OK && work.version > replica->version)
        result = apply(&work);
    micap_delta_work_free(&work);
    micap_world_let_go(world);
    replica->is_applying = false;
    return result;
}
