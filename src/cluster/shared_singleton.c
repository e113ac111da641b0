#include "cluster/shared_singleton.h"

#include "base/hash.h"
#include "mica/component.h"
#include "mica/singleton.h"

#include <stdio.h>

const char *micap_shared_singletons_copy(mica_cluster *cluster, const mica_cluster_def *def)
{
    static const char *const problem = "its .singletons must be described singletons without entities";
    for (uint32_t i = 0; i < def->singleton_count; ++i) {
        const mica_type *type = def->singletons ? mica_component_type(def->singletons[i]) : NULL;
        if (!type || type->storage != MICA_STORAGE_SINGLETON || !type->field_count || micap_codec_has_entities(type))
            return problem;
        for (uint32_t k = 0; k < i; ++k)
            if (def->singletons[k] == def->singletons[i])
                return "its .singletons have one twice";
    }
    if (!def->singleton_count)
        return NULL;
    cluster->singletons =
        micap_allocate(&cluster->memory, def->singleton_count * sizeof *cluster->singletons, MICAP_ARRAY_ALIGNMENT);
    cluster->singleton_hashes = micap_allocate(
        &cluster->memory, (size_t)2 * def->singleton_count * sizeof *cluster->singleton_hashes, MICAP_ARRAY_ALIGNMENT);
    cluster->singleton_count = def->singleton_count;
    if (!cluster->singletons || !cluster->singleton_hashes)
        return "out of memory";
    memcpy(cluster->singletons, def->singletons, def->singleton_count * sizeof *cluster->singletons);
    return NULL;
}

void micap_shared_singletons_free(mica_cluster *cluster)
{
    if (cluster->singletons)
        MICAP_RELEASE_ARRAY(&cluster->memory, cluster->singletons, cluster->singleton_count);
    if (cluster->singleton_hashes)
        MICAP_RELEASE_ARRAY(&cluster->memory, cluster->singleton_hashes, 2 * cluster->singleton_count);
}

uint64_t micap_shared_singletons_hash(mica_cluster *cluster)
{
    uint64_t sum = 0;
    micap_bytes bytes = {.memory = &cluster->memory};
    for (uint32_t i = 0; i < cluster->singleton_count; ++i) {
        mica_component component = cluster->singletons[i];
        const void *value = mica_singleton_get_id(cluster->world, component);
        bytes.count = 0;
        micap_bytes_put64(&bytes, mica_component_name_hash(component));
        if (value)
            micap_codec_put_value(&cluster->codec, &bytes, mica_component_type(component), value);
        if (!value || bytes.failed) {
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for singletons");
            break;
        }
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_bytes(&hasher, bytes.data, bytes.count);
        cluster->singleton_hashes[i] = micap_hasher_finish(&hasher);
        sum += micap_hash_mix(cluster->singleton_hashes[i]);
    }
    micap_bytes_free(&bytes);
    return sum;
}

void micap_shared_singletons_report(mica_cluster *cluster)
{
    uint32_t count = cluster->singleton_count;
    const uint64_t *own = cluster->singleton_hashes;
    uint64_t *first = cluster->singleton_hashes + count;
    memcpy(first, own, count * sizeof *first);
    micap_transport_share(&cluster->transport, first, (uint32_t)(count * sizeof *first));
    for (uint32_t i = 0; i < count; ++i) {
        if (own[i] == first[i])
            continue;
        char text[300];
        snprintf(
            text, sizeof text,
            "the singleton %.100s differs from that of rank 0: all ranks must write it in the same way, for example "
            "from a reduction or a stream of the cluster",
            mica_component_type(cluster->singletons[i])->name);
        micap_cluster_fail(cluster, MICA_ERROR_REFUSED, text);
    }
}
