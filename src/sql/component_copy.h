/* A copy of a component that a statement changes before it is written back, so that a row with an invalid value changes nothing. */
#ifndef MICAP_SQL_COMPONENT_COPY_H
#define MICAP_SQL_COMPONENT_COPY_H

#include "sql/session.h"

typedef struct micap_sql_copy {
    const mica_type *type;
    void *memory;
    char *value; /* the component, in `memory` */
} micap_sql_copy;

/* Makes room, all zero and aligned for functions of the component. Returns false if memory is short. */
bool micap_sql_copy_init(micap_sql_copy *copy, const mica_type *type);
void micap_sql_copy_free(micap_sql_copy *copy);
/* Copies a value, with the copy function of the component if it has one. Returns false if memory is short. */
bool micap_sql_copy_take(const micap_sql_copy *copy, const void *from);
/* Destroys what micap_sql_copy_take made. */
void micap_sql_copy_drop(const micap_sql_copy *copy);
/* Exchanges a text or a list of the copy with that of the component, which is then destroyed with the copy. */
void micap_sql_copy_swap(char *a, char *b, uint32_t bytes);

#endif
