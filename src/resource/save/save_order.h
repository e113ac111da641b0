/* Which entities are saved, and in which order. */
#ifndef MICAP_RESOURCE_SAVE_SAVE_ORDER_H
#define MICAP_RESOURCE_SAVE_SAVE_ORDER_H

#include "resource/save/save.h"

/* Collects the entities and puts them into the draft, parents before children. */
bool micap_saving_order(micap_saving *work);

/* Makes sure that entities can be found. */
bool micap_saving_index(micap_saving *work);

/* The draft index of an entity, or MICAP_NONE for what is not saved. */
uint32_t micap_saving_find(const micap_saving *work, mica_entity entity);

#endif
