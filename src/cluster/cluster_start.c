#include "cluster/cluster_start.h"

#include "cluster/distribution.h"
#include "cluster/exchange.h"
#include "cluster/handshake.h"
#include "cluster/reference.h"

bool micap_cluster_agree(mica_cluster *cluster)
{
    uint64_t flags[2] = {(uint64_t)cluster->result, atomic_load_explicit(&cluster->must_stop, memory_order_acquire)};
    micap_transport_maximum(&cluster->transport, flags, 2);
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
