#include "core/query/condition.h"

#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/world.h"
#include "mica/text.h"

static bool is_real(mica_kind kind)
{
    return kind == MICA_KIND_F32 || kind == MICA_KIND_F64;
}

const char *micap_condition_problem(mica_world *world, const mica_term *term, char note[MICAP_INDEX_NOTE])
{
    const micap_type *type = micap_type_of(term->component);
    micap_field_source source;
    uint64_t word;
    if ((uint32_t)term->compare > MICA_AT_LEAST || term->compare == MICA_COMPARE_NONE)
        return "it has a .field, but no .compare";
    if (term->access != MICA_ACCESS_HAS)
        return "a field is compared in a term of its own: use MICA_HAS";
    if (type->type.relation)
        return "fields of edges can't be compared: read them in the loop";
    if (term->target.kind != MICA_NODE_DEFAULT || term->up || term->down || term->cascade)
        return "a field of an ancestor or descendant is compared with a variable for that entity";
    if (type->type.storage == MICA_STORAGE_SINGLETON || !type->type.size_bytes || type->type.many)
        return "to compare a field, its component must have data, and one value per entity";
    if (strchr(term->field, ','))
        return "one field is compared in each term";
    if (!micap_field_sources_find(&world->memory, type, term->field, false, &source, note))
        return note;
    if (source.kind == MICA_KIND_TEXT)
        return term->key.kind == MICA_KIND_TEXT && term->key.as.text ? NULL : "its .key must be a text";
    bool is_entity = source.kind == MICA_KIND_ENTITY;
    if (micap_key_word(&source, term->key, MICAP_ROUND_NONE, &word) == MICAP_KEY_WRONG)
        return is_entity ? "its .key must be an entity" : "its .key must be a number";
    if (is_entity && term->compare > MICA_NOT_EQUAL)
        return "entities are only equal or not";
    if (!is_real(source.kind) && term->key.kind == MICA_KIND_F64 && term->key.as.real != term->key.as.real)
        return "its .key is not a number";
    return NULL;
}

/* The values below a key, or at most that. */
static void limit_above(const mica_term *term, micap_condition *out)
{
    bool is_less = term->compare == MICA_LESS;
    uint64_t word;
    if (micap_key_word(&out->source, term->key, is_less ? MICAP_ROUND_UP : MICAP_ROUND_DOWN, &word) == MICAP_KEY_FITS) {
        out->is_never = is_less && !word;
        out->high = word - is_less;
    } else {
        out->is_never = !is_less;
    }
}

/* The values above a key, or at least that. */
static void limit_below(const mica_term *term, micap_condition *out)
{
    bool is_greater = term->compare == MICA_GREATER;
    uint64_t word;
    if (micap_key_word(&out->source, term->key, is_greater ? MICAP_ROUND_DOWN : MICAP_ROUND_UP, &word) ==
        MICAP_KEY_FITS) {
        out->is_never = is_greater && word == UINT64_MAX;
        out->low = word + is_greater;
    } else {
        out->is_never = !is_greater;
    }
}

bool micap_condition_init(mica_world *world, const mica_term *term, micap_condition *out)
{
    char note[MICAP_INDEX_NOTE];
    uint64_t word;
    *out = (micap_condition){.component = term->component, .compare = term->compare, .high = UINT64_MAX};
    if (!micap_field_sources_find(&world->memory, micap_type_of(term->component), term->field, false, &out->source,
                                  note))
        return false;
    out->field_offset = out->source.leaf_offset + out->source.offset;
    out->pool = micap_is_pooled(term->component) ? micap_pool_of(world, term->component) : NULL;
    if (out->source.kind == MICA_KIND_TEXT) {
        out->text = term->key.as.text;
        out->is_inverted = term->compare == MICA_NOT_EQUAL;
    } else if (term->compare == MICA_LESS || term->compare == MICA_AT_MOST) {
        limit_above(term, out);
    } else if (term->compare >= MICA_GREATER) {
        limit_below(term, out);
    } else if (micap_key_word(&out->source, term->key, MICAP_ROUND_NONE, &word) == MICAP_KEY_FITS) {
        out->low = out->high = word;
        out->is_inverted = term->compare == MICA_NOT_EQUAL;
    } else {
        out->is_never = term->compare == MICA_EQUAL;
    }
    return true;
}

static bool text_holds(const micap_condition *condition, const mica_text *text)
{
    int order = strcmp(mica_text_get(text), condition->text);
    switch (condition->compare) {
    case MICA_EQUAL: return order == 0;
    case MICA_NOT_EQUAL: return order != 0;
    case MICA_LESS: return order < 0;
    case MICA_AT_MOST: return order <= 0;
    case MICA_GREATER: return order > 0;
    default: return order >= 0;
    }
}

bool micap_condition_holds(const micap_condition *condition, const mica_world *world, mica_entity entity)
{
    micap_indexed_rows rows;
    uint64_t word;
    if (condition->is_never)
        return false;
    if (condition->pool) {
        rows = micap_field_rows_in_pool(&condition->source, 1, condition->pool, micap_pool_row(condition->pool, entity),
                                        1);
    } else {
        micap_row spot = micap_locate(world, entity);
        rows = micap_field_rows_in_chunk(&condition->source, 1, spot.chunk, spot.row, 1);
    }
    if (condition->text)
        return text_holds(condition, (const mica_text *)(const void *)rows.values[0]);
    micap_field_load(&condition->source, rows.values[0], rows.strides[0], NULL, 1, &word);
    return (word >= condition->low && word <= condition->high) != condition->is_inverted;
}
