/* Mica, describe: one description per C type, written once and used by every tool.
 *
 *     typedef struct Vec3 { float x, y, z; } Vec3;
 *     MICA_STRUCT(Vec3, x, y, z)                         a struct used inside components
 *
 *     typedef enum Mood { CALM, ANGRY } Mood;
 *     MICA_ENUM(Mood, CALM, ANGRY)                       MICA_FLAGS for bit flags
 *
 *     typedef struct Monster { Vec3 home; Mood mood; mica_entity target; char title[16]; float health; } Monster;
 *     MICA_COMPONENT(Monster, (home, Vec3), (mood, Mood), target, title, health)
 *
 *     MICA_TAG(Frozen)                                   no data, only presence
 *     MICA_SINGLETON(Clock, seconds)                     one value per world
 *     MICA_COMPONENT_WITH(Health, (.toggle = true, .track_added = true), current, maximum)
 *     MICA_POOL(Burning, seconds_left)                   stored in a pool: see mica/pool.h
 *     MICA_POOL_WITH(Buff, (.many = true), kind, amount)
 *     MICA_POOL_TAG(Selected)
 *     MICA_RELATION(Likes)                               edges from entity to entity: see mica/relation.h
 *     MICA_COMPONENT_WITH(Sprite, (.required = MICA_TYPES(Position, Rotation)), image)
 *     MICA_COMPONENT_WITH(Flying, (.excludes = MICA_TYPES(Walking, Swimming)), height)
 *
 * A plain entry is a field whose type is deduced: integers, floating-point numbers, bool, char, mica_entity, mica_asset, mica_text,
 * and one-dimensional arrays of these. For other types write (field, Type), where Type has a description; for a mica_list, Type is that of
 * its elements, such as (scores, float): see mica/list.h. Fields that are left out
 * are copied with the component, but not hashed, saved or shown. Pointers cannot be described and are a compile error: leave the
 * field out, or use MICA_OPAQUE if nothing else remains. Up to 40 fields. No semicolon.
 * For a component that owns something, write how one value is destroyed and copied. This is enough in a chunk, a pool or as a singleton:
 *
 *     static void sound_destroy(void *value) { close_stream(((Sound *)value)->stream); }
 *     MICA_COMPONENT_WITH(Sound, (.destroy_one = sound_destroy, .copy_one = sound_copy), volume)
 *     MICA_OPAQUE(Texture, (.storage = MICA_STORAGE_POOL, .destroy_one = texture_destroy))
 * Required components are added together: an entity that gets a Sprite by any operation also gets a Position and a Rotation with their
 * default values, and what these require, unless it has them. This is only checked when a component is added: a Position can be removed
 * from an entity with a Sprite. Clones, restored snapshots, replicas and resumed worlds are exact copies and get nothing more.
 *
 * Components that exclude each other are never on one entity: an operation that would leave an entity with a Walking and a Flying is
 * refused with a report and changes nothing. Only one of the two descriptions names the other; the order and the storage do not matter. Of
 * recorded changes, the net result at the flush counts.
 *
 * After its type, a field can have attributes, which programs and tools find in the description: see mica_attributes.
 *
 *     MICA_COMPONENT(Health, (current, float, .unit = "hp", .maximum = 100, .initial = 100, .note = "dead at 0"), shield)
 *
 * A description can be placed in a header that is included many times: equal names with equal layouts and traits are one
 * component, which has the attributes and the construct, destruct, copy and move functions of the first one registered.
 * From C++ use mica/mica.hpp. For types that are only known at run time, fill in a mica_type and call mica_component_define.
 */
#ifndef MICA_DESCRIBE_H
#define MICA_DESCRIBE_H

#include "mica/handle.h"
#include "mica/for_each.h"
#include "mica/list.h"
#include "mica/text.h"

MICA_BEGIN

typedef enum mica_kind {
    MICA_KIND_NONE = 0,
    MICA_KIND_BOOL,
    MICA_KIND_CHAR, /* an array of char is text */
    MICA_KIND_I8,
    MICA_KIND_U8,
    MICA_KIND_I16,
    MICA_KIND_U16,
    MICA_KIND_I32,
    MICA_KIND_U32,
    MICA_KIND_I64,
    MICA_KIND_U64,
    MICA_KIND_F32,
    MICA_KIND_F64,
    MICA_KIND_ENTITY,
    MICA_KIND_STRUCT,
    MICA_KIND_ENUM,
    MICA_KIND_FLAGS,
    MICA_KIND_ASSET, /* a reference to another resource: see mica/library.h */
    MICA_KIND_TEXT,  /* text of any length: see mica/text.h */
    MICA_KIND_LIST,  /* an array of any length: see mica/list.h */
} mica_kind;

typedef enum mica_storage {
    MICA_STORAGE_CHUNK = 0, /* a column in archetype chunks: for data that systems visit every frame */
    MICA_STORAGE_TAG,       /* no data, only presence */
    MICA_STORAGE_SINGLETON, /* one value per world */
    MICA_STORAGE_POOL, /* a packed table of its own: for data that is often added and removed, or rare; without data, a pool tag */
} mica_storage;

/* How a pool finds the row of an entity. */
typedef enum mica_pool_index {
    MICA_INDEX_MAP =
        0, /* an array by entity index, in pages: 8 bytes per entity up to the highest one with the component */
    MICA_INDEX_DIRECT, /* the row is the entity index: fastest; for components that nearly all entities have */
    MICA_INDEX_HASH, /* a hash table, 11 to 21 bytes per row: for components that few entities of a large world have */
} mica_pool_index;

/* When the pool row of a destroyed entity is removed. Queries never show it in any case. */
typedef enum mica_dying {
    MICA_DYING_AT_ONCE = 0, /* together with the entity */
    MICA_DYING_AT_FLUSH, /* at the next flush, all in one pass; remove hooks run then. If memory for the list runs out, together
                               with the entity */
    MICA_DYING_LAZILY, /* when mica_pool_gc finds it; remove hooks run then */
} mica_dying;

/* What happens to an edge of a relation (mica/relation.h) when its target is destroyed. */
typedef enum mica_target_policy {
    MICA_TARGET_REMOVE = 0, /* the edge is removed */
    MICA_TARGET_DESTROY,    /* the source is destroyed when the operation or flush that destroyed the target ends */
    MICA_TARGET_KEEP,       /* the edge stays, with a stale target */
    MICA_TARGET_REFUSE, /* an entity that is a target can't be destroyed, except with the whole world or by its own dependents */
} mica_target_policy;

typedef struct mica_type mica_type;
struct mica_handler;

/* What is known about a field besides its type. Zero is none. Layout hashes and files do not depend on it. */
typedef struct mica_attributes {
    const char *unit; /* such as "m/s" */
    const char *note; /* one line of documentation */
    /* The range of a number, or of each element, if the two differ; infinity is no limit. Values from text, JSON and SQL must be in it;
     * values that C code writes are only checked on demand: see .check_ranges of mica_world_def, and mica_value_check. */
    double minimum;
    double maximum;
    /* The value of the field when the component is added without a value: of a number, bool or constant, or of each element of an array.
     * Not for components with a construct function, which does this itself. Elements of lists start with zero. */
    double initial;
    const char
        *initial_json; /* the same for values of all kinds, as mica_value_parse reads them: "[1, 2]", "\"CALM\"" */
    bool private_;
} mica_attributes;

/* A field, or a fixed array. */
typedef struct mica_field {
    const char *name;
    const mica_type *type; /* for struct, enum and flags fields; of the elements of a list; else NULL */
    uint32_t offset;
    uint32_t element_bytes;
    uint32_t count; /* number of array elements; 1 if it is not an array */
    mica_kind kind;
    const mica_attributes *attributes; /* NULL: none */
} mica_field;

typedef struct mica_constant {
    const char *name;
    int64_t value;
} mica_constant;

/* For components that own something; components with text and lists need none. All functions work on `count` contiguous values. construct
 * and copy initialise raw memory; on failure they undo what they did and return false. move initialises raw memory from values that count
 * as raw memory afterwards, and cannot fail. If NULL: construct fills with zero, copy and move copy bytes, destruct does nothing. */
typedef bool (*mica_construct_fn)(void *values, uint32_t count, void *context);
typedef void (*mica_destruct_fn)(void *values, uint32_t count, void *context);
typedef bool (*mica_copy_fn)(void *to, const void *from, uint32_t count, void *context);
typedef void (*mica_move_fn)(void *to, void *from, uint32_t count, void *context);

/* The description of a type. Zero is the default of everything except name, kind and, with data, size and alignment. */
struct mica_type {
    const char *name;
    const mica_field *fields;
    const mica_constant *constants; /* for enum and flags types */
    uint32_t field_count;
    uint32_t constant_count;
    uint32_t size_bytes;
    uint32_t alignment;
    mica_kind kind;
    mica_storage storage;
    bool toggle;        /* can be disabled in place: mica_disable */
    bool track_added;   /* stores when it was added, per entity: MICA_ADDED */
    bool track_changed; /* stores when it was written, per entity: MICA_CHANGED visits only these entities */
    bool split;         /* every field has its own column: see mica/split.h */
    bool many;          /* pools: an entity can have several instances: mica_pool_add */
    bool hides;         /* not for pools: queries skip entities that have it, unless they name it: see mica/disable.h */
    mica_pool_index index; /* pools */
    mica_dying dying;      /* pools */
    bool relation;         /* edges to other entities: see mica/relation.h, also for the traits that follow */
    bool exclusive;
    bool symmetric;
    bool acyclic;
    bool transitive;
    bool ordered;
    bool parents; /* private: the edges are those of the hierarchy: mica_child_of in mica/hierarchy.h */
    mica_target_policy on_target;
    mica_type *const *required; /* components that are added with this one: MICA_TYPES(Position). Not in a circle */
    mica_type *const *
        excludes; /* components that an entity can't have beside this one, known by their names: MICA_TYPES(Walking). Of a
                                 * registered component, the descriptions in this list have only names */
    mica_construct_fn construct;
    mica_destruct_fn destruct;
    mica_copy_fn copy;
    mica_move_fn move;
    void *context;
    /* The short form of destruct and copy, for one value: also called for values that are zero or have their initial values. A
     * component with destroy_one (or destruct) and without copy_one (or copy) can't be copied: clones, snapshots and mica_add_all with a
     * value refuse it, and a value that was given to mica_create or mica_set belongs to the world. */
    void (*destroy_one)(void *value);
    bool (*copy_one)(void *to,
                     const void *from); /* initialises raw memory; on failure it undoes what it did and returns false */
    const struct mica_handler
        *handlers; /* message handlers: see mica/message.h. Not copied: must stay valid until the process ends. */
    uint32_t handler_count;
    uint32_t id_cache; /* private: the id, once known */
};

/* A component id: the same in all worlds of a process; zero is none. Across processes and files a component is identified by
 * mica_component_name_hash. */
typedef uint32_t mica_component;

/* Registers a component description with the process and returns its id, which is the same for equal names, layouts and traits.
 * The description is copied. Returns 0 if it is malformed, memory runs out or MICA_COMPONENTS_MAX is reached. Threads: any. */
MICA_API mica_component mica_type_intern(mica_type *type);

enum {
    MICA_COMPONENTS_MAX = 32767,        /* and the same number in pools */
    MICA_ENTITY_COMPONENTS_MAX = 32000, /* per entity */
    MICA_COMPONENT_BYTES_MAX = 256 << 20,
    MICA_COMPONENT_ALIGNMENT_MAX = 4096,
};

/* Returns the id of a described component. Threads: any. */
static inline mica_component mica_type_id(mica_type *type)
{
    uint32_t id = type ? MICA_LOAD_(&type->id_cache, MICA_ACQUIRE_) : 0;
    return id ? id : mica_type_intern(type);
}

/* The id of component T. A compile error about mica_type_of_T means that T has no description: write MICA_COMPONENT(T, fields...). */
#define MICA_ID(T) mica_type_id(&MICA_JOIN_(mica_type_of_, T))

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_type_intern(...) MICA_AT_(mica_type_intern(__VA_ARGS__))
#    define mica_type_id(...) MICA_AT_(mica_type_id(__VA_ARGS__))
#endif

#define MICA_COMPONENT(T, ...) MICA_TYPE_(T, #T, (.storage = MICA_STORAGE_CHUNK), __VA_ARGS__)
#define MICA_STRUCT MICA_COMPONENT
/* A component without described fields, in any storage: it is copied, but not hashed or shown, and saved and sent only by a rule. */
#define MICA_OPAQUE(T, traits)                                                                                         \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T, .size_bytes = sizeof(T), .alignment = _Alignof(T), .kind = MICA_KIND_STRUCT, MICA_UNWRAP_ traits};
#define MICA_SINGLETON(T, ...) MICA_TYPE_(T, #T, (.storage = MICA_STORAGE_SINGLETON), __VA_ARGS__)
#define MICA_COMPONENT_WITH(T, traits, ...) MICA_TYPE_(T, #T, traits, __VA_ARGS__)
/* The same, stored in a pool. Nothing else in the program changes. */
#define MICA_POOL(T, ...) MICA_TYPE_(T, #T, (.storage = MICA_STORAGE_POOL), __VA_ARGS__)
#define MICA_POOL_WITH(T, traits, ...)                                                                                 \
    MICA_TYPE_(T, #T, (.storage = MICA_STORAGE_POOL, MICA_UNWRAP_ traits), __VA_ARGS__)

/* A list of components for .required and .excludes. They must be described before. */
#define MICA_TYPES(...) ((mica_type *const[]){MICA_FOR_EACH_(MICA_TYPE_ENTRY_, 0, __VA_ARGS__) NULL})

/* A tag is deliberately an incomplete type: it has no value. */
#define MICA_TAG(T) MICA_TAG_WITH(T, (.toggle = false))
#define MICA_TAG_WITH(T, traits)                                                                                       \
    typedef struct T T;                                                                                                \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, MICA_UNWRAP_ traits};

/* A tag stored as one bit per entity: adding and removing it moves nothing. */
#define MICA_POOL_TAG(T)                                                                                               \
    typedef struct T T;                                                                                                \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_POOL};

#define MICA_ENUM(T, ...) MICA_NAMED_(T, MICA_KIND_ENUM, __VA_ARGS__)
#define MICA_FLAGS(T, ...) MICA_NAMED_(T, MICA_KIND_FLAGS, __VA_ARGS__)

/* Implementation. Nothing below is for direct use. */

#define MICA_UNWRAP_(...) __VA_ARGS__

#define MICA_TYPE_ENTRY_(unused, T) &mica_type_of_##T,
#define MICA_TYPE_(T, name_, traits, ...)                                                                              \
    MICA_FOR_EACH_(MICA_KIND_, T, __VA_ARGS__)                                                                         \
    MICA_UNUSED_ static const mica_field mica_fields_of_##T[] = {MICA_FOR_EACH_(MICA_FIELD_, T, __VA_ARGS__)};         \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {.name = name_,                                                   \
                                                      .fields = mica_fields_of_##T,                                    \
                                                      .field_count = sizeof(mica_fields_of_##T) / sizeof(mica_field),  \
                                                      .size_bytes = sizeof(T),                                         \
                                                      .alignment = _Alignof(T),                                        \
                                                      .kind = MICA_KIND_STRUCT,                                        \
                                                      MICA_UNWRAP_ traits};

#define MICA_NAMED_(T, kind_, ...)                                                                                     \
    MICA_UNUSED_ static const mica_constant mica_constants_of_##T[] = {                                                \
        MICA_FOR_EACH_(MICA_CONSTANT_, T, __VA_ARGS__)};                                                               \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T,                                                                                                    \
        .constants = mica_constants_of_##T,                                                                            \
        .constant_count = sizeof(mica_constants_of_##T) / sizeof(mica_constant),                                       \
        .size_bytes = sizeof(T),                                                                                       \
        .alignment = _Alignof(T),                                                                                      \
        .kind = kind_};
#define MICA_CONSTANT_(T, constant) {#constant, (int64_t)(constant)},

/* An entry is `field`, `(field, Type)` or `(field, Type, attributes)`. */
#define MICA_FIELD_(T, entry) MICA_JOIN_(MICA_FIELD_, MICA_IS_WRAPPED_(entry))(T, entry)
#define MICA_FIELD_1(T, entry) MICA_CALL_(MICA_TYPED_FIELD_, T, MICA_UNWRAP_ entry, .private_ = 0)

#define MICA_FIELD_0(T, field_)                                                                                        \
    {.name = #field_,                                                                                                  \
     .offset = offsetof(T, field_),                                                                                    \
     .element_bytes = MICA_KIND_BYTES_((mica_kind)mica_kind_of_##T##_##field_),                                                   \
     .count = sizeof(((T *)0)->field_) / MICA_KIND_BYTES_((mica_kind)mica_kind_of_##T##_##field_),                         \
     .kind = (mica_kind)mica_kind_of_##T##_##field_},

#define MICA_TYPED_FIELD_(T, field_, Type, ...)                                                                      \
    {.name = #field_,                                                                                                  \
     .type = MICA_IS_LIST_(T, field_) ? &mica_type_of_##Type                                                           \
                                      : _Generic(&mica_type_of_##Type, mica_type *: &mica_type_of_##Type, default: NULL), \
     .offset = offsetof(T, field_),                                                                                    \
     .element_bytes = MICA_IS_LIST_(T, field_) ? sizeof(mica_list) : sizeof(Type),                                     \
     .count = sizeof(((T *)0)->field_) / (MICA_IS_LIST_(T, field_) ? sizeof(mica_list) : sizeof(Type)),         \
     .kind = MICA_IS_LIST_(T, field_)                                                                                  \
                 ? MICA_KIND_LIST                                                                                      \
                 : _Generic(&mica_type_of_##Type, mica_type *: MICA_KIND_NONE, default: MICA_KIND_OF_(T, field_)),     \
     .attributes = sizeof #__VA_ARGS__ == sizeof ".private_ = 0" ? NULL : &mica_attributes_of_##T##_##field_},
#define MICA_IS_LIST_(T, field)                                                                                        \
    _Generic(&((T *)0)->field, mica_list *: 1, default: _Generic(((T *)0)->field, mica_list *: 1, default: 0))

/* The kind of a plain field, worked out once, or a readable error; the attributes of another. */
#define MICA_KIND_(T, entry) MICA_JOIN_(MICA_KIND_, MICA_IS_WRAPPED_(entry))(T, entry)
#define MICA_KIND_0(T, field)                                                                                          \
    enum { mica_kind_of_##T##_##field = MICA_KIND_OF_(T, field) };                                                     \
    _Static_assert((mica_kind)mica_kind_of_##T##_##field != MICA_KIND_NONE,                                                \
                   "Mica cannot describe " #T "." #field ": leave a pointer out; write (" #field                       \
                   ", Type) if its type is a described struct, enum or flags type");                                   \
    _Static_assert((mica_kind)mica_kind_of_##T##_##field != MICA_KIND_LIST,                                            \
                   "Mica needs the type of the elements of " #T "." #field ": write (" #field                          \
                   ", Element), such as (" #field ", float)");
#define MICA_KIND_1(T, entry) MICA_CALL_(MICA_ATTRIBUTES_, T, MICA_UNWRAP_ entry, .private_ = 0)
#define MICA_ATTRIBUTES_(T, field, Type, ...)                                                                        \
    MICA_UNUSED_ static const mica_attributes mica_attributes_of_##T##_##field = {__VA_ARGS__};
#define MICA_KIND_BYTES_(kind)                                                                                         \
    ((kind) == MICA_KIND_BOOL || (kind) == MICA_KIND_CHAR || (kind) == MICA_KIND_I8 || (kind) == MICA_KIND_U8 ? 1      \
     : (kind) == MICA_KIND_I16 || (kind) == MICA_KIND_U16                                                     ? 2      \
     : (kind) == MICA_KIND_I32 || (kind) == MICA_KIND_U32 || (kind) == MICA_KIND_F32                          ? 4      \
     : (kind) == MICA_KIND_TEXT                                                                               ? 16     \
                                                                                                              : 8)

/* `&field` of a plain field and the decayed `field` of an array have the same pointer type, so one list serves both.
 * A pointer field would decay to that type too: its address is a pointer to pointer, which is refused first. */
#define MICA_KIND_OF_(T, field)                                                                                        \
    _Generic(&((T *)0)->field,                                                                                  \
        MICA_KIND_LIST_,                                                                                               \
        default: _Generic(&((T *)0)->field,                                                                     \
            MICA_POINTER_LIST_,                                                                                        \
            default: _Generic(((T *)0)->field, MICA_KIND_LIST_, default: MICA_KIND_NONE)))
#define MICA_KIND_LIST_                                                                                                \
    bool *: MICA_KIND_BOOL, char *: MICA_KIND_CHAR, signed char *: MICA_KIND_I8, unsigned char *: MICA_KIND_U8,        \
    short *: MICA_KIND_I16, unsigned short *: MICA_KIND_U16, int *: MICA_KIND_I32, unsigned int *: MICA_KIND_U32,      \
    long *: (sizeof(long) == 8 ? MICA_KIND_I64 : MICA_KIND_I32),                                                       \
    unsigned long *: (sizeof(long) == 8 ? MICA_KIND_U64 : MICA_KIND_U32), long long *: MICA_KIND_I64,                  \
    unsigned long long *: MICA_KIND_U64, float *: MICA_KIND_F32, double *: MICA_KIND_F64,                              \
    mica_entity *: MICA_KIND_ENTITY, mica_asset *: MICA_KIND_ASSET, mica_text *: MICA_KIND_TEXT,                       \
    mica_list *: MICA_KIND_LIST
#define MICA_POINTER_LIST_                                                                                             \
    bool **: 0, bool *const *: 0, char **: 0, char *const *: 0, signed char **: 0, signed char *const *: 0,            \
    unsigned char **: 0, unsigned char *const *: 0, short **: 0, short *const *: 0, unsigned short **: 0,              \
    unsigned short *const *: 0, int **: 0, int *const *: 0, unsigned int **: 0, unsigned int *const *: 0,              \
    long **: 0, long *const *: 0, unsigned long **: 0, unsigned long *const *: 0, long long **: 0,                     \
    long long *const *: 0, unsigned long long **: 0, unsigned long long *const *: 0, float **: 0, float *const *: 0,   \
    double **: 0, double *const *: 0, mica_entity **: 0, mica_entity *const *: 0, mica_asset **: 0,                    \
    mica_asset *const *: 0, mica_text **: 0, mica_text *const *: 0, mica_list **: 0, mica_list *const *: 0

/* Private: the types besides described ones that elements of lists and fields with attributes can have. They are const, which distinguishes
 * them from described types. */
#ifndef __cplusplus
#    define MICA_ELEMENT_(T, kind_)                                                                                    \
        MICA_UNUSED_ static const mica_type mica_type_of_##T = {                                                       \
            .name = #T, .size_bytes = sizeof(T), .alignment = _Alignof(T), .kind = kind_};
MICA_ELEMENT_(bool, MICA_KIND_BOOL)
MICA_ELEMENT_(_Bool, MICA_KIND_BOOL) /* which bool is a macro for, until C23 */
MICA_ELEMENT_(char, MICA_KIND_CHAR)
MICA_ELEMENT_(int8_t, MICA_KIND_I8)
MICA_ELEMENT_(uint8_t, MICA_KIND_U8)
MICA_ELEMENT_(int16_t, MICA_KIND_I16)
MICA_ELEMENT_(uint16_t, MICA_KIND_U16)
MICA_ELEMENT_(int, MICA_KIND_I32)
MICA_ELEMENT_(int32_t, MICA_KIND_I32)
MICA_ELEMENT_(uint32_t, MICA_KIND_U32)
MICA_ELEMENT_(int64_t, MICA_KIND_I64)
MICA_ELEMENT_(uint64_t, MICA_KIND_U64)
MICA_ELEMENT_(float, MICA_KIND_F32)
MICA_ELEMENT_(double, MICA_KIND_F64)
MICA_ELEMENT_(mica_entity, MICA_KIND_ENTITY)
MICA_ELEMENT_(mica_asset, MICA_KIND_ASSET)
MICA_ELEMENT_(mica_text, MICA_KIND_TEXT)
#endif

#endif
