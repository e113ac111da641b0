/* Members of described values: see mica/value.h.
 *
 *     member         parts of a value, by position and by path
 *     value_write    a value as text
 *     value_parse    a value from text
 *     value_assign   a value from one number, string, truth value or null */
#ifndef MICAP_TYPE_MEMBER_H
#define MICAP_TYPE_MEMBER_H

#include "base/assert.h"
#include "mica/value.h"
#include "type/list.h"
#include "type/text.h"

/* The field of a struct with a name of that many bytes, or NULL. */
const mica_field *micap_field_find(const mica_type *type, const char *name, size_t bytes);

/* A field of a struct that begins at `base`. */
mica_member micap_member_of_field(const mica_field *field, void *base);

/* The list of a member that is one list; NULL for others. */
static inline mica_list *micap_member_list(mica_member member)
{
    return member.kind == MICA_KIND_LIST && !member.count ? member.data : NULL;
}

/* An element of a list, at an address. */
mica_member micap_member_of_element(const mica_type *element, void *at);

/* A struct whose only field is the member; NULL if the member has neither text nor lists. Fills in both. */
const mica_type *micap_member_owner(mica_member member, mica_field *field, mica_type *type);

/* Whether it is an array of char, which is text. */
static inline bool micap_member_is_text(mica_member member)
{
    return member.count && member.kind == MICA_KIND_CHAR;
}

/* The bits of a constant, or of an integer of 1, 2, 4 or 8 bytes. */
uint64_t micap_load_bits(const void *from, uint32_t bytes);
void micap_store_bits(void *to, uint64_t bits, uint32_t bytes);

/* The bits that a value of so many bytes has. */
static inline uint64_t micap_bit_mask(uint32_t bytes)
{
    return UINT64_MAX >> (64 - 8 * bytes);
}

static inline bool micap_kind_is_signed(mica_kind kind)
{
    return kind == MICA_KIND_I8 || kind == MICA_KIND_I16 || kind == MICA_KIND_I32 || kind == MICA_KIND_I64;
}

/* Says that memory is short. Returns MICA_ERROR_MEMORY. */
mica_result micap_value_fail_memory(mica_value_error *error);

/* Fills in an error, if there is one to fill in. Returns MICA_ERROR_INVALID. */
MICAP_FORMAT(3, 4) mica_result micap_value_fail(mica_value_error *error, size_t position, const char *format, ...);

#endif
