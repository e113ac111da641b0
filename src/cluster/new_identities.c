#include "cluster/new_identities.h"

#include "base/hash.h"
#include "cluster/distribution.h"
#include "cluster/reference.h"
#include "mica/bulk.h"

#include <stdlib.h>

typedef struct newcomer {
    uint64_t hash;
    mica_entity entity; /* nil: it arrived, and does not exist yet */
    uint32_t offset, byte_count;
    const char *bytes; /* while they are sorted */
} newcomer;

struct micap_new_identities {
    newcomer *newcomers;
    uint32_t count, capacity;
    micap_bytes bytes; /* what they are */
};

static struct micap_new_identities *state_of(mica_cluster *cluster)
{
    if (!cluster->new_identities) {
        cluster->new_identities =
            micap_allocate_zeroed(&cluster->memory, sizeof *cluster->new_identities, MICAP_ARRAY_ALIGNMENT);
        if (cluster->new_identities)
            cluster->new_identities->bytes.memory = &cluster->memory;
    }
    return cluster->new_identities;
}

void micap_new_identities_free(mica_cluster *cluster)
{
    struct micap_new_identities *state = cluster->new_identities;
    if (!state)
        return;
    MICAP_RELEASE_ARRAY(&cluster->memory, state->newcomers, state->capacity);
    micap_bytes_free(&state->bytes);
    micap_release(&cluster->memory, state, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    cluster->new_identities = NULL;
}

/* Adds a newcomer whose bytes were appended from `offset` on. */
static void add(mica_cluster *cluster, struct micap_new_identities *state, mica_entity entity, uint32_t offset)
{
    if (state->bytes.failed ||
        !MICAP_RESERVE(&cluster->memory, state->newcomers, &state->capacity, (uint64_t)state->count + 1)) {
        state->bytes.failed = false;
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for new entities");
        return;
    }
    uint32_t byte_count = state->bytes.count - offset;
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, cluster->seed, 8);
    micap_hasher_integer(&hasher, cluster->tick, 8);
    micap_hasher_bytes(&hasher, state->bytes.data + offset, byte_count);
    state->newcomers[state->count++] =
        (newcomer){.hash = micap_hasher_finish(&hasher), .entity = entity, .offset = offset, .byte_count = byte_count};
}

void micap_new_identities_add_arrival(mica_cluster *cluster, const char *bytes, size_t byte_count)
{
    struct micap_new_identities *state = state_of(cluster);
    if (!state) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for new entities");
        return;
    }
    uint32_t offset = state->bytes.count;
    micap_bytes_put(&state->bytes, bytes, byte_count);
    add(cluster, state, mica_nil(), offset);
}

static int compare_content(const newcomer *a, const newcomer *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->byte_count != b->byte_count)
        return a->byte_count < b->byte_count ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->byte_count);
}

static int compare(const void *a, const void *b)
{
    return compare_content(a, b);
}

static void collect(mica_cluster *cluster, struct micap_new_identities *state)
{
    for (mica_view view = mica_query_begin(cluster->new_ones); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            uint32_t offset = state->bytes.count;
            micap_codec_put_entity(&cluster->codec, &state->bytes, view.entities[i]);
            add(cluster, state, view.entities[i], offset);
        }
}

/* The entity gets its identity, or is created with it. */
static void settle(mica_cluster *cluster, const newcomer *newcomer, uint64_t identity)
{
    bool done;
    if (mica_is_nil(newcomer->entity)) {
        micap_reader reader = {
            .begin = newcomer->bytes, .at = newcomer->bytes, .end = newcomer->bytes + newcomer->byte_count};
        done = !mica_is_nil(micap_codec_create_entity(&cluster->codec, &reader, identity));
        ++cluster->stats.arrived_count;
    } else {
        mica_identity *own = mica_write(cluster->world, newcomer->entity, mica_identity);
        done = own != NULL;
        if (done)
            own->value = identity;
        micap_distribution_set_weight(cluster, newcomer->entity, 0);
    }
    if (done)
        micap_references_add_born(cluster, identity);
    else
        micap_cluster_fail(cluster, MICA_ERROR_REFUSED,
                           "a new entity can't get its identity, or can't be created here");
}

void micap_new_identities_assign(mica_cluster *cluster)
{
    bool has_new = mica_query_count(cluster->new_ones) > 0;
    struct micap_new_identities *state = cluster->new_identities || has_new ? state_of(cluster) : NULL;
    if (!state) {
        if (has_new)
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for new entities");
        return;
    }
    if (has_new) {
        collect(cluster, state);
        mica_identity none = {0};
        if (mica_add_all_id(cluster->new_ones, (mica_value){MICA_ID(mica_identity), sizeof none, &none}) != MICA_OK)
            micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for new entities");
    }
    for (uint32_t i = 0; i < state->count; ++i)
        state->newcomers[i].bytes = state->bytes.data + state->newcomers[i].offset;
    if (state->count)
        qsort(state->newcomers, state->count, sizeof *state->newcomers, compare);
    uint64_t ordinal = 0;
    for (uint32_t i = 0; i < state->count && cluster->result == MICA_OK; ++i) {
        const newcomer *newcomer = &state->newcomers[i];
        ordinal = i && !compare_content(newcomer - 1, newcomer) ? ordinal + 1 : 0;
        uint64_t identity = micap_hash_mix(newcomer->hash + ordinal * 0x9e3779b97f4a7c15u);
        settle(cluster, newcomer, identity ? identity : 1);
    }
    state->count = state->bytes.count = 0;
}
