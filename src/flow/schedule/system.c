#include "flow/schedule/system.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/commands/command_buffer.h"
#include "core/query/view.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/storage/singleton.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/index_use.h"
#include "flow/schedule/job_run.h"
#include "flow/schedule/system_order.h"
#include "mica/singleton.h"

micap_system *micap_system_find_id(const micap_flow *flow, mica_system system)
{
    for (uint32_t i = 0; flow && i < flow->system_count; ++i)
        if (flow->systems[i]->frame.system.id == system.id && !flow->systems[i]->is_removed)
            return flow->systems[i];
    return NULL;
}

micap_system *micap_system_find_number(const micap_flow *flow, uint32_t number)
{
    for (uint32_t i = 0; flow && i < flow->system_count; ++i)
        if (flow->systems[i]->id == number && !flow->systems[i]->is_removed)
            return flow->systems[i];
    return NULL;
}

static bool is_singleton(mica_component component)
{
    return micap_type_of(component)->type.storage == MICA_STORAGE_SINGLETON;
}

static void classify(micap_system *system)
{
    const mica_system_def *def = &system->def;
    bool uses_components = false, reads_streams = false;
    system->uses_indexes = false;
    for (uint32_t i = 0; i < def->use_count; ++i) {
        uses_components |= def->uses[i].component || def->uses[i].index;
        system->uses_indexes |= def->uses[i].index != NULL;
        reads_streams |= def->uses[i].stream && !def->uses[i].write; /* it has one position in each stream */
    }
    bool is_joined = !def->once && system->query->join_count; /* its jobs may be rows of a pool, not of chunks */
    system->is_ordered = !def->once && (def->compare || system->query->pattern);
    system->is_single = def->once || def->compare || def->parallel == MICA_PARALLEL_NONE || reads_streams ||
                        micap_system_conflicts_with_itself(system);
    system->is_local = !system->is_single && !system->is_ordered && !uses_components && !is_joined &&
                       def->parallel != MICA_PARALLEL_EVERY && !system->deliveries;
    system->is_gated = def->every_frames > 1 || def->every_seconds > 0 || def->condition;
    system->is_marked = system->query && system->query->is_marked;
}

static mica_result fail(mica_world *world, mica_result result, const mica_system_def *def, const char *problem)
{
    return micap_fail(world, result, def->location, "system %s: %s", def->name, problem);
}

/* A stream begins with its world: see mica_stream. */
static bool is_stream_of(const mica_world *world, const struct mica_stream *stream)
{
    return *(mica_world *const *)(const void *)stream == world;
}

static const char *problem_of(const mica_world *world, const mica_system_def *def)
{
    uint32_t functions = !!def->view + !!def->each + !!def->columns + !!def->once;
    if (functions != 1)
        return "exactly one of .view, .each, .columns and .once must be set";
    if (!def->once && !def->term_count)
        return "a system without terms must use .once";
    if (def->exclusive && !def->once)
        return "an exclusive system must use .once";
    if (def->term_count && !def->terms)
        return "it has no .terms where .term_count says so";
    if (def->use_count > MICAP_USES_MAX || (def->use_count && !def->uses))
        return "it has too many .uses, or none where .use_count says so";
    if ((uint32_t)def->parallel > MICA_PARALLEL_THRESHOLD)
        return "its .parallel is unknown";
    if ((def->parallel == MICA_PARALLEL_EVERY || def->parallel == MICA_PARALLEL_THRESHOLD) && !def->parallel_rows)
        return "its .parallel needs .parallel_rows";
    if (!(def->every_seconds >= 0))
        return ".every_seconds must not be negative";
    for (uint32_t i = 0; i < def->use_count; ++i) {
        int named = !!def->uses[i].component + !!def->uses[i].stream + !!def->uses[i].index;
        if (!named)
            return "one of its .uses is zero: no component, stream or index, perhaps because creating it failed";
        if (named > 1)
            return "each of its .uses must be either a component, a stream or an index";
    }
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (def->uses[i].stream && !is_stream_of(world, def->uses[i].stream))
            return "one of its .uses is a stream of another world";
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (def->uses[i].index && micap_index_head_of(def->uses[i].index)->world != world)
            return "one of its .uses is an index of another world";
    return NULL;
}

static mica_result check(micap_flow *flow, const mica_system_def *def, micap_system_kind kind,
                         const micap_system *replaced)
{
    mica_world *world = flow->world;
    if (!def->name)
        return micap_fail(world, MICA_ERROR_INVALID, def->location, "system: it needs a name");
    const char *problem = problem_of(world, def);
    if (problem)
        return fail(world, MICA_ERROR_INVALID, def, problem);
    if (!micap_phase_find_id(flow, def->phase) ||
        (def->phase == MICAP_PHASE_MESSAGES) != (kind == MICAP_SYSTEM_OF_MAILBOX))
        return fail(world, MICA_ERROR_UNKNOWN, def, "there is no such phase");
    const micap_system *namesake = micap_system_find_name(flow, def->name);
    if (namesake && namesake != replaced)
        return fail(world, MICA_ERROR_EXISTS, def, "another system has this name");
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (def->uses[i].component &&
            (!micap_component_use(world, def->uses[i].component) ||
             (is_singleton(def->uses[i].component) && !micap_singleton_prepare(world, def->uses[i].component))))
            return fail(world, micap_failure(world), def, "one of its .uses can't be used in this world");
    return MICA_OK;
}

/* The list of systems has changed. Creates the singletons that the system uses. */
static void change_systems(micap_flow *flow, const mica_system_def *def)
{
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (def->uses[i].component && is_singleton(def->uses[i].component))
            mica_singleton_get_id(flow->world, def->uses[i].component);
    flow->is_stale = true;
    ++flow->systems_version;
}

static bool copy_names(mica_world *world, const char **to, const char *const *from)
{
    for (uint32_t i = 0; i < MICA_SYSTEM_ORDERS_MAX; ++i) {
        to[i] = from[i] ? micap_flow_copy_text(world, from[i]) : NULL;
        if (from[i] && !to[i])
            return false;
    }
    return true;
}

static bool copy_list(mica_world *world, const void **list, size_t bytes)
{
    const void *from = *list;
    MICAP_ASSERT(from || !bytes, "a def with a count but no list is refused");
    *list = NULL;
    void *copy = bytes ? micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (copy)
        memcpy(copy, from, bytes);
    *list = copy;
    return copy || !bytes;
}

/* Copies the def with all that it points to. On failure, pointers that could not be copied are NULL. */
static bool copy_def(mica_world *world, mica_system_def *to, const mica_system_def *from)
{
    *to = *from;
    to->name = micap_flow_copy_text(world, from->name);
    to->function_name = NULL; /* that of a module would be gone with it */
    memset(to->before, 0, sizeof to->before);
    memset(to->after, 0, sizeof to->after);
    const void *terms = from->terms, *uses = from->uses;
    bool done = to->name != NULL;
    done &= copy_list(world, &terms, from->term_count * sizeof *from->terms);
    done &= copy_list(world, &uses, from->use_count * sizeof *from->uses);
    to->terms = terms;
    to->uses = uses;
    return done && copy_names(world, to->before, from->before) && copy_names(world, to->after, from->after);
}

static void free_def(mica_world *world, mica_system_def *def)
{
    micap_flow_free_text(world, def->name);
    for (uint32_t i = 0; i < MICA_SYSTEM_ORDERS_MAX; ++i) {
        micap_flow_free_text(world, def->before[i]);
        micap_flow_free_text(world, def->after[i]);
    }
    if (def->terms)
        micap_release(&world->memory, (void *)def->terms, def->term_count * sizeof *def->terms, MICAP_ARRAY_ALIGNMENT);
    if (def->uses)
        micap_release(&world->memory, (void *)def->uses, def->use_count * sizeof *def->uses, MICAP_ARRAY_ALIGNMENT);
}

mica_commands *micap_system_buffer_create(mica_world *world)
{
    mica_commands *commands = micap_allocate_zeroed(&world->memory, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
    if (commands) {
        commands->world = world;
        commands->is_of_system = true;
    }
    return commands;
}

void micap_system_free(micap_flow *flow, micap_system *system)
{
    mica_world *world = flow->world;
    for (uint32_t i = 0; i < system->buffer_capacity; ++i)
        if (system->buffers[i])
            micap_commands_unpark(system->buffers[i]);
    MICAP_RELEASE_ARRAY(&world->memory, system->buffers, system->buffer_capacity);
    micap_query_free(system->query);
    free_def(world, &system->def);
    micap_release(&world->memory, system, sizeof *system, MICAP_CACHE_LINE);
}

/* Creates the query of a system, which has the name of the system in reports. */
static mica_query *create_query(mica_world *world, const mica_system_def *def)
{
    return mica_query_create(world, &(mica_query_def){.name = def->name,
                                                      .terms = def->terms,
                                                      .term_count = def->term_count,
                                                      .location = def->location,
                                                      .order_by = def->order_by,
                                                      .compare = def->compare,
                                                      .context = def->compare_context,
                                                      .with_hidden = def->with_hidden});
}

/* Creates a system that is in no list yet. NULL with a report if that fails. */
static micap_system *create_system(micap_flow *flow, const mica_system_def *def, micap_system_kind kind,
                                   struct micap_delivery_list *deliveries)
{
    mica_world *world = flow->world;
    micap_system *system = micap_allocate_zeroed(&world->memory, sizeof *system, MICAP_CACHE_LINE);
    if (!system) {
        micap_fail_memory(world, "system");
        return NULL;
    }
    if (!copy_def(world, &system->def, def)) {
        micap_fail_memory(world, "system");
        micap_system_free(flow, system);
        return NULL;
    }
    if (def->term_count && !(system->query = create_query(world, def))) {
        micap_system_free(flow, system);
        return NULL;
    }
    micap_query_give_to_system(system->query);
    system->view = def->view;
    system->each = def->each;
    system->columns = def->columns;
    system->once = def->once;
    system->is_enabled = !def->disabled;
    system->kind = kind;
    system->deliveries = deliveries;
    system->frame = (mica_frame){
        .world = world, .query = system->query, .context = def->context, .identity = micap_hash_text(def->name)};
    classify(system);
    return system;
}

static mica_result refuse_inside(const mica_world *world, const micap_flow *flow, const char *what)
{
    micap_check_door(world, what);
    if (!flow->running)
        return MICA_OK;
    return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                      "%s: refused while systems run: only an exclusive system may call it", what);
}

mica_system micap_system_add(mica_world *world, const mica_system_def *def, micap_system_kind kind,
                             struct micap_delivery_list *deliveries)
{
    const mica_system none = {0};
    micap_flow *flow = micap_flow_of(world);
    if (!flow || refuse_inside(world, flow, "system_add") != MICA_OK || check(flow, def, kind, NULL) != MICA_OK)
        return none;
    if (!MICAP_RESERVE(&world->memory, flow->systems, &flow->system_capacity, (uint64_t)flow->system_count + 1)) {
        micap_fail_memory(world, "system");
        return none;
    }
    micap_system *system = create_system(flow, def, kind, deliveries);
    if (!system)
        return none;
    flow->systems[flow->system_count] = system;
    bool is_entered = micap_system_names_add(flow, system);
    if (!is_entered)
        micap_fail_memory(world, "system");
    if (!is_entered || micap_order_fails(flow, system)) {
        micap_system_names_rebuild(flow);
        micap_system_free(flow, system);
        return none;
    }
    ++flow->system_count;
    system->id = flow->next_id++;
    system->frame.system = (mica_system){micap_id_in_space(flow->world, system->id)};
    change_systems(flow, def);
    return system->frame.system;
}

/* A def whose name may be that of its function. */
static mica_system_def with_name(const mica_system_def *def)
{
    mica_system_def named = def ? *def : (mica_system_def){0};
    named.name = named.name ? named.name : named.function_name;
    return named;
}

mica_system mica_system_add(mica_world *world, const mica_system_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_system){0};
    mica_system_def named = with_name(def);
    return micap_system_add(world, &named, MICAP_SYSTEM_OF_USER, NULL);
}

mica_result micap_system_replace(mica_world *world, mica_system system, const mica_system_def *def)
{
    micap_flow *flow = micap_flow_get(world);
    micap_system *old = micap_system_find_id(flow, system);
    if (!old)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0}, "system_replace: there is no such system");
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "system_replace: refused inside a frame");
    mica_result result = check(flow, def, old->kind, old);
    if (result != MICA_OK)
        return result;
    micap_system *fresh = create_system(flow, def, old->kind, old->deliveries);
    if (!fresh)
        return micap_failure(world);
    uint32_t index = 0;
    while (flow->systems[index] != old)
        ++index;
    flow->systems[index] = fresh;
    if (!micap_system_names_add(flow, fresh)) {
        result = micap_fail_memory(world, "system");
    } else {
        micap_system_names_rebuild(flow);
        if (micap_order_has_cycle(flow, flow->systems, flow->system_count))
            result = MICA_ERROR_INVALID;
    }
    if (result != MICA_OK) {
        flow->systems[index] = old;
        micap_system_names_rebuild(flow);
        micap_system_free(flow, fresh);
        return result;
    }
    fresh->id = old->id;
    fresh->frame.system = system;
    fresh->last_version = old->last_version;
    fresh->seconds_waited = old->is_gated ? old->seconds_waited : 0; /* the others never wait */
    micap_listeners_system_removed(flow, old);
    micap_system_free(flow, old);
    change_systems(flow, def);
    return MICA_OK;
}

/* Handlers add and remove the systems that run them. Whether this is such a system, with a report. */
static bool is_of_handlers(const mica_world *world, mica_system system, const char *what)
{
    const micap_system *found = micap_system_find_id(micap_flow_get(world), system);
    if (!found || found->kind == MICAP_SYSTEM_OF_USER)
        return false;
    micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
               "%s: %s runs message handlers: add or remove the handlers instead", what, found->def.name);
    return true;
}

mica_result mica_system_replace(mica_world *world, mica_system system, const mica_system_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (is_of_handlers(world, system, "system_replace"))
        return MICA_ERROR_REFUSED;
    mica_system_def named = with_name(def);
    return micap_system_replace(world, system, &named);
}

bool mica_system_remove(mica_world *world, mica_system system)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    return !is_of_handlers(world, system, "system_remove") && micap_system_remove(world, system);
}

bool micap_system_remove(mica_world *world, mica_system system)
{
    micap_flow *flow = micap_flow_get(world);
    micap_system *found = micap_system_find_id(flow, system);
    if (!found || refuse_inside(world, flow, "system_remove") != MICA_OK)
        return false;
    found->is_removed = true;
    flow->has_removed = true;
    flow->is_stale = true;
    ++flow->systems_version;
    if (!flow->is_stepping)
        micap_systems_free_removed(flow);
    return true;
}

void micap_systems_free_removed(micap_flow *flow)
{
    uint32_t kept = 0;
    flow->has_removed = false;
    ++flow->systems_version;
    for (uint32_t i = 0; i < flow->system_count; ++i) {
        micap_system *system = flow->systems[i];
        if (!system->is_removed) {
            flow->systems[kept++] = system;
            continue;
        }
        micap_listeners_system_removed(flow, system);
        micap_system_free(flow, system);
    }
    flow->system_count = kept;
    micap_system_names_rebuild(flow);
    for (uint32_t i = 0; i < flow->phase_count; ++i) /* it contains pointers to freed systems */
        micap_dependency_graph_free(flow, flow->phases[i]);
}

bool mica_system_enable(mica_world *world, mica_system system, bool enabled)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    micap_flow *flow = micap_flow_get(world);
    micap_system *found = micap_system_find_id(flow, system);
    if (!found || refuse_inside(world, flow, "system_enable") != MICA_OK)
        return false;
    found->is_enabled = enabled;
    flow->gates_stale = true;
    return true;
}

mica_system mica_system_find(const mica_world *world, const char *name)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, name))
        return (mica_system){0};
    const micap_system *found = micap_system_find_name(micap_flow_get(world), name);
    return found ? found->frame.system : (mica_system){0};
}

const char *mica_system_name(const mica_world *world, mica_system system)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const micap_system *found = micap_system_find_id(micap_flow_get(world), system);
    return found ? found->def.name : NULL;
}

mica_system mica_system_running(const mica_world *world)
{
    const micap_running_job *job = MICAP_MISSING(NULL, world) ? NULL : micap_running_job_of(world);
    return job && job->system ? job->system->frame.system : (mica_system){0};
}

bool micap_system_uses_stream(const micap_system *system, const struct mica_stream *stream, bool write)
{
    for (uint32_t i = 0; i < system->def.use_count; ++i)
        if (system->def.uses[i].stream == stream && system->def.uses[i].write == write)
            return true;
    return false;
}

bool micap_system_may_write_undeclared(const micap_system *system, const struct mica_stream *stream)
{
    if (system->kind != MICAP_SYSTEM_OF_MAILBOX)
        return false;
    const micap_flow *flow = micap_flow_get(system->frame.world);
    for (uint32_t i = 0; i < flow->system_count; ++i)
        if (flow->systems[i]->kind == MICAP_SYSTEM_OF_MAILBOX &&
            micap_system_uses_stream(flow->systems[i], stream, false))
            return false;
    return true;
}

uint32_t micap_stream_user_count(const mica_world *world, const struct mica_stream *stream)
{
    const micap_flow *flow = micap_flow_get(world);
    uint32_t count = 0;
    for (uint32_t i = 0; i < flow->system_count; ++i)
        count += micap_system_uses_stream(flow->systems[i], stream, false) ||
                 micap_system_uses_stream(flow->systems[i], stream, true);
    return count;
}
