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

typedef struct Part { mica_text name; float weight; } Part;
MICA_STRUCT(Part, name, weight)
typedef struct Machine { mica_text name; mica_list parts; mica_list numbers; mica_text marks[2]; } Machine;
MICA_COMPONENT(Machine, name, (parts, Part), (numbers, int64_t), marks)

/* Text and lists: every function, and hashes that depend on nothing but what is in them. */
static void check_dynamic_values(void)
{
    mica_world *world = open_world();
    mica_entity engine =
        mica_create(world, MICA_WITH(Machine, {.name = mica_text_of("a machine with quite a long name")}));
    Machine *machine = mica_write(world, engine, Machine);
    EXPECT(mica_list_add(&machine->numbers, int64_t, 1, -2, INT64_MIN) == MICA_OK);
    EXPECT(mica_list_remove(&machine->numbers, int64_t, 1) == MICA_OK && mica_list_count(&machine->numbers) == 2);
    EXPECT(mica_list_resize(&machine->numbers, int64_t, 4) == MICA_OK);
    for (uint32_t i = 0; i < 5; ++i) {
        Part *part = i % 2 ? mica_list_append(&machine->parts, Part) : mica_list_insert(&machine->parts, Part, 0);
        EXPECT(mica_text_set(&part->name, "wheel") == MICA_OK &&
               mica_text_append_bytes(&part->name, "0123456789", i + 6) == MICA_OK);
        part->weight = (float)i;
    }
    EXPECT(mica_text_set_bytes(&machine->marks[1], "ab\0cd", 5) == MICA_OK &&
           mica_text_length(&machine->marks[1]) == 5);
    EXPECT(mica_text_append(&machine->name, "!") == MICA_OK &&
           mica_text_copy(&machine->marks[0], &machine->name) == MICA_OK);
    EXPECT(mica_text_is(&machine->marks[0], "a machine with quite a long name!"));
    EXPECT(mica_text_compare(&machine->marks[0], &machine->name) == 0 && mica_text_get(&machine->name)[2] == 'm');
    print_hash("dynamic", 0, mica_world_hash(world));

    mica_entity twin = mica_clone(world, engine);
    machine = mica_write(world, twin, Machine);
    mica_list_write(&machine->parts, Part)[1].weight = 9;
    EXPECT(mica_list_items(&mica_get(world, engine, Machine)->parts, Part)[1].weight != 9);
    mica_list kept = {0};
    EXPECT(mica_list_copy(&kept, Part, &machine->parts) == MICA_OK);
    EXPECT(mica_list_assign(&machine->parts, Part, mica_list_items(&kept, Part) + 1, 2) == MICA_OK);
    mica_list_clear(&kept, Part);
    mica_text_clear(&machine->marks[0]);
    char text[1000];
    mica_value_error error;
    mica_member whole = mica_member_of(MICA_ID(Machine), machine);
    EXPECT(mica_value_parse(mica_member_write(whole, "parts[1].name", &error),
                            "\"a \\u00e4 that does not lie in place\"", &error) == MICA_OK);
    EXPECT(mica_value_write(whole, text, sizeof text) == strlen(text));
    print_hash("dynamic", 1, hash_text(text));
    EXPECT(mica_value_parse(whole, text, &error) == MICA_OK);
    print_hash("dynamic", 2, mica_world_hash(world));
    close_world(world, 0);
}

typedef struct Engine { float power; uint8_t gears[3]; mica_text maker; } Engine;
MICA_COMPONENT(Engine,
               (power, float, .unit = "kW", .minimum = 0, .maximum = 1e6, .initial = 75, .note = "at the wheel"),
               (gears, uint8_t, .initial_json = "[1, 3, 5]"), (maker, mica_text, .initial_json = "\"unknown\""))

/* What fields start with and must not leave. */
static void check_attributes(void)
{
    mica_world *world = open_world();
    mica_entity car = mica_create(world, MICA_WITH(Engine));
    print_hash("attributes", 0, mica_world_hash(world));
    Engine *engine = mica_write(world, car, Engine);
    mica_member whole = mica_member_of(MICA_ID(Engine), engine);
    mica_value_error error;
    EXPECT(engine->power == 75 && engine->gears[2] == 5 && mica_text_is(&engine->maker, "unknown"));
    EXPECT(mica_value_parse(whole, "{\"power\": -1}", &error) == MICA_ERROR_INVALID && error.position == 10);
    EXPECT(strcmp(error.text, "expected power from 0 to 1000000 kW, found -1") == 0);
    mica_scalar number = {.kind = MICA_KIND_F64, .real = 1e7};
    EXPECT(mica_value_assign(mica_member_find(whole, "power", NULL), number, &error) == MICA_ERROR_INVALID);
    EXPECT(strcmp(error.text, "expected power from 0 to 1000000 kW, found 10000000") == 0);
    engine->power = 1e7f;
    EXPECT(mica_value_check(whole, &error) == MICA_ERROR_INVALID);
    EXPECT(mica_world_check_ranges(world, 0) == MICA_ERROR_INVALID);
    EXPECT(mica_value_reset(mica_member_find(whole, "power", NULL)) == MICA_OK);
    EXPECT(mica_value_check(whole, &error) == MICA_OK && engine->power == 75);
    EXPECT(mica_world_check_ranges(world, 0) == MICA_OK);
    print_hash("attributes", 1, mica_world_hash(world));

    char text[400];
    mica_entity twin = mica_create(world);
    EXPECT(mica_name_set(world, car, mica_nil(), "car") == MICA_OK);
    EXPECT(mica_entity_write_json(world, car, text, sizeof text) == strlen(text));
    print_hash("attributes", 2, hash_text(text));
    EXPECT(mica_entity_parse_json(world, twin, text, &error) == MICA_ERROR_INVALID && error.position == 9);
    EXPECT(mica_entity_parse_json(world, twin, strchr(text, ',') + 1, &error) == MICA_ERROR_INVALID);
    text[strlen("{\"name\": \"ca")] = 't';
    EXPECT(mica_entity_parse_json(world, twin, text, &error) == MICA_OK);
    EXPECT(mica_same(mica_find(world, "cat"), twin) && mica_get(world, twin, Engine)->gears[1] == 3);
    print_hash("attributes", 3, mica_world_hash(world));
    close_world(world, 1);
}

void check_values(void)
{
    check_dynamic_values();
    check_attributes();
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
