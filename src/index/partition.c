/* Entities of equal key, partition by partition. The entries of an index are in this order; the map of a relation from targets to their edges is
 * in the order of targets. */
#include "mica/partition.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/storage/pool_lookup.h"
#include "core/world/report.h"
#include "index/index_read.h"
#include "index/key_search.h"
#include "pool/pool_edges.h"

mica_partition mica_partitions_by_index(const mica_index *index, mica_key low, mica_key high)
{
    mica_partition partition = {0};
    const micap_sorted_keys *keys = micap_index_read_keys(index, __func__);
    uint64_t first, last;
    if (!keys || !micap_key_range(index, low, high, __func__, &first, &last))
        return partition;
    micap_key_place place = micap_sorted_keys_find_key(keys, first);
    partition.private_.index = index;
    partition.private_.stamp = index->update;
    partition.private_.last = last;
    partition.private_.end_block = place.block;
    partition.private_.end_position = place.position;
    return partition;
}

mica_partition mica_partitions_by_target_id(const mica_world *world, mica_component relation)
{
    mica_partition partition = {0};
    if (MICAP_MISSING(NULL, world))
        return partition;
    const micap_type *type = micap_type_of(relation);
    if (!type || !type->type.relation) {
        micap_report_argument(world, __func__, "relation", "must be described with MICA_RELATION");
        return partition;
    }
    if (type->type.parents) {
        micap_report_argument(world, __func__, "relation", "must have edges of its own: use mica_first_child");
        return partition;
    }
    const mica_pool *pool = micap_pool_of(world, relation);
    partition.private_.pool = pool;
    partition.private_.stamp = pool ? pool->stamp : 0;
    return partition;
}

static bool end(mica_partition *partition)
{
    *partition = (mica_partition){0};
    return false;
}

/* Whether there is a loop, and what it reads is unchanged. */
static bool is_current(mica_partition *partition)
{
    const mica_index *index = partition->private_.index;
    const mica_pool *pool = partition->private_.pool;
    if (MICAP_UNLIKELY(index && partition->private_.stamp != index->update)) {
        micap_fail(index->head.world, MICA_ERROR_REFUSED, index->location,
                   "index %s: it was updated during a loop over its partitions", index->name);
        return end(partition);
    }
    if (MICAP_UNLIKELY(pool && partition->private_.stamp != pool->stamp)) {
        micap_fail(pool->world, MICA_ERROR_REFUSED, (mica_location){0},
                   "relation %s: edges were added or removed during a loop over its partitions", pool->type->type.name);
        return end(partition);
    }
    return index || pool;
}

/* Moves to the entries after those of the current value. */
static bool next_value(mica_partition *partition)
{
    const mica_index *index = partition->private_.index;
    const micap_sorted_keys *keys = &index->keys;
    micap_key_place place = {partition->private_.end_block, partition->private_.end_position};
    const micap_key_entry *entry = micap_sorted_keys_at(keys, place);
    if (!entry || entry->key > partition->private_.last)
        return end(partition);
    micap_key_place after = micap_sorted_keys_after(keys, place);
    partition->key = micap_index_key_of(index, entry->key);
    partition->count = micap_sorted_keys_between(keys, place, after);
    partition->private_.block = place.block;
    partition->private_.position = place.position;
    partition->private_.end_block = after.block;
    partition->private_.end_position = after.position;
    return true;
}

static bool next_target(mica_partition *partition)
{
    const mica_pool *pool = partition->private_.pool;
    uint32_t from = partition->count ? partition->key.as.entity.index + 1 : 0;
    mica_entity target = micap_edges_next_target(pool, from);
    if (mica_is_nil(target))
        return end(partition);
    mica_component relation = pool->type->id;
    partition->key = mica_key_entity(target);
    partition->count = mica_source_count_id(pool->world, target, relation);
    partition->private_.edges = mica_sources_id(pool->world, target, relation);
    return true;
}

bool mica_partition_next(mica_partition *partition)
{
    if (MICAP_MISSING(NULL, partition) || !is_current(partition))
        return false;
    partition->entity = mica_nil();
    return partition->private_.index ? next_value(partition) : next_target(partition);
}

bool mica_member_next(mica_partition *partition)
{
    if (MICAP_MISSING(NULL, partition) || !is_current(partition) || !partition->count)
        return false;
    if (partition->private_.pool) {
        bool has_more = mica_edge_next(&partition->private_.edges);
        partition->entity = partition->private_.edges.entity;
        return has_more;
    }
    micap_key_place place = {partition->private_.block, partition->private_.position};
    partition->entity = mica_nil();
    if (place.block == partition->private_.end_block && place.position == partition->private_.end_position)
        return false;
    const micap_sorted_keys *keys = &partition->private_.index->keys;
    const micap_key_entry *key = micap_sorted_keys_at(keys, place);
    MICAP_ASSERT(key, "the partition has not ended");
    partition->entity = micap_entity_from_id(key->id);
    place = micap_sorted_keys_next(keys, place);
    partition->private_.block = place.block;
    partition->private_.position = place.position;
    return true;
}
