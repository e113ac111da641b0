/* A delta taken apart: where each field lies, by name, so that tests can make any of them wrong. */
#ifndef MICA_TESTS_SUPPORT_PARCEL_H
#define MICA_TESTS_SUPPORT_PARCEL_H

#include <stdbool.h>
#include <stdint.h>

/* A part of the bytes, by a name such as "Knot: slice 0: row". */
typedef struct field {
    char name[64];
    uint32_t at;
    uint32_t bytes;
    uint32_t group; /* where the group begins that it is in; 0: the header */
} field;

/* A delta, all its fields, and where the walk through them is. */
typedef struct parcel {
    char *bytes;
    uint32_t count;
    field fields[900];
    uint32_t field_count;
    uint32_t at;
    uint32_t group;
    const char *of; /* whose fields these are */
} parcel;

/* Copies a delta that is sound, and walks through it. */
void parcel_open(parcel *parcel, const char *bytes, uint32_t count);
void parcel_close(parcel *parcel);

const field *parcel_field(const parcel *parcel, const char *name);

/* Little-endian words of up to 8 bytes. */
uint64_t parcel_word(const parcel *parcel, uint32_t at, uint32_t bytes);
void parcel_set_word(const parcel *parcel, uint32_t at, uint32_t bytes, uint64_t word);

/* Puts zeroes in place of some bytes of a group, as many as there were or not; the group's size follows. */
void parcel_replace(parcel *parcel, uint32_t group, uint32_t at, uint32_t bytes, uint32_t count);
/* Inserts a copy of a group after it. */
void parcel_repeat(parcel *parcel, uint32_t group);
/* Makes size and checksum right again. */
void parcel_seal(parcel *parcel, bool size, bool checksum);

#endif
