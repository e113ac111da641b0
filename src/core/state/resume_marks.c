/* What else the core restores: lists of removals, and what queries consider changed. */
#include "core/state/resume_marks.h"

#include "core/events/removals.h"
#include "core/query/query.h"
#include "core/state/state_records.h"

static mica_removals *find_list(const mica_world *world, uint64_t name_hash, uint64_t number)
{
    const micap_type *type = micap_state_find_type(world, name_hash);
    mica_removals *list = type ? micap_component_of(&world->components, type->id)->removals : NULL;
    while (list && number--)
        list = list->next;
    return list;
}

bool micap_resume_load_removals(mica_world *world, micap_reader reader)
{
    while (micap_reader_left(&reader)) {
        uint64_t name_hash = micap_reader_take64(&reader), number = micap_reader_take_number(&reader);
        uint64_t missed = micap_reader_take_number(&reader);
        mica_removals *list = find_list(world, name_hash, number);
        mica_entity *entities;
        uint32_t count;
        bool fine = micap_state_take_handles(world, &reader, &entities, &count) &&
                    (!list || MICAP_RESERVE(&world->memory, list->entities, &list->capacity, count));
        if (fine && list) {
            list->first = 0;
            list->count = count;
            list->missed = missed;
            if (count)
                memcpy(list->entities, entities, count * sizeof *entities);
        }
        MICAP_RELEASE_ARRAY(&world->memory, entities, count);
        if (!fine)
            return false;
    }
    return true;
}

void micap_resume_load_marks(mica_world *world, micap_reader reader)
{
    while (micap_reader_left(&reader) && !reader.failed) {
        uint64_t id = micap_reader_take_number(&reader), mark = micap_reader_take_number(&reader);
        for (uint32_t i = 0; i < world->queries->count; ++i) {
            mica_query *query = world->queries->all[i];
            if (query->id == id && query->special && query->is_marked)
                query->last_mark = mark;
        }
    }
    for (uint32_t i = 0; i < world->queries->count; ++i)
        world->queries->all[i]->order_valid = false;
}
