/* spawn_hash FILE: maps a resource, spawns it, saves it again and prints the hash of the world. Run on machines of both byte orders,
 * each with the file compiled for it, it must print the same: tools/big_endian.sh. */
#include "../support/components.h"

#include "mica/resource.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Reads the file in plain too: what is packed must be what was mapped. */
static int is_file(const char *path, const mica_blob *blob)
{
    static char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    return count == blob->byte_count && memcmp(bytes, blob->bytes, count) == 0;
}

int main(int argument_count, char **arguments)
{
    mica_resource_error error = {0};
    mica_resource *resource = argument_count == 2 ? mica_resource_load(arguments[1], NULL, &error) : NULL;
    if (!resource) {
        fprintf(stderr, "spawn_hash: %s\n", error.text);
        return 1;
    }
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Position);
    mica_define(world, Velocity);
    mica_define(world, Number);
    mica_define(world, Frozen);
    mica_define(world, Visible);
    mica_define(world, Health);
    mica_define(world, Padded);
    mica_define(world, Monster);
    mica_define(world, Matrix);
    mica_define(world, Clock);
    mica_blob blob;
    if (mica_spawn(world, resource, NULL) != MICA_OK || mica_pack(world, NULL, &blob) != MICA_OK)
        return 1;
    printf("%u entities, hash %016" PRIx64 ", packed %s\n", mica_resource_entity_count(resource),
           mica_world_hash(world), is_file(arguments[1], &blob) ? "the same" : "otherwise");
    mica_blob_free(&blob);
    mica_world_destroy(world);
    mica_resource_free(resource);
    return 0;
}
