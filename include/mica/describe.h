/* Mica, describe: one description per C type, written once, feeding every tool.
 *
 *     typedef struct Vec3 { float x, y, z; } Vec3;
 *     MICA_STRUCT(Vec3, x, y, z)                         a part of components
 *
 *     typedef enum Mood { CALM, ANGRY } Mood;
 *     MICA_ENUM(Mood, CALM, ANGRY)                       MICA_FLAGS for bits that are or-ed together
 *
 *     typedef struct Monster { Vec3 home; Mood mood; mica_entity target; char title[16]; float health; } Monster;
 *     MICA_COMPONENT(Monster, (home, Vec3), (mood, Mood), target, title, health)
 *
 *     MICA_TAG(Frozen)                                   no data, only membership
 *     MICA_SINGLETON(Clock, seconds)                     one per world
 *     MICA_COMPONENT_WITH(Health, (.toggle = true, .track_added = true), current, maximum)
 *     MICA_POOL(Burning, seconds_left)                   in a pool beside the chunks: see mica/pool.h
 *     MICA_POOL_WITH(Buff, (.many = true), kind, amount)
 *     MICA_POOL_TAG(Selected)
 *
 * A plain entry is a field whose type is deduced: the integer and floating types, bool, char, mica_entity, mica_asset, and
 * fixed arrays of these with one dimension. An entry in parentheses names the description of the field's type. Fields
 * that are left out are carried along but not hashed, saved or shown. A pointer field is a compile error ("size of unnamed
 * array is negative"): leave it out, and describe a struct of nothing but pointers with MICA_COMPONENT_OPAQUE(Sprite).
 * Up to 40 fields; no semicolon.
 *
 * A description in a header may be included everywhere: equal names with equal layouts and traits are one component,
 * and the construct, destruct, copy and move functions of the first to be used stand for all.
 * From C++, or for types made at run time, fill in a mica_type and give it to mica_component_define.
 */
#ifndef MICA_DESCRIBE_H
#define MICA_DESCRIBE_H

#include "mica/handle.h"
#include "mica/for_each.h"

MICA_BEGIN

typedef enum mica_kind {
    MICA_KIND_NONE = 0,
    MICA_KIND_BOOL,
    MICA_KIND_CHAR, /* an array of these is text */
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
    MICA_KIND_ASSET, /* another resource: see mica/library.h */
} mica_kind;

typedef enum mica_storage {
    MICA_STORAGE_CHUNK = 0, /* a column in archetype chunks: what is swept every frame */
    MICA_STORAGE_TAG,       /* membership only */
    MICA_STORAGE_SINGLETON, /* one value per world */
    MICA_STORAGE_POOL, /* a packed table of its own: what comes and goes, what few have; without data, a pool tag */
} mica_storage;

/* How a pool gets from an entity to its row. */
typedef enum mica_index {
    MICA_INDEX_MAP =
        0,             /* an array by entity, in pages: 8 bytes for each entity up to the last that has the component */
    MICA_INDEX_DIRECT, /* the row is the entity's index: for what nearly all have; look-ups are the fastest there are */
    MICA_INDEX_HASH,   /* 4 to 8 bytes for each row: for what few have in a huge world */
} mica_index;

/* What becomes of a row in a pool when its entity dies. Nobody sees it from then on, whatever is chosen. */
typedef enum mica_dying {
    MICA_DYING_AT_ONCE = 0, /* it goes with the entity */
    MICA_DYING_AT_FLUSH, /* it goes with the next flush, all in one sweep; remove hooks run then. When memory is short for
                               the list of the dead, it goes at once */
    MICA_DYING_LAZILY,   /* it stays until mica_pool_gc comes across it; remove hooks run then */
} mica_dying;

typedef struct mica_type mica_type;
struct mica_handler;

/* One field, or one fixed array of them. */
typedef struct mica_field {
    const char *name;
    const mica_type *type; /* of a struct, enum or flags field, else NULL */
    uint32_t offset;
    uint32_t element_bytes;
    uint32_t count; /* elements of a fixed array, 1 for a plain field */
    mica_kind kind;
} mica_field;

typedef struct mica_constant {
    const char *name;
    int64_t value;
} mica_constant;

/* For components that own something. All work on `count` values that lie one after the other.
 * construct and copy fill raw memory and return false when they can't, having undone what they did;
 * move fills raw memory from values that are raw memory afterwards, and can't fail.
 * Left NULL: construct fills with zero, copy and move copy bytes, destruct does nothing. */
typedef bool (*mica_construct_fn)(void *values, uint32_t count, void *context);
typedef void (*mica_destruct_fn)(void *values, uint32_t count, void *context);
typedef bool (*mica_copy_fn)(void *to, const void *from, uint32_t count, void *context);
typedef void (*mica_move_fn)(void *to, void *from, uint32_t count, void *context);

/* The description of a type. Zero is the default of everything but name, kind and, with data, size and alignment. */
struct mica_type {
    const char *name;
    const mica_field *fields;
    const mica_constant *constants; /* of an enum or flags type */
    uint32_t field_count;
    uint32_t constant_count;
    uint32_t size_bytes;
    uint32_t alignment;
    mica_kind kind;
    mica_storage storage;
    bool toggle;      /* can be switched off and on in place: mica_disable */
    bool track_added; /* remembers per entity when it was added: MICA_ADDED */
    bool split;       /* every field has an array of its own: see mica/split.h */
    bool many;        /* of a pool: an entity can have many instances: mica_pool_add */
    mica_index index; /* of a pool */
    mica_dying dying; /* of a pool */
    mica_construct_fn construct;
    mica_destruct_fn destruct;
    mica_copy_fn copy;
    mica_move_fn move;
    void *context;
    const struct mica_handler
        *handlers; /* of messages: see mica/message.h. Not copied: it must live as long as the process. */
    uint32_t handler_count;
    uint32_t id_cache; /* private: the id once known */
};

/* The small id of a component: the same in all worlds of a process, zero is none. Components don't use up entities.
 * Across processes a component is known by mica_component_name_hash. */
typedef uint32_t mica_component;

/* Interns the description of a component and returns its id: the same for equal names, layouts and traits. Returns 0
 * when it is malformed, memory is short or there are MICA_COMPONENTS_MAX already. All is copied. Threads: any. */
MICA_API mica_component mica_type_intern(mica_type *type);

enum {
    MICA_COMPONENTS_MAX = 32767,        /* and as many in pools */
    MICA_ENTITY_COMPONENTS_MAX = 32000, /* of one entity */
    MICA_COMPONENT_BYTES_MAX = 256 << 20,
    MICA_COMPONENT_ALIGNMENT_MAX = 4096,
};

/* Returns the id of a described component. Threads: any. */
static inline mica_component mica_type_id(mica_type *type)
{
    uint32_t id = __atomic_load_n(&type->id_cache, __ATOMIC_ACQUIRE);
    return id ? id : mica_type_intern(type);
}

/* The id of the component described as T. A missing description is a compile error naming mica_type_of_T. */
#define MICA_ID(T) mica_type_id(&mica_type_of_##T)

MICA_END

#define MICA_STRUCT(T, ...) MICA_TYPE_(T, MICA_KIND_STRUCT, (.storage = MICA_STORAGE_CHUNK), __VA_ARGS__)
#define MICA_COMPONENT(T, ...) MICA_TYPE_(T, MICA_KIND_STRUCT, (.storage = MICA_STORAGE_CHUNK), __VA_ARGS__)
/* A component of which no field is described: it is carried along, but not hashed, saved or shown. */
#define MICA_COMPONENT_OPAQUE(T)                                                                                       \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T, .size_bytes = sizeof(T), .alignment = _Alignof(T), .kind = MICA_KIND_STRUCT};
#define MICA_SINGLETON(T, ...) MICA_TYPE_(T, MICA_KIND_STRUCT, (.storage = MICA_STORAGE_SINGLETON), __VA_ARGS__)
#define MICA_COMPONENT_WITH(T, traits, ...) MICA_TYPE_(T, MICA_KIND_STRUCT, traits, __VA_ARGS__)
/* The same kept in a pool: one word, and nothing else in the program changes. */
#define MICA_POOL(T, ...) MICA_TYPE_(T, MICA_KIND_STRUCT, (.storage = MICA_STORAGE_POOL), __VA_ARGS__)
#define MICA_POOL_WITH(T, traits, ...)                                                                                 \
    MICA_TYPE_(T, MICA_KIND_STRUCT, (.storage = MICA_STORAGE_POOL, MICA_UNWRAP_ traits), __VA_ARGS__)

/* A tag is an incomplete type on purpose: it has no value to take. */
#define MICA_TAG(T) MICA_TAG_WITH(T, (.toggle = false))
#define MICA_TAG_WITH(T, traits)                                                                                       \
    typedef struct T T;                                                                                                \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, MICA_UNWRAP_ traits};

/* A tag that is a bit per entity: added and removed without moving anything. */
#define MICA_POOL_TAG(T)                                                                                               \
    typedef struct T T;                                                                                                \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {                                                                 \
        .name = #T, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_POOL};

#define MICA_ENUM(T, ...) MICA_NAMED_(T, MICA_KIND_ENUM, __VA_ARGS__)
#define MICA_FLAGS(T, ...) MICA_NAMED_(T, MICA_KIND_FLAGS, __VA_ARGS__)

/* How it works: nothing below is for direct use. */

#define MICA_UNUSED_ __attribute__((unused))
#define MICA_UNWRAP_(...) __VA_ARGS__

#define MICA_TYPE_(T, kind_, traits, ...) MICA_TYPE_NAMED_(T, #T, kind_, traits, __VA_ARGS__)
#define MICA_TYPE_NAMED_(T, name_, kind_, traits, ...)                                                                 \
    MICA_UNUSED_ static const mica_field mica_fields_of_##T[] = {MICA_FOR_EACH_(MICA_FIELD_, T, __VA_ARGS__)};         \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {.name = name_,                                                   \
                                                      .fields = mica_fields_of_##T,                                    \
                                                      .field_count = sizeof(mica_fields_of_##T) / sizeof(mica_field),  \
                                                      .size_bytes = sizeof(T),                                         \
                                                      .alignment = _Alignof(T),                                        \
                                                      .kind = kind_,                                                   \
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

/* An entry is either `field` or `(field, Type)`. */
#define MICA_FIELD_(T, entry) MICA_JOIN_(MICA_FIELD_, MICA_IS_WRAPPED_(entry))(T, entry)
#define MICA_FIELD_0(T, field) MICA_PLAIN_FIELD_(T, field)
#define MICA_FIELD_1(T, entry) MICA_TYPED_FIELD_(T, MICA_UNWRAP_ entry)

#define MICA_MEMBER_(T, field) (((T *)0)->field)
#define MICA_PLAIN_FIELD_(T, field_)                                                                                   \
    {.name = #field_,                                                                                                  \
     .offset = offsetof(T, field_),                                                                                    \
     .element_bytes = MICA_KIND_BYTES_(MICA_KIND_OF_(T, field_)),                                                      \
     .count = sizeof(MICA_MEMBER_(T, field_)) / MICA_KIND_BYTES_(MICA_KIND_OF_(T, field_)),                            \
     .kind = MICA_KIND_OF_(T, field_)},

#define MICA_TYPED_FIELD_(...) MICA_TYPED_FIELD_2_(__VA_ARGS__)
#define MICA_TYPED_FIELD_2_(T, field_, Type)                                                                           \
    {.name = #field_,                                                                                                  \
     .type = &mica_type_of_##Type,                                                                                     \
     .offset = offsetof(T, field_),                                                                                    \
     .element_bytes = sizeof(Type),                                                                                    \
     .count = sizeof(MICA_MEMBER_(T, field_)) / sizeof(Type)},

/* A kind of none divides by a negative-sized array: "size of unnamed array is negative" means the field's type has
 * no description (a pointer, a struct, a union): leave the field out or write (field, Type). */
#define MICA_KIND_BYTES_(kind)                                                                                         \
    ((kind) == MICA_KIND_BOOL || (kind) == MICA_KIND_CHAR || (kind) == MICA_KIND_I8 || (kind) == MICA_KIND_U8   ? 1    \
     : (kind) == MICA_KIND_I16 || (kind) == MICA_KIND_U16                                                       ? 2    \
     : (kind) == MICA_KIND_I32 || (kind) == MICA_KIND_U32 || (kind) == MICA_KIND_F32                            ? 4    \
                                                                     : sizeof(char[(kind) != MICA_KIND_NONE ? 8 : -1]))

/* `&field` of a plain field and the decayed `field` of an array have the same pointer type, so one list serves both.
 * A pointer field would decay to that type too: its address is a pointer to pointer, which is refused first. */
#define MICA_KIND_OF_(T, field)                                                                                        \
    _Generic(&MICA_MEMBER_(T, field), MICA_KIND_LIST_, default: MICA_ARRAY_KIND_OF_(T, field))
#define MICA_ARRAY_KIND_OF_(T, field)                                                                                  \
    _Generic(&MICA_MEMBER_(T, field), MICA_POINTER_LIST_, default: MICA_ELEMENT_KIND_OF_(T, field))
#define MICA_ELEMENT_KIND_OF_(T, field) _Generic(MICA_MEMBER_(T, field), MICA_KIND_LIST_, default: MICA_KIND_NONE)
#define MICA_KIND_LIST_                                                                                                \
    bool *: MICA_KIND_BOOL, char *: MICA_KIND_CHAR, signed char *: MICA_KIND_I8, unsigned char *: MICA_KIND_U8,        \
    short *: MICA_KIND_I16, unsigned short *: MICA_KIND_U16, int *: MICA_KIND_I32, unsigned int *: MICA_KIND_U32,      \
    long *: (sizeof(long) == 8 ? MICA_KIND_I64 : MICA_KIND_I32),                                                       \
    unsigned long *: (sizeof(long) == 8 ? MICA_KIND_U64 : MICA_KIND_U32), long long *: MICA_KIND_I64,                  \
    unsigned long long *: MICA_KIND_U64, float *: MICA_KIND_F32, double *: MICA_KIND_F64,                              \
    mica_entity *: MICA_KIND_ENTITY, mica_asset *: MICA_KIND_ASSET
#define MICA_POINTER_LIST_                                                                                             \
    bool **: 0, bool *const *: 0, char **: 0, char *const *: 0, signed char **: 0, signed char *const *: 0,            \
    unsigned char **: 0, unsigned char *const *: 0, short **: 0, short *const *: 0, unsigned short **: 0,              \
    unsigned short *const *: 0, int **: 0, int *const *: 0, unsigned int **: 0, unsigned int *const *: 0,              \
    long **: 0, long *const *: 0, unsigned long **: 0, unsigned long *const *: 0, long long **: 0,                     \
    long long *const *: 0, unsigned long long **: 0, unsigned long long *const *: 0, float **: 0, float *const *: 0,   \
    double **: 0, double *const *: 0, mica_entity **: 0, mica_entity *const *: 0, mica_asset **: 0, mica_asset *const *: 0

#endif
