/* Programs as text: a line for the header, then a line for each step: the operation's name, the world, six arguments. The names
 * outlive changes of the table, so this is the form in which programs are kept. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const operation *operations;
    const uint32_t *count;
} areas[] = {
    {entity_operations, &entity_operation_count},       {pool_operations, &pool_operation_count},
    {query_operations, &query_operation_count},         {command_operations, &command_operation_count},
    {hierarchy_operations, &hierarchy_operation_count}, {event_operations, &event_operation_count},
    {system_operations, &system_operation_count},       {message_operations, &message_operation_count},
    {snapshot_operations, &snapshot_operation_count},   {replication_operations, &replication_operation_count},
    {resource_operations, &resource_operation_count},   {sql_operations, &sql_operation_count},
    {world_operations, &world_operation_count},         {index_operations, &index_operation_count},
    {relation_operations, &relation_operation_count},   {join_operations, &join_operation_count},
};

enum { AREAS = sizeof areas / sizeof *areas };

uint32_t operation_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < AREAS; ++i)
        count += *areas[i].count;
    return count;
}

const operation *operation_of(uint8_t byte)
{
    uint32_t number = byte % operation_count();
    uint32_t area = 0;
    while (number >= *areas[area].count)
        number -= *areas[area++].count;
    return &areas[area].operations[number];
}

static int number_of(const char *name)
{
    for (uint32_t i = 0; i < operation_count(); ++i)
        if (strcmp(operation_of((uint8_t)i)->name, name) == 0)
            return (int)i;
    return -1;
}

size_t program_print(const uint8_t *bytes, size_t byte_count, FILE *out)
{
    uint8_t header[HEADER_BYTES] = {0};
    memcpy(header, bytes, byte_count < HEADER_BYTES ? byte_count : HEADER_BYTES);
    fprintf(out, "worlds %u %u %u %u\n", header[0], header[1], header[2], header[3]);
    size_t at = HEADER_BYTES;
    for (; at + STEP_BYTES <= byte_count; at += STEP_BYTES) {
        fprintf(out, "%s", operation_of(bytes[at])->name);
        for (uint32_t i = 1; i < STEP_BYTES; ++i)
            fprintf(out, " %u", bytes[at + i]);
        fprintf(out, "\n");
    }
    return at;
}

static const char *parse_numbers(const char *text, uint8_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        char *end;
        while (*text == ' ')
            ++text;
        if (*text == '\n' || *text == 0)
            break; /* the rest is 0 */
        out[i] = (uint8_t)strtoul(text, &end, 10);
        text = end > text ? end : text + 1;
    }
    return text;
}

size_t program_parse(const char *text, uint8_t *out_bytes, size_t capacity)
{
    memset(out_bytes, 0, capacity);
    size_t count = HEADER_BYTES;
    while (*text) {
        char name[64];
        size_t length = strcspn(text, " \n");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        text += length;
        int operation = number_of(name);
        if (strcmp(name, "worlds") == 0) {
            text = parse_numbers(text, out_bytes, HEADER_BYTES);
        } else if (operation >= 0 && count + STEP_BYTES <= capacity) {
            out_bytes[count] = (uint8_t)operation;
            text = parse_numbers(text, out_bytes + count + 1, STEP_BYTES - 1);
            count += STEP_BYTES;
        } else if (name[0] != '#' && name[0] != 0) {
            fprintf(stderr, "no such operation: %s\n", name);
            exit(2);
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return count;
}

/* What most features have to do with. */
static const char *const common[] = {
    "destroy",       "remove",     "name",      "set_parent",     "hook_set",      "observer_add",
    "record_create", "record_set", "flush",     "buffer_destroy", "snapshot_take", "snapshot_restore",
    "step",          "seal",       "replicate", "clear",
};

/* A few operations: some of the common ones, some from one to three areas, and others. */
static uint32_t draw_favourites(random_source *random, uint8_t *out)
{
    uint8_t candidates[UINT8_MAX];
    uint32_t chosen = 0, candidate_count = 0, number = 0, count = 0;
    for (uint32_t i = 1 + random_below(random, 3); i > 0; --i)
        chosen |= 1u << random_below(random, AREAS);
    for (uint32_t area = 0; area < AREAS; ++area)
        for (uint32_t i = 0; i < *areas[area].count; ++i, ++number)
            if ((chosen >> area) & 1)
                candidates[candidate_count++] = (uint8_t)number;
    for (uint32_t i = 1 + random_below(random, 8); i > 0; --i)
        out[count++] = candidates[random_below(random, candidate_count)];
    for (uint32_t i = random_below(random, 3); i > 0; --i)
        out[count++] = (uint8_t)random_below(random, operation_count());
    for (uint32_t i = 0; i < sizeof common / sizeof *common; ++i)
        if (random_one_in(random, 3))
            out[count++] = (uint8_t)number_of(common[i]);
    out[count++] = (uint8_t)number_of("create");
    out[count++] = (uint8_t)number_of("set");
    return count;
}

size_t program_draw(random_source *random, uint8_t *out_bytes)
{
    uint8_t favourites[UINT8_MAX];
    uint32_t favourite_count = draw_favourites(random, favourites);
    uint32_t steps = 8 + random_below(random, 72);
    for (uint32_t i = 0; i < HEADER_BYTES; ++i)
        out_bytes[i] = (uint8_t)random_u32(random);
    for (uint32_t i = 0; i < steps; ++i) {
        uint8_t *step = out_bytes + HEADER_BYTES + (size_t)i * STEP_BYTES;
        step[0] = favourites[random_below(random, favourite_count)];
        step[1] = (uint8_t)(random_one_in(random, 4) ? random_below(random, WORLDS_MAX) : 0);
        for (uint32_t j = 2; j < STEP_BYTES; ++j)
            step[j] = (uint8_t)random_u32(random);
    }
    return HEADER_BYTES + (size_t)steps * STEP_BYTES;
}
