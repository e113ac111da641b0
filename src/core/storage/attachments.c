#include "core/storage/attachments.h"

#include "core/world/world.h"

bool micap_attachments_reserve(mica_world *world, uint32_t entity_index)
{
    micap_attachments *attachments = &world->attachments;
    uint32_t old = attachments->word_count, needed = (entity_index >> 6) + 1;
    if (!MICAP_RESERVE(&world->memory, attachments->words, &attachments->word_count, needed))
        return false;
    if (attachments->word_count > old)
        memset(attachments->words + old, 0, (attachments->word_count - old) * sizeof *attachments->words);
    return true;
}

void micap_attachments_free(mica_world *world)
{
    MICAP_RELEASE_ARRAY(&world->memory, world->attachments.words, world->attachments.word_count);
}

void micap_detach(mica_world *world, uint32_t entity_index)
{
    if (!world->undo.before)
        micap_attachment_clear(&world->attachments, entity_index);
}
