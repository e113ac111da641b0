#include "core/state/state_records.h"

/* Bytes could ask for any number of handles. */
enum { HANDLES_MAX = 1 << 24 };

bool micap_state_take_handles(mica_world *world, micap_reader *reader, mica_entity **out_entities, uint32_t *out_count)
{
    *out_entities = NULL;
    *out_count = 0;
    uint32_t count = (uint32_t)micap_reader_take_up_to(reader, HANDLES_MAX), capacity = 0;
    micap_handle_runs runs = {0};
    mica_entity *entities = NULL;
    for (uint32_t i = 0; i < count && !reader->failed; ++i) { /* grows with what is there, not with what bytes say */
        mica_entity entity = micap_handle_runs_take(&runs, reader);
        if (!reader->failed && MICAP_RESERVE(&world->memory, entities, &capacity, (uint64_t)i + 1))
            entities[i] = entity;
        else
            reader->failed = true;
    }
    mica_entity *fitted = NULL;
    if (!reader->failed && count &&
        (fitted = micap_allocate(&world->memory, count * sizeof *fitted, MICAP_ARRAY_ALIGNMENT)))
        memcpy(fitted, entities, count * sizeof *fitted);
    MICAP_RELEASE_ARRAY(&world->memory, entities, capacity);
    *out_entities = fitted;
    *out_count = fitted ? count : 0;
    return !reader->failed && (fitted || !count);
}

const micap_type *micap_state_find_type(const mica_world *world, uint64_t name_hash)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_type *type = micap_component_of(&world->components, id)->type;
        if (type->name_hash == name_hash && type->companion == MICAP_COMPANION_NONE)
            return type;
    }
    return NULL;
}
