/* Statements and what they answer, as text: values with '|' between them, NULL as "-", a line per row; or "error: ...". */
#ifndef MICA_TESTS_SQL_ASK_H
#define MICA_TESTS_SQL_ASK_H

#include "../support/components.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/hierarchy.h"
#include "mica/sql.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char answer[1 << 16];

static inline size_t answer_row(sqlite3_stmt *statement, size_t at)
{
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        at += (size_t)snprintf(answer + at, sizeof answer - at, "%s%s", i ? "|" : "", text ? text : "-");
        REQUIRE(at < sizeof answer);
    }
    return at + (size_t)snprintf(answer + at, sizeof answer - at, "\n");
}

/* Runs one statement. */
static inline const char *ask(sqlite3 *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    size_t at = 0;
    int result = sqlite3_prepare_v2(database, text, -1, &statement, NULL);
    *answer = 0;
    while (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        at = answer_row(statement, at);
    int code = sqlite3_finalize(statement);
    if (result != SQLITE_OK || code != SQLITE_OK)
        snprintf(answer, sizeof answer, "error: %s", sqlite3_errmsg(database));
    return answer;
}

static inline const char *ask_with(sqlite3 *database, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    ask(database, text);
    sqlite3_free(text);
    return answer;
}

/* A statement and its answer; an answer that begins with "error: " need only hold what follows. */
typedef struct exchange {
    const char *statement;
    const char *answer;
} exchange;

static inline void expect_answer(sqlite3 *database, const exchange *exchange)
{
    bool fails = strncmp(exchange->answer, "error: ", 7) == 0;
    ask(database, exchange->statement);
    ck_assert_msg(fails ? strncmp(answer, "error: ", 7) == 0 && strstr(answer, exchange->answer + 7)
                        : strcmp(answer, exchange->answer) == 0,
                  "%s\nexpected\n%s\nfound\n%s", exchange->statement, exchange->answer, answer);
}

static inline void expect_answers(sqlite3 *database, const exchange *exchanges, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        expect_answer(database, &exchanges[i]);
}

/* Components that only tests of SQL need: every kind of field, arrays short and long. */
typedef struct Kinds {
    bool yes;
    char letter;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    mica_entity reference;
    mica_asset asset;
    Mood mood;
    Skills skills;
    char text[8];
    int16_t few[2];
    uint8_t many[20];
    Vec3 where;
    Vec3 there[17];
} Kinds;
MICA_COMPONENT(Kinds, yes, letter, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, reference, asset, (mood, Mood),
               (skills, Skills), text, few, many, (where, Vec3), (there, Vec3))

/* The same names as columns and tables have. */
typedef struct Entities { mica_entity entity; float X, x; bool enabled; } Entities;
MICA_COMPONENT_WITH(Entities, (.toggle = true), entity, X, x, enabled)

typedef struct Buff { int32_t kind; float amount; } Buff;
MICA_POOL_WITH(Buff, (.many = true), kind, amount)

typedef struct Body { Vec3 at; float cells[6]; char label[4]; double mass; } Body;
MICA_COMPONENT_WITH(Body, (.split = true), (at, Vec3), cells, label, mass)

MICA_POOL_TAG(Selected)

#endif
