/* Saves a world and spawns it again; prints 42. */
#include <mica/mica.h>
#include <mica/resource.h>

#include <stdio.h>

typedef struct Answer { int value; } Answer;
MICA_COMPONENT(Answer, value)

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Answer, {42}));
    mica_blob blob;
    mica_pack(world, NULL, &blob);
    mica_destroy(world, entity);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_spawn(world, resource, &(mica_spawn_def){.out_entities = &entity, .out_capacity = 1});
    printf("%d\n", mica_get(world, entity, Answer)->value);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    mica_world_destroy(world);
}
