/* Saves: each rank writes its shared entities, rank 0 its whole world, and a manifest lists these parts. */
#include "base/argument.h"
#include "cluster/cluster_start.h"
#include "cluster/distribution.h"
#include "cluster/exchange.h"
#include "cluster/handshake.h"
#include "cluster/manifest.h"
#include "cluster/part_transfer.h"
#include "cluster/reference.h"
#include "mica/bulk.h"
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "mica/state.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>

/* A save under way on one rank. */
typedef struct save {
    mica_cluster *cluster;
    const char *path;
    micap_manifest manifest, old;
    char part_path[MICAP_MANIFEST_PATH_BYTES];
    mica_result result;
    mica_resource_error error;
} save;

static void fail(save *save, mica_result result, const char *text)
{
    if (save->result != MICA_OK)
        return;
    char line[400];
    snprintf(line, sizeof line, "mica_cluster_save: rank %" PRIu32 ": %s", save->cluster->transport.rank, text);
    save->result = mica_world_report(save->cluster->world, result, line);
}

/* All ranks continue with the worst result. */
static bool has_agreed(save *save)
{
    uint64_t result = (uint64_t)save->result;
    micap_transport_maximum(&save->cluster->transport, &result, 1);
    save->result = (mica_result)result;
    return save->result == MICA_OK;
}

/* A file has names among the children of a parent. NULL, or a name that is elsewhere. */
static const char *find_stray_name(const mica_cluster *cluster)
{
    const mica_world *world = cluster->world;
    for (mica_view view = mica_query_begin(cluster->shared); cluster->codec.has_references && mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const char *name = mica_name_get(world, view.entities[i]);
            if (name && !mica_same(mica_name_get_scope(world, view.entities[i]), mica_parent(world, view.entities[i])))
                return name;
        }
    return NULL;
}

/* What is between steps can't be saved: the identities of new entities follow from the next step, and messages are on their way. */
static void check_rest(save *save)
{
    mica_cluster *cluster = save->cluster;
    mica_state *state = NULL;
    const char *name = find_stray_name(cluster);
    char text[160];
    if (strlen(save->path) > MICAP_MANIFEST_PATH_BYTES - 64)
        fail(save, MICA_ERROR_INVALID, "path must have at most 4000 bytes");
    else if (mica_query_count(cluster->new_ones))
        fail(save, MICA_ERROR_REFUSED, "entities were created since the last step: save right after a step");
    else if (cluster->sent.count || cluster->pushed.count || cluster->asked.count)
        fail(save, MICA_ERROR_REFUSED, "messages or questions were sent since the last step: save right after a step");
    else if (name &&
             snprintf(text, sizeof text, "the name %.60s is not in the scope of the parent of its entity", name))
        fail(save, MICA_ERROR_REFUSED, text);
    else if (cluster->transport.rank == 0 && mica_state_take(cluster->world, &state) != MICA_OK)
        fail(save, MICA_ERROR_REFUSED, "the world is not at rest, or memory is short");
    mica_state_free(state);
}

/* Whether a name, ".<generation>.<rank>", is that of a part that the save does not have: a job was killed before it had replaced the
 * manifest, or before it had removed the parts of the save before. */
static bool is_other_part(const char *rest, const void *context)
{
    const micap_manifest *manifest = context;
    uint64_t generation = 0;
    uint32_t part = 0;
    int end = 0;
    if (sscanf(rest, ".%" SCNu64 ".%" SCNu32 "%n", &generation, &part, &end) != 2 || rest[end] ||
        strspn(rest, ".0123456789") != (size_t)end)
        return false;
    return generation != manifest->generation || part >= manifest->part_count;
}

/* Rank 0 looks at the save that is replaced, and deletes what killed jobs have left. Nothing is written yet. Parts of a manifest that is
 * damaged stay. */
static void choose_generation(save *save)
{
    uint64_t generation = 1;
    if (save->cluster->transport.rank == 0) {
        bool is_known = !micap_manifest_load(&save->old, save->path);
        generation = is_known ? save->old.generation + 1 : 1;
        micap_file_remove_leftovers(save->path, is_known ? is_other_part : NULL, &save->old);
    }
    micap_transport_share(&save->cluster->transport, &generation, sizeof generation);
    save->manifest.generation = generation;
    micap_manifest_part_path(save->path, generation, save->cluster->transport.rank, save->part_path);
}

/* The shared entities of this rank. False if memory is short. */
static bool list_shared(mica_cluster *cluster, mica_entity **out, uint32_t *out_count, uint32_t *out_capacity)
{
    for (mica_view view = mica_query_begin(cluster->shared); mica_view_next(&view);) {
        if (!MICAP_RESERVE(&cluster->memory, *out, out_capacity, (uint64_t)*out_count + view.count))
            return false;
        MICAP_ASSERT(*out, "a view has entities, and there is room for them");
        memcpy(*out + *out_count, view.entities, view.count * sizeof **out);
        *out_count += view.count;
    }
    return true;
}

static void write_part(save *save, micap_manifest_part *out_part)
{
    mica_cluster *cluster = save->cluster;
    mica_entity none = mica_nil(), *entities = NULL;
    uint32_t count = 0, capacity = 0;
    mica_blob blob = {0};
    mica_save_def def = {
        .allocator = cluster->memory.allocator, .rules = cluster->rules, .rule_count = cluster->codec.rule_count};
    bool is_short = false;
    if (cluster->transport.rank) {
        is_short = !list_shared(cluster, &entities, &count, &capacity) ||
                   !micap_references_list(cluster, &entities, &count, &capacity);
        def.entities = entities ? entities : &none;
        def.entity_count = count;
        def.skip_singletons = true;
    }
    mica_result result = is_short ? MICA_ERROR_MEMORY : mica_pack(cluster->world, &def, &blob);
    if (result != MICA_OK)
        fail(save, result, "its part can't be packed");
    else if ((result = mica_write_file(save->part_path, blob.bytes, blob.byte_count, &save->error)) != MICA_OK)
        fail(save, result, save->error.text);
    else
        *out_part = (micap_manifest_part){blob.byte_count, micap_manifest_checksum(blob.bytes, blob.byte_count),
                                          mica_query_count(cluster->shared)};
    mica_blob_free(&blob);
    MICAP_RELEASE_ARRAY(&cluster->memory, entities, capacity);
}

static void write_manifest(save *save)
{
    micap_bytes bytes = {.memory = &save->cluster->memory};
    micap_manifest_put(&save->manifest, &bytes);
    mica_result result =
        bytes.failed ? MICA_ERROR_MEMORY : mica_write_file(save->path, bytes.data, bytes.count, &save->error);
    if (result != MICA_OK)
        fail(save, result, bytes.failed ? "out of memory for the manifest" : save->error.text);
    micap_bytes_free(&bytes);
}

/* Removes the parts of the save that was replaced, and those that interrupted saves have left. */
static void remove_old_parts(const save *save)
{
    micap_file_remove_leftovers(save->path, is_other_part, &save->manifest);
}

static void run_save(save *save)
{
    micap_transport *transport = &save->cluster->transport;
    micap_manifest_part part = {0};
    save->manifest.part_count = transport->rank_count;
    if (!micap_manifest_reserve(&save->manifest, transport->rank_count))
        fail(save, MICA_ERROR_MEMORY, "out of memory for the manifest");
    check_rest(save);
    if (!has_agreed(save))
        return;
    choose_generation(save);
    write_part(save, &part);
    bool is_written = has_agreed(save);
    if (is_written) {
        micap_transport_gather(transport, &part, sizeof part, save->manifest.parts);
        if (transport->rank == 0)
            write_manifest(save);
        is_written = has_agreed(save);
    }
    if (!is_written)
        remove(save->part_path);
    else if (transport->rank == 0)
        remove_old_parts(save);
}

mica_result mica_cluster_save(mica_cluster *cluster, const char *path)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, path))
        return MICA_ERROR_INVALID;
    if (cluster->result != MICA_OK || !micap_cluster_start(cluster))
        return mica_world_report(cluster->world, MICA_ERROR_REFUSED, "mica_cluster_save: the cluster has failed");
    save save = {.cluster = cluster,
                 .path = path,
                 .manifest = {.memory = &cluster->memory, .tick = cluster->tick, .seed = cluster->seed},
                 .old = {.memory = &cluster->memory}};
    run_save(&save);
    micap_manifest_free(&save.manifest);
    micap_manifest_free(&save.old);
    return save.result;
}

/* ---- loading */

static void destroy_shared(mica_cluster *cluster)
{
    mica_entity *entities = NULL;
    uint32_t count = 0, capacity = 0;
    if (list_shared(cluster, &entities, &count, &capacity))
        mica_destroy_many(cluster->world, entities, count);
    else
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for the entities of another rank");
    MICAP_RELEASE_ARRAY(&cluster->memory, entities, capacity);
}

/* Part 0 is spawned by all ranks: it has what is not shared, and the time. The entities of other parts go to the world one by one. */
static void load_part(mica_cluster *cluster, const micap_manifest *manifest, const char *path, uint32_t part)
{
    char text[MICAP_MANIFEST_TEXT_BYTES], problem[MICAP_TRANSFER_TEXT_BYTES];
    micap_part_file file;
    mica_result result = MICA_ERROR_DATA;
    mica_spawn_def def = {.rules = cluster->rules, .rule_count = cluster->codec.rule_count};
    if (!micap_part_file_open(&file, manifest, path, part, text)) {
        micap_cluster_fail(cluster, MICA_ERROR_DATA, text);
    } else if (part) {
        if (!micap_part_transfer(&cluster->codec, file.resource, problem)) {
            snprintf(text, sizeof text, "part %" PRIu32 " of the save can't be created here: %s", part, problem);
            micap_cluster_fail(cluster, MICA_ERROR_REFUSED, text);
        }
    } else if (!mica_resource_get_info(file.resource).has_state) {
        micap_cluster_fail(cluster, MICA_ERROR_DATA, "part 0 of the save has no state of a world");
    } else if ((result = mica_spawn(cluster->world, file.resource, &def)) != MICA_OK) {
        micap_cluster_fail(cluster, result, "part 0 of the save can't be spawned");
    }
    micap_part_file_close(&file);
}

/* Each rank takes neighbouring parts, so that the ranges of ranks stay in the order of the curve. */
static void load_parts(mica_cluster *cluster, const micap_manifest *manifest, const char *path)
{
    uint64_t rank = cluster->transport.rank, rank_count = cluster->transport.rank_count;
    uint32_t begin = (uint32_t)(manifest->part_count * rank / rank_count);
    uint32_t end = (uint32_t)(manifest->part_count * (rank + 1) / rank_count);
    load_part(cluster, manifest, path, 0);
    if (cluster->result == MICA_OK && (begin || !end))
        destroy_shared(cluster);
    for (uint32_t part = begin ? begin : 1; part < end && cluster->result == MICA_OK; ++part)
        load_part(cluster, manifest, path, part);
}

static void read_save(mica_cluster *cluster, const char *path)
{
    micap_manifest manifest = {.memory = &cluster->memory};
    const char *problem = micap_manifest_load(&manifest, path);
    char text[400];
    if (problem) {
        snprintf(text, sizeof text, "%.250s is rejected: %s", path, problem);
        micap_cluster_fail(cluster, MICA_ERROR_DATA, text);
    } else if (manifest.seed != cluster->seed) {
        snprintf(text, sizeof text, "the save has the seed %" PRIu64 ", the program %" PRIu64, manifest.seed,
                 cluster->seed);
        micap_cluster_fail(cluster, MICA_ERROR_LAYOUT, text);
    } else {
        load_parts(cluster, &manifest, path);
        cluster->tick = manifest.tick;
    }
    micap_manifest_free(&manifest);
}

mica_result mica_cluster_load(mica_cluster *cluster, const char *path)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, path))
        return MICA_ERROR_INVALID;
    if (cluster->is_started || cluster->result != MICA_OK || !mica_world_is_unused(cluster->world))
        return mica_world_report(cluster->world, MICA_ERROR_REFUSED,
                                 "mica_cluster_load: the world has entities already, or the cluster has made a step");
    micap_exchange_check_world(cluster);
    micap_handshake_run(cluster);
    if (!micap_cluster_agree(cluster))
        return cluster->result;
    if (!micap_references_open(cluster))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for references between ranks");
    cluster->is_started = true;
    read_save(cluster, path);
    if (!micap_cluster_agree(cluster))
        return cluster->result;
    micap_distribution_balance(cluster); /* no work was measured: by the number of entities */
    micap_exchange_run(cluster);
    micap_cluster_agree(cluster);
    return cluster->result;
}
