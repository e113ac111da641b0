/* libFuzzer: any bytes as a resource. Checksums are repaired first, or nothing would get past them; what loads is
 * spawned and saved. */
#include "../support/level.h"
#include "../support/people.h"
#include "../support/reseal.h"

#include "mica/mica.h"

#include <stdlib.h>

static void ignore(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = aligned_alloc(64, (size + 64) / 64 * 64);
    memcpy(bytes, data, size);
    reseal(bytes, size);
    mica_resource_def def = {.memory_bytes_max = 1 << 20, .any_byte_order = true};
    mica_resource *resource = mica_resource_open(bytes, size, &def, NULL);
    if (resource && mica_resource_entity_count(resource) < 100000) {
        mica_world_def world_def = mica_world_def_default();
        world_def.report = ignore;
        mica_world *world = mica_world_create(&world_def);
        level_define(world);
        mica_define(world, Person);
        mica_define(world, Diary);
        mica_define(world, Letters);
        mica_define(world, Archive);
        mica_spawn(world, resource, &(mica_spawn_def){.skip_unknown = true});
        mica_blob blob;
        if (mica_pack(world, NULL, &blob) == MICA_OK)
            mica_blob_free(&blob);
        if (mica_world_validate(world) != MICA_OK)
            abort();
        mica_world_destroy(world);
    }
    mica_resource_free(resource);
    free(bytes);
    return 0;
}
