/* Mica 0.1.0, in one header. Generated: see the headers of include/mica to read it. */
/* mica/mica.h */
/* Mica: a data-oriented Entity Component System. This header is all of the core.
 *
 * A world holds entities. A component is a plain C struct, described once. A query walks the entities that have a set
 * of components, as plain arrays. While something walks, changes are recorded and applied at the flush.
 * Start with examples/hello.c; then read describe.h, entity.h, query.h and command.h, in this order. */
#ifndef MICA_H
#define MICA_H

/* mica/base.h */
/* Mica, base: what every other header stands on: results, reports and the allocator.
 *
 * Thread rules. Every public function carries one of three words:
 *   Threads: any     may be called from any thread at any time.
 *   Threads: reader  from any thread, as long as no thread changes the same world meanwhile.
 *   Threads: owner   from one thread at a time, while no other thread uses the same world.
 */
#ifndef MICA_BASE_H
#define MICA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(MICA_SHARED)
#    ifdef MICA_BUILD
#        define MICA_API __declspec(dllexport)
#    else
#        define MICA_API __declspec(dllimport)
#    endif
#elif defined(__GNUC__)
#    define MICA_API __attribute__((visibility("default")))
#else
#    define MICA_API
#endif

/* What a library of the program shows to who loads it: see mica/module.h. */
#if defined(_WIN32)
#    define MICA_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#    define MICA_EXPORT __attribute__((visibility("default")))
#else
#    define MICA_EXPORT
#endif

/* The version of these headers. */
#define MICA_VERSION_MAJOR 0
#define MICA_VERSION_MINOR 1
#define MICA_VERSION_PATCH 0

#ifdef __cplusplus
#    define MICA_BEGIN extern "C" {
#    define MICA_END }
#else
#    define MICA_BEGIN
#    define MICA_END
#endif

MICA_BEGIN

/* The one door to everything: see mica/world.h. */
typedef struct mica_world mica_world;

/* What became of a call. Everything but MICA_OK left the world as it was, but for a flush, which says what it drops. */
typedef enum mica_result {
    MICA_OK = 0,
    MICA_ERROR_MEMORY,  /* the allocator returned NULL */
    MICA_ERROR_INVALID, /* an argument makes no sense */
    MICA_ERROR_DEAD,    /* the entity is nil, stale or was never handed out */
    MICA_ERROR_UNKNOWN, /* no such component, field or name */
    MICA_ERROR_EXISTS,  /* the name is taken */
    MICA_ERROR_LIMIT,   /* a documented bound would be passed */
    MICA_ERROR_LAYOUT,  /* two descriptions of one name disagree */
    MICA_ERROR_REFUSED, /* the world was told not to do this: sealed, or busy iterating */
    MICA_ERROR_DATA,    /* a file or its text is not what it should be */
    MICA_ERROR_FILE,    /* the operating system can't open, read or write it */
} mica_result;

/* Returns a constant phrase such as "out of memory". Threads: any. */
MICA_API const char *mica_result_text(mica_result result);

/* A place in the user's source, carried by whatever may have to complain later. */
typedef struct mica_place {
    const char *file;
    int line;
} mica_place;

#ifdef __cplusplus
#    define MICA_HERE (mica_place{__FILE__, __LINE__})
#else
#    define MICA_HERE ((mica_place){__FILE__, __LINE__})
#endif

/* One complaint. The text lives until the handler returns. */
typedef struct mica_report {
    mica_result result;
    const char *text;
    mica_place place; /* of the user's code where known, else file is NULL */
} mica_report;

/* Receives every report of a world, in the thread that caused it. */
typedef void (*mica_report_fn)(const mica_report *report, void *context);

/* Where memory comes from. `allocate` returns NULL when it can't; `alignment` is a power of two, for large
 * blocks as large as the block.
 * `release` gets the very size and alignment of the allocation. Both must be callable from any thread
 * that records commands. Leave both NULL for the default: malloc, and huge pages for large blocks. */
typedef struct mica_allocator {
    void *(*allocate)(size_t bytes, size_t alignment, void *context);
    void (*release)(void *memory, size_t bytes, size_t alignment, void *context);
    void *context;
} mica_allocator;

MICA_END
#endif

/* mica/batch.h */
/* Mica, batch: entities of several kinds created as one, in steps. What mica_create_many is for one set of components,
 * a batch is for a whole level: everything that can fail comes first, values can be completed once the handles are
 * known, and hooks see nothing before all is in place. Resources are spawned with it; so can be what you read yourself.
 *
 *     mica_batch_begin(world, groups, group_count, &batch);
 *     mica_batch_entities(batch, entities);
 *     for (mica_batch_run run = {.component = MICA_ID(Target)}; mica_batch_next(batch, &run);)
 *         aim(run.values, run.count, entities);
 *     mica_batch_commit(batch, NULL, 0);                     or mica_batch_cancel(batch): as if nothing had been
 *
 * Between begin and the end the world records, as it does in a hook: changes made meanwhile are applied at the end.
 */
#ifndef MICA_BATCH_H
#define MICA_BATCH_H

/* mica/entity.h */
/* Mica, entity: what is done to one entity.
 *
 *     mica_entity ship = mica_create(world, MICA_WITH(Position, {0, 0, 0}), MICA_WITH(Frozen));
 *     mica_set(world, ship, Velocity, {1, 0, 0});            adds it, or overwrites it; a value in braces
 *     mica_set_from(world, ship, Velocity, &start);          the same from a variable; MICA_FROM with mica_create
 *     mica_write(world, ship, Position)->x += 1;             to change, stamped as changed
 *     float x = mica_get(world, ship, Position)->x;          to look
 *     mica_remove(world, ship, Frozen);
 *     mica_destroy(world, ship);
 *
 * Changes are immediate, except while the world is recording (mica/command.h), inside hooks for example: then they
 * are applied by the next flush, in order. A dead handle gives nil, NULL or false, and nothing happens; trying to change
 * it is reported, looking at it (is_alive, has, get, write, is_enabled, components_of) is not.
 * Pointers to components live until the next structural change: create, destroy, add or remove of any entity.
 *
 * Each macro is sugar over the function with the same name and _component, which takes an id instead of a type;
 * mica_create is sugar over mica_create_values.
 */
#ifndef MICA_ENTITY_H
#define MICA_ENTITY_H

/* mica/describe.h */
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

/* mica/handle.h */
/* Mica, handle: the name of an entity, and of a resource. */
#ifndef MICA_HANDLE_H
#define MICA_HANDLE_H


MICA_BEGIN

/* A 64-bit handle, passed by value. All zero is nil. The generation makes a stale handle harmless: a slot that has
 * used up its generations is retired, so a dead handle never comes alive again. */
typedef struct mica_entity {
    uint32_t index;
    uint32_t generation;
} mica_entity;

/* Returns the handle that names nothing. Threads: any. */
static inline mica_entity mica_nil(void)
{
    mica_entity nil = {0, 0};
    return nil;
}

/* Returns whether the handle is nil; a dead handle is not. Threads: any. */
static inline bool mica_is_nil(mica_entity entity)
{
    return entity.generation == 0;
}

/* Returns whether both name the same entity. Threads: any. */
static inline bool mica_same(mica_entity a, mica_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}

/* The name of a resource that a value refers to: the hash of its path, so that it is the same in every process, and is copied,
 * hashed, sent and saved as it lies. All zero is none. What it stands for is looked up: see mica/library.h. */
typedef struct mica_asset {
    uint64_t path_hash;
} mica_asset;

MICA_END
#endif

/* mica/for_each.h */
/* Mica, for_each: the preprocessor loop behind the description and create macros. Nothing here is for direct use. */
#ifndef MICA_FOR_EACH_H
#define MICA_FOR_EACH_H

#define MICA_JOIN_(a, b) MICA_JOIN_2_(a, b)
#define MICA_JOIN_2_(a, b) a##b

/* MICA_IS_WRAPPED_((x)) is 1, MICA_IS_WRAPPED_(x) is 0. */
#define MICA_IS_WRAPPED_(entry) MICA_SECOND_(MICA_PROBE_ entry, 0, 0)
#define MICA_SECOND_(...) MICA_SECOND_2_(__VA_ARGS__)
#define MICA_SECOND_2_(first, second, ...) second
#define MICA_PROBE_(...) 0, 1

/* How many arguments there are, from 1 to 40. */
#define MICA_COUNT_(...) MICA_COUNT_2_(__VA_ARGS__, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define MICA_COUNT_2_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, count, ...) count

/* 1 for one argument, 2 for more. */
#define MICA_ONE_OR_MORE_(...) MICA_COUNT_2_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0)

/* MICA_FOR_EACH_(M, T, a, b) is M(T, a) M(T, b). */
#define MICA_FOR_EACH_(M, T, ...) MICA_JOIN_(MICA_EACH_, MICA_COUNT_(__VA_ARGS__))(M, T, __VA_ARGS__)
#define MICA_EACH_1(M, T, a) M(T, a)
#define MICA_EACH_2(M, T, a, ...) M(T, a) MICA_EACH_1(M, T, __VA_ARGS__)
#define MICA_EACH_3(M, T, a, ...) M(T, a) MICA_EACH_2(M, T, __VA_ARGS__)
#define MICA_EACH_4(M, T, a, ...) M(T, a) MICA_EACH_3(M, T, __VA_ARGS__)
#define MICA_EACH_5(M, T, a, ...) M(T, a) MICA_EACH_4(M, T, __VA_ARGS__)
#define MICA_EACH_6(M, T, a, ...) M(T, a) MICA_EACH_5(M, T, __VA_ARGS__)
#define MICA_EACH_7(M, T, a, ...) M(T, a) MICA_EACH_6(M, T, __VA_ARGS__)
#define MICA_EACH_8(M, T, a, ...) M(T, a) MICA_EACH_7(M, T, __VA_ARGS__)
#define MICA_EACH_9(M, T, a, ...) M(T, a) MICA_EACH_8(M, T, __VA_ARGS__)
#define MICA_EACH_10(M, T, a, ...) M(T, a) MICA_EACH_9(M, T, __VA_ARGS__)
#define MICA_EACH_11(M, T, a, ...) M(T, a) MICA_EACH_10(M, T, __VA_ARGS__)
#define MICA_EACH_12(M, T, a, ...) M(T, a) MICA_EACH_11(M, T, __VA_ARGS__)
#define MICA_EACH_13(M, T, a, ...) M(T, a) MICA_EACH_12(M, T, __VA_ARGS__)
#define MICA_EACH_14(M, T, a, ...) M(T, a) MICA_EACH_13(M, T, __VA_ARGS__)
#define MICA_EACH_15(M, T, a, ...) M(T, a) MICA_EACH_14(M, T, __VA_ARGS__)
#define MICA_EACH_16(M, T, a, ...) M(T, a) MICA_EACH_15(M, T, __VA_ARGS__)
#define MICA_EACH_17(M, T, a, ...) M(T, a) MICA_EACH_16(M, T, __VA_ARGS__)
#define MICA_EACH_18(M, T, a, ...) M(T, a) MICA_EACH_17(M, T, __VA_ARGS__)
#define MICA_EACH_19(M, T, a, ...) M(T, a) MICA_EACH_18(M, T, __VA_ARGS__)
#define MICA_EACH_20(M, T, a, ...) M(T, a) MICA_EACH_19(M, T, __VA_ARGS__)
#define MICA_EACH_21(M, T, a, ...) M(T, a) MICA_EACH_20(M, T, __VA_ARGS__)
#define MICA_EACH_22(M, T, a, ...) M(T, a) MICA_EACH_21(M, T, __VA_ARGS__)
#define MICA_EACH_23(M, T, a, ...) M(T, a) MICA_EACH_22(M, T, __VA_ARGS__)
#define MICA_EACH_24(M, T, a, ...) M(T, a) MICA_EACH_23(M, T, __VA_ARGS__)
#define MICA_EACH_25(M, T, a, ...) M(T, a) MICA_EACH_24(M, T, __VA_ARGS__)
#define MICA_EACH_26(M, T, a, ...) M(T, a) MICA_EACH_25(M, T, __VA_ARGS__)
#define MICA_EACH_27(M, T, a, ...) M(T, a) MICA_EACH_26(M, T, __VA_ARGS__)
#define MICA_EACH_28(M, T, a, ...) M(T, a) MICA_EACH_27(M, T, __VA_ARGS__)
#define MICA_EACH_29(M, T, a, ...) M(T, a) MICA_EACH_28(M, T, __VA_ARGS__)
#define MICA_EACH_30(M, T, a, ...) M(T, a) MICA_EACH_29(M, T, __VA_ARGS__)
#define MICA_EACH_31(M, T, a, ...) M(T, a) MICA_EACH_30(M, T, __VA_ARGS__)
#define MICA_EACH_32(M, T, a, ...) M(T, a) MICA_EACH_31(M, T, __VA_ARGS__)
#define MICA_EACH_33(M, T, a, ...) M(T, a) MICA_EACH_32(M, T, __VA_ARGS__)
#define MICA_EACH_34(M, T, a, ...) M(T, a) MICA_EACH_33(M, T, __VA_ARGS__)
#define MICA_EACH_35(M, T, a, ...) M(T, a) MICA_EACH_34(M, T, __VA_ARGS__)
#define MICA_EACH_36(M, T, a, ...) M(T, a) MICA_EACH_35(M, T, __VA_ARGS__)
#define MICA_EACH_37(M, T, a, ...) M(T, a) MICA_EACH_36(M, T, __VA_ARGS__)
#define MICA_EACH_38(M, T, a, ...) M(T, a) MICA_EACH_37(M, T, __VA_ARGS__)
#define MICA_EACH_39(M, T, a, ...) M(T, a) MICA_EACH_38(M, T, __VA_ARGS__)
#define MICA_EACH_40(M, T, a, ...) M(T, a) MICA_EACH_39(M, T, __VA_ARGS__)

#endif


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

#define MICA_TYPE_(T, kind_, traits, ...)                                                                              \
    MICA_UNUSED_ static const mica_field mica_fields_of_##T[] = {MICA_FOR_EACH_(MICA_FIELD_, T, __VA_ARGS__)};         \
    MICA_UNUSED_ static mica_type mica_type_of_##T = {.name = #T,                                                      \
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


MICA_BEGIN

/* A component with the value it starts with; NULL is the default value: constructed, or zero. */
typedef struct mica_value {
    mica_component component;
    uint32_t size_bytes; /* of what data points to, checked against the component's; 0 is unchecked */
    const void *data;
} mica_value;

/* Creates an entity with these components, in any order, none twice. Returns nil when it can't.
 * Threads: owner. */
MICA_API mica_entity mica_create_values(mica_world *world, const mica_value *values, uint32_t count);

/* Destroys an entity with all its components. Returns false when it is dead already. Threads: owner. */
MICA_API bool mica_destroy(mica_world *world, mica_entity entity);

/* Returns whether the handle names a living entity, or one whose creation is recorded; has and get see nothing of the
 * latter until the flush. Threads: reader. */
MICA_API bool mica_is_alive(const mica_world *world, mica_entity entity);

/* Adds a component with its default value and returns it, to be filled in; when it is there already, returns that.
 * Returns NULL when it can't. A tag gives a pointer that can't be followed. Threads: owner. */
MICA_API void *mica_add_component(mica_world *world, mica_entity entity, mica_component component);

/* Adds or overwrites a component by copying the value. Returns false when it can't. Threads: owner. */
MICA_API bool mica_set_component(mica_world *world, mica_entity entity, mica_value value);

/* Removes a component. Returns false when the entity is dead or does not have it. Threads: owner. */
MICA_API bool mica_remove_component(mica_world *world, mica_entity entity, mica_component component);

/* Returns whether the entity lives and has the component, switched on or off. Threads: reader. */
MICA_API bool mica_has_component(const mica_world *world, mica_entity entity, mica_component component);

/* Returns the component to look at, NULL when the entity is dead or does not have it, without a report.
 * Threads: reader. */
MICA_API const void *mica_get_component(const mica_world *world, mica_entity entity, mica_component component);

/* As mica_get_component, to be changed: the value counts as changed from now on. Threads: owner. */
MICA_API void *mica_write_component(mica_world *world, mica_entity entity, mica_component component);

/* Switches a component that is described with .toggle off and on in place: nothing moves, the value is kept, and
 * queries pass over it. Returns false when the entity does not have it or it can't be toggled. Threads: owner. */
MICA_API bool mica_enable_component(mica_world *world, mica_entity entity, mica_component component, bool enabled);

/* Returns whether the entity has the component and it is switched on. Threads: reader. */
MICA_API bool mica_is_enabled_component(const mica_world *world, mica_entity entity, mica_component component);

/* Fills `out` with up to `capacity` components of the entity, by rising id, and returns how many it has.
 * Threads: reader. */
MICA_API uint32_t mica_components_of(const mica_world *world, mica_entity entity, mica_component *out,
                                     uint32_t capacity);

/* Creates an entity with the components, values and switches of another, which must have been flushed; the name stays
 * with that one. Returns nil when it can't. Threads: owner. */
MICA_API mica_entity mica_clone(mica_world *world, mica_entity entity);

MICA_END

/* MICA_WITH(T, {value}) or MICA_WITH(T) for the default value and for tags. */
#define MICA_WITH(...) MICA_JOIN_(MICA_WITH_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_WITH_1(T) {MICA_ID(T), 0, NULL}
#define MICA_WITH_2(T, ...) {MICA_ID(T), sizeof(T), &(const T)__VA_ARGS__}
/* MICA_FROM(T, pointer) takes a value that is there already. */
#define MICA_FROM(T, pointer) {MICA_ID(T), sizeof(T), (const T *){(pointer)}}
#define MICA_VALUE_(T, ...) ((mica_value)MICA_WITH_2(T, __VA_ARGS__))

/* mica_create(world) or mica_create(world, MICA_WITH(...), ...) */
#define mica_create(...) MICA_JOIN_(MICA_CREATE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_CREATE_1(world) mica_create_values((world), NULL, 0)
#define MICA_CREATE_2(world, ...) mica_create_values((world), MICA_VALUES_(__VA_ARGS__))
#define MICA_VALUES_(...)                                                                                              \
    (const mica_value[]){__VA_ARGS__}, (uint32_t)(sizeof((const mica_value[]){__VA_ARGS__}) / sizeof(mica_value))

#define mica_add(world, entity, T) ((T *)mica_add_component((world), (entity), MICA_ID(T)))
#define mica_set(world, entity, T, ...) mica_set_component((world), (entity), MICA_VALUE_(T, __VA_ARGS__))
#define mica_set_from(world, entity, T, pointer)                                                                       \
    mica_set_component((world), (entity), (mica_value)MICA_FROM(T, pointer))
#define mica_remove(world, entity, T) mica_remove_component((world), (entity), MICA_ID(T))
#define mica_has(world, entity, T) mica_has_component((world), (entity), MICA_ID(T))
#define mica_get(world, entity, T) ((const T *)mica_get_component((world), (entity), MICA_ID(T)))
#define mica_enable(world, entity, T) mica_enable_component((world), (entity), MICA_ID(T), true)
#define mica_disable(world, entity, T) mica_enable_component((world), (entity), MICA_ID(T), false)
#define mica_is_enabled(world, entity, T) mica_is_enabled_component((world), (entity), MICA_ID(T))

/* mica_write(world, entity, T) is one component, mica_write(view, T) a column: see mica/view.h. */
#define mica_write(...) MICA_JOIN_(MICA_WRITE_, MICA_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_WRITE_3(world, entity, T) ((T *)mica_write_component((world), (entity), MICA_ID(T)))

#endif


MICA_BEGIN

typedef struct mica_batch mica_batch;

/* `count` entities with the same components; columns as for mica_create_many, in chunks or in pools; those in pools whose rows
 * outlive their owner (`dying`) are refused, and added when the batch is over. They must live until the end. */
typedef struct mica_batch_group {
    uint32_t count;
    uint32_t column_count;
    const mica_value *columns;
    uint32_t period; /* columns have so many elements, which repeat; 0: `count` */
} mica_batch_group;

/* Entities of one group whose values lie one after the other. Set component and group to begin; the rest is filled in. */
typedef struct mica_batch_run {
    mica_component component;
    uint32_t group; /* with a NULL `entities`, the group to begin with; mica_batch_next goes on to later groups */
    uint32_t first; /* position of the first entity among those of the batch */
    uint32_t count;
    const mica_entity *entities;
    void *values;          /* NULL for a tag, and for a split component */
    uint32_t private_done; /* rows of the group that were handed out */
    uint32_t private_chunk;
    uint32_t private_row;
} mica_batch_run;

/* Creates the entities of all groups, filled but not yet announced to hooks. When it can't, the world is as it was and
 * the batch NULL. One batch at a time; refused while recording. Threads: owner. */
MICA_API mica_result mica_batch_begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                                      mica_batch **out_batch);

/* Fills `out_entities` with the handles of all groups, one after the other. Threads: owner. */
MICA_API void mica_batch_entities(mica_batch *batch, mica_entity *out_entities);

/* Steps to the next run of rows that have the component, to complete its values; false when there is none. A component
 * that is completed counts as set. Component 0 steps over every row. Threads: owner. */
MICA_API bool mica_batch_next(mica_batch *batch, mica_batch_run *run);

/* Ends the batch and calls the hooks: for the components of `order` one after the other, then for the others by rising
 * id. Then applies what was recorded meanwhile, and returns what became of that. Threads: owner. */
MICA_API mica_result mica_batch_commit(mica_batch *batch, const mica_component *order, uint32_t order_count);

/* Ends the batch and takes everything back; no hook hears of it. Threads: owner. */
MICA_API void mica_batch_cancel(mica_batch *batch);

MICA_END
#endif

/* mica/bulk.h */
/* Mica, bulk: the same things done to many entities in one call, column by column. Where there is one, there are many:
 * this is how levels are spawned and crowds are killed. Each call does all of it, or nothing.
 *
 *     Position where[1000];
 *     mica_entity crowd[1000];
 *     mica_create_many(world, 1000, (mica_value[]){MICA_COLUMN(Position, where), MICA_WITH(Walking)}, 2, crowd);
 *     mica_query_add_tag(wounded, Fleeing);
 *     mica_destroy_many(world, crowd, 1000);
 */
#ifndef MICA_BULK_H
#define MICA_BULK_H

/* mica/query.h */
/* Mica, query: which entities, and what of them.
 *
 *     mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity),
 *                                                              MICA_WITHOUT(Frozen)));
 *     for (mica_view view = mica_query_begin(moving); mica_view_next(&view);) {
 *         Position *position = mica_write(&view, Position);
 *         const Velocity *velocity = mica_read(&view, Velocity);
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             position[i].x += velocity[i].x;
 *     }
 *
 * A query keeps the list of archetypes it matches and is told about new ones; making one is cheap enough to do it ad
 * hoc, and mica_query_destroy gives it back. Archetypes come in the order they were made, rows as they lie.
 * Structure must not change between mica_view_next calls: the loop then ends early with a report. Record the changes
 * instead (mica/command.h).
 */
#ifndef MICA_QUERY_H
#define MICA_QUERY_H

/* mica/view.h */
/* Mica, view: a run of rows with the same components, handed out by a query, one plain array per component. */
#ifndef MICA_VIEW_H
#define MICA_VIEW_H


MICA_BEGIN

enum {
    MICA_TERMS_MAX = 32,
    MICA_SLICE_ROWS = 512, /* the unit of change stamps and of parallel work */
};

struct mica_frame;

/* Valid until the next mica_view_next. Read `count`, `entities` and `world`, and in a system (mica/system.h) `dt`, `frame`
 * and `slice`; the others are private. */
typedef struct mica_view {
    uint32_t count;
    float dt;                        /* seconds since the system ran last; 0 outside of systems */
    const struct mica_frame *frame;  /* NULL outside of systems: see mica/frame.h */
    uint64_t slice;                  /* names this piece of work, whatever the number of workers */
    uint64_t version;                /* what is stamped on what is written; 0: the world's by then */
    uint32_t row;                    /* of the chunk, where this view begins */
    const struct micap_ready *ready; /* what is known of a view that is shown every frame, or NULL */
    const mica_entity *entities;
    mica_world *world;
    struct mica_query *query;
    struct micap_chunk *chunk;
    uint64_t structure; /* the world's when the loop began */
    uint64_t since;
    uint32_t match;                /* index into the matching archetypes */
    uint32_t chunk_index;          /* of the next chunk in that archetype */
    struct mica_pool *driver;      /* the pool whose rows the loop walks, or NULL: see mica/pool.h */
    uint32_t cursor;               /* the next row of a loop with pools, */
    uint32_t end;                  /* and where the driver's rows end */
    uint8_t walk;                  /* how much is to be looked up for the driver's rows */
    const void *fitting;           /* an archetype that is known to match */
    void *columns[MICA_TERMS_MAX]; /* by term, NULL where a term has none */
} mica_view;

/* Steps to the next run of rows; false when there is none. A view is never empty. Threads: as its query. */
MICA_API bool mica_view_next(mica_view *view);

/* Returns the column of a component that the query reads or writes; NULL for an optional one that is not there, and
 * with a report for one the query does not have. Threads: as its query. */
MICA_API const void *mica_view_read(const mica_view *view, mica_component component);

/* As mica_view_read for a component the query writes; its rows count as changed from now on.
 * Threads: as its query; disjoint views may be written from several threads. */
MICA_API void *mica_view_write(mica_view *view, mica_component component);

/* As the two above by the position of the term, from 0: the shortest way to a column. Threads: as above. */
MICA_API const void *mica_view_read_at(const mica_view *view, uint32_t term);
MICA_API void *mica_view_write_at(mica_view *view, uint32_t term);

MICA_END

#define mica_read(view, T) ((const T *)mica_view_read((view), MICA_ID(T)))
#define MICA_WRITE_2(view, T) ((T *)mica_view_write((view), MICA_ID(T)))

#endif

/* mica/world.h */
/* Mica, world: the one door to entities, components, queries and recorded changes.
 * Any number of worlds live side by side and share nothing but component ids. */
#ifndef MICA_WORLD_H
#define MICA_WORLD_H


MICA_BEGIN

/* What a flush does with a recorded change whose entity has died meanwhile. */
typedef enum mica_dead_target {
    MICA_DEAD_TARGET_WARN = 0, /* report it with the place that recorded it, and go on */
    MICA_DEAD_TARGET_IGNORE,
    MICA_DEAD_TARGET_ERROR, /* refuse the whole flush: nothing is applied, the changes are dropped */
} mica_dead_target;

/* How to make a world. Start from mica_world_def_default. */
typedef struct mica_world_def {
    mica_allocator allocator;
    mica_report_fn report; /* NULL prints to stderr */
    void *report_context;
    uint32_t chunk_bytes_first; /* powers of two; a new archetype starts with a chunk of this size, */
    uint32_t chunk_bytes_last;  /* and each further chunk is twice as large up to this one */
    mica_dead_target dead_target;
    uint64_t seed; /* of the world's random numbers, such as those of mica_pool_gc: equal seeds repeat */
} mica_world_def;

/* Returns the defaults: chunks from 2 KiB to 2 MiB, malloc, reports on stderr. Threads: any. */
MICA_API mica_world_def mica_world_def_default(void);

/* Makes an empty world; NULL means the defaults. Returns NULL when memory is short or the def is malformed.
 * Threads: any. */
MICA_API mica_world *mica_world_create(const mica_world_def *def);

/* Destroys all entities (remove hooks and destructors run), queries and command buffers, then the world.
 * NULL is fine. Threads: owner. */
MICA_API void mica_world_destroy(mica_world *world);

/* Destroys every entity but keeps components, queries, hooks and memory. Handles to them stay dead; their slots become
 * free kind by kind, the last row of each first, so that what is created next has the same handles every time.
 * Returns MICA_ERROR_REFUSED while changes are being recorded. Threads: owner. */
MICA_API mica_result mica_world_clear(mica_world *world);

/* Gives unused memory back to the allocator and returns how many bytes that were; 0 while changes are recorded, inside
 * hooks for example. Rows that the dead left in pools go; pointers to components are void after it. Threads: owner. */
MICA_API size_t mica_world_trim(mica_world *world);

/* A sealed world refuses operations that would need a new archetype. Threads: owner. */
MICA_API void mica_world_seal(mica_world *world, bool sealed);

/* A count that grows with the history of the world: stamps of changes are compared against it. */
typedef uint64_t mica_version;

/* Returns a mark: what is written, added or removed from now on is newer than it. Threads: owner. */
MICA_API mica_version mica_world_mark(mica_world *world);

/* Returns a count that grows when entities, components or rows come, go or move: while it stays the same, so do views and
 * pointers to components. For who keeps a loop open while others run. Threads: reader. */
MICA_API mica_version mica_world_structure(const mica_world *world);

/* Returns a hash of everything a program can observe: handles, the order of rows, described fields (never padding),
 * singletons, names, and messages that are kept in streams. Equal on every machine and for every number of threads. Threads: reader. */
MICA_API uint64_t mica_world_hash(const mica_world *world);

/* Walks every invariant; returns MICA_OK, or reports the first that is broken. Slow. Threads: owner. */
MICA_API mica_result mica_world_validate(mica_world *world);

/* Returns the result of the last call that failed, and forgets it; MICA_OK when none did. Threads: owner. */
MICA_API mica_result mica_world_take_error(mica_world *world);

/* Complains as the world itself does: to its report handler, and for mica_world_take_error. For modules that stand on
 * the world. Returns the result. Threads: any. */
MICA_API mica_result mica_world_report(const mica_world *world, mica_result result, const char *text);

typedef struct mica_world_stats {
    uint64_t entity_count;
    uint32_t component_count;
    uint32_t archetype_count;
    uint32_t chunk_count;
    uint32_t query_count;
    uint32_t name_count; /* entities that have one */
    size_t memory_bytes; /* asked of the allocator and not released yet */
    size_t chunk_bytes;  /* of that, in chunks */
} mica_world_stats;

/* Returns what the world holds. Threads: reader. */
MICA_API mica_world_stats mica_world_get_stats(const mica_world *world);

MICA_END
#endif


MICA_BEGIN

typedef struct mica_query mica_query;

typedef enum mica_access {
    MICA_ACCESS_READ = 0,    /* must be there; gives a column to read */
    MICA_ACCESS_WRITE,       /* must be there; gives a column to write */
    MICA_ACCESS_HAS,         /* must be there; no column */
    MICA_ACCESS_WITHOUT,     /* must not be there */
    MICA_ACCESS_MAYBE_READ,  /* gives a column to read, NULL where it is not there */
    MICA_ACCESS_MAYBE_WRITE, /* gives a column to write, NULL where it is not there */
    MICA_ACCESS_EITHER,      /* starts a group of which at least one must be there; gives a column to read or NULL */
    MICA_ACCESS_OR,          /* one more of the group that the terms before it started */
    MICA_ACCESS_CHANGED,  /* must be there and, slice by slice, have been written or moved since the mark; no column */
    MICA_ACCESS_ADDED,    /* must be there and have been added since the mark; .track_added; no column */
    MICA_ACCESS_DISABLED, /* must be there and be switched off: mica_disable; no column */
} mica_access;

/* A component that can be toggled satisfies READ, WRITE, HAS, CHANGED and ADDED only where it is switched on; MAYBE,
 * EITHER and OR show it either way, and WITHOUT means that it is not there at all. A component has one term with a
 * column; CHANGED, ADDED and DISABLED come beside it. */
typedef struct mica_term {
    mica_component component;
    mica_access access;
} mica_term;

#define MICA_READ(T) {MICA_ID(T), MICA_ACCESS_READ}
#define MICA_WRITE(T) {MICA_ID(T), MICA_ACCESS_WRITE}
#define MICA_HAS(T) {MICA_ID(T), MICA_ACCESS_HAS}
#define MICA_WITHOUT(T) {MICA_ID(T), MICA_ACCESS_WITHOUT}
#define MICA_MAYBE_READ(T) {MICA_ID(T), MICA_ACCESS_MAYBE_READ}
#define MICA_MAYBE_WRITE(T) {MICA_ID(T), MICA_ACCESS_MAYBE_WRITE}
#define MICA_EITHER(T) {MICA_ID(T), MICA_ACCESS_EITHER}
#define MICA_OR(T) {MICA_ID(T), MICA_ACCESS_OR}
#define MICA_CHANGED(T) {MICA_ID(T), MICA_ACCESS_CHANGED}
#define MICA_ADDED(T) {MICA_ID(T), MICA_ACCESS_ADDED}
#define MICA_DISABLED(T) {MICA_ID(T), MICA_ACCESS_DISABLED}

/* Returns less than, equal to or more than zero, as a sorts before, with or after b. */
typedef int (*mica_compare_fn)(const void *a, const void *b, void *context);

typedef struct mica_query_def {
    const char *name; /* for messages; NULL is "query" */
    const mica_term *terms;
    uint32_t term_count; /* up to MICA_TERMS_MAX; none means every entity, and is written &(mica_query_def){0} */
    mica_place place;

    /* With a compare function, entities come in the order of this component across all archetypes, equal ones in the
     * order they lie. The order is kept and made anew only after a change. The query must READ or WRITE it. */
    mica_component order_by;
    mica_compare_fn compare;
    void *context;

    /* A pool with many instances per entity that the query asks for: each instance is shown by itself, in the order they
     * lie, instead of each entity once with its first. Not together with an order. */
    mica_component instances_of;
} mica_query_def;

#define MICA_TERMS(...)                                                                                                \
    .terms = (const mica_term[]){__VA_ARGS__},                                                                         \
    .term_count = (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term))
#define MICA_QUERY(...) (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .place = MICA_HERE})
#define MICA_QUERY_SORTED(T, compare_, context_, ...)                                                                  \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__),                                                                  \
                             .place = MICA_HERE,                                                                       \
                             .order_by = MICA_ID(T),                                                                   \
                             .compare = (compare_),                                                                    \
                             .context = (context_)})

#define MICA_QUERY_INSTANCES(T, ...)                                                                                   \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .place = MICA_HERE, .instances_of = MICA_ID(T)})

/* Makes a query; the def is copied. Returns NULL with a report naming the query, the term and the source line; as a
 * query, NULL matches nothing. Threads: owner. */
MICA_API mica_query *mica_query_create(mica_world *world, const mica_query_def *def);

/* Gives a query back; NULL is fine. Threads: owner. */
MICA_API void mica_query_destroy(mica_query *query);

/* Starts a loop over what matches. CHANGED and ADDED mean: since the last loop over this query began, or ever.
 * Threads: reader, but only one loop at a time over a query with CHANGED, ADDED or an order. */
MICA_API mica_view mica_query_begin(mica_query *query);

/* As mica_query_begin, with CHANGED and ADDED meaning since that mark (mica_world_mark). Threads: as above, reader. */
MICA_API mica_view mica_query_begin_since(mica_query *query, mica_version since);

/* Returns how many entities match, without looking at rows where the terms allow. Here and below, CHANGED and ADDED
 * mean since the last loop began. Threads: reader. */
MICA_API uint64_t mica_query_count(mica_query *query);

/* Returns the first entity that matches, or nil. Threads: reader. */
MICA_API mica_entity mica_query_first(mica_query *query);

/* Returns whether this entity matches; a random access test. CHANGED terms look at its slice. Threads: reader. */
MICA_API bool mica_query_matches(mica_query *query, mica_entity entity);

/* Called for one entity with the columns of the query's terms in declared order, NULL where a term has none. */
typedef void (*mica_each_fn)(mica_entity entity, void *const *columns, void *context);

/* Calls the function for every entity that matches. WRITE terms count as written. Threads: owner. */
MICA_API void mica_query_each(mica_query *query, mica_each_fn fn, void *context);

/* Sorts the rows themselves by a component that the query reads or writes: within each archetype that matches, stable.
 * Later loops run in that order until something is added or removed. Pointers to components are void after it. Refused
 * while recording, and for a component in a pool, which has mica_pool_sort. Threads: owner. */
MICA_API mica_result mica_query_sort_rows(mica_query *query, mica_component component, mica_compare_fn compare,
                                          void *context);

MICA_END
#endif


MICA_BEGIN

/* Creates `count` entities with these components. The data of a value is an array of `count` elements, copied as a
 * column; NULL is the default value for all. `out_entities` may be NULL. Refused while recording. Threads: owner. */
MICA_API mica_result mica_create_many(mica_world *world, uint32_t count, const mica_value *columns,
                                      uint32_t column_count, mica_entity *out_entities);

/* Destroys the living among these entities; dead ones and repetitions are passed over. Returns how many died.
 * Threads: owner. */
MICA_API uint32_t mica_destroy_many(mica_world *world, const mica_entity *entities, uint32_t count);

/* Looks up one component of many entities, memory prefetched ahead: NULL where one is dead or lacks it. Returns how
 * many were found. Threads: reader. */
MICA_API uint32_t mica_get_many_component(const mica_world *world, const mica_entity *entities, uint32_t count,
                                          mica_component component, const void **out_pointers);

/* Adds a component to every entity the query shows and that lacks it; `data` (NULL: default) is the one value that
 * all get. Refused while recording. Threads: owner. */
MICA_API mica_result mica_query_add_component(mica_query *query, mica_value value);

/* Removes a component from every entity the query shows. Refused while recording. Threads: owner. */
MICA_API mica_result mica_query_remove_component(mica_query *query, mica_component component);

/* Destroys every entity the query shows. Refused while recording. Threads: owner. */
MICA_API mica_result mica_query_destroy_entities(mica_query *query);

MICA_END

/* A column of values for mica_create_many: an array of `count` T. */
#define MICA_COLUMN(T, array) MICA_FROM(T, array)

#define mica_get_many(world, entities, count, T, out_pointers)                                                         \
    mica_get_many_component((world), (entities), (count), MICA_ID(T), (const void **)(out_pointers))
#define mica_query_add(query, T, ...) mica_query_add_component((query), MICA_VALUE_(T, __VA_ARGS__))
#define mica_query_add_from(query, T, pointer) mica_query_add_component((query), (mica_value)MICA_FROM(T, pointer))
#define mica_query_add_tag(query, T) mica_query_add_component((query), (mica_value)MICA_WITH_1(T))
#define mica_query_remove(query, T) mica_query_remove_component((query), MICA_ID(T))

#endif

/* mica/command.h */
/* Mica, command: structural changes recorded now and applied at the flush.
 *
 * While systems run or a loop walks a query, nothing may move. Record instead:
 *
 *     mica_defer(world);                                     from here on, the world records by itself
 *     for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             mica_destroy(world, view.entities[i]);
 *     mica_flush(world);                                     applied here, recording ends
 *
 * Until the flush, has, get and queries show the world as it was.
 *
 * Threads record into buffers of their own: one mica_commands per task, made by the owner beforehand. A flush applies
 * the buffers in the order in which they were made, each in the order of its calls, so the outcome does not depend on
 * timing; the world's own buffer comes first. All changes to one entity become one move. Handles made by a recorded
 * create are valid at once and don't depend on timing either. Staged values stay where they are until the flush.
 *
 * A flush that runs out of memory, or that a seal refuses, changes nothing and can be tried again. What hooks record while
 * it runs is applied in further rounds, each whole or not at all. Changes that can never be made, for an entity that would
 * be too big for example, are reported and dropped, and the flush returns that after it has applied the others.
 */
#ifndef MICA_COMMAND_H
#define MICA_COMMAND_H


MICA_BEGIN

typedef struct mica_commands mica_commands;

/* Starts recording: until the flush, changes through the world are recorded, not made. Nests. Threads: owner. */
MICA_API void mica_defer(mica_world *world);

/* Ends one mica_defer (none is fine too) and, with the outermost, applies what every buffer recorded.
 * Threads: owner. */
MICA_API mica_result mica_flush(mica_world *world);

/* Makes a buffer, to be used by one thread at a time. Returns NULL when it can't. Threads: owner. */
MICA_API mica_commands *mica_commands_create(mica_world *world);

/* Drops what is recorded and gives the buffer back; NULL is fine. Refused inside a hook. Threads: owner. */
MICA_API void mica_commands_destroy(mica_commands *commands);

/* Names who records, for reports: a system, say. The text must live until the flush. Threads: one per buffer, any. */
MICA_API void mica_commands_set_label(mica_commands *commands, const char *label);

/* Records a creation. Returns the handle, valid at once, or nil. Threads: one per buffer, any. */
MICA_API mica_entity mica_command_create_values(mica_commands *commands, const mica_value *values, uint32_t count,
                                                mica_place place);

/* Records a destruction. Returns false when the entity is dead, or this buffer destroys it already.
 * Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_entity(mica_commands *commands, mica_entity entity, mica_place place);

/* Records an addition and returns the staged value, to be filled in until the flush. When the entity has the
 * component in the world, the staged value starts as a copy of that (so a system that does this reads it, and declares
 * that); what other buffers stage is not looked at. NULL when it can't. Threads: one per buffer, any. */
MICA_API void *mica_command_add_component(mica_commands *commands, mica_entity entity, mica_component component,
                                          mica_place place);

/* Records one more instance of a pool component for many, and returns its staged value, to be filled in until the flush. What is
 * recorded for such a component is done one after the other, hooks included, instead of becoming one change. NULL when it
 * can't. Threads: one per buffer, any. */
MICA_API void *mica_command_add_instance_component(mica_commands *commands, mica_entity entity,
                                                   mica_component component, mica_place place);

/* Records a set. Returns false when it can't. Threads: one per buffer, any. */
MICA_API bool mica_command_set_component(mica_commands *commands, mica_entity entity, mica_value value,
                                         mica_place place);

/* Records a removal. Returns false when, as far as this buffer knows, there is nothing to remove; it still removes what
 * an earlier buffer adds. Threads: one per buffer, any. */
MICA_API bool mica_command_remove_component(mica_commands *commands, mica_entity entity, mica_component component,
                                            mica_place place);

/* Records switching a component on or off. Returns false when it can't be toggled. Threads: one per buffer, any. */
MICA_API bool mica_command_enable_component(mica_commands *commands, mica_entity entity, mica_component component,
                                            bool enabled, mica_place place);

MICA_END

#define mica_command_create(...) MICA_JOIN_(MICA_COMMAND_CREATE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_COMMAND_CREATE_1(commands) mica_command_create_values((commands), NULL, 0, MICA_HERE)
#define MICA_COMMAND_CREATE_2(commands, ...)                                                                           \
    mica_command_create_values((commands), MICA_VALUES_(__VA_ARGS__), MICA_HERE)
#define mica_command_destroy(commands, entity) mica_command_destroy_entity((commands), (entity), MICA_HERE)
#define mica_command_add(commands, entity, T)                                                                          \
    ((T *)mica_command_add_component((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_add_instance(commands, entity, T)                                                                 \
    ((T *)mica_command_add_instance_component((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_set(commands, entity, T, ...)                                                                     \
    mica_command_set_component((commands), (entity), MICA_VALUE_(T, __VA_ARGS__), MICA_HERE)
#define mica_command_set_from(commands, entity, T, pointer)                                                            \
    mica_command_set_component((commands), (entity), (mica_value)MICA_FROM(T, pointer), MICA_HERE)
#define mica_command_remove(commands, entity, T)                                                                       \
    mica_command_remove_component((commands), (entity), MICA_ID(T), MICA_HERE)
#define mica_command_enable(commands, entity, T)                                                                       \
    mica_command_enable_component((commands), (entity), MICA_ID(T), true, MICA_HERE)
#define mica_command_disable(commands, entity, T)                                                                      \
    mica_command_enable_component((commands), (entity), MICA_ID(T), false, MICA_HERE)

#endif

/* mica/component.h */
/* Mica, component: what a world knows about a component. The macros of mica/describe.h register by themselves on
 * first use; this is for bindings, tools and types made at run time. */
#ifndef MICA_COMPONENT_H
#define MICA_COMPONENT_H


MICA_BEGIN

/* Registers a description with the world and returns the component's id; everything is copied.
 * Returns 0 with a report when the description is malformed, or the world has this name with another layout.
 * Threads: owner. */
MICA_API mica_component mica_component_define(mica_world *world, const mica_type *type);

/* Returns the component of that name in this world, or 0. Threads: reader. */
MICA_API mica_component mica_component_find(const mica_world *world, const char *name);

/* Returns the component of this world that follows another by id, or 0; 0 starts with the first. Threads: reader. */
MICA_API mica_component mica_component_next(const mica_world *world, mica_component component);

/* Returns the interned description, or NULL for an unknown id. Lives as long as the process. Threads: any. */
MICA_API const mica_type *mica_component_type(mica_component component);

/* Returns the hash of the name that identifies the component across processes and files, or 0. Threads: any. */
MICA_API uint64_t mica_component_name_hash(mica_component component);

/* Returns the hash of the layout: size, fields, their kinds, names and places; or 0. Threads: any. */
MICA_API uint64_t mica_component_layout_hash(mica_component component);

/* Returns what is wrong with a description, as a constant phrase, or NULL: what mica_component_define would say of it.
 * Threads: any. */
MICA_API const char *mica_type_problem(const mica_type *type);

/* As mica_component_layout_hash for a description without problems that need not be a component's. Threads: any. */
MICA_API uint64_t mica_type_layout_hash(const mica_type *type);

MICA_END

/* Makes the component described as T known to the world by name, before its first use: for files and tools. */
#define mica_define(world, T) mica_component_define((world), &mica_type_of_##T)

#endif

/* mica/hook.h */
/* Mica, hook: one function per component and event, called with whole runs of entities. Setting one replaces the other.
 *
 *     static void on_add(const mica_event *event, void *context)
 *     {
 *         Sprite *sprites = event->values;
 *         for (uint32_t i = 0; i < event->count; ++i)
 *             sprites[i].id = register_sprite(context, event->entities[i]);
 *     }
 *     mica_hook_set(world, Sprite, MICA_EVENT_ADD, on_add, renderer);
 */
#ifndef MICA_HOOK_H
#define MICA_HOOK_H


MICA_BEGIN

typedef enum mica_event_kind {
    MICA_EVENT_ADD = 0, /* after the component was added; its first value is in place */
    MICA_EVENT_SET,     /* after a value was given: by set, or with create; not by add, which gives a default */
    MICA_EVENT_REMOVE,  /* before the component goes, by remove or destroy; it can still be read */
    MICA_EVENT_DESTROY, /* before the entity goes; for component 0, of any entity */
    MICA_EVENT_KINDS,
} mica_event_kind;

typedef struct mica_event {
    mica_world *world;
    mica_event_kind kind;
    mica_component component;
    uint32_t count;
    const mica_entity *entities;
    void *values; /* `count` values, or NULL for a tag or MICA_EVENT_DESTROY */
} mica_event;

/* Called after (ADD, SET) or before (REMOVE, DESTROY) the change; it may write the values. For a dying entity DESTROY
 * comes first, then REMOVE by rising component id. The world records while a hook runs: changes made in it are applied
 * when the operation that called it ends. */
typedef void (*mica_hook_fn)(const mica_event *event, void *context);

/* Sets the hook of a component for an event; a NULL function takes it away. MICA_EVENT_DESTROY takes component 0.
 * Threads: owner. */
MICA_API mica_result mica_hook_set_component(mica_world *world, mica_component component, mica_event_kind kind,
                                             mica_hook_fn fn, void *context);

MICA_END

#define mica_hook_set_destroy(world, fn, context)                                                                      \
    mica_hook_set_component((world), 0, MICA_EVENT_DESTROY, (fn), (context))
#define mica_hook_set(world, T, kind, fn, context)                                                                     \
    mica_hook_set_component((world), MICA_ID(T), (kind), (fn), (context))

#endif

/* mica/name.h */
/* Mica, name: optional names, unique within a scope. The scope is another entity, or nil for the top:
 * a path such as "station/door" is the entity "door" in the scope of the top-level entity "station".
 *
 *     mica_name_set(world, door, station, "door");
 *     mica_entity found = mica_find(world, "station/door");
 *
 * When a scope dies, what was named in it keeps its name, but is no longer found. */
#ifndef MICA_NAME_H
#define MICA_NAME_H


MICA_BEGIN

/* Names an entity within a scope, in place of any name it had; NULL or "" takes the name away. The text is copied. At
 * once, also while changes are recorded, and for an entity whose creation is. Fails with MICA_ERROR_EXISTS when the scope
 * has the name, MICA_ERROR_INVALID when it contains '/' or the entity is its own scope, and MICA_ERROR_DEAD for a dead
 * entity or scope. Threads: owner. */
MICA_API mica_result mica_name_set(mica_world *world, mica_entity entity, mica_entity scope, const char *name);

/* Returns the name, or NULL; it lives until the name changes or the entity dies. Threads: reader. */
MICA_API const char *mica_name_of(const mica_world *world, mica_entity entity);

/* Returns the scope an entity is named in; nil for the top, and for an entity without a name. Threads: reader. */
MICA_API mica_entity mica_name_scope_of(const mica_world *world, mica_entity entity);

/* Returns the entity at a path that starts in a scope, nil being the top; nil when there is none. Threads: reader. */
MICA_API mica_entity mica_find_from(const mica_world *world, mica_entity scope, const char *path);

/* Returns the entity at a path from the top, or nil. Threads: reader. */
static inline mica_entity mica_find(const mica_world *world, const char *path)
{
    return mica_find_from(world, mica_nil(), path);
}

MICA_END
#endif

/* mica/pool.h */
/* Mica, pool: components in a packed table of their own, beside the chunks.
 *
 *     MICA_POOL(Burning, seconds_left)                  instead of MICA_COMPONENT: nothing else in the program changes
 *
 * A pool component never changes an entity's archetype. It is cheap to add and remove, and few or many entities may have
 * it. Get, set, add, remove, queries, references, hooks, toggles and recorded changes work as for any component; in a
 * query, rows that lie one after the other in everything the query reads come as one view, others one by one.
 *
 * This header is for what only pools can do: use the arrays directly, hold on to a row, have many instances.
 *
 *     mica_pool *pool = mica_pool_of(world, PointMass);
 *     float *x = mica_pool_write_field(pool, PointMass, position.x);
 *     const float *vx = mica_pool_read_field(pool, PointMass, velocity.x);
 *     for (uint32_t i = 0; i < mica_pool_row_count(pool); ++i)
 *         x[i] += vx[i] * dt;
 *
 *     mica_instance mass = mica_pool_find(pool, ship);             look up once,
 *     if (!mica_instance_is_nil(mass))
 *         mica_instance_write(pool, mass, PointMass)->mass = 2;    read and write many fields
 *
 * Many instances per entity (.many = true): mica_pool_add adds one more, mica_pool_find gives the first and mica_pool_next
 * the next, in the order they were added; mica_get and mica_set are about the first, mica_remove takes all, and mica_disable
 * switches all: one that is added later joins them. Queries show an entity once, with its first instance, unless they are made
 * with MICA_QUERY_INSTANCES.
 *
 * Two things are not as in chunks: mica_query_sort_rows gives way to mica_pool_sort, and rows that die at the flush or lazily are
 * told to remove hooks and lists when they go, not when their entity dies.
 */
#ifndef MICA_POOL_H
#define MICA_POOL_H

/* mica/split.h */
/* Mica, split: components of which every field lies in an array of its own, for SIMD; in chunks and in pools.
 *
 *     MICA_COMPONENT_WITH(Body, (.split = true), (position, Vec3), (velocity, Vec3), mass)
 *
 *     float *x = mica_write_field(&view, Body, position.x);          a column per field, and per x, y and z of a vector
 *     const float *vx = mica_read_field(&view, Body, velocity.x);
 *     for (uint32_t i = 0; i < view.count; ++i)
 *         x[i] += vx[i] * dt;
 *
 *     float mass = *mica_get_field(world, ship, Body, mass);         one field of one entity
 *     Body whole;
 *     mica_get_value(world, ship, Body, &whole);                     or all of it, as a copy
 *
 * Structs are taken apart, and arrays of up to 4 numbers; text and longer arrays are one column of arrays. Fields that are
 * not described are not kept. Create, set, add, remove and the rest work as ever, but there is no whole value in memory
 * to point to: mica_get and mica_write give NULL with a report, mica_add a pointer that can't be followed, and hooks
 * get no values. Bytes are all it may hold: construct, destruct, copy and move can't be split.
 */
#ifndef MICA_SPLIT_H
#define MICA_SPLIT_H


MICA_BEGIN

/* Returns one field of a split component to look at, by its offset in the struct; NULL without a report when the entity
 * is dead or lacks it, and with one when no column begins at that offset. Lives as mica_get's. Threads: reader. */
MICA_API const void *mica_get_component_field(const mica_world *world, mica_entity entity, mica_component component,
                                              size_t offset);

/* As above, to be changed: the field counts as changed from now on. Threads: owner. */
MICA_API void *mica_write_component_field(mica_world *world, mica_entity entity, mica_component component,
                                          size_t offset);

/* Copies the value of a component, split or not, as bytes; false when the entity is dead or lacks it. Components that own
 * something are only to be looked at in the copy. Threads: reader. */
MICA_API bool mica_get_component_value(const mica_world *world, mica_entity entity, mica_component component,
                                       void *out_value);

/* Returns the column of one field of a split component that the query reads or writes; NULL for an optional one that is
 * not there, and with a report when the query or the component does not have it. Threads: as its query. */
MICA_API const void *mica_view_read_field(const mica_view *view, mica_component component, size_t offset);

/* As above for a component the query writes; the rows of the field count as changed from now on.
 * Threads: as its query; disjoint views may be written from several threads. */
MICA_API void *mica_view_write_field(mica_view *view, mica_component component, size_t offset);

MICA_END

#define mica_get_field(world, entity, T, field)                                                                        \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_get_component_field((world), (entity), MICA_ID(T), offsetof(T, field)))
#define mica_get_value(world, entity, T, out_value)                                                                    \
    mica_get_component_value((world), (entity), MICA_ID(T), (T *){(out_value)})
#define mica_read_field(view, T, field)                                                                                \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_view_read_field((view), MICA_ID(T), offsetof(T, field)))

/* mica_write_field(view, T, field) is a column, mica_write_field(world, entity, T, field) one field of one entity. */
#define mica_write_field(...) MICA_JOIN_(MICA_WRITE_FIELD_, MICA_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_WRITE_FIELD_3(view, T, field)                                                                             \
    ((MICA_FIELD_TYPE_(T, field) *)mica_view_write_field((view), MICA_ID(T), offsetof(T, field)))
#define MICA_WRITE_FIELD_4(world, entity, T, field)                                                                    \
    ((MICA_FIELD_TYPE_(T, field) *)mica_write_component_field((world), (entity), MICA_ID(T), offsetof(T, field)))

#define MICA_FIELD_TYPE_(T, field) __typeof__(((T *)0)->field)

#endif


MICA_BEGIN

typedef struct mica_pool mica_pool;

/* A row of a pool, by value. All zero is nil. It is good until rows are added to or removed from this pool, or sorted;
 * checked builds stop the program when it is used after that. */
typedef struct mica_instance {
    uint32_t private_row; /* from 1 on */
    uint32_t private_stamp;
} mica_instance;

/* Returns whether the instance is nil: there was none to be found. Threads: any. */
static inline bool mica_instance_is_nil(mica_instance instance)
{
    return instance.private_row == 0;
}

/* Returns the world's pool of a component, which lives as long as the world; NULL with a report when it is no pool
 * component, or memory is short. Threads: owner on first use, reader later. */
MICA_API mica_pool *mica_pool_of_component(mica_world *world, mica_component component);

/* Returns how many rows the arrays have. With MICA_INDEX_DIRECT some belong to nobody (their owner is nil), and rows of
 * the dead stay for a while when they die at the flush or lazily. Threads: reader. */
MICA_API uint32_t mica_pool_row_count(const mica_pool *pool);

/* Returns how many instances living entities have. Threads: reader. */
MICA_API uint32_t mica_pool_count(const mica_pool *pool);

/* Returns the owner of each row; NULL for a pool tag. The arrays live until rows are added or removed. Threads: reader. */
MICA_API const mica_entity *mica_pool_owners(const mica_pool *pool);

/* Returns the array of values to look at; NULL with a report for a split component or a tag. Threads: reader. */
MICA_API const void *mica_pool_read_values(const mica_pool *pool);

/* As above, to be changed: all rows count as changed. Threads: owner. */
MICA_API void *mica_pool_write_values(mica_pool *pool);

/* Returns the array of one field of a split component, by its offset; NULL with a report when there is none.
 * Threads: reader. */
MICA_API const void *mica_pool_read_column(const mica_pool *pool, size_t offset);

/* As above, to be changed: all rows of the field count as changed. Threads: owner. */
MICA_API void *mica_pool_write_column(mica_pool *pool, size_t offset);

/* Returns the (first) instance of an entity, or nil. Threads: reader. */
MICA_API mica_instance mica_pool_find(const mica_pool *pool, mica_entity entity);

/* Returns the next instance of the same entity, or nil. Threads: reader. */
MICA_API mica_instance mica_pool_next(const mica_pool *pool, mica_instance instance);

/* Returns whose instance it is. Threads: reader. */
MICA_API mica_entity mica_pool_owner(const mica_pool *pool, mica_instance instance);

/* Adds an instance with the default value, behind those the entity has; nil with a report when it has one already and the
 * pool is not for many, when the entity is dead or memory is short, and while changes are recorded, where
 * mica_command_add_instance does it. Threads: owner. */
MICA_API mica_instance mica_pool_add(mica_pool *pool, mica_entity entity);

/* Removes one instance; the others keep their order. False with a report while changes are recorded.
 * Threads: owner. */
MICA_API bool mica_pool_remove(mica_pool *pool, mica_instance instance);

/* Returns the value of an instance to look at, or of one field of it; NULL for nil, and with a report where there is no
 * such array. Threads: reader. */
MICA_API const void *mica_instance_read_value(const mica_pool *pool, mica_instance instance);
MICA_API const void *mica_instance_read_column(const mica_pool *pool, mica_instance instance, size_t offset);

/* As above, to be changed. Threads: owner. */
MICA_API void *mica_instance_write_value(mica_pool *pool, mica_instance instance);
MICA_API void *mica_instance_write_column(mica_pool *pool, mica_instance instance, size_t offset);

/* Looks at random rows and removes those of the dead, with the dead among their neighbours, until four random ones in a row
 * live or `budget` rows were looked at: four, when nobody died. Those who died together go in one call; the last of many who
 * died by chance may take long, and mica_pool_sweep finds them all. Returns how many rows it removed; 0 while changes are
 * recorded. The random numbers come from the world's seed, so that runs repeat. Threads: owner. */
MICA_API uint32_t mica_pool_gc(mica_pool *pool, uint32_t budget);

/* Removes all rows of the dead. Returns how many; 0 while changes are recorded. Threads: owner. */
MICA_API uint32_t mica_pool_sweep(mica_pool *pool);

/* Sorts the rows, stable; in a group, the rows that all have, and then the others by themselves. Refused with a direct index
 * (whose order is that of the entities) and while changes are recorded. Threads: owner. */
MICA_API mica_result mica_pool_sort(mica_pool *pool, mica_compare_fn compare, void *context);

enum { MICA_GROUP_POOLS_MAX = 8 };

/* Keeps pools in the same order from now on: the entities that have all of these components come first in each, row by
 * row, so that a query for them walks plain arrays. A pool can be in one group; a direct index or many instances can't.
 * Refused while changes are recorded. Threads: owner. */
MICA_API mica_result mica_group_components(mica_world *world, const mica_component *components, uint32_t count);

typedef struct mica_pool_stats {
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t group_count;   /* rows at the front that are in step with the other pools of the group */
    uint64_t probe_count;   /* rows that mica_pool_gc looked at so far */
    uint64_t removed_count; /* and those it removed */
    size_t memory_bytes;
} mica_pool_stats;

/* Returns what the pool holds. Threads: reader. */
MICA_API mica_pool_stats mica_pool_get_stats(const mica_pool *pool);

MICA_END

#define mica_pool_of(world, T) mica_pool_of_component((world), MICA_ID(T))
#define mica_pool_read(pool, T) ((const T *)mica_pool_read_values(pool))
#define mica_pool_write(pool, T) ((T *)mica_pool_write_values(pool))
#define mica_pool_read_field(pool, T, field)                                                                           \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_pool_read_column((pool), offsetof(T, field)))
#define mica_pool_write_field(pool, T, field)                                                                          \
    ((MICA_FIELD_TYPE_(T, field) *)mica_pool_write_column((pool), offsetof(T, field)))
#define mica_instance_read(pool, instance, T) ((const T *)mica_instance_read_value((pool), (instance)))
#define mica_instance_write(pool, instance, T) ((T *)mica_instance_write_value((pool), (instance)))
#define mica_instance_read_field(pool, instance, T, field)                                                             \
    ((const MICA_FIELD_TYPE_(T, field) *)mica_instance_read_column((pool), (instance), offsetof(T, field)))
#define mica_instance_write_field(pool, instance, T, field)                                                            \
    ((MICA_FIELD_TYPE_(T, field) *)mica_instance_write_column((pool), (instance), offsetof(T, field)))
#define mica_group(world, ...)                                                                                         \
    mica_group_components((world),                                                                                     \
                          (const mica_component[]){MICA_FOR_EACH_(MICA_GROUP_ID_, , __VA_ARGS__)},                     \
                          MICA_COUNT_(__VA_ARGS__))
#define MICA_GROUP_ID_(unused, T) MICA_ID(T),

#endif

/* mica/ref.h */
/* Mica, ref: a reference to a component of an entity that outlives moves: it finds the component wherever it went,
 * and is NULL once the entity is dead or the component removed. Copy and assign it freely.
 *
 *     mica_ref target = mica_ref_of(enemy, Position);
 *     const Position *there = mica_ref_read(world, &target, Position);        NULL when it is gone
 */
#ifndef MICA_REF_H
#define MICA_REF_H


MICA_BEGIN

/* Zero is a reference to nothing. The pointer is a memory of the last look-up, used while nothing has moved. */
typedef struct mica_ref {
    mica_entity entity;
    mica_component component;
    uint64_t private_structure;
    void *private_value;
} mica_ref;

/* Makes a reference; the component need not be there yet. Threads: any. */
static inline mica_ref mica_ref_component(mica_entity entity, mica_component component)
{
    mica_ref ref = {entity, component, 0, 0};
    return ref;
}

/* Returns the component to look at, or NULL. Lives as mica_get's. Threads: reader, one per reference. */
MICA_API const void *mica_ref_read_value(const mica_world *world, mica_ref *ref);

/* Returns the component to change, or NULL. Lives as mica_write's. Threads: owner. */
MICA_API void *mica_ref_write_value(mica_world *world, mica_ref *ref);

MICA_END

#define mica_ref_of(entity, T) mica_ref_component((entity), MICA_ID(T))
#define mica_ref_read(world, ref, T) ((const T *)mica_ref_read_value((world), (ref)))
#define mica_ref_write(world, ref, T) ((T *)mica_ref_write_value((world), (ref)))

#endif

/* mica/removal.h */
/* Mica, removal: which entities lost a component, kept until it suits you to look. What was added is asked of a query
 * (MICA_ADDED); what was removed is in no query any more.
 *
 *     mica_removals *fallen = mica_removals_create(world, Health);
 *     ...
 *     mica_entity some[64];
 *     for (uint32_t count; (count = mica_removals_read(fallen, some, 64)) > 0;)
 *         bury(some, count);
 *
 * An entity is listed once for each time it lost the component, by remove or by its death, in the order it happened;
 * by then it may be dead.
 */
#ifndef MICA_REMOVAL_H
#define MICA_REMOVAL_H


MICA_BEGIN

typedef struct mica_removals mica_removals;

/* Starts to list the entities that lose a component. Returns NULL when it can't. Threads: owner. */
MICA_API mica_removals *mica_removals_create_component(mica_world *world, mica_component component);

/* Stops; NULL is fine. Refused inside a hook. Threads: owner. */
MICA_API void mica_removals_destroy(mica_removals *removals);

/* Takes up to `capacity` entities off the list, oldest first, and returns how many. Threads: owner. */
MICA_API uint32_t mica_removals_read(mica_removals *removals, mica_entity *out_entities, uint32_t capacity);

/* Returns how many removals could not be listed, because memory was short, since the last call; each such shortage is
 * reported. A program that must know them all then looks for itself. Threads: owner. */
MICA_API uint64_t mica_removals_missed(mica_removals *removals);

MICA_END

#define mica_removals_create(world, T) mica_removals_create_component((world), MICA_ID(T))

#endif

/* mica/singleton.h */
/* Mica, singleton: components of which a world has exactly one: time, settings, input. Described with MICA_SINGLETON;
 * the value is there, zero or constructed, from its first use on, and never moves.
 *
 *     mica_write_the(world, Clock)->seconds += 1;
 *     float now = mica_get_the(world, Clock)->seconds;
 *
 * Queries may READ and WRITE it beside other terms: the column then is the one value, column[0] and never column[i]. */
#ifndef MICA_SINGLETON_H
#define MICA_SINGLETON_H


MICA_BEGIN

/* Returns the world's one value to look at; NULL when memory is short or the component is no singleton.
 * Threads: owner on first use, reader later. */
MICA_API const void *mica_singleton_get(mica_world *world, mica_component component);

/* Returns whether the value is there, since somebody has asked for it: for tools, which want to look without using it.
 * Threads: reader. */
MICA_API bool mica_singleton_is_used(const mica_world *world, mica_component component);

/* Returns the world's one value to change, or NULL. Threads: owner. */
MICA_API void *mica_singleton_write(mica_world *world, mica_component component);

MICA_END

#define mica_get_the(world, T) ((const T *)mica_singleton_get((world), MICA_ID(T)))
#define mica_write_the(world, T) ((T *)mica_singleton_write((world), MICA_ID(T)))

#endif


/* Last: in checked builds it makes macros of what the others declare. */
/* mica/checked.h */
/* Mica, checked: builds that stop at a mistake. With MICA_CHECKED defined for the library and the program (CMake option of the
 * same name), a system that touches what it does not declare, changes structure where it must not, or uses a view, a
 * buffer, a staged value or a pointer after its time, stops the program with a report: the system, the component, the
 * entity, the line of the call and the line where the system was added.
 *
 * Pointers, on Linux. What get, write, refs, views, systems by columns and handlers hand out is the value at an address that
 * ends with the next flush that moves anything. Who uses it later is stopped there and then (a debugger shows the line), and
 * the report has the line where it was taken. Not caught: pointers to values with functions of their own (construct, copy,
 * move, destruct), to fields of split components, to what mica_add, hooks and observers hand out, and to the entities of a
 * view; pointers that are more than 32 such flushes old; anything in a world with an allocator of its own; and pointers
 * that a change outside of systems makes stale, until the next flush. Such a world is shared with forked processes, not
 * copied.
 *
 * Nothing in this header is for direct use. In checked builds it lets calls note where they stand; else it is empty. */
#ifndef MICA_CHECKED_H
#define MICA_CHECKED_H


MICA_BEGIN

/* Notes the place of the call that this thread is about to make; does nothing in builds that are not checked.
 * Threads: any. */
MICA_API void mica_note_place(const char *file, int line);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define MICA_AT_(argument) (mica_note_place(__FILE__, __LINE__), (argument))
/* A macro does not expand inside itself: each of these is the function of the same name. */
#    define mica_get_component(world, ...) mica_get_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_many_component(world, ...) mica_get_many_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_component(world, ...) mica_write_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_ref_read_value(world, ...) mica_ref_read_value(MICA_AT_(world), __VA_ARGS__)
#    define mica_ref_write_value(world, ...) mica_ref_write_value(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_get(world, ...) mica_singleton_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_write(world, ...) mica_singleton_write(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_read(view, ...) mica_view_read(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write(view, ...) mica_view_write(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_read_at(view, ...) mica_view_read_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_at(view, ...) mica_view_write_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_next(view) mica_view_next(MICA_AT_(view))
#    define mica_create_values(world, ...) mica_create_values(MICA_AT_(world), __VA_ARGS__)
#    define mica_create_many(world, ...) mica_create_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy(world, ...) mica_destroy(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_many(world, ...) mica_destroy_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_add_component(world, ...) mica_add_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_component(world, ...) mica_set_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_remove_component(world, ...) mica_remove_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_enable_component(world, ...) mica_enable_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_clone(world, ...) mica_clone(MICA_AT_(world), __VA_ARGS__)
#    define mica_flush(world) mica_flush(MICA_AT_(world))
#    define mica_world_clear(world) mica_world_clear(MICA_AT_(world))
#    define mica_world_trim(world) mica_world_trim(MICA_AT_(world))
#    define mica_world_seal(world, ...) mica_world_seal(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_create(world, ...) mica_query_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_destroy(query) mica_query_destroy(MICA_AT_(query))
#    define mica_query_add_component(query, ...) mica_query_add_component(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_remove_component(query, ...) mica_query_remove_component(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_destroy_entities(query) mica_query_destroy_entities(MICA_AT_(query))
#    define mica_query_sort_rows(query, ...) mica_query_sort_rows(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_begin(query) mica_query_begin(MICA_AT_(query))
#    define mica_query_each(query, ...) mica_query_each(MICA_AT_(query), __VA_ARGS__)
#    define mica_hook_set_component(world, ...) mica_hook_set_component(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_set(world, ...) mica_name_set(MICA_AT_(world), __VA_ARGS__)
#    define mica_commands_create(world) mica_commands_create(MICA_AT_(world))
#    define mica_commands_destroy(commands) mica_commands_destroy(MICA_AT_(commands))
#    define mica_component_define(world, ...) mica_component_define(MICA_AT_(world), __VA_ARGS__)
#    define mica_removals_create_component(world, ...) mica_removals_create_component(MICA_AT_(world), __VA_ARGS__)
#endif

#endif


#endif

/* mica/flow.h */
/* Mica, flow: programs as lists of systems. This header is the core and everything that runs on it every frame.
 *
 * A system is a function over the entities that have a set of components. mica_step runs all systems once, at the same
 * time where what they read and write allows it, and the outcome is the same for any number of threads.
 * Start with examples/systems.c; then read system.h and frame.h; streams, messages, requests and observers are how systems
 * talk to each other. */
#ifndef MICA_FLOW_H
#define MICA_FLOW_H

/* mica/frame.h */
/* Mica, frame: the game loop. A frame runs the systems, phase by phase, with a flush after each phase.
 *
 *     while (is_running())
 *         mica_step(world, seconds_since_the_last_one());
 *
 * Phases, in order: BEGIN, FIXED, UPDATE, END, and those you add. A phase with a fixed step runs as often as its step fits
 * into the time that has passed: not at all, once, or several times to catch up, up to a bound after which time is let
 * go. frame->alpha then says how far the frame lies between two steps, to interpolate what is shown.
 *
 * The world after a frame is the same, bit for bit, for any number of workers and any timing.
 */
#ifndef MICA_FRAME_H
#define MICA_FRAME_H

/* mica/task.h */
/* Mica, task: work over several threads, and whose threads they are.
 *
 *     static void blur(uint32_t begin, uint32_t end, void *image) { ... }
 *     mica_parallel_for(world, image.height, 16, blur, &image);
 *
 * Works everywhere: outside of systems, and inside one, where the threads that run systems help each other. A thread that waits works
 * meanwhile, so that nothing can lock up, however deep the nesting.
 *
 * The workers are made when there is first something for them to do. With a scheduler of your own, Mica makes no threads:
 * it asks for helpers, and gets on without them when none come.
 */
#ifndef MICA_TASK_H
#define MICA_TASK_H


MICA_BEGIN

/* Runs until there is nothing to help with at the moment. */
typedef void (*mica_task_fn)(void *data);

/* A scheduler of your own. The thread that calls mica_step does all the work that nobody else takes, so that a helper may
 * come late or never; but each one that was submitted must have run when wait returns. */
typedef struct mica_scheduler {
    /* Lets fn(data) run once, on any thread, as soon as one is free. May be called from any thread that works. Returns what
     * wait needs. */
    void *(*submit)(mica_task_fn fn, void *data, void *context);
    /* Returns when that task has run. Called by the owner, once for each task submitted. */
    void (*wait)(void *task, void *context);
    void *context;
} mica_scheduler;

/* Handles the elements from `begin` to before `end`. */
typedef void (*mica_range_fn)(uint32_t begin, uint32_t end, void *context);

/* Calls the function for pieces of `grain` elements (the last may be smaller; 0: one that suits) that together are
 * 0 to count - 1, over all workers, and returns when all are done. The pieces are the same for any number of workers.
 * Threads: owner; inside a system, the system's own. */
MICA_API void mica_parallel_for(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context);

/* A sum, a smallest, a box: anything that combines piece by piece. The total is the same, bit for bit, for any number of
 * workers: pieces don't depend on it, and are combined in their order, also where the operation rounds. */
typedef struct mica_reduction {
    const void *zero;                                                      /* what a piece starts with */
    uint32_t bytes;                                                        /* of it, up to MICA_REDUCTION_BYTES_MAX */
    void (*range)(uint32_t begin, uint32_t end, void *sum, void *context); /* adds elements: for mica_reduce_range */
    void (*view)(mica_view *view, void *sum, void *context);               /* adds rows: for mica_reduce_query */
    void (*combine)(void *sum, const void *later, void *context);          /* adds what comes behind it */
    void *context;
} mica_reduction;

enum { MICA_REDUCTION_BYTES_MAX = 1024 };

/* Reduces 0 to count - 1 in pieces of `grain` and fills `out_sum`. Returns MICA_ERROR_MEMORY or MICA_ERROR_INVALID, with
 * `out_sum` untouched. Threads: as mica_parallel_for, owner or the system's own. */
MICA_API mica_result mica_reduce_range(mica_world *world, uint32_t count, uint32_t grain, const mica_reduction *how,
                                       void *out_sum);

/* Reduces the rows of a query, in views of up to MICA_VIEW_ROWS rows. Threads: as above. */
MICA_API mica_result mica_reduce_query(mica_query *query, const mica_reduction *how, void *out_sum);

/* Returns how many threads work for this world, the caller among them. Threads: reader. */
MICA_API uint32_t mica_worker_count(const mica_world *world);

MICA_END
#endif


MICA_BEGIN

/* The id of a system, for as long as the world lives. All zero is none. */
typedef struct mica_system {
    uint32_t id;
} mica_system;

/* The id of a phase. Zero is the one that systems are in unless they say otherwise. */
typedef uint32_t mica_phase;
enum {
    MICA_PHASE_UPDATE = 0, /* once per frame: what is not said to be elsewhere */
    MICA_PHASE_BEGIN,      /* once per frame, first: input */
    MICA_PHASE_FIXED,      /* by the fixed step: simulation */
    MICA_PHASE_END,        /* once per frame, last: what is shown */
    MICA_PHASE_NONE = 0x7FFFFFFF,
};

/* What a system knows about the moment. Lives while the system runs. */
typedef struct mica_frame {
    mica_world *world;
    mica_query *query; /* of the system's terms, for those that walk by themselves; NULL without terms */
    void *context;     /* of the system */
    float dt;          /* seconds since the system ran last, scaled; in a phase with a fixed step, that step */
    float alpha;       /* from 0 to 1: how far this frame lies between the last fixed step and the next */
    double seconds;    /* since the world began, scaled; in a phase with a fixed step, the steps so far */
    uint64_t tick;     /* runs of the phase so far */
    mica_system system;
    uint32_t order;    /* private: its place in the phase */
    uint64_t identity; /* private: hash of its name */
} mica_frame;

/* How a world runs its systems. Start from mica_flow_def_default. */
typedef struct mica_flow_def {
    uint32_t worker_count; /* threads that work, the caller among them; 0: as many as there are cores; 1: no threads */
    const mica_scheduler *scheduler; /* yours instead of the built-in one: see mica/task.h */
    uint64_t seed;                   /* of all random numbers: see mica/random.h */
    double fixed_seconds;            /* the step of MICA_PHASE_FIXED; 1/60 */
    uint32_t catch_up_max;           /* steps of a fixed phase in one frame; 8 */
    bool no_fusion; /* systems one after the other instead of slice by slice: same outcome, to compare */
} mica_flow_def;

/* Returns the defaults. Threads: any. */
MICA_API mica_flow_def mica_flow_def_default(void);

/* Sets how systems run; a world that is never told uses the defaults. Ends the threads of the old setting and returns an
 * error when it can't, the old setting in place. Refused inside a system. Threads: owner. */
MICA_API mica_result mica_flow_configure(mica_world *world, const mica_flow_def *def);

/* Runs one frame: every phase in order, each followed by a flush. Returns the first error; what systems report by themselves
 * doesn't count. A flush that fails, for lack of memory or because of a seal, is tried again before the next systems run,
 * which wait until it succeeds. Refused inside a system and while changes are recorded. Threads: owner. */
MICA_API mica_result mica_step(mica_world *world, float dt);

/* As mica_step, but begins with that system: what comes before it in the frame is left out, and a phase with a fixed step
 * that holds it runs once. Threads: owner. */
MICA_API mica_result mica_step_from(mica_world *world, mica_system system, float dt);

/* Runs one system, whatever its rate and condition, and flushes. Threads: owner. */
MICA_API mica_result mica_system_run(mica_world *world, mica_system system, float dt);

/* While paused, mica_step runs only systems with .while_paused. Threads: owner. */
MICA_API void mica_pause(mica_world *world, bool paused);

/* Lets one frame through a pause: the next mica_step. Threads: owner. */
MICA_API void mica_pause_step(mica_world *world);

/* Makes time pass slower or faster: every dt is multiplied by it. Negative and endless scales are refused.
 * Threads: owner. */
MICA_API mica_result mica_time_set_scale(mica_world *world, double scale);

/* The time of the last frame. */
typedef struct mica_time {
    double seconds; /* scaled, over all frames */
    uint64_t frame; /* frames begun */
    uint64_t step;  /* runs of MICA_PHASE_FIXED */
    float dt;       /* of the last frame, scaled */
    float alpha;    /* between the last run of MICA_PHASE_FIXED and the next */
} mica_time;

/* Returns the time. Threads: reader. */
MICA_API mica_time mica_time_of(const mica_world *world);

typedef struct mica_phase_def {
    const char *name;
    mica_phase beside;    /* it comes right behind this one, */
    bool before;          /* or right before it */
    double fixed_seconds; /* its fixed step; 0: once per frame. Neighbours with equal steps take turns step by step. */
    mica_place place;
} mica_phase_def;

/* Adds a phase. Returns MICA_PHASE_NONE with a report when it can't. Refused inside a system. Threads: owner. */
MICA_API mica_phase mica_phase_add(mica_world *world, const mica_phase_def *def);

/* Removes a phase that was added, with its systems. False when there is none such. Threads: owner. */
MICA_API bool mica_phase_remove(mica_world *world, mica_phase phase);

/* Switches a phase with all its systems off or on. Threads: owner. */
MICA_API bool mica_phase_enable(mica_world *world, mica_phase phase, bool enabled);

/* Returns the phase of that name, or MICA_PHASE_NONE; the first four are "update", "begin", "fixed", "end".
 * Threads: reader. */
MICA_API mica_phase mica_phase_find(const mica_world *world, const char *name);

MICA_END

#define MICA_PHASE_AFTER(name_, beside_)                                                                               \
    (&(const mica_phase_def){.name = (name_), .beside = (beside_), .place = MICA_HERE})
#define MICA_PHASE_BEFORE(name_, beside_)                                                                              \
    (&(const mica_phase_def){.name = (name_), .beside = (beside_), .before = true, .place = MICA_HERE})

#endif

/* mica/message.h */
/* Mica, message: telling components something, by (component, message).
 *
 *     typedef struct Damage { float points; } Damage;
 *     MICA_STRUCT(Damage, points)
 *
 *     static void health_takes_damage(const mica_message *message)
 *     {
 *         Health *health = message->values;
 *         const Damage *damage = message->data;
 *         for (uint32_t i = 0; i < message->count; ++i)
 *             health[i].points -= damage->points;
 *     }
 *     mica_handler_add(world, MICA_HANDLER(Health, Damage, health_takes_damage));
 *
 *     mica_send(world, goblin, Damage, {3});               to one entity: to each of its components with a handler
 *     mica_broadcast(world, Damage, {1});                  to all, type by type, and only to types with a handler
 *     mica_message_every_frame(world, Update, MICA_PHASE_UPDATE);
 *
 * What is sent or broadcast inside systems is kept until the flush of the phase and delivered behind it, so that it reaches
 * entities that were created with it, and none that are dead. Delivery is done by systems, one for each component with
 * handlers, called "Health.messages": over all workers, slice by slice, several components at the same time. A component gets
 * its messages in the order they were sent, by (system, slice, call). What a handler changes is recorded and applied by the
 * flush behind the round; what it sends is the next round.
 *
 * Handlers follow the rows rule of systems (mica/system.h): they touch the values they are given and record all else. One that
 * looks up other entities or reads streams says so, and is then run in the order that asks for:
 *
 *     mica_handler_add(world, MICA_HANDLER_USING(Health, Damage, health_takes_damage, MICA_USES(MICA_USE_READ(Armour))));
 *
 * Outside of systems, messages are delivered at once, one after the other in the owner's thread, and what a handler changes is
 * applied before the next one; what it sends comes behind all that is on its way already. Components that are
 * switched off get no messages. A handler that is described with its component need not be
 * added:
 *
 *     static const mica_handler camera_handlers[] = {MICA_HANDLED(Update, camera_updates)};
 *     MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), zoom)
 */
#ifndef MICA_MESSAGE_H
#define MICA_MESSAGE_H

/* mica/system.h */
/* Mica, system: a function that runs every frame over the entities that match.
 *
 *     static void move(mica_view *view)
 *     {
 *         Position *position = mica_write(view, Position);
 *         const Velocity *velocity = mica_read(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             position[i].x += velocity[i].x * view->dt;
 *     }
 *     mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
 *     mica_system_add(world, MICA_SYSTEM_WITH(collide, (.phase = MICA_PHASE_FIXED, .after = {"move"}), MICA_READ(Position)));
 *
 * Four kinds of function, each with a macro:
 *   MICA_SYSTEM          (mica_view *view)                  a run of rows, up to MICA_VIEW_ROWS of them
 *   MICA_SYSTEM_EACH     (entity, columns, context)         one entity
 *   MICA_SYSTEM_COLUMNS  (count, columns)                   nothing but the columns, in the order of the terms
 *   MICA_SYSTEM_ONCE     (const mica_frame *frame)          once per run; it walks frame->query itself, if it likes
 *
 * Terms say what a system reads and writes. Two systems of a phase conflict when one writes what the other reads or writes;
 * conflicting systems run in the order they were added, unless .before and .after say otherwise, and all others at the same time.
 * One system runs in several threads at once, on different rows.
 *
 * The rows rule. A system by view, entity or columns touches no rows but those it is given. When two such systems follow
 * each other, the second may run on a slice while the first is still busy with others, and the scheduler runs a chain of
 * systems over a slice while it is in the cache. A system that looks up other entities (mica_get) says what it looks for:
 *   .uses = MICA_USES(MICA_USE_READ(Position))              any entity's Position, also where the term is its own
 * What is in .uses holds for the whole system: nobody writes it meanwhile. A system that writes other rows says
 * MICA_USE_WRITE, and runs in one thread.
 *
 * Inside a system the structure of the world stays as it is. mica_create, mica_destroy, mica_add, mica_set and mica_remove are
 * recorded for the piece of work that calls them and applied by the flush after the phase, ordered by (system, slice, call);
 * mica_view_commands gives the buffer, whose calls note their place in the source for reports. An exclusive system runs
 * alone, with the changes of those before it applied, and may change everything at once.
 */
#ifndef MICA_SYSTEM_H
#define MICA_SYSTEM_H


MICA_BEGIN

enum {
    MICA_VIEW_ROWS = 2048, /* the most rows a view of a system shows: whole slices */
    MICA_SYSTEM_ORDERS_MAX = 8,
};

struct mica_stream;

/* What a system touches besides the columns of its rows. */
typedef struct mica_use {
    mica_component component;   /* of any entity, or a singleton; or 0 and */
    struct mica_stream *stream; /* a stream: see mica/stream.h */
    bool write;
} mica_use;

typedef enum mica_split {
    MICA_SPLIT_AUTO = 0,  /* in even pieces over all workers, when it is worth it */
    MICA_SPLIT_NONE,      /* all in one thread, in order */
    MICA_SPLIT_EVEN,      /* in even pieces, always */
    MICA_SPLIT_EVERY,     /* a piece for every split_rows entities: for few that are much work */
    MICA_SPLIT_THRESHOLD, /* in even pieces from split_rows entities on, else in one thread */
} mica_split;

/* A run of rows of the system's query. view->frame has the rest. */
typedef void (*mica_view_fn)(mica_view *view);
/* Columns of `count` values in the order of the terms, NULL where a term has none. */
typedef void (*mica_columns_fn)(uint32_t count, void *const *columns);
typedef void (*mica_once_fn)(const mica_frame *frame);
/* Whether the system runs this time; asked by the owner's thread before its phase begins. */
typedef bool (*mica_condition_fn)(const mica_frame *frame);

/* All of a system. Zero is the default of everything but the name, one function, and the terms. */
typedef struct mica_system_def {
    const char *name;
    mica_view_fn view; /* exactly one of these four */
    mica_each_fn each;
    mica_columns_fn columns;
    mica_once_fn once;
    const mica_term *terms;
    uint32_t term_count;
    uint32_t use_count;
    const mica_use *uses;
    void *context;
    mica_phase phase;
    const char *before[MICA_SYSTEM_ORDERS_MAX]; /* names of systems in the phase; they may be added later */
    const char *after[MICA_SYSTEM_ORDERS_MAX];
    mica_split split;
    uint32_t split_rows;
    int32_t priority;      /* of those that may start, the higher one starts first; changes nothing but time */
    uint32_t every_frames; /* runs every n-th time its phase does; 0 is every time */
    double every_seconds;  /* runs when that time has passed since it ran last */
    mica_condition_fn condition;
    mica_component order_by; /* as in mica_query_def: rows come sorted, in one thread */
    mica_compare_fn compare;
    void *compare_context;
    bool exclusive;    /* runs alone, and what it changes is changed at once; needs .once */
    bool while_paused; /* runs although the world is paused, with the time that really passed */
    bool disabled;     /* added, but switched off */
    mica_place place;
} mica_system_def;

/* Adds a system; the def is copied. Returns zero with a report that names the system, the term and the source line: unknown
 * component, a name that is taken, a loop of before and after (with the names along it). Inside a frame only an exclusive
 * system may add one, which takes part from the next frame on. Threads: owner. */
MICA_API mica_system mica_system_add(mica_world *world, const mica_system_def *def);

/* Puts another def into the place of a system: same id, same place in the order. Returns an error and leaves the old one when
 * it can't. For code that is loaded anew. Threads: owner. */
MICA_API mica_result mica_system_replace(mica_world *world, mica_system system, const mica_system_def *def);

/* Removes a system. False when there is none, and with a report for one that runs handlers of messages, which bring it and take
 * it away themselves. Inside a frame only an exclusive system may, also itself; it goes when the frame ends. Threads: owner. */
MICA_API bool mica_system_remove(mica_world *world, mica_system system);

/* Switches a system off or on. False when there is none. Threads: owner. */
MICA_API bool mica_system_enable(mica_world *world, mica_system system, bool enabled);

/* Returns the system of that name, or zero. Threads: reader. */
MICA_API mica_system mica_system_find(const mica_world *world, const char *name);

/* Returns the name, or NULL; it lives as long as the system. Threads: reader. */
MICA_API const char *mica_system_name(const mica_world *world, mica_system system);

/* Returns the buffer that records for this view's piece of work, or NULL outside of systems. Lives while the system's
 * function runs. Threads: any, the view's own. */
MICA_API mica_commands *mica_view_commands(const mica_view *view);

/* As above for a system that runs once. Threads: any, the system's own. */
MICA_API mica_commands *mica_frame_commands(const mica_frame *frame);

typedef enum mica_graph_format { MICA_GRAPH_TEXT = 0, MICA_GRAPH_DOT } mica_graph_format;

/* Writes the order of systems with what each waits for and why, as text or for Graphviz, and returns the length of all of
 * it; `out` gets what fits into `capacity` bytes, ended by a zero. Returns 0 with a report when memory is short.
 * Threads: owner. */
MICA_API size_t mica_graph_write(mica_world *world, mica_graph_format format, char *out, size_t capacity);

MICA_END

/* MICA_SYSTEM(function, terms...); the function's name is the system's. */
#define MICA_SYSTEM(fn, ...) MICA_SYSTEM_DEF_(view, fn, (.disabled = false), __VA_ARGS__)
#define MICA_SYSTEM_EACH(fn, ...) MICA_SYSTEM_DEF_(each, fn, (.disabled = false), __VA_ARGS__)
#define MICA_SYSTEM_COLUMNS(fn, ...) MICA_SYSTEM_DEF_(columns, fn, (.disabled = false), __VA_ARGS__)
/* The same with more of the def: MICA_SYSTEM_WITH(function, (.phase = MICA_PHASE_END, .context = &log), terms...) */
#define MICA_SYSTEM_WITH(fn, options, ...) MICA_SYSTEM_DEF_(view, fn, options, __VA_ARGS__)
#define MICA_SYSTEM_EACH_WITH(fn, options, ...) MICA_SYSTEM_DEF_(each, fn, options, __VA_ARGS__)
#define MICA_SYSTEM_COLUMNS_WITH(fn, options, ...) MICA_SYSTEM_DEF_(columns, fn, options, __VA_ARGS__)
/* MICA_SYSTEM_ONCE(function), MICA_SYSTEM_ONCE_WITH(function, options): terms, where wanted, are MICA_TERMS(...) in the
 * options. */
#define MICA_SYSTEM_ONCE(fn) MICA_SYSTEM_ONCE_WITH(fn, (.disabled = false))
#define MICA_SYSTEM_ONCE_WITH(fn, options)                                                                             \
    (&(const mica_system_def){.name = #fn, .once = (fn), .place = MICA_HERE, MICA_UNWRAP_ options})
#define MICA_SYSTEM_DEF_(kind, fn, options, ...)                                                                       \
    (&(const mica_system_def){                                                                                         \
        .name = #fn, .kind = (fn), MICA_TERMS(__VA_ARGS__), .place = MICA_HERE, MICA_UNWRAP_ options})

/* .uses: MICA_USES(MICA_USE_READ(Position), MICA_USE_STREAM_WRITE(hits)) */
#define MICA_USES(...)                                                                                                 \
    .uses = (const mica_use[]){__VA_ARGS__},                                                                           \
    .use_count = (uint32_t)(sizeof((const mica_use[]){__VA_ARGS__}) / sizeof(mica_use))
#define MICA_USE_READ(T) {MICA_ID(T), 0, false}
#define MICA_USE_WRITE(T) {MICA_ID(T), 0, true}
#define MICA_USE_STREAM_READ(stream) {0, (stream), false}
#define MICA_USE_STREAM_WRITE(stream) {0, (stream), true}

#endif


MICA_BEGIN

/* A message as a handler gets it: for a run of entities that have the component. */
typedef struct mica_message {
    mica_world *world;
    mica_component component;
    mica_component kind; /* the id of the message's type */
    uint32_t count;
    const mica_entity *entities;
    void *values;            /* `count` components to read and write; NULL for a tag and a split one */
    const void *data;        /* the message */
    const mica_frame *frame; /* of the system that runs the handler; outside of systems the time of the last frame */
    void *context;           /* of the handler */
} mica_message;

/* Touches the values it is given, and records whatever else it wants to change. */
typedef void (*mica_message_fn)(const mica_message *message);

typedef struct mica_handler {
    mica_type *component; /* NULL in the list of a component's description */
    mica_type *message;
    mica_message_fn fn;
    void *context;
    mica_place place;
    const mica_use *uses; /* what it touches besides its values; copied */
    uint32_t use_count;
} mica_handler;

/* Adds a handler; of several for one pair, each is called in the order they were added. Refused inside frames and handlers,
 * and when the handlers of a component together declare more than 64 uses, as a system may. Threads: owner. */
MICA_API mica_result mica_handler_add(mica_world *world, const mica_handler *handler);

/* Removes a handler that was added with this function for the pair. False when there is none. Threads: owner. */
MICA_API bool mica_handler_remove(mica_world *world, mica_component component, mica_component message,
                                  mica_message_fn fn);

/* Delivers to one entity: to its components with a handler, in the order those got their first handlers. False when it is dead, or memory is
 * short. Threads: any that runs a system; else owner. */
MICA_API bool mica_message_send(mica_world *world, mica_entity target, mica_value message, mica_place place);

/* Delivers to every entity with a component that has a handler, component by component in the order they got their first
 * handlers. False when memory is short. Threads: as above, any that runs a system; else owner. */
MICA_API bool mica_message_broadcast(mica_world *world, mica_value message, mica_place place);

/* Adds a system for each component with handlers of this message, now and later, that runs them over all rows in that phase.
 * It is called "Component.Message"; the message is zero. Threads: owner. */
MICA_API mica_result mica_message_every_frame_kind(mica_world *world, mica_component message, mica_phase phase);

MICA_END

#define MICA_HANDLER(T, M, fn_) MICA_HANDLER_WITH(T, M, fn_, NULL)
#define MICA_HANDLER_WITH(T, M, fn_, context_)                                                                         \
    (&(const mica_handler){&mica_type_of_##T, &mica_type_of_##M, (fn_), (context_), MICA_HERE, NULL, 0})
/* With more of the struct: MICA_HANDLER_USING(Health, Damage, fn, .context = &log, MICA_USES(MICA_USE_READ(Armour))) */
#define MICA_HANDLER_USING(T, M, fn_, ...)                                                                             \
    (&(const mica_handler){                                                                                            \
        .component = &mica_type_of_##T, .message = &mica_type_of_##M, .fn = (fn_), .place = MICA_HERE, __VA_ARGS__})
#define MICA_HANDLED(M, fn_) {NULL, &mica_type_of_##M, (fn_), NULL, {__FILE__, __LINE__}, NULL, 0}
#define MICA_HANDLERS(list) .handlers = (list), .handler_count = sizeof(list) / sizeof *(list)
#define mica_send(world, target, M, ...)                                                                               \
    mica_message_send((world), (target), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_broadcast(world, M, ...) mica_message_broadcast((world), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_message_every_frame(world, M, phase) mica_message_every_frame_kind((world), MICA_ID(M), (phase))

#endif

/* mica/observer.h */
/* Mica, observer: several functions per event, each for the entities that match a filter.
 *
 *     mica_observer_add(world, MICA_OBSERVER(MICA_OBSERVE_ADD, Burning, light_up, MICA_HAS(Torch)));
 *
 * Unlike a hook, of which there is one per component and which sees the change as it happens, an observer may be one of many, and
 * is told the truth of the whole operation or flush: for an entity changed many times in one flush, once for each thing that
 * is now different. An entity that is changed and destroyed in one flush is destroyed: REMOVE for what it had,
 * DESTROY, and nothing of the changes.
 *
 * Order: for one entity DESTROY and then REMOVE, by rising component, before the change; after it ADD by rising component, then
 * SET, then ENABLE and DISABLE; observers of one event in the order they were added, behind the hook. The world records
 * while observers run: what they change is applied when the operation that called them ends.
 */
#ifndef MICA_OBSERVER_H
#define MICA_OBSERVER_H


MICA_BEGIN

typedef uint32_t mica_observe;
enum {
    MICA_OBSERVE_ADD = 0,   /* the component was added; its first value is in place */
    MICA_OBSERVE_SET,       /* a value was given, by set or with create */
    MICA_OBSERVE_REMOVE,    /* the component is about to go, with its entity or alone */
    MICA_OBSERVE_DESTROY,   /* the entity is about to go; component 0 */
    MICA_OBSERVE_ENABLE,    /* the component was switched on */
    MICA_OBSERVE_DISABLE,   /* it was switched off */
    MICA_OBSERVE_USER = 64, /* and above: events of the program, told with mica_observe_emit */
};

/* What happened to a run of entities. */
typedef struct mica_observation {
    mica_world *world;
    mica_observe event;
    mica_component component; /* 0 for DESTROY and for user events without one */
    uint32_t count;
    const mica_entity *entities;
    void *values;     /* `count` components, to be changed if wanted; NULL for a tag and without a component */
    const void *data; /* of a user event */
    void *context;
} mica_observation;

typedef void (*mica_observer_fn)(const mica_observation *observation);

/* The id of an observer. Zero is none. */
typedef struct mica_observer {
    uint32_t id;
} mica_observer;

typedef struct mica_observer_def {
    const char *name; /* for messages; NULL is "observer" */
    mica_observe event;
    mica_component component; /* 0 for DESTROY, and for a user event of any component */
    const mica_term *terms;   /* what else the entity must have: the terms of a query; none is no filter */
    uint32_t term_count;
    mica_observer_fn fn;
    void *context;
    mica_place place;
} mica_observer_def;

/* Adds an observer; the def is copied. Returns zero with a report when it can't. Refused inside systems, hooks and observers.
 * Threads: owner. */
MICA_API mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def);

/* Removes an observer. False when there is none. Refused as above. Threads: owner. */
MICA_API bool mica_observer_remove(mica_world *world, mica_observer observer);

/* Tells the observers of a user event, about an entity or, with nil, about none; inside a system they are told behind the flush,
 * ordered by (system, slice, call), and not about those that died. False when the event is not MICA_OBSERVE_USER or above,
 * the entity dead, or memory short. Threads: any that runs a system; else owner. */
MICA_API bool mica_observe_emit(mica_world *world, mica_observe event, mica_component component, mica_entity entity,
                                mica_value data);

MICA_END

/* MICA_OBSERVER(event, T, function) or with terms of a filter behind it. */
#define MICA_OBSERVER(event_, T, ...)                                                                                  \
    MICA_JOIN_(MICA_OBSERVER_, MICA_ONE_OR_MORE_(__VA_ARGS__))(event_, MICA_ID(T), __VA_ARGS__)
#define MICA_OBSERVER_DESTROY(...)                                                                                     \
    MICA_JOIN_(MICA_OBSERVER_, MICA_ONE_OR_MORE_(__VA_ARGS__))(MICA_OBSERVE_DESTROY, 0, __VA_ARGS__)
#define MICA_OBSERVER_1(event_, component_, fn_)                                                                       \
    (&(const mica_observer_def){                                                                                       \
        .name = #fn_, .event = (event_), .component = (component_), .fn = (fn_), .place = MICA_HERE})
#define MICA_OBSERVER_2(event_, component_, fn_, ...)                                                                  \
    (&(const mica_observer_def){.name = #fn_,                                                                          \
                                .event = (event_),                                                                     \
                                .component = (component_),                                                             \
                                .fn = (fn_),                                                                           \
                                MICA_TERMS(__VA_ARGS__),                                                               \
                                .place = MICA_HERE})

#endif

/* mica/random.h */
/* Mica, random: numbers that are the same on every machine and for every number of workers.
 *
 *     static void scatter(mica_view *view)
 *     {
 *         mica_random random = mica_random_of(view);
 *         Velocity *velocity = mica_write(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             velocity[i].x = mica_random_range(&random, -1, 1);
 *     }
 *
 * A generator starts from (seed of the world, tick, system, slice), so that it does not matter which thread runs a slice, or
 * when. It is PCG (M. E. O'Neill, 2014), XSH-RR 64/32: small and fast; not for secrets.
 */
#ifndef MICA_RANDOM_H
#define MICA_RANDOM_H


MICA_BEGIN

typedef struct mica_random {
    uint64_t state;
    uint64_t stream; /* odd */
} mica_random;

/* Returns a generator that depends on nothing but these two; streams of one seed are independent. Threads: any. */
MICA_API mica_random mica_random_make(uint64_t seed, uint64_t stream);

/* Returns the generator of this view's slice in this run of its system. Threads: any, the view's own. */
MICA_API mica_random mica_random_of(const mica_view *view);

/* Returns the generator of this run of a system that runs once. Threads: any, the system's own. */
MICA_API mica_random mica_random_of_frame(const mica_frame *frame);

/* Returns the next 32 bits. Threads: one per generator, any. */
static inline uint32_t mica_random_next(mica_random *random)
{
    uint64_t old = random->state;
    random->state = old * 6364136223846793005u + random->stream;
    uint32_t word = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return word >> turn | word << ((32 - turn) & 31);
}

/* Returns a number from 0 to below `limit`, all equally likely; 0 when the limit is 0. Threads: one per generator, any. */
static inline uint32_t mica_random_below(mica_random *random, uint32_t limit)
{
    if (limit == 0)
        return 0;
    uint64_t product = (uint64_t)mica_random_next(random) * limit;
    if ((uint32_t)product < limit) { /* Lemire 2019: nearly always decided without a division */
        uint32_t uneven = (0u - limit) % limit;
        while ((uint32_t)product < uneven)
            product = (uint64_t)mica_random_next(random) * limit;
    }
    return (uint32_t)(product >> 32);
}

/* Returns a number from 0 to below 1, a multiple of 2^-24. Threads: one per generator, any. */
static inline float mica_random_unit(mica_random *random)
{
    return (float)(mica_random_next(random) >> 8) * (1.0f / 16777216.0f);
}

/* Returns a number from `low` to below `high`. Threads: one per generator, any. */
static inline float mica_random_range(mica_random *random, float low, float high)
{
    return low + (high - low) * mica_random_unit(random);
}

MICA_END
#endif

/* mica/request.h */
/* Mica, request: questions posted one by one and answered in bulk.
 *
 * Finding a path needs the map in the cache, while the system that wants one has the entities there. So it asks, and all
 * questions about one map are answered together:
 *
 *     mica_requests *paths = mica_requests_create(world, MICA_REQUESTS(PathWanted, Path, find_paths, &maps));
 *     in a system with .uses = MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(paths)))
 *         mica_request(paths, map_number, view->entities[i], PathWanted, {from, to});
 *
 *     static void find_paths(const mica_request_group *group)     for each map that was asked about, once per phase
 *     {
 *         const PathWanted *wanted = group->questions;
 *         Path *path = group->answers;
 *         for (uint32_t i = 0; i < group->count; ++i)
 *             path[i] = find(group->context, group->key, &wanted[i]);
 *     }
 *
 * Groups are handled after the phase, by rising key, several at a time; within a group in the order of (system, slice, call).
 * Handlers look at the world, but change nothing in it unless they are .in_order. Answers become a component of who asked,
 * set by the flush (or added), the last one when it asked more than once; or, with .as_stream, messages of a stream.
 */
#ifndef MICA_REQUEST_H
#define MICA_REQUEST_H


MICA_BEGIN

struct mica_stream;
typedef struct mica_requests mica_requests;

/* All questions with one key. The arrays live until the handler returns. */
typedef struct mica_request_group {
    mica_world *world;
    uint64_t key;
    uint32_t count;
    const mica_entity *entities; /* who asked */
    const void *questions;
    void *answers;  /* to be filled in; they start as zero */
    bool *answered; /* all true; false takes an answer back: nothing is set */
    void *context;
} mica_request_group;

typedef void (*mica_request_fn)(const mica_request_group *group);

typedef struct mica_requests_def {
    const char *name;
    mica_type *question;
    mica_type *answer; /* a component; NULL: none is wanted */
    mica_request_fn fn;
    void *context;
    bool as_stream;   /* answers go to mica_requests_answers, in the order of the questions, and not to components */
    bool application; /* with .as_stream: the application reads them too, between frames */
    bool in_order;    /* groups one after the other in one thread, for handlers that share something */
    mica_place place;
} mica_requests_def;

/* Makes a kind of request. Returns NULL with a report when it can't. Threads: owner. */
MICA_API mica_requests *mica_requests_create(mica_world *world, const mica_requests_def *def);

/* Gives it back, with what is still to be handled; NULL is fine. Refused inside a system. Threads: owner. */
MICA_API void mica_requests_destroy(mica_requests *requests);

/* Posts a question. False with a report when memory is short, or the system does not declare it.
 * Threads: any that runs a system; else owner. */
MICA_API bool mica_request_post(mica_requests *requests, uint64_t key, mica_entity who, mica_value question,
                                mica_place place);

/* Handles what was posted outside of systems, at once. Threads: owner. */
MICA_API mica_result mica_requests_handle(mica_requests *requests);

/* Returns what a system that posts declares to write. Threads: any. */
MICA_API struct mica_stream *mica_requests_stream(mica_requests *requests);

/* Returns the stream of answers of a kind made with .as_stream, else NULL. Its messages are the answers. Threads: any. */
MICA_API struct mica_stream *mica_requests_answers(mica_requests *requests);

MICA_END

#define MICA_REQUESTS(Question, Answer, fn_, context_)                                                                 \
    (&(const mica_requests_def){.name = #Question,                                                                     \
                                .question = &mica_type_of_##Question,                                                  \
                                .answer = &mica_type_of_##Answer,                                                      \
                                .fn = (fn_),                                                                           \
                                .context = (context_),                                                                 \
                                .place = MICA_HERE})
#define mica_request(requests, key, who, Question, ...)                                                                \
    mica_request_post((requests), (key), (who), MICA_VALUE_(Question, __VA_ARGS__), MICA_HERE)

#endif

/* mica/stats.h */
/* Mica, stats: what each system cost, frame by frame, and a trace of a run.
 *
 *     mica_stats_enable(world, 120);                       keep the last 120 frames
 *     ...
 *     mica_stats_print(world, stdout);
 *
 *     mica_trace_start(world);
 *     ...
 *     mica_trace_stop(world, "run.json");                  opens in Perfetto, speedscope and chrome://tracing
 *
 * Measuring changes nothing but time; a world that does not measure pays nothing.
 */
#ifndef MICA_STATS_H
#define MICA_STATS_H


#include <stdio.h>

MICA_BEGIN

typedef struct mica_system_stats {
    uint64_t runs;
    uint64_t time_ns;    /* of all workers together */
    uint64_t entities;   /* rows it was given */
    uint32_t slices;     /* views it was given */
    uint32_t commands;   /* entities it recorded changes for */
    uint32_t workers;    /* different threads that ran it */
    uint32_t fused_with; /* systems in the same chain over slices, itself among them; 0 outside of one */
} mica_system_stats;

typedef struct mica_frame_stats {
    uint64_t frame;
    uint64_t time_ns;  /* from begin to end */
    uint64_t flush_ns; /* of that, in flushes */
    uint64_t busy_ns;  /* of all workers together, in systems */
    uint64_t commands;
    uint32_t workers;
} mica_frame_stats;

/* Keeps the numbers of the last `frame_count` frames; 0 stops and drops them. Threads: owner. */
MICA_API mica_result mica_stats_enable(mica_world *world, uint32_t frame_count);

/* Fills in a system's numbers of one frame, 0 being the last; false when it is not kept. Threads: owner. */
MICA_API bool mica_stats_of_system(const mica_world *world, mica_system system, uint32_t frames_ago,
                                   mica_system_stats *out);

/* The same over all frames that are kept; `workers` and `fused_with` are the largest. Threads: owner. */
MICA_API bool mica_stats_of_system_total(const mica_world *world, mica_system system, mica_system_stats *out);

/* Fills in the numbers of one frame, 0 being the last; false when it is not kept. Threads: owner. */
MICA_API bool mica_stats_of_frame(const mica_world *world, uint32_t frames_ago, mica_frame_stats *out);

/* Prints a table over the frames that are kept, a line per system in the order they run. Threads: owner. */
MICA_API void mica_stats_print(const mica_world *world, FILE *out);

/* Starts to note every piece of work: system, slices, thread, begin and end. Threads: owner. */
MICA_API mica_result mica_trace_start(mica_world *world);

/* Stops, and writes the trace as a file of Chrome trace events; a NULL path drops it. Returns MICA_ERROR_REFUSED with a report when the
 * file can't be written, or no trace was started. Threads: owner. */
MICA_API mica_result mica_trace_stop(mica_world *world, const char *path);

MICA_END
#endif

/* mica/stream.h */
/* Mica, stream: typed messages from many writers to many readers, in an order that does not depend on threads.
 *
 *     typedef struct Hit { mica_entity who; float damage; } Hit;
 *     MICA_STRUCT(Hit, who, damage)
 *     mica_stream *hits = mica_stream_create(world, MICA_STREAM(Hit));
 *
 *     in a system with .uses = MICA_USES(MICA_USE_STREAM_WRITE(hits))
 *         mica_emit(hits, Hit, {view->entities[i], 3});
 *     in a later one with .uses = MICA_USES(MICA_USE_STREAM_READ(hits))
 *         uint32_t count;
 *         for (const Hit *hit; (hit = mica_stream_read(hits, Hit, &count));)
 *             for (uint32_t i = 0; i < count; ++i) ...
 *
 * Messages come ordered by (system, slice, call). Many systems may write a stream at the same time; declaring that a system
 * reads it puts it behind those that write it and were added before it. What later ones write it reads in the next run.
 * Each system that declares to read runs in one thread and has a place of its own in the stream, and so has the
 * application, which reads between frames; exclusive systems, hooks and observers write and read as the application does, and
 * so do handlers of messages outside of systems. Those that run in a frame may write without declaring it, unless another
 * handler reads the stream. A message is kept until the slowest reader has read it, even one that is switched off, or as long as
 * .keep_frames says. Memory is used again from frame to frame.
 *
 * The output of a system that is one value and not a list is a singleton that it writes and others read (mica/singleton.h).
 */
#ifndef MICA_STREAM_H
#define MICA_STREAM_H


MICA_BEGIN

typedef struct mica_stream mica_stream;

typedef struct mica_stream_def {
    const char *name;
    mica_type *type;      /* of a message; its bytes are copied, so it owns nothing */
    uint32_t capacity;    /* the most messages it keeps, the oldest are dropped for new ones; 0: it grows */
    uint32_t keep_frames; /* drop messages after that many frames, read or not; 0: when all have read them. Without any
                             reader they are dropped after the frame that follows. */
    bool application;     /* the application reads it too, between frames */
    mica_place place;
} mica_stream_def;

/* Makes a stream. Returns NULL with a report when it can't. Refused inside a system. Threads: owner. */
MICA_API mica_stream *mica_stream_create(mica_world *world, const mica_stream_def *def);

/* Gives it back with its messages; NULL is fine. Refused inside a system and while a system declares it. Threads: owner. */
MICA_API void mica_stream_destroy(mica_stream *stream);

/* Appends room for `count` messages that lie one after the other and returns it, to be filled in before the function of the
 * system returns. NULL with a report when memory is short or the system does not declare to write it.
 * Threads: any that runs a system; else owner. */
MICA_API void *mica_stream_append(mica_stream *stream, uint32_t count, mica_place place);

/* Appends one message, copied. False as above. Threads: as above, any that runs a system. */
MICA_API bool mica_stream_push(mica_stream *stream, const void *message, size_t message_bytes, mica_place place);

/* Returns the next messages that this reader has not read, oldest first, as many as lie one after the other, and fills in how
 * many; NULL when it has read all. They stay in place until the end of the frame, for the application until systems run again.
 * Threads: the system's own; else owner. */
MICA_API const void *mica_stream_read_messages(mica_stream *stream, uint32_t *out_count, mica_place place);

/* Returns how many messages this reader has not read. Threads: as above, reader. */
MICA_API uint64_t mica_stream_count(const mica_stream *stream);

/* Returns how many messages this reader has lost: dropped for room or of old age before it read them, or never written because
 * memory was short. Who is no reader gets what was dropped for room. Threads: as above, reader. */
MICA_API uint64_t mica_stream_dropped(const mica_stream *stream);

MICA_END

#define MICA_STREAM(T) MICA_STREAM_WITH(T, (.application = false))
#define MICA_STREAM_WITH(T, options)                                                                                   \
    (&(const mica_stream_def){.name = #T, .type = &mica_type_of_##T, .place = MICA_HERE, MICA_UNWRAP_ options})
#define mica_emit(stream, T, ...) mica_stream_push((stream), &(const T)__VA_ARGS__, sizeof(T), MICA_HERE)
#define mica_emit_from(stream, T, pointer) mica_stream_push((stream), (const T *){(pointer)}, sizeof(T), MICA_HERE)
#define mica_emit_many(stream, T, count) ((T *)mica_stream_append((stream), (count), MICA_HERE))
#define mica_stream_read(stream, T, out_count) ((const T *)mica_stream_read_messages((stream), (out_count), MICA_HERE))

#endif


/* As mica/checked.h does. */
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_step(world, ...) mica_step(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_run(world, ...) mica_system_run(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_add(world, ...) mica_system_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_remove(world, ...) mica_system_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_enable(world, ...) mica_system_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_commands(view) mica_view_commands(MICA_AT_(view))
#endif

#endif

/* mica/math.h */
/* Mica, math: sine, exponential and the like with the same bits on every machine.
 *
 *     velocity[i].x = speed * mica_cosf(angle[i]);
 *
 * The functions of libm differ in the last bit from one C library, compiler and processor to the next, which is enough to
 * drive two simulations apart. These use nothing but addition, subtraction, multiplication, division and square root, which
 * IEEE 754 defines to the bit, in an order that no compiler may change. They are functions of the library and not inline, so that
 * the compiler options of a program (fused multiplication, -ffast-math) can't reach them.
 *
 * The float functions are right to 0.501 units in the last place (powf: 0.51), the double ones to 1 (atan2: 2), for all
 * arguments, huge ones too. They set no errno. A result that is not a number is always the same one, positive and quiet.
 */
#ifndef MICA_MATH_H
#define MICA_MATH_H


MICA_BEGIN

/* The square root, correctly rounded; not a number below zero. sqrtf and sqrt of C are as good wherever the compiler turns them into
 * an instruction and -ffast-math is off. Threads: any. */
MICA_API float mica_sqrtf(float x);
MICA_API double mica_sqrt(double x);

/* Sine, cosine and tangent of an angle in radians; not a number for infinities. Threads: any. */
MICA_API float mica_sinf(float x);
MICA_API float mica_cosf(float x);
MICA_API float mica_tanf(float x);
MICA_API double mica_sin(double x);
MICA_API double mica_cos(double x);

/* The angle of the point (x, y) in radians, from -pi to pi; signs of zeros count as in C. Threads: any. */
MICA_API float mica_atan2f(float y, float x);
MICA_API double mica_atan2(double y, double x);

/* The exponential function, and its inverse: -infinity at zero, not a number below. Threads: any. */
MICA_API float mica_expf(float x);
MICA_API float mica_logf(float x);
MICA_API double mica_exp(double x);
MICA_API double mica_log(double x);

/* x to the power of y, with the special cases of C. Threads: any. */
MICA_API float mica_powf(float x, float y);

MICA_END
#endif

/* mica/hierarchy.h */
/* Mica, hierarchy: parents and children.
 *
 *     mica_set_parent(world, wheel, car);
 *     for (mica_entity child = mica_first_child(world, car); !mica_is_nil(child); child = mica_next_sibling(world, child))
 *         paint(world, child);
 *     for (mica_entity part = car; !mica_is_nil(part); part = mica_tree_next(world, car, part))
 *         paint(world, part);                                 the whole tree, parents before children
 *     mica_destroy(world, car);                               its children die with it
 *
 * Links are kept beside the entities: linking moves no row, makes no archetype and leaves pointers to components good.
 * Children have an order. An entity has one parent or none, and can't become its own ancestor. Reading and linking cost the
 * same however many children there are; depth, root and the test for cycles walk up.
 *
 * When an entity is destroyed, however that happens, its children are destroyed before it, the deepest first, each with its
 * hooks; or they stay and lose their parent: see mica_orphans.
 *
 * While the world records (mica/command.h) links are recorded too, and the functions that look show the tree as it was. A flush
 * first makes the links, in the order they were recorded, then changes and destroys entities: a child that is linked to a
 * parent which dies in the same flush dies with it. What can't be linked then is reported, with the place that recorded it,
 * and dropped.
 *
 * Names (mica/name.h). The name of an entity is known within its parent: mica_set_parent takes it along, and refuses when the
 * new parent has a child of that name. A name that was set in another scope than the parent stays where it is.
 *
 *     mica_name_child(world, wheel, "wheel");
 *     mica_find(world, "car/wheel");
 *
 * A dead handle has no parent, no children and no siblings; trying to link it is reported.
 */
#ifndef MICA_HIERARCHY_H
#define MICA_HIERARCHY_H


MICA_BEGIN

/* Makes an entity the last child of another, taking it from the parent it had; a nil parent detaches it. Where it is a child of
 * that parent already, its place stays. Returns MICA_ERROR_DEAD for a dead entity, MICA_ERROR_INVALID for a cycle and
 * MICA_ERROR_EXISTS for a name that is taken: nothing has changed then. Threads: owner. */
MICA_API mica_result mica_set_parent(mica_world *world, mica_entity child, mica_entity parent);

/* Makes an entity the sibling right before or right behind another one, which must have a parent. Fails as mica_set_parent,
 * and with MICA_ERROR_INVALID when the sibling has no parent or is the entity itself. Threads: owner. */
MICA_API mica_result mica_place_before(mica_world *world, mica_entity child, mica_entity sibling);
MICA_API mica_result mica_place_behind(mica_world *world, mica_entity child, mica_entity sibling);

/* As mica_set_parent for each of `count` pairs in turn; all of them, or none. Threads: owner. */
MICA_API mica_result mica_set_parents(mica_world *world, const mica_entity *children, const mica_entity *parents,
                                      uint32_t count);

/* Detaches every child, which are entities without a parent then; as mica_set_parent to nil for each, all or none.
 * Threads: owner. */
MICA_API mica_result mica_detach_children(mica_world *world, mica_entity parent);

/* As mica_create_values, and makes it the last child of a parent. Nil when either can't be done. Threads: owner. */
MICA_API mica_entity mica_create_child_values(mica_world *world, mica_entity parent, const mica_value *values,
                                              uint32_t count);

/* Return nil, or 0, where there is nothing such. The first is nil's for what has no parent. Threads: reader. */
MICA_API mica_entity mica_parent(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_first_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_last_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_next_sibling(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_previous_sibling(const mica_world *world, mica_entity entity);
MICA_API uint32_t mica_child_count(const mica_world *world, mica_entity entity);

/* Returns how many entities have a parent or children. Threads: reader. */
MICA_API uint32_t mica_linked_count(const mica_world *world);

/* Returns how many ancestors an entity has. Threads: reader. */
MICA_API uint32_t mica_depth(const mica_world *world, mica_entity entity);

/* Returns the ancestor without a parent, which is the entity itself when it has none; nil for the dead. Threads: reader. */
MICA_API mica_entity mica_root_of(const mica_world *world, mica_entity entity);

/* Returns whether one is the parent of the other, or its parent's, and so on. Threads: reader. */
MICA_API bool mica_is_ancestor(const mica_world *world, mica_entity ancestor, mica_entity entity);

/* Walks a tree, parents before children, siblings in their order: returns what comes behind `at`, or nil at the end. The second
 * passes over what is below `at`. Links may change behind the walk, not at `at` or before it. Threads: reader. */
MICA_API mica_entity mica_tree_next(const mica_world *world, mica_entity root, mica_entity at);
MICA_API mica_entity mica_tree_next_beside(const mica_world *world, mica_entity root, mica_entity at);

/* What becomes of the children of an entity that dies. */
typedef enum mica_orphans {
    MICA_ORPHANS_DIE = 0, /* they die before it, and theirs before them */
    MICA_ORPHANS_STAY,    /* they have no parent then; theirs stay with them */
} mica_orphans;

/* Sets what becomes of children in this world; they die unless told otherwise. Threads: owner. */
MICA_API mica_result mica_set_orphans(mica_world *world, mica_orphans orphans);

/* As mica_destroy, with a word on the children of this one entity. False when it is dead already. Threads: owner. */
MICA_API bool mica_destroy_with(mica_world *world, mica_entity entity, mica_orphans orphans);

/* Destroys the children, and what is below them, of an entity that goes on living. While recording: the children it has now.
 * Returns how many of its children died. Threads: owner. */
MICA_API uint32_t mica_destroy_children(mica_world *world, mica_entity parent);

/* Names an entity among the children of its parent, or at the top when it has none. As mica_name_set otherwise; while
 * recording, among those of the parent it has before the flush. Threads: owner. */
MICA_API mica_result mica_name_child(mica_world *world, mica_entity entity, const char *name);

/* Writes the path by which mica_find finds an entity, cut to `capacity` bytes with a zero at the end, and returns its whole length;
 * 0 when there is no such path, because it or what it lies in has no name. Threads: reader. */
MICA_API size_t mica_path_of(const mica_world *world, mica_entity entity, char *out, size_t capacity);

/* Record a link. Return false when it makes no sense already now. Threads: one per buffer, any. */
MICA_API bool mica_command_set_parent_of(mica_commands *commands, mica_entity child, mica_entity parent,
                                         mica_place place);
MICA_API bool mica_command_place_beside(mica_commands *commands, mica_entity child, mica_entity sibling, bool behind,
                                        mica_place place);
/* Records a destruction with a word on the children. Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_entity_with(mica_commands *commands, mica_entity entity, mica_orphans orphans,
                                               mica_place place);

MICA_END

/* mica_create_child(world, parent) or mica_create_child(world, parent, MICA_WITH(...), ...) */
#define mica_create_child(world, ...) MICA_JOIN_(MICA_CREATE_CHILD_, MICA_ONE_OR_MORE_(__VA_ARGS__))(world, __VA_ARGS__)
#define MICA_CREATE_CHILD_1(world, parent) mica_create_child_values((world), (parent), NULL, 0)
#define MICA_CREATE_CHILD_2(world, parent, ...) mica_create_child_values((world), (parent), MICA_VALUES_(__VA_ARGS__))

#define mica_command_set_parent(commands, child, parent)                                                               \
    mica_command_set_parent_of((commands), (child), (parent), MICA_HERE)
#define mica_command_place_before(commands, child, sibling)                                                            \
    mica_command_place_beside((commands), (child), (sibling), false, MICA_HERE)
#define mica_command_place_behind(commands, child, sibling)                                                            \
    mica_command_place_beside((commands), (child), (sibling), true, MICA_HERE)
#define mica_command_destroy_with(commands, entity, orphans)                                                           \
    mica_command_destroy_entity_with((commands), (entity), (orphans), MICA_HERE)

#endif

/* mica/transform.h */
/* Mica, transform: where things are, relative to their parents and in the world.
 *
 *     mica_entity sun = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)), MICA_WITH(mica_world_matrix));
 *     mica_entity earth = mica_create_child(world, sun, MICA_WITH(mica_local, MICA_LOCAL_AT(150, 0, 0)),
 *                                           MICA_WITH(mica_world_matrix));
 *     mica_transform_update(world);                           once per frame, behind everything that moves things
 *     float x = mica_get(world, earth, mica_world_matrix)->x[3];
 *
 * You write mica_local; the update writes mica_world_matrix, of those that moved and of what is below them, and of no others. An
 * entity takes part when it has both. Its matrix is relative to the nearest ancestor that takes part: an entity without them in
 * between, a folder, changes nothing.
 *
 * What moved is found by itself: slices of mica_local that were written are compared with what the last update saw. So MICA_CHANGED
 * (mica_world_matrix) shows what really moved, slice by slice. The order in which entities are visited
 * is kept from update to update: a few entities that come, go or get other parents cost no more than their own share.
 *
 * The outcome is the same, bit for bit, for any number of threads and on every machine.
 */
#ifndef MICA_TRANSFORM_H
#define MICA_TRANSFORM_H


MICA_BEGIN

/* Place, turn and size relative to the parent: scaled first, then turned, then moved. */
typedef struct mica_local {
    float position[3];
    float rotation[4]; /* unit quaternion x, y, z, w; all zero counts as no rotation */
    float scale[3];
} mica_local;

/* From the entity's space to the world's: the rows that give x, y and z there, each with the translation last. The fourth row, 0 0 0 1,
 * is understood. 48 bytes: a column of these goes to a graphics card as it lies. */
typedef struct mica_world_matrix {
    float x[4];
    float y[4];
    float z[4];
} mica_world_matrix;

/* Construct functions of the two: no rotation, scale 1. They can't fail. Threads: any. */
MICA_API bool mica_local_construct(void *values, uint32_t count, void *context);
MICA_API bool mica_world_matrix_construct(void *values, uint32_t count, void *context);

/* The ids, for bindings and C++. Zero when memory is short. Threads: any. */
MICA_API mica_component mica_local_id(void);
MICA_API mica_component mica_world_matrix_id(void);

/* Brings every matrix up to date. Returns MICA_ERROR_MEMORY, and does nothing then; the next update does it all.
 * MICA_ERROR_REFUSED inside a hook. Threads: owner. */
MICA_API mica_result mica_transform_update(mica_world *world);

/* Adds the update as the system "update_transforms" to a phase, most often MICA_PHASE_END: it reads mica_local and writes
 * mica_world_matrix, and is ordered among other systems by that. Levels of large trees are shared among the workers. Returns zero with a
 * report when it can't. Threads: owner. */
MICA_API mica_system mica_transform_add_system(mica_world *world, mica_phase phase);

/* Fills in what the update would: the matrix of a place relative to that of a parent, or of none for NULL. Threads: any. */
MICA_API void mica_matrix_from_local(const mica_local *local, const mica_world_matrix *parent, mica_world_matrix *out);

/* Fills in a point of the entity's space in the world's; in and out may be the same. Threads: any. */
MICA_API void mica_matrix_point(const mica_world_matrix *matrix, const float point[3], float out[3]);

MICA_END

/* The value of a mica_local that is only moved. */
#define MICA_LOCAL_AT(x, y, z) {{(x), (y), (z)}, {0, 0, 0, 1}, {1, 1, 1}}

#ifndef __cplusplus
MICA_COMPONENT_WITH(mica_local, (.construct = mica_local_construct), position, rotation, scale)
MICA_COMPONENT_WITH(mica_world_matrix, (.construct = mica_world_matrix_construct), x, y, z)
#endif

#endif

/* mica/snapshot.h */
/* Mica, snapshot: going back to what a world was.
 *
 *     mica_snapshot before = mica_snapshot_take(world);      microseconds, whatever the size of the world
 *     ...                                                    anything: systems, creation, destruction, messages
 *     mica_snapshot_restore(world, before);                  costs what has changed meanwhile
 *     mica_snapshot_drop(world, before);
 *
 * Nothing is copied when a snapshot is taken but what there is one of. The first write to a slice of a column behind it copies the old
 * values of that slice, and of no other; restoring puts them back. Live data never moves for a snapshot.
 *
 * What comes back: entities with their handles and generations, values, the order of rows, pools and tags, singletons,
 * names, the hierarchy, what is on its way in streams and messages, time, ticks, pause and random numbers, which systems
 * and phases are enabled, which handles are given out next, and what queries and systems count as changed. The world hash is
 * what it was, and the same inputs give the same world again. Pointers to components are void, as after any change;
 * mica_ref finds its component again.
 *
 * What stays: components, queries, systems, hooks, observers, streams and command buffers themselves, also those made
 * meanwhile. Hooks and observers do not run for what restoring changes. Whoever keeps copies of values outside of the world, a
 * renderer for example, looks at everything once (mica_query_begin_since with 0). Marks taken meanwhile stay good for what is
 * written from now on.
 *
 * Any number of snapshots may live. Restoring one is a change like others: older and newer ones stay, and can be restored
 * in any order, which is all that undo and redo need (examples/undo.c). Keep what is newer only if it is wanted: without, archetypes made
 * meanwhile are forgotten too, so that the world is as if they had never been; with, they stay, empty.
 *
 * Values that own something are copied by the copy function of their component when they are about to change; taking is refused
 * while the world uses a component with a destructor and no copy function.
 *
 * When there is no memory to keep what a write is about to change, the write goes on, and the snapshots are lost: restoring
 * them returns MICA_ERROR_MEMORY and changes nothing.
 */
#ifndef MICA_SNAPSHOT_H
#define MICA_SNAPSHOT_H


MICA_BEGIN

/* A snapshot of one world, by value. All zero is none. */
typedef struct mica_snapshot {
    uint64_t id;
} mica_snapshot;

/* Takes a snapshot. Returns none, with a report, when memory is short, inside systems, hooks and loops that record, while
 * recorded changes wait for a flush, and for components that can't be copied. It lives until it is dropped, or the world
 * destroyed. Threads: owner. */
MICA_API mica_snapshot mica_snapshot_take(mica_world *world);

/* Makes the world what it was. Returns MICA_ERROR_UNKNOWN for one that was dropped or is none, MICA_ERROR_MEMORY when it was
 * lost or memory is short, and MICA_ERROR_REFUSED where taking is: nothing has changed then. The snapshot stays, and can be
 * restored again. Threads: owner. */
MICA_API mica_result mica_snapshot_restore(mica_world *world, mica_snapshot snapshot);

/* Forgets a snapshot. Returns false when there is none such. Threads: owner. */
MICA_API bool mica_snapshot_drop(mica_world *world, mica_snapshot snapshot);

/* Returns how many bytes are kept for it: what it alone needs, 0 right after it was taken. Threads: reader. */
MICA_API size_t mica_snapshot_bytes(const mica_world *world, mica_snapshot snapshot);

/* Makes a world with the same def and the same content: entities with their handles, values, the order of rows, pools, singletons,
 * names and the hierarchy, so that the hashes agree. Queries, systems, streams, hooks, command buffers and snapshots are
 * not part of it. Returns NULL with a report to the world, when memory is short, while changes are recorded, and for a
 * component that can't be copied. Threads: owner. */
MICA_API mica_world *mica_world_clone(mica_world *world);

/* History: the last ticks of a world, to roll back to.
 *
 *     mica_history *history = mica_history_create(world, 60);
 *     for (;;) {
 *         if (late input for a tick arrived)
 *             mica_history_restore(history, tick), then step again up to now, as below
 *         mica_history_take(history, tick);                  before the step of that tick
 *         mica_step(world, dt);
 *         ++tick;
 *     }
 */
typedef struct mica_history mica_history;

/* Returns a history that keeps up to `capacity` ticks, at least one; NULL when memory is short. Destroyed with its world.
 * Threads: owner. */
MICA_API mica_history *mica_history_create(mica_world *world, uint32_t capacity);

/* Drops all it keeps. NULL is fine. Threads: owner. */
MICA_API void mica_history_destroy(mica_history *history);

/* Keeps the world as it is now under a number higher than the last one's; when it is full, the oldest goes. Fails as
 * mica_snapshot_take, and with MICA_ERROR_INVALID for a number that is not higher. Threads: owner. */
MICA_API mica_result mica_history_take(mica_history *history, uint64_t tick);

/* Goes back to a tick and forgets the later ones; that tick itself stays. Returns MICA_ERROR_UNKNOWN when it is not kept, else as
 * mica_snapshot_restore: nothing is forgotten when it fails. Threads: owner. */
MICA_API mica_result mica_history_restore(mica_history *history, uint64_t tick);

/* Returns whether a tick is kept; how many are; and the first and the last of them, 0 when there is none. Threads: reader. */
MICA_API bool mica_history_has(const mica_history *history, uint64_t tick);
MICA_API uint32_t mica_history_count(const mica_history *history);
MICA_API uint64_t mica_history_first(const mica_history *history);
MICA_API uint64_t mica_history_last(const mica_history *history);

/* Returns how many bytes all ticks together keep. Threads: reader. */
MICA_API size_t mica_history_bytes(const mica_history *history);

MICA_END
#endif

/* mica/hash.h */
/* Mica, hash: where two worlds differ, and not only that they do.
 *
 *     mica_difference difference;
 *     if (mica_hash_diff(server, client, &difference))
 *         puts(difference.text);     "Position.x of entity 700 (generation 1), in {Position, Velocity}, row 188"
 *
 * A tree of hashes: the world, its archetypes and pools, their slices, the columns of each. Two trees are compared without the
 * worlds, which may be in other processes or long gone: send the root every tick, the leaves when roots differ.
 * mica/record.h keeps trees of a whole run in a file.
 */
#ifndef MICA_HASH_H
#define MICA_HASH_H


MICA_BEGIN

enum {
    MICA_HASH_SLICES = MICA_SLICE_ROWS, /* a leaf is a column of a slice */
    MICA_HASH_ROWS = 1,                 /* a leaf is a value of an entity: to name it */
};

/* A column of some rows, or what there is one of in a world. */
typedef struct mica_hash_leaf {
    uint64_t
        table; /* hash of the names of an archetype's components; of the name of a component in a pool; 0: the world */
    uint64_t component; /* hash of its name; 0: which entities there are, and in which order */
    uint32_t row;       /* the first one, counted from the beginning of the archetype or pool */
    uint32_t row_count;
    mica_entity entity; /* of the first row; nil in the world's own leaves */
    uint64_t hash;
} mica_hash_leaf;

typedef struct mica_hash_tree mica_hash_tree;

/* Hashes a world, with leaves of that many rows at most: MICA_HASH_SLICES or MICA_HASH_ROWS. Returns NULL with a report
 * when memory is short. It lives on without the world, but not without the world's allocator. Threads: reader. */
MICA_API mica_hash_tree *mica_hash_tree_take(const mica_world *world, uint32_t leaf_rows);

/* A tree of leaves from elsewhere, which are copied: from another process, say. The names of its components are those that
 * this process knows. Returns NULL when memory is short, or two leaves have the same place. Threads: any. */
MICA_API mica_hash_tree *mica_hash_tree_of_leaves(const mica_hash_leaf *leaves, uint32_t count);

/* Gives a tree back; NULL is fine. Threads: any, when nobody uses it. */
MICA_API void mica_hash_tree_free(mica_hash_tree *tree);

/* Returns the hash of all leaves: equal when all are. Another one than mica_world_hash. Threads: any. */
MICA_API uint64_t mica_hash_tree_root(const mica_hash_tree *tree);

/* Returns the leaves, by table, row and component, and how many they are. They live as long as the tree. Threads: any. */
MICA_API const mica_hash_leaf *mica_hash_tree_leaves(const mica_hash_tree *tree, uint32_t *out_count);

/* What differs first, as far as it is known: texts are empty, the entity nil and the rest 0 where it is not. */
typedef struct mica_difference {
    uint64_t tick; /* of a recording */
    char system[64];
    char component[64];
    char field[64];
    char table[96]; /* "{Position, Velocity}", or "pool Burning" */
    mica_entity entity;
    uint32_t row; /* first of the rows that differ */
    uint32_t row_count;
    char text[512]; /* all of it in words */
} mica_difference;

/* Returns whether two trees differ, and says where first. Leaves of the same size must be compared. `out` may be NULL.
 * Threads: any. */
MICA_API bool mica_hash_tree_diff(const mica_hash_tree *a, const mica_hash_tree *b, mica_difference *out);

/* Returns whether two worlds differ in what mica_world_hash sees, and names the first component, entity and field that do. `out`
 * may be NULL. When memory is short, which is reported, it says that they differ without saying where. Threads: reader of
 * both. */
MICA_API bool mica_hash_diff(const mica_world *a, const mica_world *b, mica_difference *out);

MICA_END
#endif

/* mica/record.h */
/* Mica, record: a run in a file, to run it again and be told where it goes another way.
 *
 *     mica_input_handle(world, take_input, game);            what input does; called by mica_input and by a replay
 *     mica_record_begin(world, "run.micarec", NULL);
 *     while (is_running()) {
 *         mica_input(world, &buttons, sizeof buttons);       any bytes, as often as you like before each frame
 *         mica_step(world, 1.0f / 60);
 *     }
 *     mica_record_end(world);
 *
 * The file holds for each frame its input, its time step and the hash of the world behind it; on request also a hash behind
 * each system, and the tree of hashes (mica/hash.h). Then, in a world that was set up alike:
 *
 *     mica_recording *recording = mica_recording_load("run.micarec", NULL);
 *     if (!mica_replay(world, recording, &difference))
 *         puts(difference.text);        "tick 41: first behind system move: Position of entity 700 (generation 1), in ..."
 *
 * `mica replay` does that for modules, `mica diff` compares two recordings. A frame is in the file when mica_step returns: a
 * recording explains the crash that ended it. What changes the world between frames must come through mica_input, or the
 * replay will differ. The bytes are described in docs/format.md.
 */
#ifndef MICA_RECORD_H
#define MICA_RECORD_H


MICA_BEGIN

/* Does to the world what input bytes say. The bytes are gone when it returns. */
typedef void (*mica_input_fn)(mica_world *world, const void *bytes, size_t byte_count, void *context);

/* Says what input does; NULL forgets it. Refused inside a system. Threads: owner. */
MICA_API mica_result mica_input_handle(mica_world *world, mica_input_fn fn, void *context);

enum { MICA_INPUT_BYTES_MAX = 16 << 20 };

/* Hands input to the handler, and records it for the frame that comes next. MICA_ERROR_UNKNOWN with a report when there is no
 * handler. Refused inside a frame. Threads: owner. */
MICA_API mica_result mica_input(mica_world *world, const void *bytes, size_t byte_count);

/* How much a recording can tell about a difference. */
typedef enum mica_record_detail {
    MICA_RECORD_WORLD = 0, /* which frame: 40 bytes for each */
    MICA_RECORD_SLICES,    /* and component and slice: 40 bytes for each column of a slice that changed */
    MICA_RECORD_ENTITIES,  /* and entity: 40 bytes for each value that changed; to look into what slices found */
} mica_record_detail;

typedef struct mica_record_def {
    mica_record_detail detail;
    bool systems; /* which system too: they run one by one, and the world is hashed behind each */
} mica_record_def;

/* Begins to record every mica_step into a file; NULL means the defaults. MICA_ERROR_FILE with a report when it can't be
 * written. Refused while recording already, and inside a frame. A recording that fails later (a full disk) ends with a
 * report, and the world goes on. Threads: owner. */
MICA_API mica_result mica_record_begin(mica_world *world, const char *path, const mica_record_def *def);

/* Ends the recording. Returns MICA_ERROR_FILE when not all of it could be written, MICA_ERROR_REFUSED when there was none.
 * Destroying the world ends it too. Threads: owner. */
MICA_API mica_result mica_record_end(mica_world *world);

typedef struct mica_recording mica_recording;

/* What is wrong with a recording, and where. */
typedef struct mica_recording_error {
    mica_result result;
    uint64_t offset;
    char text[256];
} mica_recording_error;

/* Loads a recording and verifies it; a frame that was cut off at the end is left out. Returns NULL and fills `out_error`, which
 * may be NULL, when it can't. Threads: any. */
MICA_API mica_recording *mica_recording_load(const char *path, mica_recording_error *out_error);

/* The same for bytes in memory, which are copied. Threads: any. */
MICA_API mica_recording *mica_recording_open(const void *bytes, size_t byte_count, mica_recording_error *out_error);

/* Gives a recording back; NULL is fine. Threads: any, when nobody uses it. */
MICA_API void mica_recording_free(mica_recording *recording);

typedef struct mica_recording_info {
    uint64_t start_hash; /* of the world before the first frame */
    uint64_t byte_count;
    uint32_t tick_count;
    mica_record_detail detail;
    bool systems;
    bool is_cut; /* the last frame is not whole: the program did not end the recording */
} mica_recording_info;

/* One frame. Ticks are counted from 1. */
typedef struct mica_recorded_tick {
    uint64_t hash; /* of the world behind it */
    float dt;
    uint32_t input_count;
} mica_recorded_tick;

/* Return what the recording holds. A tick beyond the last is all zero, input beyond the last NULL. Pointers live as long as
 * the recording. Threads: any. */
MICA_API mica_recording_info mica_recording_get_info(const mica_recording *recording);
MICA_API mica_recorded_tick mica_recording_tick(const mica_recording *recording, uint32_t tick);
MICA_API const void *mica_recording_input(const mica_recording *recording, uint32_t tick, uint32_t index,
                                          size_t *out_byte_count);

/* Runs all frames of a recording on a world that is as it was when the recording began: hands input to the handler, steps, and
 * compares. Returns whether all was the same; it stops behind the first frame that is not, and says what differs.
 * `out` may be NULL. Refused (false) while recording and inside a frame. Threads: owner. */
MICA_API bool mica_replay(mica_world *world, const mica_recording *recording, mica_difference *out);

/* Returns whether two recordings differ, and says where first. `out` may be NULL. Threads: any. */
MICA_API bool mica_recording_diff(const mica_recording *a, const mica_recording *b, mica_difference *out);

MICA_END
#endif

/* mica/module.h */
/* Mica, module: systems in a shared library that a program loads while it runs, as `mica run` does.
 *
 *     #include "mica/flow.h"
 *     #include "mica/module.h"
 *     ...
 *     MICA_MODULE(world)
 *     {
 *         mica_define(world, Position);                    known before levels are spawned
 *         mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Position)));
 *         return MICA_OK;
 *     }
 *
 * A module that has rules for spawning and saving (mica/resource.h), or wants to look up the resources that levels refer to
 * (mica/library.h), has a second entry point, called when all modules are there and before levels are spawned:
 *
 *     MICA_MODULE_RULES(world, library, out_rule_count)
 *     {
 *         shapes = library;
 *         rules[0].component = mica_define(world, Position);
 *         *out_rule_count = 1;
 *         return rules;
 *     }
 *
 * The library is linked with mica::module (CMake), or with nothing: what it calls of Mica is in the program that loads it,
 * and a second Mica would number components by itself.
 *
 *     mica run --module ./libfall.so --frames 600 level.mica
 *
 * Examples: examples/modules.
 */
#ifndef MICA_MODULE_H
#define MICA_MODULE_H


MICA_BEGIN

/* What a module was compiled with: who loads it compares before it calls. */
typedef struct mica_module {
    uint32_t version_major;
    uint32_t version_minor;
    uint32_t checked; /* 1 with MICA_CHECKED, else 0 */
} mica_module;

extern MICA_EXPORT const mica_module mica_module_info;

/* Called once, in an empty world. Anything but MICA_OK, and every report, ends the run. */
MICA_EXPORT mica_result mica_module_main(mica_world *world);

struct mica_library;
struct mica_resource_rule;

/* Optional. Returns the rules of the module, which live as long as the program, or NULL; so does the library. */
MICA_EXPORT const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,
                                                               uint32_t *out_rule_count);

MICA_END

#ifdef MICA_CHECKED
#    define MICA_MODULE_CHECKED_ 1
#else
#    define MICA_MODULE_CHECKED_ 0
#endif

/* Begins the one entry point of a module; its body follows. */
#define MICA_MODULE(world)                                                                                             \
    const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR, MICA_MODULE_CHECKED_};               \
    mica_result mica_module_main(mica_world *world)

/* Begins the entry point for rules; its body follows. */
#define MICA_MODULE_RULES(world, library, out_rule_count)                                                              \
    const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,          \
                                                       uint32_t *out_rule_count)

#endif

/* mica/delta.h */
/* Mica, delta: what changed in a world, as bytes, and another world that follows it.
 *
 *     mica_sender *sender = mica_sender_create(server, NULL);
 *     mica_delta delta;
 *     mica_delta_encode(sender, client->acknowledged, &delta);      0: everything, for who joins
 *     send(client, delta.bytes, delta.byte_count);
 *
 *     mica_replica *replica = mica_replica_create(client, NULL);    in the other process
 *     mica_delta_apply(replica, bytes, byte_count);
 *     acknowledge(mica_replica_version(replica));
 *
 * A delta holds what was written since a version, slice by slice and column by column as the stamps of changes say, in the state of
 * now. So it leads there from any version between its base and its own: deltas may be lost or come late, and the sender keeps
 * nothing for anybody but the version they acknowledged.
 *
 * The replica is the same world: handles, order of rows and hash (mica_world_hash), as long as it has all components and only
 * the sender changes it. With .mapped its entities have handles of their own, and references in components are translated. The
 * receiver may have components and, mapped, entities of its own, which deltas leave alone; what it destroys of the
 * sender's stays away. Hooks and observers of addition, removal and death run; those of setting don't.
 *
 * Snapshots (mica/snapshot.h): a receiver may guess ahead, when it goes back to a snapshot that it took behind the last delta
 * before it applies the next one. A sender that went back begins at 0 again, for everybody.
 *
 * Deltas are verified before anything is changed: hostile bytes get an error. They go between machines of the same byte order
 * and programs with the same layouts of components.
 *
 * Carried are chunk components, tags, toggles, split components, pools, singletons, names and links (mica/hierarchy.h). Not
 * carried are components with construct, destruct, copy or move functions, fields that are not described, many
 * instances (.many), names in the scope of somebody who died, streams, messages and the time of systems.
 */
#ifndef MICA_DELTA_H
#define MICA_DELTA_H


MICA_BEGIN

typedef struct mica_sender mica_sender;

typedef struct mica_sender_def {
    const mica_component *excluded; /* stay at home */
    uint32_t excluded_count;
} mica_sender_def;

/* Makes what remembers which parts of a world without stamps changed when; NULL means the defaults. NULL with a report when
 * memory is short. One serves any number of receivers. Threads: owner. */
MICA_API mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def);

/* Before its world; NULL is fine. Threads: owner. */
MICA_API void mica_sender_destroy(mica_sender *sender);

/* What changed. The bytes belong to the sender, and live until it encodes again. */
typedef struct mica_delta {
    const void *bytes;
    size_t byte_count;
    mica_version base;
    mica_version version; /* of the world as it is now: what a receiver that applied it acknowledges */
    uint32_t slice_count; /* in it, of chunks and pools */
    uint64_t value_bytes; /* of their columns */
} mica_delta;

/* Encodes what changed since a version that an earlier delta had, or everything since 0, in time that follows what changed but for
 * singletons, tags in pools, toggles in pools, names and links, which are looked through. MICA_ERROR_INVALID for a version
 * that has not been, MICA_ERROR_MEMORY, also beyond 2 GiB. Refused while recording. Threads: owner. */
MICA_API mica_result mica_delta_encode(mica_sender *sender, mica_version base, mica_delta *out_delta);

typedef struct mica_replica mica_replica;

typedef struct mica_replica_def {
    bool mapped; /* entities get handles of this world instead of those they have in the sender's */
    /* When not mapped, deltas with handles of higher indices are refused, since a world has tables by index: 0 is 16777216. */
    uint32_t index_limit;
} mica_replica_def;

/* Makes a world, mostly an empty one, follow another; NULL means the defaults. NULL with a report when memory is short.
 * Threads: owner. */
MICA_API mica_replica *mica_replica_create(mica_world *world, const mica_replica_def *def);

/* Before its world; what was replicated stays. NULL is fine. Threads: owner. */
MICA_API void mica_replica_destroy(mica_replica *replica);

/* Applies a delta. One that is not newer than what is there is passed over. Errors, with a report: MICA_ERROR_DATA for bytes that are
 * no sound delta, MICA_ERROR_REFUSED when its base is newer than what is there, a handle is in use by an entity of the
 * receiver's own, or changes are being recorded, MICA_ERROR_UNKNOWN for a component that this world does not know,
 * MICA_ERROR_LAYOUT for one with other fields, MICA_ERROR_MEMORY: nothing has changed then; but when memory is short for
 * names or links, the rest has, the version has not, and the delta can be applied again. Threads: owner. */
MICA_API mica_result mica_delta_apply(mica_replica *replica, const void *bytes, size_t byte_count);

/* Returns the version of the sender's world that was applied last; 0 before the first. Threads: reader. */
MICA_API mica_version mica_replica_version(const mica_replica *replica);

/* Return the entity here of one there, and the other way round; nil when there is none. Threads: reader. */
MICA_API mica_entity mica_replica_local(const mica_replica *replica, mica_entity sender_entity);
MICA_API mica_entity mica_replica_remote(const mica_replica *replica, mica_entity local_entity);

MICA_END
#endif

/* mica/sql.h */
/* Mica, sql: the world as tables of SQLite.
 *
 *     sqlite3 *database = mica_sql_open(world, NULL);        or mica_sql_attach, to a connection of your own
 *     sqlite3_exec(database, "update Health set current = maximum "
 *                            "where entity in (select entity from Position where x between 0 and 10)", NULL, NULL, NULL);
 *     sqlite3_close(database);                               before the world is destroyed
 *
 * Nothing is copied: a table reads the columns of a query, chunk by chunk, and `entity = ?` is a look-up, so that a join on
 * entity costs one look-up per row.
 *
 * Tables. Each component that the world knows is one, with a row per entity (per instance, of a pool for many; one row without an
 * entity, of a singleton that is in use). `entities` has every entity: entity, slot, generation, name, path, parent, child_count,
 * component_count, components. `components` and `fields` say what there is: select * from fields where component = 'Monster'.
 *
 * Columns. `entity`, the handle as an integer; `instance`, from 0, of a pool for many; `enabled` of what can be toggled; then the
 * described fields: x, "home.x", "path[0].y". An array of more than 16 elements is one column of JSON, which can't be written.
 * A name that is taken, in capitals or not, gets '_' behind it: a field named entity is entity_, a component named Entities
 * Entities_. A table has at most 1000 columns; further fields are left out.
 *
 *     bool, integers      INTEGER; bool is 0 or 1. u64 is taken for signed: what is above 2^63 - 1 is negative
 *     f32, f64            REAL; not a number is NULL, both ways
 *     char[]              TEXT, up to the first zero byte
 *     enum                the name, or an integer for a value without one; both can be written
 *     flags               names with '|' between them, '' for none; an integer where bits have no name; both can be written
 *     mica_entity         INTEGER; nil is NULL, both ways. A mica_asset likewise, by its hash
 *
 * Writing. UPDATE is mica_set, with its hooks and stamps (of instances and singletons: a write in place, without set hooks). INSERT adds the
 * component to an entity, and creates one where entity is NULL or left out (sqlite3_last_insert_rowid is its handle, except for
 * instances); columns that are left out or NULL have the default value. INSERT OR REPLACE overwrites. DELETE removes the
 * component. In `entities`, name and parent can be written, INSERT creates and DELETE destroys.
 * A value that does not fit (a name no enum has, a number out of range, text that is too long, a dead entity) is an error of the
 * statement. A statement is done as a whole or not at all, and so is a transaction: ROLLBACK and ROLLBACK TO restore a
 * mica_snapshot that was taken with the first write. (But for UPDATE ... FROM inside a transaction: SQLite has no savepoint for it,
 * and what it wrote before a row was refused stays until the transaction ends.) So writing is refused where a snapshot is: inside systems, hooks and loops that
 * record, and in a world with a component that has a destructor and no copy function. Hooks hear of what is done, not of it
 * being undone; what the program did itself since that first write is undone too.
 *
 * While a statement is being stepped through, other statements of this connection may write: it goes on with the entities it had
 * yet to show, without those that are gone. When the program itself changes structure meanwhile, the statement ends with an error.
 *
 * Errors are SQLite's, with a text; what the world refuses is reported by the world as well. Memory is SQLite's.
 * In the library mica_sql (CMake: mica::sql), which needs sqlite3; the core does not.
 */
#ifndef MICA_SQL_H
#define MICA_SQL_H


MICA_BEGIN

struct sqlite3; /* SQLite's connection: include <sqlite3.h> to use it */

/* How to show a world. Zero is the default of everything. */
typedef struct mica_sql_def {
    const char
        *prefix;    /* before the name of each table, "left_" say, for several worlds in one connection; NULL is "" */
    bool read_only; /* refuse what writes */
} mica_sql_def;

/* Makes the tables of a world known to a connection; NULL means the defaults. Tables of the database with the same name hide them. Components
 * that are defined later have no table until this is called again, while no statement runs. Returns MICA_ERROR_MEMORY, or
 * MICA_ERROR_REFUSED with a report when SQLite does not take a table. The world must live until the connection is closed. Threads: owner, as
 * everything that is done with the connection from then on. */
MICA_API mica_result mica_sql_attach(struct sqlite3 *database, mica_world *world, const mica_sql_def *def);

/* Opens a connection to an empty database in memory and makes the tables of a world known to it. NULL with a report when it
 * can't. Give it back with sqlite3_close. Threads: owner. */
MICA_API struct sqlite3 *mica_sql_open(mica_world *world, const mica_sql_def *def);

/* Returns the integer that stands for an entity in SQL; 0 for nil, which tables show as NULL. Threads: any. */
static inline int64_t mica_sql_from_entity(mica_entity entity)
{
    return (int64_t)((uint64_t)entity.generation << 32 | entity.index);
}

/* Returns the entity that an integer stands for. Threads: any. */
static inline mica_entity mica_sql_to_entity(int64_t integer)
{
    mica_entity entity = {(uint32_t)(uint64_t)integer, (uint32_t)((uint64_t)integer >> 32)};
    return entity;
}

MICA_END
#endif

