/* A console that finds entities, and shows and changes any field of any component by its path, without knowing the types. */
#include "mica/mica.h"
#include "mica/value.h"

#include <stdio.h>
#include <string.h>

typedef struct Vec2 { float x, y; } Vec2;
MICA_STRUCT(Vec2, x, y)
typedef enum Mood { CALM, ANGRY } Mood;
MICA_ENUM(Mood, CALM, ANGRY)

typedef struct Route { Vec2 points[3]; } Route;
typedef struct Guard { Mood mood; char title[16]; mica_entity leader; } Guard;
MICA_COMPONENT(Route, (points, Vec2))
MICA_COMPONENT(Guard, (mood, Mood), title, leader)

/* Splits "name Component.path" and finds the member. Returns no member, with a message, if a part is wrong. */
static mica_member find(mica_world *world, const char *line)
{
    char name[32] = "", component[32] = "", path[64] = "";
    mica_value_error error = {.text = "there is no such entity or component"};
    sscanf(line, "%31s %31[^. ]%63[^ ]", name, component, path);
    mica_component id = mica_component_find(world, component);
    mica_member whole = mica_member_of(id, mica_write_id(world, mica_find(world, name), id));
    mica_member member = mica_member_find(whole, *path == '.' ? path + 1 : path, whole.data ? &error : NULL);
    if (!member.data)
        printf("%s: %s\n", line, error.text);
    return member;
}

static void show(mica_world *world, const char *line)
{
    char text[256];
    mica_member member = find(world, line);
    if (!member.data)
        return;
    mica_value_write(member, text, sizeof text);
    printf("%s = %s\n", line, text);
}

static void change(mica_world *world, const char *line, const char *text)
{
    mica_value_error error;
    mica_member member = find(world, line);
    if (member.data && mica_value_parse(member, text, &error) != MICA_OK)
        printf("%s = %s\n%*s^ %s\n", line, text, (int)(strlen(line) + 3 + error.position), "", error.text);
}

/* Lists the entities that match, and what the query visits to find them. */
static void list(mica_world *world, const char *text)
{
    char plan[256];
    mica_value_error error;
    mica_query *query = mica_query_text(world, text, &error);
    if (!query) {
        printf("%s\n%*s^ %s\n", text, (int)error.position, "", error.text);
        return;
    }
    printf("%s:", text);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            printf(" %s", mica_name_get(world, view.entities[i]));
    mica_query_explain(query, plan, sizeof plan);
    printf("\n%s\n", plan);
    mica_query_destroy(query);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity captain = mica_create(world, MICA_WITH(Guard, {CALM, "captain", {0, 0}}));
    mica_entity guard = mica_create(world, MICA_WITH(Guard, {ANGRY, "guard", captain}), MICA_WITH(Route, {{{1, 2}}}));
    mica_name_set(world, captain, mica_nil(), "captain");
    mica_name_set(world, guard, mica_nil(), "guard");

    show(world, "captain Guard");
    show(world, "guard Route");
    change(world, "guard Route.points[2]", "{\"x\": 7.5, \"y\": 8}");
    change(world, "guard Guard", "{\"mood\": \"CALM\", \"title\": \"watchman\"}");
    show(world, "guard Route.points[2].x");
    show(world, "guard Guard");

    change(world, "guard Guard.mood", "\"HAPPY\"");
    change(world, "guard Route.points", "[[1, 2], [3, true]]");
    show(world, "guard Guard.weapon");
    show(world, "ghost Guard");

    list(world, "Guard, !Route");
    list(world, "Guard, Rout");
    mica_world_destroy(world);
}
