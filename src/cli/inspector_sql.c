/* Statements of SQL over the world of a source: read-only, for a limited time. */
#include "cli/inspector.h"
#include "os/clock.h"

#ifdef MICA_WITH_SQL
#    include "mica/sql.h"
#    include <sqlite3.h>

/* SQLite asks is_over between the steps of a statement, not inside of a function: values and patterns are short enough that none takes longer. */
enum {
    SQL_ROWS_MAX = 1000,
    SQL_MS_MAX = 2000,
    SQL_STEPS = 5000,
    SQL_VALUE_BYTES_MAX = 1 << 20,
    SQL_PATTERN_BYTES_MAX = 1000,
    SQL_COLUMNS_MAX = 256,
    SQL_RESULT_BYTES_MAX = 8 << 20
};

static int is_over(void *until)
{
    return micap_clock_ns() > *(const uint64_t *)until;
}

/* Statements that open files are refused: ATTACH, which VACUUM INTO uses too, and settings; and printf, which counts up to any precision: "%.*c". */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    (void)context, (void)first, (void)database, (void)trigger;
    bool is_endless =
        action == SQLITE_FUNCTION && (sqlite3_stricmp(second, "printf") == 0 || sqlite3_stricmp(second, "format") == 0);
    bool is_refused = action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA || is_endless;
    return is_refused ? SQLITE_DENY : SQLITE_OK;
}

void source_close_database(source *source)
{
    sqlite3_close(source->database);
    source->database = NULL;
}

static bool open_database(source *source)
{
    uint32_t count = mica_world_get_stats(source->world).component_count;
    if (source->database && source->table_count == count)
        return true;
    source_close_database(source);
    source->database = mica_sql_open(source->world, &(mica_sql_def){.read_only = true});
    if (!source->database ||
        sqlite3_exec(source->database, "PRAGMA temp_store = memory", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    sqlite3_limit(source->database, SQLITE_LIMIT_LENGTH, SQL_VALUE_BYTES_MAX);
    sqlite3_limit(source->database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, SQL_PATTERN_BYTES_MAX);
    sqlite3_limit(source->database, SQLITE_LIMIT_SQL_LENGTH, SQL_VALUE_BYTES_MAX);
    sqlite3_limit(source->database, SQLITE_LIMIT_COLUMN, SQL_COLUMNS_MAX);
    sqlite3_set_authorizer(source->database, authorize, NULL);
    source->table_count = count;
    return true;
}

static void write_cell(micap_json_writer *writer, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: micap_write(writer, "null"); break;
    case SQLITE_INTEGER: { /* numbers of JavaScript have 53 bits */
        long long value = sqlite3_column_int64(statement, column);
        bool is_safe = value < 1ll << 53 && value > -(1ll << 53);
        micap_write(writer, is_safe ? "%lld" : "\"%lld\"", value);
        break;
    }
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

static int write_rows(micap_json_writer *writer, sqlite3_stmt *statement, bool *out_is_cut)
{
    int columns = sqlite3_column_count(statement), result;
    uint32_t rows = 0;
    size_t bytes = 0;
    micap_write(writer, "{\"columns\":[");
    for (int i = 0; i < columns; ++i) {
        micap_write(writer, "%s", i ? "," : "");
        micap_write_string(writer, sqlite3_column_name(statement, i));
    }
    micap_write(writer, "],\"rows\":[");
    while ((result = sqlite3_step(statement)) == SQLITE_ROW && rows < SQL_ROWS_MAX && bytes < SQL_RESULT_BYTES_MAX) {
        micap_write(writer, "%s[", rows++ ? "," : "");
        for (int i = 0; i < columns; ++i) {
            micap_write(writer, "%s", i ? "," : "");
            write_cell(writer, statement, i);
            bytes += (size_t)sqlite3_column_bytes(statement, i);
        }
        micap_write(writer, "]");
    }
    *out_is_cut = result == SQLITE_ROW;
    micap_write(writer, "],\"cut\":%s}", *out_is_cut ? "true" : "false");
    return result;
}

int answer_sql(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    if (!open_database(source))
        return write_error(writer, 503, "the tables can't be made");
    uint64_t until = micap_clock_ns() + (uint64_t)SQL_MS_MAX * 1000000;
    sqlite3_stmt *statement = NULL;
    bool is_cut = false;
    sqlite3_progress_handler(source->database, SQL_STEPS, is_over, &until);
    int result = sqlite3_prepare_v2(source->database, request->body, (int)request->body_bytes, &statement, NULL);
    micap_json_writer rows;
    micap_writer_init(&rows);
    bool is_reading = statement && sqlite3_stmt_readonly(statement);
    if (result == SQLITE_OK && is_reading)
        result = write_rows(&rows, statement, &is_cut);
    sqlite3_progress_handler(source->database, 0, NULL, NULL);
    mica_blob text = {0};
    bool is_complete = micap_writer_finish(&rows, &text) == MICA_OK && statement && (result == SQLITE_DONE || is_cut);
    if (is_complete)
        micap_write_text(writer, text.bytes, text.byte_count);
    else
        write_error(writer, 400,
                    result == SQLITE_INTERRUPT          ? "the statement takes more than two seconds"
                    : !statement && result == SQLITE_OK ? "expected a statement"
                    : statement && !is_reading          ? "only statements that read are run"
                                                        : sqlite3_errmsg(source->database));
    mica_blob_free(&text);
    sqlite3_finalize(statement);
    return is_complete ? 200 : 400;
}
#else
void source_close_database(source *source)
{
    (void)source;
}

int answer_sql(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    (void)source, (void)request;
    return write_error(writer, 404, "this tool was built without SQL");
}
#endif
