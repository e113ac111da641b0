#include "cluster/transport.h"

#include "os/clock.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_ROUND = 100, TAG_ROUNDS = 4, TAG_WAITING = 99, TAG_COMBINE = 98, EXIT_HUNG = 3 };
#define SECOND 1000000000.0

struct micap_communicator {
    MPI_Comm comm;
};

/* Set by mpirun of Open MPI, and by launchers with PMI. Without them MPI need not be started. */
static bool is_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (getenv(names[i]))
            return true;
    return false;
}

static void finalize(void)
{
    int is_finalized = 1;
    MPI_Finalized(&is_finalized);
    if (!is_finalized)
        MPI_Finalize();
}

/* MPI can be started once per process, and ends with it. */
static const char *start_mpi(void)
{
    int is_initialized = 0, is_finalized = 0, provided = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_finalized)
        return "MPI has ended in this process";
    if (is_initialized)
        return NULL;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED)
        return "MPI can't be started, or not in a program with threads";
    atexit(finalize);
    return NULL;
}

const char *micap_transport_open(micap_transport *transport, micap_memory *memory, double time_limit_seconds)
{
    *transport = (micap_transport){.memory = memory, .rank_count = 1, .time_limit_seconds = time_limit_seconds};
    int is_initialized = 0;
    MPI_Initialized(&is_initialized);
    if (!is_initialized && !is_launched())
        return NULL;
    const char *problem = start_mpi();
    if (problem)
        return problem;
    struct micap_communicator *communicator = micap_allocate(memory, sizeof *communicator, MICAP_ARRAY_ALIGNMENT);
    if (!communicator)
        return "out of memory";
    int rank = 0, rank_count = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator->comm);
    MPI_Comm_rank(communicator->comm, &rank);
    MPI_Comm_size(communicator->comm, &rank_count);
    transport->communicator = communicator;
    transport->rank = (uint32_t)rank;
    transport->rank_count = (uint32_t)rank_count;
    return NULL;
}

void micap_transport_close(micap_transport *transport)
{
    if (transport->memory)
        MICAP_RELEASE_ARRAY(transport->memory, transport->waits, transport->wait_capacity);
    transport->waits = NULL;
    transport->wait_count = transport->wait_capacity = 0;
    if (!transport->communicator)
        return;
    int is_finalized = 1;
    MPI_Finalized(&is_finalized);
    if (!is_finalized)
        MPI_Comm_free(&transport->communicator->comm);
    micap_release(transport->memory, transport->communicator, sizeof *transport->communicator, MICAP_ARRAY_ALIGNMENT);
    transport->communicator = NULL;
}

/* Asks all ranks whether they wait too. Those that do not answer are at work or hang. */
static void name_silent_ranks(const micap_transport *transport, MPI_Request *requests, bool *has_answered)
{
    MPI_Comm comm = transport->communicator->comm;
    uint32_t count = transport->rank_count;
    for (uint32_t i = 0; i < count; ++i)
        MPI_Isend(NULL, 0, MPI_BYTE, (int)i, TAG_WAITING, comm, &requests[i]);
    double grace = transport->time_limit_seconds / 2 > 1 ? transport->time_limit_seconds / 2 : 1;
    for (uint64_t begin = micap_clock_ns(); (double)(micap_clock_ns() - begin) < grace * SECOND;) {
        int is_there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_WAITING, comm, &is_there, &status);
        if (is_there) {
            MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_WAITING, comm, MPI_STATUS_IGNORE);
            has_answered[status.MPI_SOURCE] = true;
        } else {
            micap_sleep_ns(1000000);
        }
    }
    for (uint32_t i = 0; i < count; ++i)
        if (!has_answered[i] && i != transport->rank)
            fprintf(stderr, "mica cluster: rank %u does not answer; rank %u waited for %.1f s; the job ends\n", i,
                    transport->rank, transport->time_limit_seconds);
}

/* Waiting took too long. */
static void end_job(const micap_transport *transport)
{
    bool *has_answered = calloc(transport->rank_count, sizeof *has_answered);
    MPI_Request *requests = calloc(transport->rank_count, sizeof *requests);
    if (has_answered && requests)
        name_silent_ranks(transport, requests, has_answered);
    else
        fprintf(stderr, "mica cluster: rank %u waited for %.1f s; the job ends\n", transport->rank,
                transport->time_limit_seconds);
    free(has_answered);
    free(requests);
    MPI_Abort(transport->communicator->comm, EXIT_HUNG);
}

static void check_time(const micap_transport *transport, uint64_t begin)
{
    if ((double)(micap_clock_ns() - begin) > transport->time_limit_seconds * SECOND)
        end_job(transport);
}

/* When a wait began, and the processor time until then without that of other waits. */
typedef struct wait_begin {
    uint64_t clock_ns, work_ns;
} wait_begin;

static wait_begin begin_wait(const micap_transport *transport)
{
    return (wait_begin){micap_clock_ns(), micap_processor_ns() - transport->wait_processor_ns};
}

/* `used_ns` of it was not waiting, but using what arrived. */
static void end_wait(micap_transport *transport, wait_begin wait, uint64_t used_ns)
{
    uint64_t begin = wait.clock_ns, end = micap_clock_ns();
    transport->wait_processor_ns = micap_processor_ns() - wait.work_ns - used_ns;
    transport->wait_seconds += (double)(end - begin) / SECOND;
    if (transport->keeps_waits && MICAP_RESERVE(transport->memory, transport->waits, &transport->wait_capacity,
                                                (uint64_t)transport->wait_count + 1))
        transport->waits[transport->wait_count++] = (micap_wait){begin, end};
}

static void wait_for(micap_transport *transport, MPI_Request *request)
{
    wait_begin wait = begin_wait(transport);
    int is_done = 0;
    for (MPI_Test(request, &is_done, MPI_STATUS_IGNORE); !is_done; MPI_Test(request, &is_done, MPI_STATUS_IGNORE))
        check_time(transport, wait.clock_ns);
    end_wait(transport, wait, 0);
}

/* Receives one message if there is one. False if there is none. */
static bool receive_one(micap_transport *transport, int tag, micap_bytes *buffer, micap_receive_fn fn, void *context,
                        bool *out_is_short, uint64_t *used_ns)
{
    MPI_Message message;
    MPI_Status status;
    int is_there = 0, byte_count = 0;
    MPI_Improbe(MPI_ANY_SOURCE, tag, transport->communicator->comm, &is_there, &message, &status);
    if (!is_there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &byte_count);
    buffer->count = 0;
    char *room = micap_bytes_grow(buffer, (size_t)byte_count);
    if (!room) { /* the sender must not wait for ever: the message is cut to nothing */
        buffer->failed = false;
        *out_is_short = true;
        MPI_Comm_set_errhandler(transport->communicator->comm, MPI_ERRORS_RETURN);
        char none;
        MPI_Mrecv(&none, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        MPI_Comm_set_errhandler(transport->communicator->comm, MPI_ERRORS_ARE_FATAL);
        return true;
    }
    MPI_Mrecv(room, byte_count, MPI_BYTE, &message, &status);
    transport->received_bytes += (uint64_t)byte_count;
    uint64_t begin = micap_processor_ns();
    fn((uint32_t)status.MPI_SOURCE, room, (size_t)byte_count, context);
    *used_ns += micap_processor_ns() - begin;
    return true;
}

/* Starts the sends; returns how many. */
static int send_parcels(micap_transport *transport, int tag, const micap_parcel *parcels, uint32_t parcel_count,
                        MPI_Request *out_requests)
{
    int count = 0;
    for (uint32_t i = 0; i < parcel_count; ++i) {
        const micap_bytes *bytes = &parcels[i].bytes;
        if (!bytes->count)
            continue;
        MPI_Issend(bytes->data, (int)bytes->count, MPI_BYTE, (int)parcels[i].rank, tag, transport->communicator->comm,
                   &out_requests[count++]);
        transport->sent_bytes += bytes->count;
        ++transport->sent_message_count;
    }
    return count;
}

/* The counts of MPI are ints. */
static bool are_sizes_valid(const micap_parcel *parcels, uint32_t parcel_count)
{
    for (uint32_t i = 0; i < parcel_count; ++i)
        if (parcels[i].bytes.failed || parcels[i].bytes.count > INT32_MAX)
            return false;
    return true;
}

bool micap_transport_exchange(micap_transport *transport, const micap_parcel *parcels, uint32_t parcel_count,
                              micap_receive_fn fn, void *context)
{
    if (!transport->communicator || transport->rank_count == 1)
        return true;
    MPI_Comm comm = transport->communicator->comm;
    /* A rank can be one round ahead of another, never two. */
    int tag = TAG_ROUND + (int)(transport->round++ % TAG_ROUNDS);
    MPI_Request *sends = micap_allocate(transport->memory, parcel_count * sizeof *sends, MICAP_ARRAY_ALIGNMENT);
    bool is_short = !sends || !are_sizes_valid(parcels, parcel_count);
    int send_count = !is_short ? send_parcels(transport, tag, parcels, parcel_count, sends) : 0;
    micap_bytes buffer = {.memory = transport->memory};
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool is_in_barrier = false;
    wait_begin wait = begin_wait(transport);
    uint64_t used_ns = 0;
    for (int is_done = 0; !is_done;) {
        if (receive_one(transport, tag, &buffer, fn, context, &is_short, &used_ns))
            continue;
        if (is_in_barrier) {
            MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE);
        } else {
            int are_sent = 1;
            MPI_Testall(send_count, sends, &are_sent, MPI_STATUSES_IGNORE);
            if (are_sent) {
                MPI_Ibarrier(comm, &barrier);
                is_in_barrier = true;
            }
        }
        check_time(transport, wait.clock_ns);
    }
    end_wait(transport, wait, used_ns);
    micap_bytes_free(&buffer);
    micap_release(transport->memory, sends, parcel_count * sizeof *sends, MICAP_ARRAY_ALIGNMENT);
    return !is_short;
}

static void reduce(micap_transport *transport, void *values, uint32_t count, MPI_Datatype type, MPI_Op operation)
{
    if (!transport->communicator)
        return;
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, type, operation, transport->communicator->comm, &request);
    wait_for(transport, &request);
}

void micap_transport_sum(micap_transport *transport, uint64_t *values, uint32_t count)
{
    reduce(transport, values, count, MPI_UINT64_T, MPI_SUM);
}

void micap_transport_maximum(micap_transport *transport, uint64_t *values, uint32_t count)
{
    reduce(transport, values, count, MPI_UINT64_T, MPI_MAX);
}

double micap_transport_before(micap_transport *transport, double value)
{
    double before = 0;
    if (!transport->communicator)
        return 0;
    MPI_Request request;
    MPI_Iexscan(&value, &before, 1, MPI_DOUBLE, MPI_SUM, transport->communicator->comm, &request);
    wait_for(transport, &request);
    return transport->rank ? before : 0;
}

void micap_transport_share(micap_transport *transport, void *bytes, uint32_t byte_count)
{
    if (!transport->communicator)
        return;
    MPI_Request request;
    MPI_Ibcast(bytes, (int)byte_count, MPI_BYTE, 0, transport->communicator->comm, &request);
    wait_for(transport, &request);
}

void micap_transport_gather(micap_transport *transport, const void *bytes, uint32_t byte_count, void *out_all)
{
    if (!transport->communicator) {
        memcpy(out_all, bytes, byte_count);
        return;
    }
    MPI_Request request;
    MPI_Iallgather(bytes, (int)byte_count, MPI_BYTE, out_all, (int)byte_count, MPI_BYTE, transport->communicator->comm,
                   &request);
    wait_for(transport, &request);
}

void micap_transport_combine(micap_transport *transport, void *value, void *other, uint32_t byte_count,
                             mica_combine_fn fn, void *context)
{
    uint32_t rank = transport->rank, rank_count = transport->rank_count, distance = 1;
    MPI_Request request;
    for (; distance < rank_count && !(rank & distance); distance *= 2)
        if (rank + distance < rank_count) {
            MPI_Irecv(other, (int)byte_count, MPI_BYTE, (int)(rank + distance), TAG_COMBINE,
                      transport->communicator->comm, &request);
            wait_for(transport, &request);
            fn(value, other, context);
        }
    if (rank) {
        MPI_Isend(value, (int)byte_count, MPI_BYTE, (int)(rank - distance), TAG_COMBINE, transport->communicator->comm,
                  &request);
        wait_for(transport, &request);
    }
    micap_transport_share(transport, value, byte_count);
}

bool micap_transport_gather_all(micap_transport *transport, const micap_bytes *own, micap_bytes *out_all,
                                uint32_t *out_ends)
{
    uint32_t rank_count = transport->rank_count, count = own->failed ? UINT32_MAX : own->count;
    out_all->count = 0;
    micap_transport_gather(transport, &count, sizeof count, out_ends);
    int *counts = (int *)(void *)out_ends, *begins = counts + rank_count;
    uint64_t total = 0;
    for (uint32_t rank = 0; rank < rank_count; ++rank) {
        begins[rank] = (int)total;
        total += out_ends[rank];
        if (total > INT32_MAX)
            return false;
    }
    if (!total)
        return true;
    char *room = micap_bytes_grow(out_all, total);
    uint64_t is_short = !room;
    micap_transport_maximum(transport, &is_short, 1);
    if (!room || is_short)
        return false;
    if (transport->communicator) {
        MPI_Request request;
        MPI_Iallgatherv(own->data, (int)count, MPI_BYTE, room, counts, begins, MPI_BYTE, transport->communicator->comm,
                        &request);
        wait_for(transport, &request);
        transport->sent_bytes += count;
        transport->received_bytes += total - count;
    } else {
        memcpy(room, own->data, count);
    }
    for (uint32_t rank = 0; rank < rank_count; ++rank)
        out_ends[rank] += (uint32_t)begins[rank];
    return true;
}
