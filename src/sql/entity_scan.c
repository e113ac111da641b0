#include "sql/entity_scan.h"

#include "mica/entity.h"
#include "mica/query.h"

/* A component that can be disabled needs two queries: READ for enabled rows and DISABLED for the others. */
static uint32_t make_queries(mica_world *world, mica_component component, mica_query **out_queries)
{
    const mica_type *type = mica_component_type(component);
    bool is_tag = component && micap_sql_is_tag(type);
    bool has_column = component && !is_tag && !type->relation;
    mica_term on[] = {{.component = component, .access = has_column ? MICA_ACCESS_READ : MICA_ACCESS_HAS}};
    mica_term off[] = {{.component = component, .access = MICA_ACCESS_DISABLED},
                       {.component = component, .access = MICA_ACCESS_MAYBE_READ}};
    mica_query_def def = {.name = "SQL", .terms = on, .term_count = component ? 1 : 0, .with_hidden = true};
    mica_query_def def_off = {.name = "SQL", .terms = off, .term_count = is_tag ? 1 : 2, .with_hidden = true};
    uint32_t count = component && type->toggle ? 2 : 1;
    out_queries[0] = mica_query_create(world, &def);
    out_queries[1] = count == 2 ? mica_query_create(world, &def_off) : NULL;
    if (out_queries[0] && (count == 1 || out_queries[1]))
        return count;
    mica_query_destroy(out_queries[0]);
    mica_query_destroy(out_queries[1]);
    return 0;
}

uint64_t micap_sql_scan_estimate(mica_world *world, mica_component component)
{
    mica_query *queries[2];
    uint64_t sum = 0;
    for (uint32_t i = 0, count = make_queries(world, component, queries); i < count; ++i) {
        sum += mica_query_count(queries[i]);
        mica_query_destroy(queries[i]);
    }
    return sum;
}

static void link_scan(micap_sql_scan *scan)
{
    if (!scan->is_linked) {
        scan->next = scan->session->scans;
        scan->session->scans = scan;
    }
    scan->is_linked = true;
    scan->at_end = false;
    scan->list_at = scan->list_count = 0;
}

/* Moves to the next view with rows, in any query. */
static bool next_view(micap_sql_scan *scan)
{
    scan->row = 0;
    ++scan->view_number;
    while (!mica_view_next(&scan->view)) {
        if (++scan->query_at >= scan->query_count)
            return false;
        scan->view = mica_query_begin(scan->queries[scan->query_at]);
    }
    return true;
}

static bool require_queries(micap_sql_scan *scan)
{
    if (!scan->query_count)
        scan->query_count = make_queries(scan->session->world, scan->component, scan->queries);
    return scan->query_count != 0;
}

uint64_t micap_sql_scan_count(micap_sql_scan *scan)
{
    uint64_t sum = require_queries(scan) ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < scan->query_count; ++i)
        sum += mica_query_count(scan->queries[i]);
    return sum;
}

int micap_sql_scan_all(micap_sql_scan *scan)
{
    link_scan(scan);
    scan->is_list = false;
    if (!require_queries(scan))
        return SQLITE_NOMEM;
    scan->query_at = 0;
    scan->structure = mica_world_structure(scan->session->world);
    scan->view = mica_query_begin(scan->queries[0]);
    scan->at_end = !next_view(scan);
    return SQLITE_OK;
}

void micap_sql_scan_listed(micap_sql_scan *scan)
{
    link_scan(scan);
    scan->is_list = true;
}

bool micap_sql_scan_add(micap_sql_scan *scan, mica_entity entity)
{
    if (scan->list_count == scan->list_capacity) {
        uint64_t capacity = scan->list_capacity ? 2 * scan->list_capacity : 16;
        mica_entity *list = sqlite3_realloc64(scan->list, capacity * sizeof *list);
        if (!list)
            return false;
        scan->list = list;
        scan->list_capacity = capacity;
    }
    scan->list[scan->list_count++] = entity;
    return true;
}

static bool is_shown(const micap_sql_scan *scan, mica_entity entity)
{
    const mica_world *world = scan->session->world;
    return scan->component ? mica_has_id(world, entity, scan->component) : mica_is_alive(world, entity);
}

/* Moves forward in the list to an entity that still exists. */
static void pass_over_gone(micap_sql_scan *scan)
{
    while (scan->list_at < scan->list_count && !is_shown(scan, scan->list[scan->list_at]))
        ++scan->list_at;
    scan->at_end = scan->list_at == scan->list_count;
}

void micap_sql_scan_first_listed(micap_sql_scan *scan)
{
    pass_over_gone(scan);
}

bool micap_sql_scan_is_invalid(const micap_sql_scan *scan)
{
    return !scan->is_list && scan->structure != mica_world_structure(scan->session->world);
}

int micap_sql_scan_next(micap_sql_scan *scan)
{
    if (micap_sql_scan_is_invalid(scan))
        return SQLITE_ABORT;
    if (scan->is_list) {
        ++scan->list_at;
        pass_over_gone(scan);
    } else if (++scan->row >= scan->view.count) {
        scan->at_end = !next_view(scan);
    }
    return SQLITE_OK;
}

mica_entity micap_sql_scan_entity(const micap_sql_scan *scan)
{
    return scan->is_list ? scan->list[scan->list_at] : scan->view.entities[scan->row];
}

void micap_sql_scan_end(micap_sql_scan *scan)
{
    for (micap_sql_scan **at = &scan->session->scans; scan->is_linked && *at; at = &(*at)->next)
        if (*at == scan) {
            *at = scan->next;
            break;
        }
    for (uint32_t i = 0; i < scan->query_count; ++i)
        mica_query_destroy(scan->queries[i]);
    sqlite3_free(scan->list);
}

/* Copies the rows that are left, including the current one, to a list. */
static int detach(micap_sql_scan *scan)
{
    for (bool more = !scan->at_end; more; more = next_view(scan))
        for (; scan->row < scan->view.count; ++scan->row)
            if (!micap_sql_scan_add(scan, scan->view.entities[scan->row]))
                return SQLITE_NOMEM;
    scan->is_list = true;
    return SQLITE_OK;
}

int micap_sql_scans_detach(micap_sql_session *session)
{
    for (micap_sql_scan *scan = session->scans; scan; scan = scan->next)
        if (!scan->is_list && !micap_sql_scan_is_invalid(scan) && detach(scan) != SQLITE_OK)
            return SQLITE_NOMEM;
    return SQLITE_OK;
}
