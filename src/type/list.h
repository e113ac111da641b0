/* List fields: see mica/list.h. */
#ifndef MICAP_TYPE_LIST_H
#define MICAP_TYPE_LIST_H

#include "type/block.h"

/* Gives up the block of a list, which is uninitialized afterwards. */
void micap_list_release(mica_list *list, const mica_type *element);

/* Makes a list, which has the bytes of another, a copy of it. False if memory is short: then it owns nothing. */
bool micap_list_retain(mica_list *list, const mica_type *element);

/* What is wrong with a list of a world, or NULL. */
const char *micap_list_problem(const mica_list *list, const mica_type *element);

#endif
