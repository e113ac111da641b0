/* Entities, components and archetypes of a source as JSON. */
#include "cli/inspector.h"
#include "mica/disable.h"
#include "mica/hierarchy.h"
#include "mica/pool.h"
#include "mica/query_text.h"
#include "mica/relation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1000, COMPONENTS_MAX = 256, EDGES_MAX = 100, ARCHETYPES_MAX = 4096 };

void write_handle(micap_json_writer *writer, mica_entity entity)
{
    micap_write(writer, "\"%" PRIu64 "\"", (uint64_t)entity.generation << 32 | entity.index);
}

static void write_name(micap_json_writer *writer, const mica_world *world, mica_entity entity)
{
    const char *name = mica_name_get(world, entity);
    if (name)
        micap_write_string(writer, name);
    else
        micap_write(writer, "null");
}

/* {"id": ..., "name": ..., "children": 2} without the closing brace. */
static void write_row(micap_json_writer *writer, const mica_world *world, mica_entity entity)
{
    micap_write(writer, "{\"id\":");
    write_handle(writer, entity);
    micap_write(writer, ",\"name\":");
    write_name(writer, world, entity);
    micap_write(writer, ",\"children\":%u", mica_child_count(world, entity));
}

static void write_component_names(micap_json_writer *writer, const mica_world *world, mica_entity entity)
{
    mica_component list[COMPONENTS_MAX];
    uint32_t count = mica_get_components(world, entity, list, COMPONENTS_MAX);
    micap_write(writer, ",\"components\":[");
    for (uint32_t i = 0; i < count && i < COMPONENTS_MAX; ++i) {
        micap_write(writer, "%s", i ? "," : "");
        micap_write_string(writer, mica_component_type(list[i])->name);
    }
    micap_write(writer, "]");
}

static const char *const kinds[] = {"none",   "bool", "char",  "i8",    "u8",   "i16", "u16",
                                    "i32",    "u32",  "i64",   "u64",   "f32",  "f64", "entity",
                                    "struct", "enum", "flags", "asset", "text", "list"};
static const char *const storages[] = {"chunk", "tag", "singleton", "pool"};

static void write_type(micap_json_writer *writer, const mica_type *type);

static void write_field(micap_json_writer *writer, const mica_field *field)
{
    const mica_attributes *attributes = field->attributes;
    micap_write(writer, "{\"name\":");
    micap_write_string(writer, field->name);
    micap_write(writer, ",\"kind\":\"%s\",\"count\":%u", kinds[field->kind], field->count);
    if (field->type) {
        micap_write(writer, ",\"type\":");
        write_type(writer, field->type);
    }
    if (attributes && attributes->unit) {
        micap_write(writer, ",\"unit\":");
        micap_write_string(writer, attributes->unit);
    }
    if (attributes && attributes->note) {
        micap_write(writer, ",\"note\":");
        micap_write_string(writer, attributes->note);
    }
    if (attributes && attributes->minimum != attributes->maximum) {
        micap_write(writer, ",\"minimum\":");
        micap_write_real(writer, attributes->minimum, false);
        micap_write(writer, ",\"maximum\":");
        micap_write_real(writer, attributes->maximum, false);
    }
    micap_write(writer, "}");
}

static void write_type(micap_json_writer *writer, const mica_type *type)
{
    micap_write(writer, "{\"name\":");
    micap_write_string(writer, type->name ? type->name : "");
    micap_write(writer, ",\"kind\":\"%s\",\"fields\":[", kinds[type->kind]);
    for (uint32_t i = 0; i < type->field_count; ++i) {
        micap_write(writer, "%s", i ? "," : "");
        write_field(writer, &type->fields[i]);
    }
    micap_write(writer, "],\"constants\":[");
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        micap_write(writer, "%s", i ? "," : "");
        micap_write_string(writer, type->constants[i].name);
    }
    micap_write(writer, "]}");
}

int answer_components(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    (void)request;
    uint32_t listed = 0;
    micap_write(writer, "{\"components\":[");
    for (mica_component component = 0; (component = mica_component_next(source->world, component));) {
        const mica_type *type = mica_component_type(component);
        micap_write(writer, "%s{\"name\":", listed++ ? "," : "");
        micap_write_string(writer, type->name);
        micap_write(writer, ",\"storage\":\"%s\",\"bytes\":%u,\"many\":%s,\"relation\":%s,\"toggle\":%s,\"type\":",
                    storages[type->storage], type->size_bytes, type->many ? "true" : "false",
                    type->relation ? "true" : "false", type->toggle ? "true" : "false");
        write_type(writer, type);
        micap_write(writer, "}");
    }
    micap_write(writer, "]}");
    return 200;
}

mica_query *query_of(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char text[2048];
    mica_value_error error = {0};
    if (!micap_query_value(request->query, "query", text, sizeof text) || !*text)
        return mica_query_create(source->world, &(mica_query_def){.with_hidden = true});
    mica_query *query = mica_query_text(source->world, text, &error);
    if (!query) {
        micap_write(writer, "{\"error\":");
        micap_write_string(writer, error.text);
        micap_write(writer, ",\"position\":%u}", error.position);
    }
    return query;
}

static void write_cells(micap_json_writer *writer, const mica_world *world, mica_entity entity, const mica_term *terms,
                        uint32_t term_count)
{
    micap_write(writer, ",\"cells\":[");
    uint32_t listed = 0;
    for (uint32_t i = 0; i < term_count; ++i) {
        if (!mica_component_type(terms[i].component)->size_bytes || terms[i].access == MICA_ACCESS_WITHOUT)
            continue;
        const void *value = mica_get_id(world, entity, terms[i].component);
        micap_write(writer, "%s", listed++ ? "," : "");
        if (value)
            micap_write_value(writer, mica_member_of(terms[i].component, (void *)value), false);
        else
            micap_write(writer, "null");
    }
    micap_write(writer, "]");
}

int answer_entities(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t offset = parameter_number(request, "offset", 0), limit = parameter_number(request, "limit", 100), at = 0;
    mica_query *query = query_of(source, request, writer);
    if (!query)
        return 400;
    mica_term terms[MICA_TERMS_MAX];
    uint32_t term_count = mica_query_terms(query, terms, MICA_TERMS_MAX), listed = 0;
    limit = limit < ROWS_MAX ? limit : ROWS_MAX;
    micap_write(writer, "{\"total\":%" PRIu64 ",\"columns\":[", mica_query_count(query));
    for (uint32_t i = 0; i < term_count; ++i)
        if (mica_component_type(terms[i].component)->size_bytes && terms[i].access != MICA_ACCESS_WITHOUT) {
            micap_write(writer, "%s", listed++ ? "," : "");
            micap_write_string(writer, mica_component_type(terms[i].component)->name);
        }
    micap_write(writer, "],\"offset\":%" PRIu64 ",\"rows\":[", offset);
    listed = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        for (uint64_t i = offset > at ? offset - at : 0; i < view.count && listed < limit; ++i) {
            micap_write(writer, "%s", listed++ ? "," : "");
            write_row(writer, source->world, view.entities[i]);
            write_component_names(writer, source->world, view.entities[i]);
            write_cells(writer, source->world, view.entities[i], terms, term_count);
            micap_write(writer, "}");
        }
        at += view.count;
    }
    micap_write(writer, "]}");
    mica_query_destroy(query);
    return 200;
}

/* The children of an entity, or the entities that have no parent. */
int answer_tree(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t offset = parameter_number(request, "offset", 0), limit = parameter_number(request, "limit", 200), at = 0;
    const mica_world *world = source->world;
    mica_entity parent;
    uint32_t listed = 0;
    bool linked = parameter_number(request, "linked", 0) != 0;
    limit = limit < ROWS_MAX ? limit : ROWS_MAX;
    micap_write(writer, "{\"rows\":[");
    if (parameter_entity(request, "parent", &parent)) {
        for (mica_entity child = mica_first_child(world, parent); !mica_is_nil(child);
             child = mica_next_sibling(world, child), ++at)
            if (at >= offset && listed < limit) {
                micap_write(writer, "%s", listed++ ? "," : "");
                write_row(writer, world, child);
                micap_write(writer, "}");
            }
    } else {
        mica_query *query = mica_query_create(source->world, &(mica_query_def){.with_hidden = true});
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            for (uint32_t i = 0; i < view.count; ++i) {
                bool is_shown =
                    mica_is_nil(mica_parent(world, view.entities[i])) &&
                    (!linked || mica_child_count(world, view.entities[i]) || mica_name_get(world, view.entities[i]));
                if (!is_shown || at++ < offset || listed >= limit)
                    continue;
                micap_write(writer, "%s", listed++ ? "," : "");
                write_row(writer, world, view.entities[i]);
                micap_write(writer, "}");
            }
        mica_query_destroy(query);
    }
    micap_write(writer, "],\"total\":%" PRIu64 "}", at);
    return 200;
}

static void write_edges(micap_json_writer *writer, const mica_world *world, mica_edges edges, const char *direction,
                        const char *relation, uint32_t *listed)
{
    for (uint32_t count = 0; count < EDGES_MAX && mica_edge_next(&edges); ++count) {
        micap_write(writer, "%s{\"relation\":", (*listed)++ ? "," : "");
        micap_write_string(writer, relation);
        micap_write(writer, ",\"direction\":\"%s\",\"entity\":", direction);
        write_handle(writer, edges.entity);
        micap_write(writer, ",\"name\":");
        write_name(writer, world, edges.entity);
        micap_write(writer, "}");
    }
}

static void write_relations(micap_json_writer *writer, const mica_world *world, mica_entity entity)
{
    uint32_t listed = 0;
    micap_write(writer, ",\"relations\":[");
    for (mica_component component = 0; (component = mica_component_next(world, component));) {
        const mica_type *type = mica_component_type(component);
        if (!type->relation)
            continue;
        write_edges(writer, world, mica_targets_id(world, entity, component), "to", type->name, &listed);
        if (!type->symmetric)
            write_edges(writer, world, mica_sources_id(world, entity, component), "from", type->name, &listed);
    }
    micap_write(writer, "]");
}

static void write_children(micap_json_writer *writer, const mica_world *world, mica_entity entity)
{
    uint32_t count = 0;
    micap_write(writer, ",\"children\":[");
    for (mica_entity child = mica_first_child(world, entity); !mica_is_nil(child) && count < EDGES_MAX;
         child = mica_next_sibling(world, child)) {
        micap_write(writer, "%s", count++ ? "," : "");
        write_row(writer, world, child);
        micap_write(writer, "}");
    }
    micap_write(writer, "],\"child_count\":%u", mica_child_count(world, entity));
}

int answer_entity(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    const mica_world *world = source->world;
    mica_entity entity;
    char path[1024];
    parameter_entity(request, "id", &entity);
    if (micap_query_value(request->query, "path", path, sizeof path))
        entity = mica_find(world, path);
    if (!mica_is_alive(world, entity))
        return parameter_number(request, "maybe", 0)
                   ? (micap_write(writer, "null"), 200)
                   : write_error(writer, 404, "there is no such entity in this frame");
    size_t length = mica_entity_write_json(world, entity, NULL, 0);
    char *text = malloc(length + 1);
    if (!length || !text)
        return free(text), write_error(writer, 503, "memory is short");
    mica_entity_write_json(world, entity, text, length + 1);
    micap_write(writer, "{\"id\":");
    write_handle(writer, entity);
    micap_write(writer, ",\"index\":%u,\"generation\":%u,\"name\":", entity.index, entity.generation);
    write_name(writer, world, entity);
    micap_write(writer, ",\"disabled\":%s,\"parent\":", mica_entity_is_disabled(world, entity) ? "true" : "false");
    mica_entity parent = mica_parent(world, entity);
    if (mica_is_nil(parent)) {
        micap_write(writer, "null");
    } else {
        write_row(writer, world, parent);
        micap_write(writer, "}");
    }
    write_children(writer, world, entity);
    write_relations(writer, world, entity);
    micap_write(writer, ",\"value\":");
    micap_write_text(writer, text, length);
    micap_write(writer, "}");
    free(text);
    return 200;
}

int answer_query(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    mica_query *query = query_of(source, request, writer);
    if (!query)
        return 400;
    size_t length = mica_query_explain(query, NULL, 0);
    char *text = malloc(length + 1);
    if (text) {
        mica_query_explain(query, text, length + 1);
        micap_write(writer, "{\"total\":%" PRIu64 ",\"plan\":", mica_query_count(query));
        micap_write_string(writer, length ? text : "");
        micap_write(writer, "}");
    }
    mica_query_destroy(query);
    free(text);
    return text ? 200 : write_error(writer, 503, "memory is short");
}

/* What is known about the archetype of some rows. */
typedef struct archetype {
    mica_component components[COMPONENTS_MAX];
    uint32_t component_count;
    uint64_t rows;
    uint32_t views;
    uint32_t row_bytes;
} archetype;

static uint32_t chunk_components(const mica_world *world, mica_entity entity, mica_component *out)
{
    mica_component all[COMPONENTS_MAX];
    uint32_t count = mica_get_components(world, entity, all, COMPONENTS_MAX), kept = 0;
    for (uint32_t i = 0; i < count && i < COMPONENTS_MAX; ++i)
        if (mica_component_type(all[i])->storage != MICA_STORAGE_POOL)
            out[kept++] = all[i];
    return kept;
}

static void write_archetype(micap_json_writer *writer, const archetype *archetype, uint32_t listed)
{
    micap_write(writer, "%s{\"components\":[", listed ? "," : "");
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        micap_write(writer, "%s", i ? "," : "");
        micap_write_string(writer, mica_component_type(archetype->components[i])->name);
    }
    micap_write(writer, "],\"rows\":%" PRIu64 ",\"chunks\":%u,\"row_bytes\":%u,\"bytes\":%" PRIu64 "}", archetype->rows,
                archetype->views, archetype->row_bytes, archetype->rows * archetype->row_bytes);
}

int answer_memory(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    (void)request;
    mica_world_stats stats = mica_world_get_stats(source->world);
    micap_write(writer, "{\"replica_bytes\":%zu,\"history_bytes\":%zu,\"archetypes\":[", stats.memory_bytes,
                source->moment_bytes);
    mica_query *query = mica_query_create(source->world, &(mica_query_def){.with_hidden = true});
    archetype one = {0};
    uint32_t listed = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view) && listed < ARCHETYPES_MAX;) {
        mica_component list[COMPONENTS_MAX];
        uint32_t count = chunk_components(source->world, view.entities[0], list);
        bool is_same =
            one.rows && count == one.component_count && memcmp(list, one.components, count * sizeof *list) == 0;
        if (one.rows && !is_same)
            write_archetype(writer, &one, listed++);
        if (!is_same) {
            one = (archetype){.component_count = count, .row_bytes = sizeof(mica_entity)};
            memcpy(one.components, list, count * sizeof *list);
            for (uint32_t i = 0; i < count; ++i)
                one.row_bytes += mica_component_type(list[i])->size_bytes;
        }
        one.rows += view.count;
        ++one.views;
    }
    if (one.rows)
        write_archetype(writer, &one, listed);
    mica_query_destroy(query);
    micap_write(writer, "]}");
    return 200;
}
