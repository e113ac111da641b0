/* Models for tools/cluster.py, which runs them on different numbers of ranks and workers and compares the lines: after each step, the hash
 * of the cluster, and a hash of values that a plain world without a cluster has too.
 *
 *     models MODEL [key=value ...]     keys: steps, agents, workers, balance, seed, keys, scopes, save (a path), save_at (a step), save_every (a number of steps), resume (a path), trace (a path), and what a fault needs */
#include "models.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MICA_TAG(Intruder)

static const model *const models[] = {&wanderers_model, &flock_model,    &market_model, &epidemic_model,
                                      &couriers_model,  &workshop_model, &lineage_model};

static const char *text_option(int count, char **arguments, const char *key)
{
    size_t length = strlen(key);
    for (int i = 2; i < count; ++i)
        if (!strncmp(arguments[i], key, length) && arguments[i][length] == '=')
            return arguments[i] + length + 1;
    return NULL;
}

static uint64_t option(int count, char **arguments, const char *key, uint64_t otherwise)
{
    const char *text = text_option(count, arguments, key);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static settings read_settings(int count, char **arguments)
{
    settings found = {.steps = option(count, arguments, "steps", 30),
                      .agents = (uint32_t)option(count, arguments, "agents", 400),
                      .workers = (uint32_t)option(count, arguments, "workers", 1),
                      .balance = (uint32_t)option(count, arguments, "balance", 0),
                      .seed = option(count, arguments, "seed", 1),
                      .is_plain = option(count, arguments, "plain", 0),
                      .keys = option(count, arguments, "keys", 0),
                      .scopes = option(count, arguments, "scopes", 0),
                      .hangs = option(count, arguments, "hangs", UINT64_MAX),
                      .writes = option(count, arguments, "writes", UINT64_MAX),
                      .slow = option(count, arguments, "slow", UINT64_MAX),
                      .differs = option(count, arguments, "differs", UINT64_MAX),
                      .save_every = option(count, arguments, "save_every", 0),
                      .save_at = option(count, arguments, "save_at", 0),
                      .trace = text_option(count, arguments, "trace"),
                      .save = text_option(count, arguments, "save"),
                      .resume = text_option(count, arguments, "resume")};
    return found;
}

/* Gives a component to an entity of another rank. */
static void write_stand_in(mica_world *world)
{
    mica_query *remotes = mica_query_create(world, MICA_QUERY(MICA_HAS(mica_remote)));
    mica_entity first = mica_query_first(remotes);
    mica_query_destroy(remotes);
    if (!mica_is_nil(first))
        mica_add(world, first, Intruder);
}

static int run(const model *model, const settings *settings)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = settings->workers;
    mica_flow_configure(world, &flow);
    mica_cluster *cluster = model->create(world, settings);
    if (!cluster && !settings->is_plain)
        return 2;
    uint64_t rank = cluster ? mica_cluster_rank(cluster) : 0, step = 0;
    if (settings->resume && mica_cluster_load(cluster, settings->resume) == MICA_OK) {
        step = mica_cluster_tick(cluster);
        if (model->resume)
            model->resume(step);
    }
    if (settings->trace)
        mica_cluster_trace_start(cluster);
    for (; step < settings->steps; ++step) {
        if (rank == settings->hangs && step == settings->steps / 2)
            for (;;) {
            }
        if (rank == settings->writes && step == settings->steps / 2)
            write_stand_in(world);
        if (cluster ? !mica_cluster_step(cluster, 0.125f) : !model->plain_step(world))
            break;
        uint64_t hash = cluster ? mica_cluster_hash(cluster) : 0, content = 0;
        content = model->content ? model->content(world) : 0;
        if (cluster)
            mica_cluster_combine(cluster, &content, sizeof content, add_words, NULL);
        if (rank == 0) {
            printf("%" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", step, hash, content);
            fflush(stdout);
        }
        bool must_save =
            step + 1 == settings->save_at || (settings->save_every && (step + 1) % settings->save_every == 0);
        if (settings->save && must_save && mica_cluster_save(cluster, settings->save) != MICA_OK)
            break;
    }
    if (cluster && step == settings->steps) {
        mica_cluster_stats stats = mica_cluster_get_stats(cluster);
        uint64_t load = model->load ? model->load(world) : stats.owned_count;
        fprintf(stderr,
                "rank %" PRIu64 ": %" PRIu64 " owned, %" PRIu64 " ghosts, %" PRIu64 " balanced, load %" PRIu64 "\n",
                rank, stats.owned_count, stats.ghost_count, stats.balance_count, load);
    }
    bool is_valid = mica_world_validate(world) == MICA_OK;
    if (settings->trace)
        is_valid &= mica_cluster_trace_stop(cluster, settings->trace) == MICA_OK;
    mica_cluster_destroy(cluster);
    mica_world_destroy(world);
    return step == settings->steps && is_valid ? EXIT_SUCCESS : EXIT_FAILURE;
}

void add_words(void *to, const void *from, void *context)
{
    (void)context;
    *(uint64_t *)to += *(const uint64_t *)from;
}

int main(int count, char **arguments)
{
    for (size_t i = 0; count > 1 && i < sizeof models / sizeof *models; ++i)
        if (!strcmp(arguments[1], models[i]->name)) {
            settings settings = read_settings(count, arguments);
            return run(models[i], &settings);
        }
    fprintf(stderr, "usage: models MODEL [key=value ...]\n");
    return 2;
}
