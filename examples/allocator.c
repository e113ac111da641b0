/* A custom allocator: a world takes all memory from it. If the allocator reaches its limit, calls return an error and the
 * world is unchanged. */
#include "mica/mica.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Budget {
    size_t used, most, limit;
} Budget;

/* Blocks have the requested alignment, up to the size of a large block. */
static void *take(size_t bytes, size_t alignment, void *context)
{
    Budget *budget = context;
    if (bytes > budget->limit - budget->used)
        return NULL;
    size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    void *memory = aligned_alloc(least, (bytes + least - 1) / least * least);
    if (memory) {
        budget->used += bytes;
        budget->most = budget->used > budget->most ? budget->used : budget->most;
    }
    return memory;
}

static void give_back(void *memory, size_t bytes, size_t alignment, void *context)
{
    Budget *budget = context;
    (void)alignment;
    budget->used -= bytes;
    free(memory);
}

typedef struct Cell { double temperature, pressure; } Cell;
MICA_COMPONENT(Cell, temperature, pressure)

static void complain(const mica_report *report, void *context)
{
    (void)context;
    printf("the world says: %s\n", mica_result_text(report->result));
}

int main(void)
{
    Budget budget = {0, 0, 16u << 20};
    mica_world_def def = mica_world_def_default();
    def.allocator = (mica_allocator){take, give_back, &budget};
    def.report = complain;
    mica_world *world = mica_world_create(&def);

    uint64_t created = 0;
    while (!mica_is_nil(mica_create(world, MICA_WITH(Cell, {20, 1013}))))
        ++created;
    printf("the budget was enough for more than 100 000 cells: %s\n", created > 100000 ? "yes" : "no");
    printf("the world is sound: %s\n", mica_world_validate(world) == MICA_OK ? "yes" : "no");
    printf("and has all of them: %s\n", mica_world_get_stats(world).entity_count == created ? "yes" : "no");

    /* The generation of each handle remains in memory, so that old handles never become valid again. */
    mica_world_clear(world);
    size_t before = budget.used, trimmed = mica_world_trim(world);
    printf("trimming the empty world gives back more than half: %s\n", trimmed > before / 2 ? "yes" : "no");
    printf("to the last byte: %s\n", budget.used == before - trimmed ? "yes" : "no");

    mica_world_destroy(world);
    printf("in the end %zu bytes are left, and never more than the budget was used: %s\n", budget.used,
           budget.most <= budget.limit ? "yes" : "no");
}
