/* Attachments: what belongs to an entity and is found by its index, outside of chunks and pools: a name, and links of the
 * hierarchy. One bit per index says that there may be some, so that destroying an entity that has none costs nothing, whatever
 * other entities have.
 *
 * A bit that is set may be wrong; a bit that is not set is right. While there are snapshots no bit is cleared, so that what a
 * restore brings back has its bits. */
#ifndef MICAP_CORE_STORAGE_ATTACHMENTS_H
#define MICAP_CORE_STORAGE_ATTACHMENTS_H

#include "mica/handle.h"
#include "mica/world.h"

typedef struct micap_attachments {
    uint64_t *words;
    uint32_t word_count;
} micap_attachments;

static inline bool micap_is_attached(const micap_attachments *attachments, uint32_t entity_index)
{
    uint32_t word = entity_index >> 6;
    return word < attachments->word_count && attachments->words[word] >> (entity_index & 63) & 1;
}

/* Makes room for the bit of an index. False if memory is short. */
bool micap_attachments_reserve(mica_world *world, uint32_t entity_index);
void micap_attachments_free(mica_world *world);

/* Sets the bit of an index for which there is room. */
static inline void micap_attach(const micap_attachments *attachments, uint32_t entity_index)
{
    attachments->words[entity_index >> 6] |= (uint64_t)1 << (entity_index & 63);
}

/* Clears the bit of an index for which there is room. */
static inline void micap_attachment_clear(const micap_attachments *attachments, uint32_t entity_index)
{
    attachments->words[entity_index >> 6] &= ~((uint64_t)1 << (entity_index & 63));
}

/* After an entity lost everything: its bit is cleared if no snapshot can bring something back. */
void micap_detach(mica_world *world, uint32_t entity_index);

#endif
