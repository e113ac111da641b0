/* The list of systems: adding, replacing, removing them. */
#include "mica/system.h"

#include "core/world/access_check.h"
#include "core/query/view.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"
#include "mica/singleton.h"

micap_system *micap_flow_system(const micap_flow *flow, mica_system system)
{
    for (uint32_t i = 0; flow && i < flow->system_count; ++i)
        if (flow->systems[i]->id == system.id && !flow->systems[i]->is_removed)
            return flow->systems[i];
    return NULL;
}

static micap_system *find_name(const micap_flow *flow, const char *name)
{
    for (uint32_t i = 0; flow && i < flow->system_count; ++i)
        if (!flow->systems[i]->is_removed && strcmp(flow->systems[i]->def.name, name) == 0)
            return flow->systems[i];
    return NULL;
}

static bool is_read(mica_access access)
{
    return micap_access_reads(access) || access == MICA_ACCESS_CHANGED || access == MICA_ACCESS_ADDED;
}

static bool is_singleton(mica_component component)
{
    return micap_type_of(component)->type.storage == MICA_STORAGE_SINGLETON;
}

uint32_t micap_system_touches(const micap_system *system, micap_touch *out)
{
    const mica_system_def *def = &system->def;
    uint32_t count = 0;
    for (uint32_t i = 0; i < def->term_count; ++i)
        if (is_read(def->terms[i].access))
            out[count++] = (micap_touch){.component = def->terms[i].component,
                                         .write = micap_access_writes(def->terms[i].access),
                                         .is_rows = !def->once && !is_singleton(def->terms[i].component)};
    for (uint32_t i = 0; i < def->use_count; ++i)
        out[count++] = (micap_touch){
            .component = def->uses[i].component, .stream = def->uses[i].stream, .write = def->uses[i].write};
    return count;
}

/* Many may write a stream at once, and many read it, but not both. */
bool micap_touches_conflict(const micap_touch *a, const micap_touch *b)
{
    if (a->component != b->component || a->stream != b->stream)
        return false;
    return a->stream ? a->write != b->write : a->write || b->write;
}

/* Whether pieces of the system would get in each other's way. */
static bool is_in_its_own_way(const micap_system *system)
{
    micap_touch touches[MICAP_TOUCHES_MAX];
    uint32_t count = micap_system_touches(system, touches);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = i; j < count; ++j)
            if ((!touches[i].is_rows || !touches[j].is_rows) && micap_touches_conflict(&touches[i], &touches[j]))
                return true;
    return false;
}

static void classify(micap_system *system)
{
    const mica_system_def *def = &system->def;
    bool uses_components = false, reads_streams = false;
    for (uint32_t i = 0; i < def->use_count; ++i) {
        uses_components |= def->uses[i].component != 0;
        reads_streams |= def->uses[i].stream && !def->uses[i].write; /* it has one place in each */
    }
    bool is_joined = !def->once && system->query->join_count; /* its pieces may be rows of a pool, not of chunks */
    system->is_sorted = !def->once && def->compare;
    system->is_single = def->once || def->parallel == MICA_PARALLEL_NONE || system->is_sorted || reads_streams ||
                        is_in_its_own_way(system);
    system->is_local =
        !system->is_single && !uses_components && !is_joined && def->parallel != MICA_PARALLEL_EVERY && !system->box;
    system->is_gated = def->every_frames > 1 || def->every_seconds > 0 || def->condition;
    system->is_marked = system->query && system->query->is_marked;
}

static mica_result fail(mica_world *world, mica_result result, const mica_system_def *def, const char *problem)
{
    return micap_fail(world, result, def->location, "system %s: %s", def->name, problem);
}

static const char *problem_of(const mica_system_def *def)
{
    uint32_t functions = !!def->view + !!def->each + !!def->columns + !!def->once;
    if (functions != 1)
        return "it needs exactly one of .view, .each, .columns and .once";
    if (!def->once && !def->term_count)
        return "it has no terms: a system without rows is one that runs .once";
    if (def->exclusive && !def->once)
        return "an exclusive system runs .once";
    if (def->use_count > MICAP_USES_MAX || (def->use_count && !def->uses))
        return "it has too many .uses";
    if ((uint32_t)def->parallel > MICA_PARALLEL_THRESHOLD)
        return "its .parallel is unknown";
    if ((def->parallel == MICA_PARALLEL_EVERY || def->parallel == MICA_PARALLEL_THRESHOLD) && !def->parallel_rows)
        return "its .parallel needs .parallel_rows";
    if (!(def->every_seconds >= 0))
        return "its .every_seconds makes no sense";
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (!def->uses[i].component == !def->uses[i].stream)
            return "one of its .uses is neither a component nor a stream";
    return NULL;
}

static mica_result check(micap_flow *flow, const mica_system_def *def, const micap_system *replaced)
{
    mica_world *world = flow->world;
    if (!def || !def->name)
        return micap_fail(world, MICA_ERROR_INVALID, def ? def->location : (mica_location){0},
                          "system: it has no name");
    const char *problem = problem_of(def);
    if (problem)
        return fail(world, MICA_ERROR_INVALID, def, problem);
    if (!micap_flow_phase(flow, def->phase) || (def->phase == MICAP_PHASE_MESSAGES) != (def->view == micap_box_run))
        return fail(world, MICA_ERROR_UNKNOWN, def, "there is no such phase");
    const micap_system *namesake = find_name(flow, def->name);
    if (namesake && namesake != replaced)
        return fail(world, MICA_ERROR_EXISTS, def, "there is another system with this name");
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (def->uses[i].component &&
            (!micap_component_use(world, def->uses[i].component) ||
             (is_singleton(def->uses[i].component) && !micap_singleton_prepare(world, def->uses[i].component))))
            return fail(world, micap_failure(world), def, "one of its .uses can't be used");
    return MICA_OK;
}

/* Singletons that systems use are there from now on. */
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
        to[i] = from[i] ? micap_text_copy(world, from[i]) : NULL;
        if (from[i] && !to[i])
            return false;
    }
    return true;
}

static bool copy_list(mica_world *world, const void **list, size_t bytes)
{
    const void *from = *list;
    *list = NULL;
    void *copy = bytes ? micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (copy)
        memcpy(copy, from, bytes);
    *list = copy;
    return copy || !bytes;
}

/* Copies the def with all that it points to. What could not be copied is NULL. */
static bool copy_def(mica_world *world, mica_system_def *to, const mica_system_def *from)
{
    *to = *from;
    to->name = micap_text_copy(world, from->name);
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
    micap_text_free(world, def->name);
    for (uint32_t i = 0; i < MICA_SYSTEM_ORDERS_MAX; ++i) {
        micap_text_free(world, def->before[i]);
        micap_text_free(world, def->after[i]);
    }
    if (def->terms)
        micap_release(&world->memory, (void *)def->terms, def->term_count * sizeof *def->terms, MICAP_ARRAY_ALIGNMENT);
    if (def->uses)
        micap_release(&world->memory, (void *)def->uses, def->use_count * sizeof *def->uses, MICAP_ARRAY_ALIGNMENT);
}

void micap_system_free(micap_flow *flow, micap_system *system)
{
    mica_world *world = flow->world;
    for (uint32_t i = 0; i < system->buffer_capacity; ++i)
        if (system->buffers[i])
            micap_commands_unpark(system->buffers[i]);
    MICAP_RELEASE_ARRAY(&world->memory, system->buffers, system->buffer_capacity);
    mica_query_destroy(system->query);
    free_def(world, &system->def);
    micap_release(&world->memory, system, sizeof *system, MICAP_CACHE_LINE);
}

/* The query, with the system's name in its reports. */
static mica_query *make_query(mica_world *world, const mica_system_def *def)
{
    return mica_query_create(world, &(mica_query_def){.name = def->name,
                                                      .terms = def->terms,
                                                      .term_count = def->term_count,
                                                      .location = def->location,
                                                      .order_by = def->order_by,
                                                      .compare = def->compare,
                                                      .context = def->compare_context});
}

/* A system that is in no list yet; NULL with a report. */
static micap_system *make(micap_flow *flow, const mica_system_def *def)
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
    if (def->term_count && !(system->query = make_query(world, def))) {
        micap_system_free(flow, system);
        return NULL;
    }
    system->view = def->view;
    system->each = def->each;
    system->columns = def->columns;
    system->once = def->once;
    system->is_enabled = !def->disabled;
    system->box = def->view == micap_box_run ? def->context : NULL;
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
                      "%s: refused while systems run; only an exclusive system may do that", what);
}

mica_system mica_system_add(mica_world *world, const mica_system_def *def)
{
    const mica_system none = {0};
    micap_flow *flow = micap_flow_of(world);
    if (!flow || refuse_inside(world, flow, "system_add") != MICA_OK || check(flow, def, NULL) != MICA_OK)
        return none;
    if (!MICAP_RESERVE(&world->memory, flow->systems, &flow->system_capacity, (uint64_t)flow->system_count + 1)) {
        micap_fail_memory(world, "system");
        return none;
    }
    micap_system *system = make(flow, def);
    if (!system)
        return none;
    flow->systems[flow->system_count] = system;
    if (micap_graph_has_loop(flow, flow->systems, flow->system_count + 1)) {
        micap_system_free(flow, system);
        return none;
    }
    ++flow->system_count;
    system->id = flow->next_id++;
    system->frame.system = (mica_system){system->id};
    change_systems(flow, def);
    return system->frame.system;
}

/* Whether it runs handlers: those bring it and take it away. */
static bool is_of_handlers(const micap_system *system)
{
    return system->view == micap_box_run || system->view == micap_post_run;
}

static mica_result refuse_handlers(const mica_world *world, const micap_system *system, const char *what)
{
    return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                      "%s: %s runs handlers of messages, and comes and goes with them", what, system->def.name);
}

mica_result mica_system_replace(mica_world *world, mica_system system, const mica_system_def *def)
{
    micap_flow *flow = micap_flow_get(world);
    micap_system *old = micap_flow_system(flow, system);
    if (!old)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0}, "system_replace: there is no such system");
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "system_replace: refused inside a frame");
    if (is_of_handlers(old) && def->view != old->view)
        return refuse_handlers(world, old, "system_replace");
    mica_result result = check(flow, def, old);
    if (result != MICA_OK)
        return result;
    micap_system *fresh = make(flow, def);
    if (!fresh)
        return micap_failure(world);
    uint32_t location = 0;
    while (flow->systems[location] != old)
        ++location;
    flow->systems[location] = fresh;
    if (micap_graph_has_loop(flow, flow->systems, flow->system_count)) {
        flow->systems[location] = old;
        micap_system_free(flow, fresh);
        return MICA_ERROR_INVALID;
    }
    fresh->id = old->id;
    fresh->frame.system = system;
    fresh->last_version = old->last_version;
    fresh->frames_waited = old->frames_waited;
    fresh->seconds_waited = old->seconds_waited;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (flow->listeners[i].ops && flow->listeners[i].ops->system_removed)
            flow->listeners[i].ops->system_removed(world, flow->listeners[i].state, old);
    micap_system_free(flow, old);
    change_systems(flow, def);
    return MICA_OK;
}

bool mica_system_remove(mica_world *world, mica_system system)
{
    const micap_system *found = micap_flow_system(micap_flow_get(world), system);
    if (found && is_of_handlers(found)) {
        refuse_handlers(world, found, "system_remove");
        return false;
    }
    return micap_system_remove(world, system);
}

bool micap_system_remove(mica_world *world, mica_system system)
{
    micap_flow *flow = micap_flow_get(world);
    micap_system *found = micap_flow_system(flow, system);
    if (!found || refuse_inside(world, flow, "system_remove") != MICA_OK)
        return false;
    found->is_removed = true;
    flow->has_removed = true;
    flow->is_stale = true;
    ++flow->systems_version;
    if (!flow->is_stepping)
        micap_flow_forget_removed(flow);
    return true;
}

void micap_flow_forget_removed(micap_flow *flow)
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
        for (uint32_t j = 0; j < MICAP_LISTENERS; ++j)
            if (flow->listeners[j].ops && flow->listeners[j].ops->system_removed)
                flow->listeners[j].ops->system_removed(flow->world, flow->listeners[j].state, system);
        micap_system_free(flow, system);
    }
    flow->system_count = kept;
    for (uint32_t i = 0; i < flow->phase_count; ++i) /* it names systems that are gone */
        micap_graph_free(flow, flow->phases[i]);
}

bool mica_system_enable(mica_world *world, mica_system system, bool enabled)
{
    micap_flow *flow = micap_flow_get(world);
    micap_system *found = micap_flow_system(flow, system);
    if (!found || refuse_inside(world, flow, "system_enable") != MICA_OK)
        return false;
    found->is_enabled = enabled;
    flow->gates_stale = true;
    return true;
}

mica_system mica_system_find(const mica_world *world, const char *name)
{
    const micap_system *found = find_name(micap_flow_get(world), name);
    return (mica_system){found ? found->id : 0};
}

const char *mica_system_name(const mica_world *world, mica_system system)
{
    const micap_system *found = micap_flow_system(micap_flow_get(world), system);
    return found ? found->def.name : NULL;
}

bool micap_system_uses_stream(const micap_system *system, const struct mica_stream *stream, bool write)
{
    for (uint32_t i = 0; i < system->def.use_count; ++i)
        if (system->def.uses[i].stream == stream && system->def.uses[i].write == write)
            return true;
    return false;
}

bool micap_system_may_write_any(const micap_system *system, const struct mica_stream *stream)
{
    const micap_flow *flow = micap_flow_get(system->frame.world);
    for (uint32_t i = 0; system->box && i < flow->system_count; ++i)
        if (flow->systems[i]->box && micap_system_uses_stream(flow->systems[i], stream, false))
            return false;
    return system->box != NULL;
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

uint32_t micap_system_lanes(const micap_system *system, uint32_t *out_first)
{
    *out_first = system->lane_first;
    return system->lane_count;
}

const micap_system *micap_system_at(const mica_world *world, uint32_t index)
{
    const micap_flow *flow = micap_flow_get(world);
    return index < flow->system_count ? flow->systems[index] : NULL;
}

uint64_t micap_systems_version(const mica_world *world)
{
    return micap_flow_get(world)->systems_version;
}

const char *micap_system_label(const micap_system *system)
{
    return system->def.name;
}

mica_system micap_system_id(const micap_system *system)
{
    return (mica_system){system->id};
}
