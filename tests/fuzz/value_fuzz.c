/* libFuzzer: any text as a value. A text that is refused changes nothing; what is accepted is written as a text that is read as the
 * same value. The first byte chooses the member. */
#include "../support/tuned.h"

#include "mica/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Numbers that are accepted are in the range of their field, and a value that is refused stays as it starts. */
static void check_ranges(const char *text, uint8_t choice)
{
    static const char *const paths[] = {"", "level", "speed", "scale", "scales", "weights", "weights[2]", "title"};
    static Tuned initial;
    Tuned value = {0};
    mica_member whole = mica_member_of(MICA_ID(Tuned), &value);
    if (mica_value_reset(whole) != MICA_OK)
        abort();
    if (mica_value_check(whole, NULL) != MICA_OK)
        abort();
    memcpy(&initial, &value, sizeof value);
    mica_member member = mica_member_find(whole, paths[choice % COUNT_OF(paths)], NULL);
    bool is_accepted = mica_value_parse(member, text, NULL) == MICA_OK;
    bool is_short = strstr(text, "[") != NULL; /* what an array leaves out is zero, whatever the range */
    if (is_accepted ? !is_short && mica_value_check(whole, NULL) != MICA_OK
                    : memcmp(&value, &initial, sizeof value) != 0)
        abort();
}

/* The same scalar, assigned and parsed as its text, is accepted or refused alike; what is refused changes nothing. */
static void check_assign(mica_member whole, mica_member other, const char *path, mica_scalar scalar, const char *text)
{
    char before[4096], after[4096], wanted[4096];
    mica_value_error error = {0};
    mica_member member = mica_member_find(whole, path, NULL), parsed = mica_member_find(other, path, NULL);
    mica_value_write(whole, before, sizeof before);
    mica_result result = mica_value_assign(member, scalar, &error);
    if (result != mica_value_parse(parsed, text, NULL) || (result == MICA_OK) != !*error.text)
        abort();
    mica_value_write(whole, after, sizeof after);
    mica_value_write(other, wanted, sizeof wanted);
    if (strcmp(after, result == MICA_OK ? wanted : before) != 0)
        abort();
    if (result == MICA_OK && mica_value_check(member, NULL) != MICA_OK)
        abort();
}

/* The bytes as an integer with and without a sign, as a real number and as a string, for members of all kinds. */
static void check_scalars(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"level", "speed", "scale", "scale.y", "weights[2]", "mood", "title"};
    static const char *const others[] = {"", "home.x", "mood", "skills", "target", "title", "wealth", "path"};
    mica_scalar scalar = {.text = "", .text_bytes = 0};
    char text[64];
    memcpy(&scalar.integer, data, size < 8 ? size : 8);
    memcpy(&scalar.real, &scalar.integer, sizeof scalar.real);
    for (uint32_t kind = 0; kind < 4; ++kind) {
        static const mica_kind kinds[] = {MICA_KIND_I64, MICA_KIND_U64, MICA_KIND_F64, MICA_KIND_BOOL};
        scalar.kind = kinds[kind];
        if (scalar.kind == MICA_KIND_F64)
            mica_value_write((mica_member){.data = &scalar.real, .kind = MICA_KIND_F64, .element_bytes = 8}, text,
                             sizeof text);
        else if (scalar.kind == MICA_KIND_BOOL)
            snprintf(text, sizeof text, "%s", scalar.integer ? "true" : "false");
        else
            snprintf(text, sizeof text, scalar.kind == MICA_KIND_I64 ? "%" PRId64 : "%" PRIu64, scalar.integer);
        if (*text == '"' || (scalar.kind == MICA_KIND_F64 && !strpbrk(text, ".e")))
            continue; /* what is not finite is a string, and a whole number an integer */
        for (uint32_t i = 0; i < COUNT_OF(paths); ++i) {
            Tuned values[2] = {{0}, {0}};
            check_assign(mica_member_of(MICA_ID(Tuned), &values[0]), mica_member_of(MICA_ID(Tuned), &values[1]),
                         paths[i], scalar, text);
        }
        for (uint32_t i = 0; i < COUNT_OF(others); ++i) {
            Monster values[2] = {{0}, {0}};
            check_assign(mica_member_of(MICA_ID(Monster), &values[0]), mica_member_of(MICA_ID(Monster), &values[1]),
                         others[i], scalar, text);
        }
    }
    scalar = (mica_scalar){.kind = MICA_KIND_TEXT, .text = (const char *)data, .text_bytes = size};
    for (uint32_t i = 0; i < COUNT_OF(others); ++i) {
        Monster value = {0}, zero = {0};
        mica_member whole = mica_member_of(MICA_ID(Monster), &value);
        mica_value_error error = {0};
        if (mica_value_assign(mica_member_find(whole, others[i], NULL), scalar, &error) != MICA_OK &&
            (memcmp(&value, &zero, sizeof value) != 0 || !*error.text))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"", "home", "path", "mood", "skills", "target", "title", "wealth"};
    Monster monster = {0}, again = {0};
    char text[4096], written[4096], rewritten[4096];
    if (size < 1 || size > sizeof text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    check_ranges(text, data[0]);
    check_scalars(data + 1, size - 1);
    const char *path = paths[data[0] % COUNT_OF(paths)];
    mica_member member = mica_member_find(mica_member_of(MICA_ID(Monster), &monster), path, NULL);
    mica_value_error error = {0};
    bool is_accepted = mica_value_parse(member, text, &error) == MICA_OK;
    if (!is_accepted && (memcmp(&monster, &again, sizeof monster) != 0 || error.position > strlen(text)))
        abort();
    mica_value_write(member, written, sizeof written);
    member = mica_member_find(mica_member_of(MICA_ID(Monster), &again), path, NULL);
    if (mica_value_parse(member, written, NULL) != MICA_OK)
        abort();
    mica_value_write(member, rewritten, sizeof rewritten);
    if (strcmp(written, rewritten) != 0)
        abort();
    mica_member_find(member, text, &error);
    return 0;
}
