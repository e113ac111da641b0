#include "inspect/stats_text.h"

#include "inspect/json_bytes.h"
#include "mica/flow.h"
#include "mica/pool.h"

#include <inttypes.h>

enum { LISTED_MAX = 64 };

static void put_accesses(mica_world *world, mica_system system, micap_bytes *bytes)
{
    mica_system_access accesses[LISTED_MAX];
    uint32_t count = mica_system_get_accesses(world, system, accesses, LISTED_MAX);
    micap_json_put(bytes, ",\"accesses\":[");
    for (uint32_t i = 0, listed = 0; i < count && i < LISTED_MAX; ++i) {
        const mica_type *type = mica_component_type(accesses[i].component);
        micap_json_put(bytes, "%s{\"name\":", listed++ ? "," : "");
        micap_json_put_string(bytes, type ? type->name : "(stream)");
        micap_json_put(bytes, ",\"write\":%s,\"own\":%s}", accesses[i].write ? "true" : "false",
                       accesses[i].own_rows ? "true" : "false");
    }
    micap_json_put(bytes, "]");
}

static void put_dependencies(mica_world *world, mica_system system, micap_bytes *bytes)
{
    mica_system_dependency dependencies[LISTED_MAX];
    uint32_t count = mica_system_get_dependencies(world, system, dependencies, LISTED_MAX);
    micap_json_put(bytes, ",\"waits\":[");
    for (uint32_t i = 0; i < count && i < LISTED_MAX; ++i) {
        const mica_type *type = mica_component_type(dependencies[i].component);
        micap_json_put(bytes, "%s{\"on\":", i ? "," : "");
        micap_json_put_string(bytes, mica_system_name(world, dependencies[i].on));
        micap_json_put(bytes, ",\"reason\":");
        micap_json_put_string(bytes, type ? type->name : dependencies[i].stream ? "(stream)" : "(order)");
        micap_json_put(bytes, "}");
    }
    micap_json_put(bytes, "]");
}

static void put_system(mica_world *world, mica_system system, micap_bytes *bytes)
{
    mica_system_info info = {0};
    mica_phase_info phase = {0};
    mica_system_stats last = {0}, total = {0};
    mica_system_get_info(world, system, &info);
    mica_phase_get_info(world, info.phase, &phase);
    mica_stats_get_system(world, system, 0, &last);
    mica_stats_get_system_total(world, system, &total);
    micap_json_put(bytes, "{\"name\":");
    micap_json_put_string(bytes, info.name);
    micap_json_put(bytes, ",\"phase\":");
    micap_json_put_string(bytes, phase.name);
    micap_json_put(bytes, ",\"file\":");
    micap_json_put_string(bytes, info.location.file);
    micap_json_put(
        bytes, ",\"line\":%d,\"enabled\":%s,\"exclusive\":%s,\"one_thread\":%s,\"flush_first\":%s,\"handlers\":%s",
        info.location.line, info.enabled ? "true" : "false", info.exclusive ? "true" : "false",
        info.one_thread ? "true" : "false", info.flush_first ? "true" : "false", info.has_handlers ? "true" : "false");
    micap_json_put(bytes, ",\"time_ns\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"runs\":%" PRIu64, last.time_ns,
                   total.time_ns, total.runs);
    micap_json_put(bytes, ",\"entities\":%" PRIu64 ",\"slices\":%u,\"commands\":%u,\"workers\":%u,\"fused\":%u",
                   last.entities, last.slices, last.commands, last.workers, last.fused_with);
    put_accesses(world, system, bytes);
    put_dependencies(world, system, bytes);
    micap_json_put(bytes, "}");
}

static void put_pools(mica_world *world, micap_bytes *bytes)
{
    micap_json_put(bytes, ",\"pools\":[");
    uint32_t listed = 0;
    for (mica_component component = 0; (component = mica_component_next(world, component));) {
        const mica_type *type = mica_component_type(component);
        mica_pool *pool = type->storage == MICA_STORAGE_POOL ? mica_pool_of_id(world, component) : NULL;
        if (!pool)
            continue;
        mica_pool_stats stats = mica_pool_get_stats(pool);
        micap_json_put(bytes, "%s{\"name\":", listed++ ? "," : "");
        micap_json_put_string(bytes, type->name);
        micap_json_put(bytes, ",\"rows\":%u,\"capacity\":%u,\"bytes\":%zu,\"relation\":%s}", stats.row_count,
                       stats.row_capacity, stats.memory_bytes, type->relation ? "true" : "false");
    }
    micap_json_put(bytes, "]");
}

static void put_world(const mica_world *world, micap_bytes *bytes)
{
    mica_world_stats stats = mica_world_get_stats(world);
    micap_json_put(bytes, ",\"world\":{\"entities\":%" PRIu64 ",\"components\":%u,\"archetypes\":%u,\"chunks\":%u",
                   stats.entity_count, stats.component_count, stats.archetype_count, stats.chunk_count);
    micap_json_put(bytes, ",\"queries\":%u,\"names\":%u,\"bytes\":%zu,\"chunk_bytes\":%zu}", stats.query_count,
                   stats.name_count, stats.memory_bytes, stats.chunk_bytes);
}

static void put_control(const micap_edit_target *target, micap_bytes *bytes)
{
    const micap_past *past = &target->past;
    const micap_past_frame *first = &past->frames[past->first];
    const micap_past_frame *last =
        &past->frames[(past->first + past->count - 1 + MICAP_PAST_FRAMES_MAX) % MICAP_PAST_FRAMES_MAX];
    micap_json_put(bytes, ",\"past\":{\"count\":%u,\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"bytes\":%zu}",
                   past->count, past->count ? first->frame : 0, past->count ? last->frame : 0, past->bytes);
    micap_json_put(bytes, ",\"break\":{\"query\":");
    micap_json_put_string(bytes, target->breakpoint.text);
    micap_json_put(bytes, ",\"frame\":%" PRIu64 "}", target->breakpoint.frame);
}

void micap_stats_write(const micap_edit_target *target, micap_bytes *bytes)
{
    mica_world *world = target->world;
    mica_time time = mica_time_get(world);
    mica_frame_stats frame = {0};
    mica_stats_get_frame(world, 0, &frame);
    micap_json_put(bytes, "{\"frame\":%" PRIu64 ",\"seconds\":%.9g,\"dt\":%.9g", time.frame, time.seconds,
                   (double)time.dt);
    micap_json_put(bytes, ",\"time_ns\":%" PRIu64 ",\"flush_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64 ",\"workers\":%u",
                   frame.time_ns, frame.flush_ns, frame.busy_ns, frame.workers);
    put_control(target, bytes);
    put_world(world, bytes);
    put_pools(world, bytes);
    micap_json_put(bytes, ",\"systems\":[");
    uint32_t listed = 0;
    for (mica_system system = {0}; (system = mica_system_next(world, system)).id; ++listed) {
        if (listed)
            micap_json_put(bytes, ",");
        put_system(world, system, bytes);
    }
    micap_json_put(bytes, "]}");
}
