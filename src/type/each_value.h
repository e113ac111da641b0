/* Components whose description has functions for one value, destroy_one and copy_one: the functions for several values are made from them. */
#ifndef MICAP_TYPE_EACH_VALUE_H
#define MICAP_TYPE_EACH_VALUE_H

#include "mica/describe.h"

/* Sets destruct, copy and context of a registered description. */
void micap_each_derive(mica_type *type);

/* What is wrong with these functions of a description, or NULL. One that was registered has both kinds. */
const char *micap_each_problem(const mica_type *type);

/* Whether a description has functions of the program that destroy, copy or move values, in either form. */
static inline bool micap_type_has_life(const mica_type *type)
{
    return type->destruct || type->copy || type->move || type->destroy_one || type->copy_one;
}

#endif
