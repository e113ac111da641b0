/* Saving in another thread: a second world, the shadow, follows the saved one by deltas, and is saved by that thread. The owner uses
 * the shadow only while the thread sleeps, so that one lock and two flags are all they share. */
#include "mica/saver.h"

#include "base/argument.h"
#include "base/memory.h"
#include "mica/component.h"
#include "mica/delta.h"
#include "type/value_bytes.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct mica_saver {
    mica_world *world; /* that is saved */
    mica_sender *sender;
    mica_save_def def;
    mica_version version; /* that the saver's world has */
    micap_memory memory;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_busy; /* from begin until the thread is done */
    bool is_over;

    /* While it is busy, the thread's: */
    mica_world *shadow;
    mica_replica *replica;
    char *bytes;
    size_t byte_count;
    char *path;
    size_t path_bytes;
    mica_result result;
    char error[256]; /* the last report of the shadow */
};

static void hear(const mica_report *report, void *context)
{
    mica_saver *saver = context;
    snprintf(saver->error, sizeof saver->error, "%s", report->text);
}

static void release_job(mica_saver *saver)
{
    micap_release(&saver->memory, saver->bytes, saver->byte_count, MICAP_ARRAY_ALIGNMENT);
    micap_release(&saver->memory, saver->path, saver->path_bytes, 1);
    saver->bytes = saver->path = NULL;
}

static mica_result work(mica_saver *saver)
{
    saver->error[0] = 0;
    mica_result result = mica_delta_apply(saver->replica, saver->bytes, saver->byte_count);
    if (result != MICA_OK)
        return result;
    mica_save_def def = saver->def;
    def.state = mica_replica_state(saver->replica, &def.state_bytes);
    def.skip_state = !def.state; /* that of the shadow is another one */
    return mica_save(saver->shadow, saver->path, &def);
}

static void *run(void *context)
{
    mica_saver *saver = context;
    pthread_mutex_lock(&saver->lock);
    for (;;) {
        while (!saver->is_busy && !saver->is_over)
            pthread_cond_wait(&saver->changed, &saver->lock);
        if (!saver->is_busy)
            break;
        pthread_mutex_unlock(&saver->lock);
        mica_result result = work(saver);
        pthread_mutex_lock(&saver->lock);
        saver->result = result;
        saver->is_busy = false;
        pthread_cond_broadcast(&saver->changed);
    }
    pthread_mutex_unlock(&saver->lock);
    return NULL;
}

bool mica_saver_is_busy(mica_saver *saver)
{
    if (MICAP_MISSING(NULL, saver))
        return false;
    pthread_mutex_lock(&saver->lock);
    bool is_busy = saver->is_busy;
    pthread_mutex_unlock(&saver->lock);
    return is_busy;
}

mica_result mica_saver_wait(mica_saver *saver)
{
    if (MICAP_MISSING(NULL, saver))
        return MICA_ERROR_INVALID;
    pthread_mutex_lock(&saver->lock);
    while (saver->is_busy)
        pthread_cond_wait(&saver->changed, &saver->lock);
    mica_result result = saver->result;
    pthread_mutex_unlock(&saver->lock);
    /* The next delta starts from what the shadow has, whether the file was written or not. */
    saver->version = mica_replica_version(saver->replica);
    if (saver->bytes && result != MICA_OK)
        mica_world_report(saver->world, result, saver->error[0] ? saver->error : "save: it failed");
    release_job(saver);
    return result;
}

/* Whether there is a rule that deltas can use: one that makes a recipe can also read it. */
static bool has_rule(const mica_saver *saver, const mica_type *type)
{
    for (uint32_t i = 0; i < saver->def.rule_count; ++i) {
        const mica_resource_rule *rule = &saver->def.rules[i];
        if (mica_component_type(rule->component) == type)
            return !rule->recipe || (!rule->save == !rule->spawn);
    }
    return false;
}

/* Defines in the shadow what the world has defined; refused for components that deltas do not carry. */
static mica_result define_all(mica_saver *saver)
{
    for (mica_component id = 0; (id = mica_component_next(saver->world, id)) != 0;) {
        const mica_type *type = mica_component_type(id);
        if (micap_type_needs_rule(type) && !has_rule(saver, type)) {
            if (saver->def.skip_without_rule)
                continue;
            char text[256];
            snprintf(text, sizeof text, "saver: " MICAP_NO_RULE, type->name);
            return mica_world_report(saver->world, MICA_ERROR_REFUSED, text);
        }
        if (!mica_component_define(saver->shadow, type))
            return mica_world_report(saver->world, MICA_ERROR_MEMORY, "saver: out of memory");
    }
    return MICA_OK;
}

mica_result mica_saver_begin(mica_saver *saver, const char *path)
{
    if (MICAP_MISSING(NULL, saver) || MICAP_MISSING(saver->world, path))
        return MICA_ERROR_INVALID;
    if (mica_saver_is_busy(saver))
        return mica_world_report(saver->world, MICA_ERROR_REFUSED, "saver: a save is under way");
    mica_saver_wait(saver); /* reports the result of the last one, if the program has not asked for it */
    mica_result result = define_all(saver);
    mica_delta delta = {0};
    if (result == MICA_OK)
        result = mica_delta_encode(saver->sender, saver->version, &delta);
    if (result != MICA_OK)
        return result;
    saver->byte_count = delta.byte_count;
    saver->path_bytes = strlen(path) + 1;
    saver->bytes = micap_allocate(&saver->memory, saver->byte_count, MICAP_ARRAY_ALIGNMENT);
    saver->path = micap_allocate(&saver->memory, saver->path_bytes, 1);
    if (!saver->bytes || !saver->path) {
        release_job(saver);
        return mica_world_report(saver->world, MICA_ERROR_MEMORY, "saver: out of memory");
    }
    memcpy(saver->bytes, delta.bytes, delta.byte_count);
    memcpy(saver->path, path, saver->path_bytes);
    pthread_mutex_lock(&saver->lock);
    saver->is_busy = true;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
    return MICA_OK;
}

static void free_saver(mica_saver *saver)
{
    release_job(saver);
    mica_replica_destroy(saver->replica);
    mica_world_destroy(saver->shadow);
    mica_sender_destroy(saver->sender);
    pthread_cond_destroy(&saver->changed);
    pthread_mutex_destroy(&saver->lock);
    micap_memory last = {.allocator = saver->memory.allocator};
    atomic_init(&last.bytes, sizeof *saver);
    micap_release(&last, saver, sizeof *saver, MICAP_ARRAY_ALIGNMENT);
}

mica_saver *mica_saver_create(mica_world *world, const mica_save_def *def)
{
    if (MICAP_MISSING(NULL, world) || (def && MICAP_MISSING_ARRAY(world, def->rules, def->rule_count)))
        return NULL;
    micap_memory memory;
    mica_saver *saver = micap_memory_init(&memory, def ? def->allocator : (mica_allocator){0})
                            ? micap_allocate_zeroed(&memory, sizeof *saver, MICAP_ARRAY_ALIGNMENT)
                            : NULL;
    if (!saver)
        return mica_world_report(world, MICA_ERROR_MEMORY, "saver: out of memory"), NULL;
    micap_memory_init(&saver->memory, memory.allocator);
    saver->world = world;
    saver->def = def ? *def : (mica_save_def){0};
    saver->def.entities = NULL;
    pthread_mutex_init(&saver->lock, NULL);
    pthread_cond_init(&saver->changed, NULL);
    mica_world_def shadow = mica_world_def_default();
    shadow.allocator = memory.allocator;
    shadow.report = hear;
    shadow.report_context = saver;
    mica_sender_def sender = {.rules = saver->def.rules,
                              .rule_count = saver->def.rule_count,
                              .with_state = !saver->def.skip_state,
                              .skip_without_rule = saver->def.skip_without_rule};
    mica_replica_def replica = {.rules = saver->def.rules, .rule_count = saver->def.rule_count};
    saver->sender = mica_sender_create(world, &sender);
    saver->shadow = mica_world_create(&shadow);
    saver->replica = saver->shadow ? mica_replica_create(saver->shadow, &replica) : NULL;
    if (!saver->sender || !saver->replica || pthread_create(&saver->thread, NULL, run, saver) != 0) {
        free_saver(saver);
        return mica_world_report(world, MICA_ERROR_MEMORY, "saver: out of memory"), NULL;
    }
    return saver;
}

void mica_saver_destroy(mica_saver *saver)
{
    if (!saver)
        return;
    mica_saver_wait(saver);
    pthread_mutex_lock(&saver->lock);
    saver->is_over = true;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
    pthread_join(saver->thread, NULL);
    free_saver(saver);
}
