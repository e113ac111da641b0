/* Values by their description: what goes over a wire is fields, never padding, and never what was not described. */
#include "base/hash.h"
#include "replication/delta_format.h"

void micap_delta_copy_fields(const mica_type *type, char *to, const char *from)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (field->kind != MICA_KIND_STRUCT) {
            memcpy(to + field->offset, from + field->offset, (size_t)field->element_bytes * field->count);
            continue;
        }
        for (uint32_t at = 0; at < field->count; ++at) {
            size_t offset = field->offset + (size_t)at * field->element_bytes;
            micap_delta_copy_fields(field->type, to + offset, from + offset);
        }
    }
}

bool micap_delta_has_kind(const mica_type *type, mica_kind kind)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (type->fields[i].kind == kind ||
            (type->fields[i].kind == MICA_KIND_STRUCT && micap_delta_has_kind(type->fields[i].type, kind)))
            return true;
    return false;
}

bool micap_delta_bools_hold(const mica_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t at = 0; at < field->count; ++at) {
            const char *element = value + field->offset + (size_t)at * field->element_bytes;
            if (field->kind == MICA_KIND_BOOL && (unsigned char)*element > 1)
                return false;
            if (field->kind == MICA_KIND_STRUCT && !micap_delta_bools_hold(field->type, element))
                return false;
        }
    }
    return true;
}

/* Eight lanes that only add and multiply: against accidents, at the speed of memory. They are copied so that they stay in
 * registers: in an array of somebody else's, which the bytes may be part of for all the compiler knows, it takes twice as long. */
static void add_up(uint64_t *sums, const char *bytes, size_t byte_count)
{
    uint64_t lanes[8];
    memcpy(lanes, sums, sizeof lanes);
    for (; byte_count >= 64; bytes += 64, byte_count -= 64)
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; ++i) {
            uint64_t word;
            memcpy(&word, bytes + 8 * i, sizeof word);
            lanes[i] = (lanes[i] + word) * 0x9e3779b185ebca87u;
        }
    for (; byte_count; ++bytes, --byte_count)
        lanes[0] = (lanes[0] + (unsigned char)*bytes + 1) * 0x9e3779b185ebca87u;
    memcpy(sums, lanes, sizeof lanes);
}

uint64_t micap_delta_checksum(const char *bytes, size_t byte_count)
{
    uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = byte_count;
    add_up(lanes, bytes, MICAP_DELTA_CHECKSUM_AT);
    add_up(lanes, bytes + MICAP_DELTA_HEADER_BYTES, byte_count - MICAP_DELTA_HEADER_BYTES);
    for (uint32_t i = 0; i < 8; ++i)
        sum = micap_hash_mix(sum ^ lanes[i]);
    return sum;
}
