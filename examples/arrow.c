/* A query through the Arrow C stream interface, as a data frame or a database reads it: columns, without a copy where possible. */
#include "mica/arrow.h"
#include "mica/mica.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, x, y)

typedef struct Energy { double joules; } Energy;
MICA_COMPONENT(Energy, (joules, double, .unit = "J"))

typedef struct Leader { mica_entity entity; } Leader;
MICA_COMPONENT(Leader, entity)

static void print_schema(const struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; ++i)
        printf("%-14s %s%s\n", schema->children[i]->name, schema->children[i]->format,
               schema->children[i]->flags & ARROW_FLAG_NULLABLE ? ", can be null" : "");
}

/* What a consumer does that knows Arrow, but not Mica. */
static void read_all(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    double sum = 0;
    int64_t rows = 0, leaders = 0;
    if (stream->get_schema(stream, &schema) != 0)
        return;
    print_schema(&schema);
    schema.release(&schema);
    while (stream->get_next(stream, &batch) == 0 && batch.release) {
        const double *joules = batch.children[3]->buffers[1];
        for (int64_t i = 0; i < batch.length; ++i)
            sum += joules[i];
        rows += batch.length;
        leaders += batch.children[4]->length - batch.children[4]->null_count;
        batch.release(&batch);
    }
    printf("%d rows, %d have a leader, %g J\n", (int)rows, (int)leaders, sum);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity first = mica_create(world, MICA_WITH(Position, {0, 0}), MICA_WITH(Energy, {5}));
    for (int i = 1; i < 1000; ++i)
        mica_create(world, MICA_WITH(Position, {(float)i, 0}), MICA_WITH(Energy, {1}), MICA_WITH(Leader, {first}));

    mica_query *query = mica_query_text(world, "Position, Energy, ?Leader", NULL);
    struct ArrowArrayStream stream;
    if (mica_arrow_stream(query, NULL, &stream) == MICA_OK) {
        read_all(&stream);
        stream.release(&stream);
    }
    mica_world_destroy(world);
}
