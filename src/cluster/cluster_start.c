#include "cluster/cluster_start.h"

#include "cluster/distribution.h"
#include "cluster/exchange.h"
#include "cluster/handshake.h"
#include "cluster/reference.h"
#include "cluster/shared_singleton.h"

bool micap_cluster_agree(mica_cluster *cluster)
{
    bool compares = cluster->singleton_count && cluster->is_started;
    uint64_t hash = compares ? micap_shared_singletons_hash(cluster) : 0;
    bool must_stop = atomic_load_explicit(&cluster->must_stop, memory_order_acquire);
    uint64_t flags[4] = {(uint64_t)cluster->result, must_stop, hash, ~hash}; /* the greatest of all ranks */
    micap_transport_maximum(&cluster->transport, flags, 4);
    if (flags[0] == MICA_OK && flags[2] != ~flags[3]) {
        micap_shared_singletons_report(cluster);
        flags[0] = MICA_ERROR_REFUSED;
    }
    if (flags[0] != MICA_OK && cluster->result == MICA_OK)
        cluster->result = (mica_result)flags[0];
    return flags[0] == MICA_OK && !flags[1];
}

bool micap_cluster_start(mica_cluster *cluster)
{
    if (cluster->is_started)
        return true;
    micap_exchange_check_world(cluster);
    micap_handshake_run(cluster);
    if (!micap_cluster_agree(cluster))
        return false;
    if (!micap_references_open(cluster))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for references between ranks");
    cluster->is_started = true;
    micap_distribution_start(cluster);
    if (cluster->is_distributed) {
        micap_exchange_run(cluster);
    } else {
        micap_references_settle(cluster);
        micap_exchange_neighbours(cluster);
    }
    return micap_cluster_agree(cluster);
}
