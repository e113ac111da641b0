#include "cli/sweep.h"

#include <stdlib.h>
#include <string.h>

/* Set by mpirun of Open MPI, and by launchers with PMI. */
static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};

bool sweep_ranks_are_launched(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; ++i)
        if (getenv(launchers[i]))
            return true;
    return false;
}

void sweep_ranks_forget(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; ++i)
        micap_environment_remove(launchers[i]);
}

#ifdef MICA_WITH_CLUSTER
#    include "mica/ranks.h"

int sweep_ranks_open(sweep_ranks *ranks)
{
    *ranks = (sweep_ranks){.rank_count = 1};
    if (!sweep_ranks_are_launched())
        return EXIT_FINE;
    ranks->ranks = mica_ranks_open();
    if (!ranks->ranks)
        return EXIT_BAD; /* the reason was reported */
    ranks->rank = mica_ranks_rank(ranks->ranks);
    ranks->rank_count = mica_ranks_rank_count(ranks->ranks);
    return EXIT_FINE;
}

void sweep_ranks_close(sweep_ranks *ranks)
{
    mica_ranks_close(ranks->ranks);
}

bool sweep_ranks_send(sweep_ranks *ranks, uint32_t to, sweep_message message, const sweep_result *result)
{
    size_t byte_count = sizeof message + (result ? result->byte_count : 0);
    char *bytes = malloc(byte_count);
    if (!bytes)
        return complain("out of memory"), false;
    memcpy(bytes, &message, sizeof message);
    if (result)
        memcpy(bytes + sizeof message, result, result->byte_count);
    mica_result sent = mica_ranks_send(ranks->ranks, to, bytes, byte_count);
    free(bytes);
    return sent == MICA_OK;
}

bool sweep_ranks_receive(sweep_ranks *ranks, uint32_t *out_from, sweep_message *out_message, sweep_result **out_result)
{
    const void *bytes;
    size_t byte_count;
    *out_result = NULL;
    if (!ranks->ranks || !mica_ranks_receive(ranks->ranks, out_from, &bytes, &byte_count))
        return false;
    memcpy(out_message, bytes, sizeof *out_message);
    if (out_message->kind != SWEEP_RESULT)
        return true;
    *out_result = malloc(byte_count - sizeof *out_message);
    if (!*out_result)
        return complain("out of memory"), false;
    memcpy(*out_result, (const char *)bytes + sizeof *out_message, byte_count - sizeof *out_message);
    return true;
}
#else
int sweep_ranks_open(sweep_ranks *ranks)
{
    *ranks = (sweep_ranks){.rank_count = 1};
    return sweep_ranks_are_launched() ? complain("sweep: the tool was built without Open MPI: it can't use mpirun")
                                      : EXIT_FINE;
}

void sweep_ranks_close(sweep_ranks *ranks)
{
    (void)ranks;
}

bool sweep_ranks_send(sweep_ranks *ranks, uint32_t to, sweep_message message, const sweep_result *result)
{
    (void)ranks, (void)to, (void)message, (void)result;
    return false;
}

bool sweep_ranks_receive(sweep_ranks *ranks, uint32_t *out_from, sweep_message *out_message, sweep_result **out_result)
{
    (void)ranks, (void)out_from, (void)out_message, (void)out_result;
    return false;
}
#endif
