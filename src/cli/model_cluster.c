/* The cluster of a model: the only file of the tool, with main.c, that uses mica::cluster. */
#include "cli/model.h"

#include <string.h>

typedef struct mica_cluster *(*cluster_fn)(mica_world *world, uint64_t seed);

/* The only module that describes a cluster, or NULL. With `out_many`, whether there are several. */
static cluster_fn find_entry(const model *model, bool *out_many)
{
    cluster_fn found = NULL;
    *out_many = false;
    for (uint32_t i = 0; i < model->options->module_count; ++i) {
        const void *entry = mica_module_find(model->modules, i, "mica_module_cluster");
        if (!entry)
            continue;
        *out_many = found != NULL;
        memcpy(&found, &entry, sizeof found); /* ISO C has no cast from an object to a function */
    }
    return found;
}

bool model_has_cluster(const model *model)
{
    bool has_many;
    return find_entry(model, &has_many) != NULL;
}

#ifdef MICA_WITH_CLUSTER
#    include "mica/cluster.h"

#    include <inttypes.h>

int model_cluster_open(model *model)
{
    bool has_many;
    cluster_fn entry = find_entry(model, &has_many);
    if (!entry)
        return model_complain(model, "no module describes a cluster: write mica_module_cluster (mica/module.h)");
    if (has_many)
        return model_complain(model, "more than one module describes a cluster");
    model->cluster = entry(model->world, model->seed);
    if (model->cluster)
        return model_has_reports(model) ? EXIT_BAD : EXIT_FINE;
    return model_has_reports(model) ? EXIT_BAD : model_complain(model, "mica_module_cluster returned NULL");
}

int model_cluster_load(model *model, const char *path)
{
    model->is_resumed = true;
    return mica_cluster_load(model->cluster, path) == MICA_OK && !model_has_reports(model) ? EXIT_FINE : EXIT_BAD;
}

int model_cluster_step(model *model)
{
    if (mica_cluster_step(model->cluster, model->options->dt))
        return EXIT_FINE; /* a report of this rank after the agreement ends the next step */
    if (!model_has_reports(model) && mica_cluster_result(model->cluster) != MICA_OK)
        model_complain(model, "frame %" PRIu64 ": %s", model->frame,
                       mica_result_text(mica_cluster_result(model->cluster)));
    return EXIT_DIFFERENT; /* the rank that stopped said why */
}

void model_cluster_stop(model *model)
{
    if (model->cluster)
        mica_cluster_stop(model->cluster);
}

static void keep_worst(void *to, const void *from, void *context)
{
    (void)context;
    if (*(const int *)from > *(int *)to)
        *(int *)to = *(const int *)from;
}

int model_cluster_agree(model *model, int status)
{
    if (model->cluster)
        mica_cluster_combine(model->cluster, &status, sizeof status, keep_worst, NULL);
    return status;
}

int model_cluster_save(model *model, const char *path)
{
    return mica_cluster_save(model->cluster, path) == MICA_OK ? EXIT_FINE : EXIT_BAD; /* with a report */
}

uint64_t model_cluster_hash(model *model)
{
    return mica_cluster_hash(model->cluster);
}

static void add(void *to, const void *from, void *context)
{
    (void)context;
    *(uint64_t *)to += *(const uint64_t *)from;
}

uint64_t model_cluster_entity_count(model *model)
{
    uint64_t count = mica_cluster_get_stats(model->cluster).owned_count;
    mica_cluster_combine(model->cluster, &count, sizeof count, add, NULL);
    return count;
}

uint32_t model_cluster_rank(const model *model)
{
    return model->cluster ? mica_cluster_rank(model->cluster) : 0;
}

void model_cluster_close(model *model)
{
    mica_cluster_destroy(model->cluster);
    model->cluster = NULL;
}
#else
int model_cluster_open(model *model)
{
    return model_complain(model, "the tool was built without Open MPI");
}

int model_cluster_load(model *model, const char *path)
{
    (void)path;
    return model_cluster_open(model);
}

int model_cluster_step(model *model)
{
    return model_cluster_open(model);
}

void model_cluster_stop(model *model)
{
    (void)model;
}

int model_cluster_agree(model *model, int status)
{
    (void)model;
    return status;
}

int model_cluster_save(model *model, const char *path)
{
    return model_cluster_load(model, path);
}

uint64_t model_cluster_hash(model *model)
{
    (void)model;
    return 0;
}

uint64_t model_cluster_entity_count(model *model)
{
    return model_cluster_hash(model);
}

uint32_t model_cluster_rank(const model *model)
{
    (void)model;
    return 0;
}

void model_cluster_close(model *model)
{
    (void)model;
}
#endif
