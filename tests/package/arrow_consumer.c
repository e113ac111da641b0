/* A query as an Arrow stream. */
#include <mica/arrow.h>
#include <mica/mica.h>

#include <stdio.h>

typedef struct Answer { int value; } Answer;
MICA_COMPONENT(Answer, value)

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Answer, {42}));
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    if (mica_arrow_stream(mica_query_create(world, MICA_QUERY(MICA_READ(Answer))), NULL, &stream) == MICA_OK &&
        stream.get_next(&stream, &batch) == 0)
        printf("%d\n", ((const int *)batch.children[1]->buffers[1])[0]);
    return 0;
}
