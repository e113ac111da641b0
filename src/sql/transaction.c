/* SQLite announces transactions and savepoints to each table it writes to. The tables of a session share one list of snapshots, so
 * that each snapshot is taken, restored and dropped once. */
#include "sql/transaction.h"

static micap_sql_session *session_of(sqlite3_vtab *vtab)
{
    return ((micap_sql_vtab *)vtab)->table->session;
}

/* Drops the marks from position `at` to the end. */
static void drop_from(micap_sql_session *session, uint32_t at)
{
    while (session->mark_count > at)
        mica_snapshot_drop(session->world, session->marks[--session->mark_count].snapshot);
}

/* Returns the first mark of this savepoint or of one nested in it: nothing was written between the two. */
static uint32_t find(const micap_sql_session *session, int savepoint)
{
    uint32_t at = 0;
    while (at < session->mark_count && session->marks[at].savepoint < savepoint)
        ++at;
    return at;
}

static int mark(sqlite3_vtab *vtab, int savepoint)
{
    micap_sql_session *session = session_of(vtab);
    if (find(session, savepoint) < session->mark_count)
        return SQLITE_OK; /* another table was first */
    if (session->mark_count == session->mark_capacity) {
        uint32_t capacity = session->mark_capacity ? 2 * session->mark_capacity : 8;
        micap_sql_mark *marks = sqlite3_realloc64(session->marks, capacity * sizeof *marks);
        if (!marks)
            return SQLITE_NOMEM;
        session->marks = marks;
        session->mark_capacity = capacity;
    }
    mica_snapshot snapshot = mica_snapshot_take(session->world);
    if (!snapshot.id)
        return micap_sql_fail_world(vtab, "the world can't be written, since it could not be restored");
    session->marks[session->mark_count++] = (micap_sql_mark){savepoint, snapshot};
    return SQLITE_OK;
}

int micap_sql_begin(sqlite3_vtab *vtab)
{
    return mark(vtab, -1);
}

int micap_sql_commit(sqlite3_vtab *vtab)
{
    drop_from(session_of(vtab), 0);
    return SQLITE_OK;
}

int micap_sql_rollback_to(sqlite3_vtab *vtab, int savepoint)
{
    micap_sql_session *session = session_of(vtab);
    uint32_t at = find(session, savepoint);
    if (at == session->mark_count)
        return SQLITE_OK;
    drop_from(session, at + 1);
    session->marks[at].savepoint = savepoint;
    if (mica_snapshot_restore(session->world, session->marks[at].snapshot) != MICA_OK)
        return micap_sql_fail_world(vtab, "what was written can't be undone");
    return SQLITE_OK;
}

int micap_sql_rollback(sqlite3_vtab *vtab)
{
    int result = micap_sql_rollback_to(vtab, -1);
    drop_from(session_of(vtab), 0);
    return result;
}

int micap_sql_savepoint(sqlite3_vtab *vtab, int savepoint)
{
    return mark(vtab, savepoint);
}

/* SQLite announces only the innermost savepoint, perhaps that of the statement, to a table that is first written inside several.
 * Its snapshot is valid for the outer ones too, and is passed on to the next that has none. */
int micap_sql_release(sqlite3_vtab *vtab, int savepoint)
{
    micap_sql_session *session = session_of(vtab);
    uint32_t at = find(session, savepoint);
    if (at == session->mark_count || at == 0)
        return SQLITE_OK;
    bool is_needed = session->marks[at - 1].savepoint < savepoint - 1;
    drop_from(session, at + is_needed);
    if (is_needed)
        session->marks[at].savepoint = savepoint - 1;
    return SQLITE_OK;
}
