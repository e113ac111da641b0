/* Mica, value: values whose type is only known at run time. They are visited member by member, found by path, written as text and parsed
 * from text.
 *
 *     mica_member monster = mica_member_of(MICA_ID(Monster), mica_write(world, entity, Monster));
 *     mica_member x = mica_member_find(monster, "path[2].x", NULL);
 *
 *     char text[256];
 *     mica_value_write(monster, text, sizeof text);          {"home": {"x": 1, "y": 2.5}, "mood": "ANGRY", "title": "the old"}
 *     mica_value_parse(x, "7.25", &error);
 *     mica_value_parse(monster, "{\"mood\": \"CALM\"}", &error);          the other fields stay as they are
 *
 * The text is JSON. Structs are objects; an array of all fields is read too. An array of char is a string, or an array of characters if it
 * is not UTF-8 that ends with a zero byte. Constants of an enum are names, flags an array of names; values without a name are integers.
 * Real numbers are written with the fewest digits that read back as the same bits; "nan", "inf" and "-inf" are strings. An entity is
 * "#index:generation" or null, a resource "#" and the hash of its path, or null. Integers may be strings, decimal or hexadecimal after 0x.
 * An array with too few elements sets the others to zero. A mica_text is a string, or an array of characters if it is not UTF-8. A
 * mica_list is an array, and gets as many elements as the array has; fields of these that are not named are zero.
 */
#ifndef MICA_VALUE_H
#define MICA_VALUE_H

#include "mica/describe.h"

MICA_BEGIN

/* A part of a described value: all of it, a field, or an element. Zero is no member. Valid until the value moves or is destroyed. */
typedef struct mica_member {
    void *data;            /* NULL: no member */
    const char *name;      /* of the field; of the type, for a whole value; NULL for an element of an array */
    const mica_type *type; /* of a struct, enum or flags value; of the elements of a list; else NULL */
    mica_kind kind;
    uint32_t element_bytes;
    uint32_t count;                    /* elements of an array; 0 if it is not an array */
    bool is_read_only;                 /* in a list that other values share: find it with mica_member_write */
    const mica_attributes *attributes; /* of the field, also for its elements; NULL if there are none */
} mica_member;

/* What is wrong with a path or a text. */
typedef struct mica_value_error {
    mica_result result;
    uint32_t position; /* in the path or text, in bytes */
    char text[200];    /* what was expected and what was found */
} mica_value_error;

/* Returns the whole value of a component; no member for an unknown component, one without data, or NULL. Threads: any. */
MICA_API mica_member mica_member_of(mica_component component, void *value);

/* Returns the whole value of a described type that need not be a component. Threads: any. */
MICA_API mica_member mica_member_of_type(const mica_type *type, void *value);

/* Returns the number of members: fields of a struct, or elements of an array or list; 0 for anything else. Threads: any. */
MICA_API uint32_t mica_member_count(mica_member member);

/* Returns a field or an element by position; no member if there are fewer. Threads: any. */
MICA_API mica_member mica_member_at(mica_member member, uint32_t position);

/* Finds a member by its path: names of fields with dots between them, and positions of elements in brackets. An empty path is the member
 * itself. Returns no member if there is none, and says in `out_error`, which may be NULL, where the path is wrong. Threads: any. */
MICA_API mica_member mica_member_find(mica_member member, const char *path, mica_value_error *out_error);

/* The same for a member that is about to be written: lists on the way to it that other values share are copied. Returns no member if
 * memory runs out, too. Threads: one per value. */
MICA_API mica_member mica_member_write(mica_member member, const char *path, mica_value_error *out_error);

/* Writes a value as text, which ends with a zero byte and is cut if `capacity` is too small. Returns the length of the whole text without
 * the zero byte, as snprintf does; 0 for no member. `text` may be NULL if `capacity` is 0. Threads: any. */
MICA_API size_t mica_value_write(mica_member member, char *text, size_t capacity);

/* Sets a value from text. Fields that the text does not name stay as they are. Numbers must be in the range of their field. On error the
 * value is unchanged, and `out_error`, which may be NULL, says where the text is wrong: MICA_ERROR_INVALID, or MICA_ERROR_MEMORY if there
 * is no room for text or lists. Does not mark the component as changed: get it with mica_write. Threads: any. */
MICA_API mica_result mica_value_parse(mica_member member, const char *text, mica_value_error *out_error);

/* One value of another notation, such as a node of a parsed JSON document or a value of a script. */
typedef struct mica_scalar {
    mica_kind
        kind; /* MICA_KIND_I64 or U64: `integer`; F64: `real`; BOOL: `integer`; TEXT: a string; NONE: null. LIST and STRUCT are an
                       array and an object, which only errors mention. */
    int64_t integer; /* its bits, if it is unsigned */
    double real;
    const char *text; /* need not end with a zero byte */
    size_t text_bytes;
} mica_scalar;

/* Sets a number, bool, constant, reference or text from a scalar, by the rules of mica_value_parse: what is a string there is a string here.
 * For documents that are already parsed: walk them, find members with mica_member_at, and assign. Returns what mica_value_parse returns; on error
 * the value is unchanged, and the position is 0. Threads: one per value. */
MICA_API mica_result mica_value_assign(mica_member member, mica_scalar scalar, mica_value_error *out_error);

/* Compares all numbers of a value with their ranges. Returns MICA_ERROR_INVALID if one is outside, and then says in `out_error`, which may
 * be NULL, which one, and what was expected. Threads: any. */
MICA_API mica_result mica_value_check(mica_member member, mica_value_error *out_error);

/* Sets a value to the initial values of its fields, and fields without one to zero. On failure it is unchanged:
 * MICA_ERROR_MEMORY, or MICA_ERROR_INVALID for no member or one that is read-only. Does not call the construct function of a component.
 * Threads: one per value. */
MICA_API mica_result mica_value_reset(mica_member member);

/* Writes an entity as text: its name, all components in the order of their names, and which of them are disabled, as levels have it.
 *
 *     {"name": "door", "components": {"Health": {"current": 5}, "Frozen": {}, "Buff": [{"kind": 1}]}, "disabled": ["Health"]}
 *
 * References are paths of entities that have one, and handles otherwise. "disabled" is there if some component has .toggle. Components
 * with .many are arrays of instances. Capacity and result are as for mica_value_write; 0 if the entity is not alive, or memory runs out.
 * Threads: reader. */
MICA_API size_t mica_entity_write_json(const mica_world *world, mica_entity entity, char *text, size_t capacity);

/* Applies a text to an entity. Components that it does not have are added, with default values for fields that the text does not name.
 * Other components and fields that the text does not name stay as they are. null removes a component, an array replaces all instances.
 * "disabled" enables all components that it does not list. On error nothing changes, and `out_error`, which may be NULL, says where the text is
 * wrong: MICA_ERROR_INVALID, or MICA_ERROR_DEAD, MICA_ERROR_MEMORY, or what else the flush returned. Flushes the world; rejected while
 * recording. Threads: owner. */
MICA_API mica_result mica_entity_parse_json(mica_world *world, mica_entity entity, const char *text,
                                            mica_value_error *out_error);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_member_of(...) MICA_AT_(mica_member_of(__VA_ARGS__))
#    define mica_member_of_type(...) MICA_AT_(mica_member_of_type(__VA_ARGS__))
#    define mica_member_count(...) MICA_AT_(mica_member_count(__VA_ARGS__))
#    define mica_member_at(...) MICA_AT_(mica_member_at(__VA_ARGS__))
#    define mica_member_find(...) MICA_AT_(mica_member_find(__VA_ARGS__))
#    define mica_member_write(...) MICA_AT_(mica_member_write(__VA_ARGS__))
#    define mica_value_write(...) MICA_AT_(mica_value_write(__VA_ARGS__))
#    define mica_value_parse(...) MICA_AT_(mica_value_parse(__VA_ARGS__))
#    define mica_value_assign(...) MICA_AT_(mica_value_assign(__VA_ARGS__))
#    define mica_value_check(...) MICA_AT_(mica_value_check(__VA_ARGS__))
#    define mica_value_reset(...) MICA_AT_(mica_value_reset(__VA_ARGS__))
#    define mica_entity_write_json(...) MICA_AT_(mica_entity_write_json(__VA_ARGS__))
#    define mica_entity_parse_json(...) MICA_AT_(mica_entity_parse_json(__VA_ARGS__))
#endif

#endif
