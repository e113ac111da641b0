/* Values as text: the same text on every machine, and the same bits from it. */
#include "conformance.h"
#include "mica/value.h"
#include "parts.h"

#include <string.h>

static uint64_t hash_text(const char *text)
{
    uint64_t hash = HASH_BASIS;
    for (; *text; ++text)
        hash = hash_more(hash, (unsigned char)*text, 1);
    return hash;
}

void check_values(void)
{
    char text[1000], again[1000];
    mica_value_error error;
    Being being = {.age = 7, .wealth = INT64_MIN, .path = {{0.1f, -1e-20f, 3e30f}, {1, 2, 3}}, .mood = MOOD_ANGRY};
    being.skills = SKILL_SING;
    being.friend = (mica_entity){12, 3};
    strcpy(being.title, "\xC3\xA4\n\"x\"");
    being.weight = 1.0 / 3;
    mica_member whole = mica_member_of(MICA_ID(Being), &being);
    EXPECT(mica_value_write(whole, text, sizeof text) == strlen(text));
    print_hash("text", 0, hash_text(text));

    Being copy = {0};
    mica_member target = mica_member_of_type(mica_component_type(MICA_ID(Being)), &copy);
    EXPECT(mica_value_parse(target, text, &error) == MICA_OK);
    EXPECT(mica_value_write(target, again, sizeof again) == strlen(text) && strcmp(text, again) == 0);
    EXPECT(copy.path[0].z == being.path[0].z && copy.weight == being.weight && copy.wealth == being.wealth);

    mica_member y = mica_member_find(whole, "path[1].y", &error);
    EXPECT(y.data == &being.path[1].y && mica_value_parse(y, "2.50", &error) == MICA_OK && being.path[1].y == 2.5f);
    EXPECT(!mica_member_find(whole, "path[2].y", &error).data && error.position == 4);
    EXPECT(mica_value_parse(whole, "{\"mood\": \"MOOD_SAD\"}", &error) == MICA_ERROR_INVALID && error.position == 9);
    EXPECT(mica_member_count(whole) == 10 && mica_member_count(mica_member_at(whole, 2)) == 2);
}
