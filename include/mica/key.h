/* Mica, key: a value to compare fields with, for indexes (mica/index.h) and for terms of queries (mica/query.h). */
#ifndef MICA_KEY_H
#define MICA_KEY_H

#include "mica/describe.h"

MICA_BEGIN

/* A value to look for. Zero is no value: an open end of a range. */
typedef struct mica_key {
    mica_kind kind; /* MICA_KIND_I64, U64, F64, ENTITY, TEXT, or NONE */
    union {
        int64_t integer;
        uint64_t natural;
        double real;
        mica_entity entity;
        const char *text;
    } as;
} mica_key;

/* Return keys. Integers and real numbers find fields of all kinds of numbers. Threads: any. */
static inline mica_key mica_key_integer(int64_t value)
{
    mica_key key = {MICA_KIND_I64, {0}};
    key.as.integer = value;
    return key;
}

/* The same for large unsigned numbers, assets and flags. Threads: any. */
static inline mica_key mica_key_natural(uint64_t value)
{
    mica_key key = {MICA_KIND_U64, {0}};
    key.as.natural = value;
    return key;
}

/* A field of type float is compared with the key rounded to float. NaN equals itself and comes last. Threads: any. */
static inline mica_key mica_key_real(double value)
{
    mica_key key = {MICA_KIND_F64, {0}};
    key.as.real = value;
    return key;
}

/* For fields that are entities. Threads: any. */
static inline mica_key mica_key_entity(mica_entity value)
{
    mica_key key = {MICA_KIND_ENTITY, {0}};
    key.as.entity = value;
    return key;
}

/* For fields that are text: characters that end with a zero byte, which the key points to. Text is compared as in mica_text_compare.
 * Threads: any. */
static inline mica_key mica_key_text(const char *characters)
{
    mica_key key = {MICA_KIND_TEXT, {0}};
    key.as.text = characters;
    return key;
}

MICA_END

#endif
