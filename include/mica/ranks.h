/* Mica, ranks: messages between the processes of an MPI job that have no world in common, such as the runs of `mica sweep`.
 *
 *     mica_ranks *ranks = mica_ranks_open();                         one rank without mpirun
 *     if (mica_ranks_rank(ranks) != 0)
 *         mica_ranks_send(ranks, 0, result, sizeof result);
 *     else
 *         while (mica_ranks_receive(ranks, &from, &bytes, &byte_count))
 *             ...
 *     mica_ranks_close(ranks);
 *
 * One world on all ranks is mica/cluster.h. Part of mica::cluster. */
#ifndef MICA_RANKS_H
#define MICA_RANKS_H

#include "mica/base.h"

MICA_BEGIN

typedef struct mica_ranks mica_ranks;

/* Starts MPI if the program was started by mpirun; without it there is one rank. Returns NULL with a report if that fails or memory runs out.
 * Collective. Threads: owner. */
MICA_API mica_ranks *mica_ranks_open(void);

/* Waits until all messages of this rank were received. Call it on all ranks. NULL is a no-op. Collective. Threads: owner. */
MICA_API void mica_ranks_close(mica_ranks *ranks);

/* Return the number of this rank, starting at 0, and the number of ranks. Threads: reader. */
MICA_API uint32_t mica_ranks_rank(const mica_ranks *ranks);
MICA_API uint32_t mica_ranks_rank_count(const mica_ranks *ranks);

/* Sends a message to a rank, also to this one. The bytes are copied. Does not wait. Messages from one rank to another arrive in their order.
 * MICA_ERROR_INVALID for a rank that does not exist and for more than 2^31 - 1 bytes; MICA_ERROR_MEMORY. Threads: owner. */
MICA_API mica_result mica_ranks_send(mica_ranks *ranks, uint32_t rank, const void *bytes, size_t byte_count);

/* Receives a message, if one has arrived. Returns false if there is none, or with a report if memory runs out. The bytes are valid until the
 * next call. Threads: owner. */
MICA_API bool mica_ranks_receive(mica_ranks *ranks, uint32_t *out_rank, const void **out_bytes, size_t *out_byte_count);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_ranks_open() MICA_AT_(mica_ranks_open())
#    define mica_ranks_close(ranks) MICA_AT_(mica_ranks_close(ranks))
#    define mica_ranks_rank(ranks) MICA_AT_(mica_ranks_rank(ranks))
#    define mica_ranks_rank_count(ranks) MICA_AT_(mica_ranks_rank_count(ranks))
#    define mica_ranks_send(...) MICA_AT_(mica_ranks_send(__VA_ARGS__))
#    define mica_ranks_receive(...) MICA_AT_(mica_ranks_receive(__VA_ARGS__))
#endif

#endif
