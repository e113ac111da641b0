/* From the layout in a file to the layout of the program, field by field, by name. New fields keep what is there, dropped
 * ones are passed over, numbers may become wider, arrays longer; constants are matched by name. Arrays become lists and arrays of char
 * become text, and the other way round where they fit. Everything else is an error that says so: a value that would not fit is never cut. */
#ifndef MICAP_RESOURCE_SPAWN_MIGRATE_H
#define MICAP_RESOURCE_SPAWN_MIGRATE_H

#include "base/memory.h"
#include "mica/describe.h"

typedef struct micap_migration_step {
    uint32_t from;
    uint32_t to;
    uint32_t count;
    uint32_t from_bytes;
    uint32_t to_bytes;
    mica_kind from_kind;
    mica_kind to_kind;
    bool from_signed;
    const mica_type *from_type; /* of constants that have to be matched, and of elements of lists; NULL otherwise */
    const mica_type *to_type;
    struct micap_migration *elements; /* of lists and arrays; NULL: lists are the same in the file and in the program */
    const char *name;                 /* of the field in the program, for text and lists */
} micap_migration_step;

typedef struct micap_migration {
    micap_migration_step *steps;
    uint32_t count;
    uint32_t capacity;
    uint32_t from_bytes;
    uint32_t to_bytes;
    bool has_contents; /* some step makes or reads text or lists: then applying it can fail */
    char problem[200]; /* "" when memory was short */
} micap_migration;

/* False when it can't be done. Free it in either case. */
bool micap_migration_make(micap_migration *plan, micap_memory *memory, const mica_type *from, const mica_type *to);
void micap_migration_free(micap_migration *plan, micap_memory *memory);

/* References, which are indices in the file, become handles: only those that come from the file, since what is there
 * already may be anything. Returns NULL, "" if memory is short, or the name of a field that does not fit; values are valid then, but
 * incomplete. */
const char *micap_migration_apply(const micap_migration *plan, void *to, const void *from, uint64_t count,
                                  const mica_entity *entities);

#endif
