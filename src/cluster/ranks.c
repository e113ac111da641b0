/* Messages are synchronous sends that do not block: their end says that they were received. Those to this rank wait in a list. */
#include "base/argument.h"
#include "cluster/transport.h"
#include "mica/ranks.h"
#include "os/clock.h"

#include <mpi.h>

enum { TAG_MESSAGE = 98 };
#define PAUSE_NS 1000000u

/* A message on its way. The bytes follow it. */
typedef struct parcel {
    struct parcel *next;
    MPI_Request request;
    size_t byte_count;
} parcel;

struct mica_ranks {
    micap_memory memory;
    micap_transport transport;
    MPI_Comm comm; /* only with a communicator of the transport */
    parcel *sent;
    parcel *own; /* to this rank, the oldest first */
    parcel **own_end;
    parcel *shown;      /* the one that was received last, if it is from this rank */
    micap_bytes buffer; /* otherwise */
};

static void *bytes_of(parcel *parcel)
{
    return parcel + 1;
}

static void release_parcel(mica_ranks *ranks, parcel *parcel)
{
    if (parcel)
        micap_release(&ranks->memory, parcel, sizeof *parcel + parcel->byte_count, MICAP_ARRAY_ALIGNMENT);
}

/* Forgets messages that were received. */
static void release_sent(mica_ranks *ranks)
{
    for (parcel **at = &ranks->sent; *at;) {
        int is_done = 0;
        MPI_Test(&(*at)->request, &is_done, MPI_STATUS_IGNORE);
        if (is_done) {
            parcel *next = (*at)->next;
            release_parcel(ranks, *at);
            *at = next;
        } else {
            at = &(*at)->next;
        }
    }
}

mica_ranks *mica_ranks_open(void)
{
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    mica_ranks *ranks = micap_allocate_zeroed(&memory, sizeof *ranks, MICAP_ARRAY_ALIGNMENT);
    if (!ranks) {
        mica_world_report(NULL, MICA_ERROR_MEMORY, "mica_ranks_open: out of memory");
        return NULL;
    }
    micap_memory_init(&ranks->memory, memory.allocator);
    ranks->own_end = &ranks->own;
    ranks->buffer.memory = &ranks->memory;
    const char *problem = micap_transport_open(&ranks->transport, &ranks->memory, 0);
    if (problem) {
        mica_world_report(NULL, MICA_ERROR_REFUSED, problem);
        micap_release(&memory, ranks, sizeof *ranks, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    if (ranks->transport.communicator)
        MPI_Comm_dup(MPI_COMM_WORLD, &ranks->comm);
    return ranks;
}

void mica_ranks_close(mica_ranks *ranks)
{
    if (!ranks)
        return;
    for (release_sent(ranks); ranks->sent; release_sent(ranks))
        micap_sleep_ns(PAUSE_NS);
    while (ranks->own) {
        parcel *next = ranks->own->next;
        release_parcel(ranks, ranks->own);
        ranks->own = next;
    }
    release_parcel(ranks, ranks->shown);
    micap_bytes_free(&ranks->buffer);
    if (ranks->transport.communicator)
        MPI_Comm_free(&ranks->comm);
    micap_transport_close(&ranks->transport);
    mica_allocator allocator = ranks->memory.allocator;
    allocator.release(ranks, sizeof *ranks, MICAP_ARRAY_ALIGNMENT, allocator.context);
}

uint32_t mica_ranks_rank(const mica_ranks *ranks)
{
    return MICAP_MISSING(NULL, ranks) ? 0 : ranks->transport.rank;
}

uint32_t mica_ranks_rank_count(const mica_ranks *ranks)
{
    return MICAP_MISSING(NULL, ranks) ? 0 : ranks->transport.rank_count;
}

mica_result mica_ranks_send(mica_ranks *ranks, uint32_t rank, const void *bytes, size_t byte_count)
{
    if (MICAP_MISSING(NULL, ranks) || MICAP_MISSING_ARRAY(NULL, bytes, byte_count) ||
        MICAP_INVALID(NULL, rank >= ranks->transport.rank_count, rank, "must be below the number of ranks") ||
        MICAP_INVALID(NULL, byte_count > INT32_MAX, byte_count, "must be below 2^31"))
        return MICA_ERROR_INVALID;
    parcel *sent = micap_allocate(&ranks->memory, sizeof *sent + byte_count, MICAP_ARRAY_ALIGNMENT);
    if (!sent)
        return mica_world_report(NULL, MICA_ERROR_MEMORY, "mica_ranks_send: out of memory");
    *sent = (parcel){.byte_count = byte_count};
    if (byte_count)
        memcpy(bytes_of(sent), bytes, byte_count);
    if (rank == ranks->transport.rank) {
        *ranks->own_end = sent;
        ranks->own_end = &sent->next;
        return MICA_OK;
    }
    release_sent(ranks);
    MPI_Issend(bytes_of(sent), (int)byte_count, MPI_BYTE, (int)rank, TAG_MESSAGE, ranks->comm, &sent->request);
    sent->next = ranks->sent;
    ranks->sent = sent;
    return MICA_OK;
}

/* From this rank. */
static bool receive_own(mica_ranks *ranks, uint32_t *out_rank, const void **out_bytes, size_t *out_byte_count)
{
    release_parcel(ranks, ranks->shown);
    parcel *first = ranks->shown = ranks->own;
    if (!first)
        return false;
    ranks->own = first->next;
    ranks->own_end = ranks->own ? ranks->own_end : &ranks->own;
    *out_rank = ranks->transport.rank;
    *out_bytes = bytes_of(first);
    *out_byte_count = first->byte_count;
    return true;
}

bool mica_ranks_receive(mica_ranks *ranks, uint32_t *out_rank, const void **out_bytes, size_t *out_byte_count)
{
    if (MICAP_MISSING(NULL, ranks) || MICAP_MISSING(NULL, out_rank) || MICAP_MISSING(NULL, out_bytes) ||
        MICAP_MISSING(NULL, out_byte_count))
        return false;
    if (receive_own(ranks, out_rank, out_bytes, out_byte_count))
        return true;
    if (!ranks->transport.communicator)
        return false;
    int is_there = 0, byte_count = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_MESSAGE, ranks->comm, &is_there, &status);
    if (!is_there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &byte_count);
    ranks->buffer.count = 0;
    ranks->buffer.failed = false;
    char *room = micap_bytes_grow(&ranks->buffer, (size_t)byte_count);
    if (!room) {
        mica_world_report(NULL, MICA_ERROR_MEMORY, "mica_ranks_receive: out of memory");
        return false;
    }
    MPI_Recv(room, byte_count, MPI_BYTE, status.MPI_SOURCE, TAG_MESSAGE, ranks->comm, MPI_STATUS_IGNORE);
    *out_rank = (uint32_t)status.MPI_SOURCE;
    *out_bytes = room;
    *out_byte_count = (size_t)byte_count;
    return true;
}
