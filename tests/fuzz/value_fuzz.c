/* libFuzzer: any text as a value. A text that is refused changes nothing; what is accepted is written as a text that is read as the
 * same value. The first byte chooses the member. */
#include "../support/tuned.h"

#include "mica/value.h"

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
