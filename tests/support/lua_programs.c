#include "lua_programs.h"

#include "mica/mica.h"
#include "mica/relation.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Number {
    int32_t value;
} Number;
MICA_COMPONENT_WITH(Number, (.toggle = true), value)

typedef struct Text {
    mica_text text;
    mica_list list;
    mica_entity other;
    float array[3];
} Text;
MICA_POOL(Text, text, (list, float), other, array)

typedef struct Split {
    float x, y;
} Split;
MICA_COMPONENT_WITH(Split, (.split = true), x, y)

typedef struct Clock {
    int32_t value;
} Clock;
MICA_SINGLETON(Clock, value)
MICA_TAG(Frozen)
MICA_RELATION(Likes)

typedef struct Secret {
    uint64_t bits;
} Secret;
MICA_SINGLETON(Secret, bits)

static const uint64_t secret_bits = 0x0123456789abcdefu;

void lua_programs_define(mica_world *world)
{
    mica_define(world, Number);
    mica_define(world, Text);
    mica_define(world, Split);
    mica_define(world, Clock);
    mica_define(world, Frozen);
    mica_define(world, Likes);
    mica_singleton_write(world, Secret)->bits = secret_bits;
}

bool lua_programs_secret_is_kept(mica_world *world)
{
    return mica_singleton_get(world, Secret)->bits == secret_bits;
}

typedef struct writer {
    random_source *random;
    char *text;
    size_t capacity;
    size_t length;
} writer;

static void add(writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = writer->capacity - writer->length;
    int length = vsnprintf(writer->text + writer->length, left, format, arguments);
    va_end(arguments);
    writer->length += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left - 1;
}

static const char *pick(writer *writer, const char *const *list, uint32_t count)
{
    return list[random_below(writer->random, count)];
}

#define PICK(writer, ...)                                                                                              \
    pick((writer), (const char *const[]){__VA_ARGS__},                                                                 \
         (uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static const char *component(writer *writer)
{
    return PICK(writer, "Number", "Text", "Split", "Clock", "Frozen", "Likes", "Mine", "Nothing", "mica.lua");
}

static void add_expression(writer *writer, uint32_t depth)
{
    if (depth > 3 || random_one_in(writer->random, 3)) {
        add(writer, "%s",
            PICK(writer, "1", "0", "-1", "nil", "true", "'text'", "e", "v", "v and v.count", "1e300", "0/0", "{}", "k",
                 "kept", "2^53", "math.huge", "v.entities[1]", "('x'):rep(50)", "{value = 3}",
                 "{text = 'a', list = {1, 2}}", "mica", "function() end", "v.values", "v.Number", "v.Number[1]",
                 "v.Text[1].list", "mica.random()", "v.Split.x"));
        return;
    }
    switch (random_below(writer->random, 8)) {
    case 0:
        add(writer, "mica.get(");
        add_expression(writer, depth + 1);
        add(writer, ", '%s')", component(writer));
        return;
    case 1:
        add(writer, "mica.%s('%s')", PICK(writer, "singleton_get", "singleton_write", "find", "copy"),
            component(writer));
        return;
    case 2: add(writer, "mica.write(e, '%s')", component(writer)); return;
    case 3:
        add(writer, "{%s = ", PICK(writer, "value", "text", "list", "other", "array", "x", "Number", "Text"));
        add_expression(writer, depth + 1);
        add(writer, "}");
        return;
    case 4:
        add(writer, "(");
        add_expression(writer, depth + 1);
        add(writer, " %s ", PICK(writer, "+", "..", "==", "and", "or", "<", "*"));
        add_expression(writer, depth + 1);
        add(writer, ")");
        return;
    case 5:
        add(writer, "mica.create{%s = ", component(writer));
        add_expression(writer, depth + 1);
        add(writer, "}");
        return;
    case 6: add(writer, "v.%s", component(writer)); return;
    default:
        add(writer, "%s(",
            PICK(writer, "tostring", "type", "pcall", "next", "setmetatable", "getmetatable", "mica.alive", "mica.name",
                 "string.rep", "string.find", "table.concat", "table.unpack", "rawlen", "select", "error"));
        add_expression(writer, depth + 1);
        add(writer, ", ");
        add_expression(writer, depth + 1);
        add(writer, ")");
    }
}

static void add_statements(writer *writer, uint32_t depth)
{
    for (uint32_t count = 1 + random_below(writer->random, 4); count > 0; --count) {
        bool guarded = random_one_in(writer->random, 2);
        add(writer, guarded ? "pcall(function() " : "");
        switch (random_below(writer->random, depth > 3 ? 7 : 10)) {
        case 0:
            add(writer, "mica.set(e, '%s', ", component(writer));
            add_expression(writer, 0);
            add(writer, ")");
            break;
        case 1:
            add(writer, "mica.%s(e, '%s')", PICK(writer, "remove", "destroy", "has", "send", "name"),
                component(writer));
            break;
        case 2:
            add(writer, "kept = ");
            add_expression(writer, 0);
            break;
        case 3:
            add(writer, "local r = mica.write(e, '%s') r.%s = ", component(writer),
                PICK(writer, "value", "text", "list", "other", "array"));
            add_expression(writer, 0);
            break;
        case 4:
            add(writer, "v.%s[%s].value = ", component(writer), PICK(writer, "1", "k", "0", "v.count", "2^31", "-1"));
            add_expression(writer, 0);
            break;
        case 5: add(writer, "for w in q:views() do k = w.count kept = w.Number e = w.entities[k] end"); break;
        case 6:
            add(writer, "e = ");
            add_expression(writer, 0);
            break;
        case 7:
            add(writer, "for k = 1, %s do ", PICK(writer, "3", "v.count", "100", "1e9"));
            add_statements(writer, depth + 1);
            add(writer, " end");
            break;
        case 8:
            add(writer, "if ");
            add_expression(writer, 0);
            add(writer, " then ");
            add_statements(writer, depth + 1);
            add(writer, " end");
            break;
        default:
            add(writer, "mica.broadcast('%s', ", component(writer));
            add_expression(writer, 0);
            add(writer, ")");
        }
        add(writer, guarded ? " end)\n" : "\n");
    }
}

void lua_programs_write(random_source *random, char *text, size_t capacity)
{
    writer writer = {.random = random, .text = text, .capacity = capacity};
    text[0] = 0;
    add(&writer,
        "local kept, e, k, v = nil, 0, 1, {}\n"
        "pcall(mica.component, 'Mine', 'f32 value, text text, f32 list[], entity other, f32 array[3]')\n"
        "local q = mica.query('%s')\n",
        PICK(&writer, "Number", "write Number, ?Text", "Split", "", "Frozen | Text", "write Text"));
    add(&writer, "mica.start(function() e = mica.create{Number = {}, Text = {}}\n");
    add_statements(&writer, 0);
    add(&writer, "end)\n");
    for (uint32_t count = random_below(random, 4); count > 0; --count) {
        const char *terms =
            PICK(&writer, "'write Number'", "'write Text, ?Split'", "{writes = {'Number', 'Clock'}}",
                 "'write Split, Number'", "{exclusive = true}", "{terms = 'Number', reads = 'Text', every = 2}");
        if (random_one_in(random, 2))
            add(&writer, "mica.system('%s', %s, function(x) v = x\n", PICK(&writer, "s1", "s2", "s3", "s4", "s5"),
                terms);
        else if (random_one_in(random, 2))
            add(&writer, "mica.observer('%s', '%s', function(x) v = x\n",
                PICK(&writer, "add", "set", "remove", "match", "unmatch"), PICK(&writer, "Number", "Text", "Frozen"));
        else
            add(&writer, "mica.handler('%s', '%s', function(x) v = x\n", PICK(&writer, "Number", "Text", "Frozen"),
                PICK(&writer, "Number", "Split"));
        add_statements(&writer, 0);
        add(&writer, "end)\n");
    }
}
