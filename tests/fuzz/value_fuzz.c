/* libFuzzer: any text as a value. A text that is refused changes nothing; what is accepted is written as a text that is read as the
 * same value. The first byte chooses the member. */
#include "../support/components.h"

#include "mica/value.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"", "home", "path", "mood", "skills", "target", "title", "wealth"};
    Monster monster = {0}, again = {0};
    char text[4096], written[4096], rewritten[4096];
    if (size < 1 || size > sizeof text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
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
