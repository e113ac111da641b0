/* mica sql: a resource as tables. */
#include "cli/cli.h"
#include "cli/file_world.h"
#include "json/json_writer.h"
#include "mica/sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
    const options *options;
    file_world file;
    mica_library *library; /* resources that values refer to, for saving */
    sqlite3 *database;
} session;

/* Without --output the tool writes no file: ATTACH, which VACUUM INTO uses too, may open databases in memory only. */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    (void)context, (void)second, (void)database, (void)trigger;
    bool is_memory = first && (!*first || strcmp(first, ":memory:") == 0);
    return action == SQLITE_ATTACH && !is_memory ? SQLITE_DENY : SQLITE_OK;
}

static bool open_session(session *session)
{
    const options *options = session->options;
    if (!file_world_open(&session->file, options))
        return false;
    session->database = mica_sql_open(session->file.world, &(mica_sql_def){.read_only = !options->output});
    if (!session->database)
        return false;
    if (!options->output)
        sqlite3_set_authorizer(session->database, authorize, NULL);
    return sqlite3_exec(session->database, "PRAGMA temp_store = memory", NULL, NULL, NULL) == SQLITE_OK;
}

static void close_session(session *session)
{
    sqlite3_close(session->database);
    file_world_close(&session->file);
    mica_library_destroy(session->library);
}

static int save(session *session)
{
    const options *options = session->options;
    mica_save_def def = {.rules = session->file.rules,
                         .rule_count = session->file.rule_count,
                         .skip_state = !mica_resource_get_info(session->file.resource).has_state,
                         .byte_order = options->byte_order,
                         .compression = options->compression};
    mica_resource_error error;
    session->file.is_quiet = false;
    if (!sqlite3_get_autocommit(session->database))
        return complain("sql: a transaction is open at the end: nothing is written");
    if (mica_resource_asset_count(session->file.resource)) {
        def.library = session->library = library_beside(options, options->inputs[0]);
        if (!session->library)
            return EXIT_BAD;
        if (mica_library_load_assets(session->library, session->file.resource, &error) != MICA_OK)
            return complain("sql: %s refers to what can't be loaded: %s", options->inputs[0], error.text);
    }
    return mica_save(session->file.world, options->output, &def) == MICA_OK ? EXIT_FINE : EXIT_BAD;
}

static void write_json_value(micap_json_writer *writer, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: micap_write(writer, "null"); break;
    case SQLITE_INTEGER: micap_write(writer, "%lld", (long long)sqlite3_column_int64(statement, column)); break;
    case SQLITE_FLOAT: micap_write_real(writer, sqlite3_column_double(statement, column), false); break;
    case SQLITE_BLOB:
        micap_write_hex(writer, sqlite3_column_blob(statement, column),
                        (size_t)sqlite3_column_bytes(statement, column));
        break;
    default: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        micap_write_string_bytes(writer, text, (size_t)sqlite3_column_bytes(statement, column));
    }
    }
}

/* Prints each row as one line. */
static int print_json_row(sqlite3_stmt *statement)
{
    micap_json_writer writer;
    micap_writer_init(&writer);
    micap_write(&writer, "{");
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        micap_write(&writer, "%s", i ? ", " : "");
        micap_write_string(&writer, sqlite3_column_name(statement, i));
        micap_write(&writer, ": ");
        write_json_value(&writer, statement, i);
    }
    micap_write(&writer, "}");
    return write_gathered(&writer);
}

static void print_csv_cell(const char *text, bool is_first)
{
    printf("%s", is_first ? "" : ",");
    if (!text || !text[strcspn(text, ",\"\r\n")]) {
        printf("%s", text ? text : "");
        return;
    }
    putchar('"');
    for (; *text; ++text)
        printf("%s%c", *text == '"' ? "\"" : "", *text);
    putchar('"');
}

static void print_csv_row(sqlite3_stmt *statement, bool is_head)
{
    for (int i = 0; i < sqlite3_column_count(statement); ++i)
        print_csv_cell(is_head ? sqlite3_column_name(statement, i) : (const char *)sqlite3_column_text(statement, i),
                       !i);
    putchar('\n');
}

/* The text table: all cells are stored until the widths are known. */
typedef struct cell {
    char *text;
    bool is_number;
} cell;

typedef struct grid {
    cell *cells;
    size_t count;
    size_t capacity;
    int columns;
} grid;

static bool add_cell(grid *grid, const char *text, bool is_number)
{
    if (grid->count == grid->capacity) {
        size_t capacity = grid->capacity ? 2 * grid->capacity : 64;
        cell *cells = realloc(grid->cells, capacity * sizeof *cells);
        if (!cells)
            return false;
        grid->cells = cells;
        grid->capacity = capacity;
    }
    size_t bytes = text ? strlen(text) + 1 : 1;
    char *copy = malloc(bytes);
    if (!copy)
        return false;
    memcpy(copy, text ? text : "", bytes);
    grid->cells[grid->count].text = copy;
    grid->cells[grid->count++].is_number = is_number;
    return true;
}

static bool add_row(grid *grid, sqlite3_stmt *statement)
{
    bool done = true;
    for (int i = 0; done && i < grid->columns; ++i) {
        int type = sqlite3_column_type(statement, i);
        done = add_cell(grid, (const char *)sqlite3_column_text(statement, i),
                        type == SQLITE_INTEGER || type == SQLITE_FLOAT);
    }
    return done;
}

/* Counts characters, not bytes. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; ++text)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static bool print_grid(const grid *grid)
{
    size_t columns = (size_t)grid->columns;
    int *widths = calloc(columns + 1, sizeof *widths);
    for (size_t i = 0; widths && i < grid->count; ++i)
        if (width_of(grid->cells[i].text) > widths[i % columns])
            widths[i % columns] = width_of(grid->cells[i].text);
    int space = 0; /* pending blanks: written before the next cell, so that lines don't end with blanks */
    for (size_t i = 0; widths && i < grid->count; ++i) {
        const cell *cell = &grid->cells[i];
        bool is_last = i % columns + 1 == columns;
        int fill = widths[i % columns] - width_of(cell->text);
        printf("%*s%s", *cell->text ? space + (cell->is_number ? fill : 0) : 0, "", cell->text);
        space = (*cell->text ? 0 : space) + (*cell->text && cell->is_number ? 0 : fill) + 2;
        if (is_last) {
            putchar('\n');
            space = 0;
        }
    }
    free(widths);
    return widths != NULL;
}

static void free_grid(grid *grid)
{
    for (size_t i = 0; i < grid->count; ++i)
        free(grid->cells[i].text);
    free(grid->cells);
}

static int fail_statement(const session *session)
{
    const char *text = sqlite3_errmsg(session->database);
    bool writes = strstr(text, "may not be modified") || sqlite3_errcode(session->database) == SQLITE_AUTH;
    return complain("sql: %s%s", text, writes ? "; without --output nothing is written" : "");
}

static int run_statement(const session *session, sqlite3_stmt *statement)
{
    const options *options = session->options;
    grid grid = {.columns = sqlite3_column_count(statement)};
    bool is_table = !options->csv && !options->json && grid.columns, done = true;
    int status = EXIT_FINE, result;
    if (options->csv && grid.columns)
        print_csv_row(statement, true);
    for (int i = 0; is_table && done && i < grid.columns; ++i)
        done = add_cell(&grid, sqlite3_column_name(statement, i), false);
    while (done && status == EXIT_FINE && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (is_table)
            done = add_row(&grid, statement);
        else if (options->csv)
            print_csv_row(statement, false);
        else
            status = print_json_row(statement);
    }
    if (status == EXIT_FINE && done && result != SQLITE_DONE)
        status = fail_statement(session);
    else if (!done || (is_table && !print_grid(&grid)))
        status = complain("out of memory");
    free_grid(&grid);
    return status;
}

static int run_statements(session *session, const char *text)
{
    int status = EXIT_FINE;
    session->file.is_quiet = true; /* SQLite reports errors from here on */
    while (status == EXIT_FINE && *text) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(session->database, text, -1, &statement, &text) != SQLITE_OK)
            return fail_statement(session);
        if (statement) /* NULL for a comment */
            status = run_statement(session, statement);
        sqlite3_finalize(statement);
    }
    return fflush(stdout) == 0 ? status : complain("standard output can't be written");
}

/* Reads standard input; free the text. Returns NULL if memory is short. */
static char *read_input(void)
{
    size_t count = 0, capacity = 4096;
    char *text = malloc(capacity);
    while (text) {
        count += fread(text + count, 1, capacity - count - 1, stdin);
        if (count + 1 < capacity)
            break;
        capacity *= 2;
        char *larger = realloc(text, capacity);
        if (!larger)
            free(text);
        text = larger;
    }
    if (text)
        text[count] = 0;
    return text;
}

int run_sql(const options *options)
{
    session session = {.options = options};
    int status = open_session(&session) ? EXIT_FINE : EXIT_BAD;
    if (status == EXIT_FINE && options->input_count > 1) {
        status = run_statements(&session, options->inputs[1]);
    } else if (status == EXIT_FINE) {
        char *text = read_input();
        status = text ? run_statements(&session, text) : complain("out of memory");
        free(text);
    }
    if (status == EXIT_FINE && options->output)
        status = save(&session);
    close_session(&session);
    return status;
}
