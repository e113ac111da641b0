/* Mica 0.2.0, in one header. Generated: see the headers of include/mica to read it. */
/* mica/mica.h */
/* Mica: a data-oriented Entity Component System. This header includes the core.
 *
 * A world holds entities. A component is a plain C struct, described once. A query iterates the entities that have certain
 * components, as plain arrays. During iteration, changes are recorded and applied at the flush.
 * Start with examples/hello.c; then read describe.h, entity.h, query.h and command.h. Systems are in mica/flow.h. */
#ifndef MICA_H
#define MICA_H

/* mica/base.h */
/* Mica, base: definitions that all other headers use: results, reports and the allocator.
 *
 * Thread rules. The comment of every public function states one of these rules, sometimes with a restriction such as "one per
 * buffer" or "the system's own" (only the thread that runs the system):
 *   Threads: any     may be called from any thread at any time.
 *   Threads: reader  from any thread, as long as no thread changes the same world meanwhile.
 *   Threads: owner   from one thread at a time, while no other thread uses the same world.
 *
 * Invalid arguments. A call with an invalid argument changes nothing, returns a harmless result (nil, NULL, 0, false, a struct
 * of zeros, or an error) and makes a report that names the argument. Invalid arguments are NULL, a dead entity, an unknown id or enum
 * value, a value of the wrong size, and a count that does not fit. The report goes to the handler of the world that the other
 * arguments belong to, or into the error struct that the function fills in; if there is neither, it is printed to stderr.
 * Exceptions:
 *   - NULL is valid where the function says so, and for every function that destroys or frees something.
 *   - Functions that look something up (get, has, find, count) report neither a missing item nor a dead entity. Functions that
 *     remove something do not report a missing item, but do report a dead entity.
 *   - A NULL query matches nothing: creating it has reported the error.
 * A pointer to something that was destroyed can't be recognized and must not be used.
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

/* Exports a function from a shared library of the program: see mica/module.h. */
#if defined(_WIN32)
#    define MICA_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#    define MICA_EXPORT __attribute__((visibility("default")))
#else
#    define MICA_EXPORT
#endif

/* The version of these headers. */
#define MICA_VERSION_MAJOR 0
#define MICA_VERSION_MINOR 2
#define MICA_VERSION_PATCH 0

#ifdef __cplusplus
#    define MICA_BEGIN extern "C" {
#    define MICA_END }
#else
#    define MICA_BEGIN
#    define MICA_END
#endif

MICA_BEGIN

/* A world, the container of all entities and components: see mica/world.h. */
typedef struct mica_world mica_world;

/* The result of a call. If it is not MICA_OK, the world is unchanged, except after a flush or mica_step: see mica/command.h and
 * mica/frame.h. */
typedef enum mica_result {
    MICA_OK = 0,
    MICA_ERROR_MEMORY,  /* the allocator returned NULL */
    MICA_ERROR_INVALID, /* an argument is invalid */
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

/* A location in the user's source, stored so that later reports can name it. */
typedef struct mica_location {
    const char *file;
    int line;
} mica_location;

#ifdef __cplusplus
#    define MICA_HERE (mica_location{__FILE__, __LINE__})
#else
#    define MICA_HERE ((mica_location){__FILE__, __LINE__})
#endif

/* One report. The text is valid until the handler returns. */
typedef struct mica_report {
    mica_result result;
    const char *text;
    mica_location location; /* of the user's code where known, else file is NULL */
} mica_report;

/* Receives every report of a world, in the thread that caused it. */
typedef void (*mica_report_fn)(const mica_report *report, void *context);

/* Where memory comes from. `allocate` returns NULL on failure. `alignment` is a power of two; for large
 * blocks it can be as large as the block itself.
 * `release` receives the size and alignment that were passed to `allocate`. Both must be callable from any thread
 * that records commands. Leave both NULL for the default: malloc, and huge pages for large blocks. */
typedef struct mica_allocator {
    void *(*allocate)(size_t bytes, size_t alignment, void *context);
    void (*release)(void *memory, size_t bytes, size_t alignment, void *context);
    void *context;
} mica_allocator;

/* Stores the source location of the call that this thread is about to make. Does nothing if the library is not built with
 * MICA_CHECKED. Called by the macros of checked builds, not by programs. Threads: any. */
MICA_API void mica_note_location(const char *file, int line);

MICA_END

/* In checked builds of a program, headers define macros with the names of all functions that can report, which note the source location
 * of the call. A macro is not expanded inside itself, so each one calls the function of the same name. */
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define MICA_AT_(...) (mica_note_location(__FILE__, __LINE__), __VA_ARGS__)
#endif

#endif

/* mica/batch.h */
/* Mica, batch: create entities of several archetypes in one transaction. mica_create_many handles one set of components; a
 * batch handles a whole level. All errors are found first, values can be completed once the handles are known, and hooks run
 * only when everything is in place. Resources are spawned with it.
 *
 *     mica_batch_begin(world, groups, group_count, &batch);
 *     mica_batch_entities(batch, entities);
 *     for (mica_batch_run run = {.component = MICA_ID(Target)}; mica_batch_next(batch, &run);)
 *         aim(run.values, run.count, entities);
 *     mica_batch_commit(batch, NULL, 0);                     or mica_batch_cancel(batch), which undoes it
 *
 * Between begin and commit the world records, as inside a hook: changes made meanwhile are applied at the end.
 */
#ifndef MICA_BATCH_H
#define MICA_BATCH_H

/* mica/entity.h */
/* Mica, entity: operations on one entity.
 *
 *     mica_entity ship = mica_create(world, MICA_WITH(Position, {0, 0, 0}), MICA_WITH(Frozen));
 *     mica_set(world, ship, Velocity, {1, 0, 0});            adds or overwrites a component
 *     mica_set_from(world, ship, Velocity, &start);          the same, from a variable (MICA_FROM in mica_create)
 *     mica_write(world, ship, Position)->x += 1;             a pointer for writing; marks the value as changed
 *     float x = mica_get(world, ship, Position)->x;          a pointer for reading
 *     mica_remove(world, ship, Frozen);
 *     mica_destroy(world, ship);
 *
 * Changes are immediate, except while the world records (mica/command.h), for example inside systems and hooks: then the next
 * flush applies them in order. For a stale handle every function returns nil, NULL or false. Functions that would change the
 * entity also report it; functions that only read (is_alive, has, get, write, is_enabled, get_components) do not.
 * Pointers to components are valid until the next structural change: create, destroy, add or remove, on any entity.
 *
 * Each macro calls the function with the suffix _id, which takes a component id instead of a type.
 */
#ifndef MICA_ENTITY_H
#define MICA_ENTITY_H

/* mica/describe.h */
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
 *     MICA_COMPONENT_WITH(Sprite, (.required = MICA_TYPES(Position, Rotation)), image)
 *     MICA_COMPONENT_WITH(Flying, (.excludes = MICA_TYPES(Walking, Swimming)), height)
 *
 * A plain entry is a field whose type is deduced: integers, floating-point numbers, bool, char, mica_entity, mica_asset, mica_text,
 * and one-dimensional arrays of these. For other types write (field, Type), where Type has a description; for a mica_list, Type is that of
 * its elements, such as (scores, float): see mica/list.h. Fields that are left out
 * are copied with the component, but not hashed, saved or shown. Pointers cannot be described and are a compile error: leave the
 * field out, or use MICA_OPAQUE if nothing else remains. Up to 40 fields. No semicolon.
 *
 * A component that owns something says how one value is destroyed and copied. It needs no other code, in a chunk, a pool or as a singleton:
 *
 *     static void sound_destroy(void *value) { close_stream(((Sound *)value)->stream); }
 *     MICA_COMPONENT_WITH(Sound, (.destroy_one = sound_destroy, .copy_one = sound_copy), volume)
 *     MICA_OPAQUE(Texture, (.storage = MICA_STORAGE_POOL, .destroy_one = texture_destroy))
 *
 * Required components come along: an entity that gets a Sprite by any operation gets a Position and a Rotation with their default values
 * too, and what these require, unless it has them. Requirements count when a component is added, not afterwards: a Position can be
 * removed from an entity with a Sprite. A clone, a restored snapshot, a replica and a resumed world are copies and get nothing more.
 *
 * Components that exclude each other are never on one entity: whatever would leave an entity with a Walking and a Flying is refused with a
 * report and changes nothing, whichever of the two comes first and wherever they are stored. One of the two names the other. Recorded
 * changes count by their net result at the flush.
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

/* mica/handle.h */
/* Mica, handle: entity handles and resource references. */
#ifndef MICA_HANDLE_H
#define MICA_HANDLE_H


MICA_BEGIN

/* A 64-bit entity handle, passed by value. All zero is nil. The generation distinguishes entities that use the same slot
 * one after another. A slot whose generations are used up is retired, so a stale handle never becomes valid again. */
typedef struct mica_entity {
    uint32_t index;
    uint32_t generation;
} mica_entity;

/* Returns the nil handle. Threads: any. */
static inline mica_entity mica_nil(void)
{
    mica_entity nil = {0, 0};
    return nil;
}

/* Returns whether the handle is nil. A stale handle is not nil. Threads: any. */
static inline bool mica_is_nil(mica_entity entity)
{
    return entity.generation == 0;
}

/* Returns whether both handles refer to the same entity. Threads: any. */
static inline bool mica_same(mica_entity a, mica_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}

/* A reference to a resource: the hash of its path. It is the same in every process, so it can be copied, hashed, sent and
 * saved as a plain value. All zero is none. mica/library.h finds the resource. */
typedef struct mica_asset {
    uint64_t path_hash;
} mica_asset;

MICA_END
#endif

/* mica/for_each.h */
/* Mica, for_each: the preprocessor loop of the description and create macros. Nothing here is for direct use. */
#ifndef MICA_FOR_EACH_H
#define MICA_FOR_EACH_H

#define MICA_JOIN_(a, b) MICA_JOIN_2_(a, b)
#define MICA_JOIN_2_(a, b) a##b

/* M(...), with arguments that come from macros. */
#define MICA_CALL_(M, ...) M(__VA_ARGS__)

/* MICA_IS_WRAPPED_((x)) is 1, MICA_IS_WRAPPED_(x) is 0. */
#define MICA_IS_WRAPPED_(entry) MICA_CALL_(MICA_SECOND_, MICA_PROBE_ entry, 0, 0)
#define MICA_SECOND_(first, second, ...) second
#define MICA_PROBE_(...) 0, 1

/* 1 for one argument, 2 for up to 40. */
#define MICA_ARGUMENT_41_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, count, ...) count

#define MICA_ONE_OR_MORE_(...) MICA_ARGUMENT_41_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0)

/* MICA_FOR_EACH_(M, T, a, b) is M(T, a) M(T, b), for up to 40 entries: `entry` or `(entry, ...)`. The list is padded with empty
 * entries, for which nothing is written. */
#define MICA_FOR_EACH_(M, T, ...) MICA_EACH_(M, T, __VA_ARGS__,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,, )
#define MICA_EACH_(M, T, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
                   a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40,      \
                   a41, ...)                                                                                           \
    MICA_ENTRY_(M, T, a1) MICA_ENTRY_(M, T, a2) MICA_ENTRY_(M, T, a3) MICA_ENTRY_(M, T, a4) MICA_ENTRY_(M, T, a5)      \
    MICA_ENTRY_(M, T, a6) MICA_ENTRY_(M, T, a7) MICA_ENTRY_(M, T, a8) MICA_ENTRY_(M, T, a9) MICA_ENTRY_(M, T, a10)     \
    MICA_ENTRY_(M, T, a11) MICA_ENTRY_(M, T, a12) MICA_ENTRY_(M, T, a13) MICA_ENTRY_(M, T, a14)                        \
    MICA_ENTRY_(M, T, a15) MICA_ENTRY_(M, T, a16) MICA_ENTRY_(M, T, a17) MICA_ENTRY_(M, T, a18)                        \
    MICA_ENTRY_(M, T, a19) MICA_ENTRY_(M, T, a20) MICA_ENTRY_(M, T, a21) MICA_ENTRY_(M, T, a22)                        \
    MICA_ENTRY_(M, T, a23) MICA_ENTRY_(M, T, a24) MICA_ENTRY_(M, T, a25) MICA_ENTRY_(M, T, a26)                        \
    MICA_ENTRY_(M, T, a27) MICA_ENTRY_(M, T, a28) MICA_ENTRY_(M, T, a29) MICA_ENTRY_(M, T, a30)                        \
    MICA_ENTRY_(M, T, a31) MICA_ENTRY_(M, T, a32) MICA_ENTRY_(M, T, a33) MICA_ENTRY_(M, T, a34)                        \
    MICA_ENTRY_(M, T, a35) MICA_ENTRY_(M, T, a36) MICA_ENTRY_(M, T, a37) MICA_ENTRY_(M, T, a38)                        \
    MICA_ENTRY_(M, T, a39) MICA_ENTRY_(M, T, a40) MICA_ENTRY_(MICA_AT_MOST_40_ENTRIES_ARE_ALLOWED, T, a41)
#define MICA_ENTRY_(M, T, entry) MICA_JOIN_(MICA_ENTRY_, MICA_IS_WRAPPED_(entry))(M, T, entry)
#define MICA_ENTRY_0(M, T, entry) MICA_JOIN_(MICA_ENTRY_, MICA_CALL_(MICA_SECOND_, MICA_EMPTY_##entry, 1, 0))(M, T, entry)
#define MICA_ENTRY_1(M, T, entry) M(T, entry)
#define MICA_ENTRY_2(M, T, entry)
#define MICA_EMPTY_ 0, 2

#endif

/* mica/list.h */
/* Mica, list: an array of any length as a field of a component.
 *
 *     typedef struct Item { mica_text name; uint32_t count; } Item;
 *     MICA_STRUCT(Item, name, count)
 *
 *     typedef struct Person { mica_text name; mica_list inventory, scores; } Person;
 *     MICA_COMPONENT(Person, name, (inventory, Item), (scores, float))
 *
 *     Item *rope = mica_list_append(&person->inventory, Item);
 *     mica_text_set(&rope->name, "rope");
 *     mica_list_add(&person->scores, float, 7.5f);
 *
 *     const Item *items = mica_list_items(&person->inventory, Item);
 *     for (uint32_t i = 0; i < mica_list_count(&person->inventory); ++i)
 *         puts(mica_text_get(&items[i].name));
 *
 * The description of the component names the type of the elements, in parentheses: a described struct, enum or flags type, mica_text,
 * mica_entity, mica_asset, bool, char, float, double, int, or an integer such as uint8_t or int64_t. Their alignment is at most 8.
 *
 * A list that is a described field of a component, or of a struct or list inside one, belongs to the world: it is copied, destroyed,
 * hashed and kept by snapshots with the component, and the program frees nothing. Copies share the elements until one of them is written.
 * All zero is the empty list. A list that is no field of a component is freed with mica_list_clear. Assigning a struct does not copy its
 * lists: both would be the same list. Use mica_list_copy, or mica_set for a whole component.
 *
 * Every function takes the type of the elements. A list whose elements have another size is left alone, with a report. Pointers to
 * elements are valid until the list is written or copied, or the component moves or is destroyed.
 */
#ifndef MICA_LIST_H
#define MICA_LIST_H

/* mica/text.h */
/* Mica, text: text of any length as a field of a component.
 *
 *     typedef struct Person { mica_text name; float age; } Person;
 *     MICA_COMPONENT(Person, name, age)
 *
 *     mica_entity anna = mica_create(world, MICA_WITH(Person, {.name = mica_text_of("Anna"), .age = 30}));
 *     mica_text_append(&mica_write(world, anna, Person)->name, " of the northern islands");
 *     puts(mica_text_get(&mica_get(world, anna, Person)->name));
 *
 * A text that is a described field of a component, or of a struct or list inside one, belongs to the world: it is copied, destroyed,
 * hashed and kept by snapshots with the component, and the program frees nothing. Up to MICA_TEXT_IN_PLACE bytes lie in the value itself,
 * longer text in a block that copies share until one of them is written.
 *
 * A text is any bytes, mostly UTF-8. All zero is the empty text. A text that is no field of a component, for example a local variable, is
 * freed with mica_text_clear, unless it comes from mica_text_of. Assigning a struct does not copy its text: both would be the same text.
 * Use mica_text_copy, or mica_set for a whole component.
 */
#ifndef MICA_TEXT_H
#define MICA_TEXT_H


#include <string.h>

MICA_BEGIN

enum {
    MICA_TEXT_IN_PLACE = 14,
    MICA_TEXT_BYTES_MAX = (1 << 26) - 2,
};

/* Text of any length. */
typedef struct mica_text {
    union {
        char bytes[16]; /* in place: the text and zero; the last byte is its length */
        uint64_t words
            [2]; /* else: a pointer to the text, and its length in four bytes; the last byte is one of the following */
    } private_;
} mica_text;

enum {
    MICA_PRIVATE_TEXT_BORROWED = 0xFE, /* points to memory of the program: see mica_text_of */
    MICA_PRIVATE_TEXT_BLOCK = 0xFF,
};

/* Returns the text, which ends with a zero byte; "" for NULL. Valid until the text is written, moved or destroyed. Threads: reader. */
static inline const char *mica_text_get(const mica_text *text)
{
    const char *bytes = "";
    if (text && (unsigned char)text->private_.bytes[15] <= MICA_TEXT_IN_PLACE)
        bytes = text->private_.bytes;
    else if (text)
        memcpy(&bytes, text->private_.bytes, sizeof bytes);
    return bytes;
}

/* Returns the length in bytes; 0 for NULL. Threads: reader. */
static inline uint32_t mica_text_length(const mica_text *text)
{
    uint32_t length = text ? (unsigned char)text->private_.bytes[15] : 0;
    if (length > MICA_TEXT_IN_PLACE)
        memcpy(&length, text->private_.bytes + 8, sizeof length);
    return length;
}

/* Returns a text to put into a new component, or to pass to mica_set: the world copies it. It needs not be freed. Longer text still lies
 * where `characters` points to, which must stay valid until then, and can't be written. NULL is the empty text. Threads: any. */
MICA_API mica_text mica_text_of(const char *characters);

/* Sets the text to characters that end with a zero byte, or to `length` bytes, which may be a part of the text itself. Returns
 * MICA_ERROR_MEMORY or MICA_ERROR_LIMIT if there is no room; the text is unchanged then. Threads: one per text. */
MICA_API mica_result mica_text_set(mica_text *text, const char *characters);
MICA_API mica_result mica_text_set_bytes(mica_text *text, const char *bytes, size_t length);

/* Appends characters that end with a zero byte, or `length` bytes. Returns what mica_text_set returns. Threads: one per text. */
MICA_API mica_result mica_text_append(mica_text *text, const char *characters);
MICA_API mica_result mica_text_append_bytes(mica_text *text, const char *bytes, size_t length);

/* Makes `text` a copy of another, which costs the same for any length. Returns what mica_text_set returns. Threads: one per text. */
MICA_API mica_result mica_text_copy(mica_text *text, const mica_text *from);

/* Makes the text empty, and frees what it has. NULL is a no-op. Threads: one per text. */
MICA_API void mica_text_clear(mica_text *text);

/* Compares two texts byte by byte, as strcmp does: less than, equal to or greater than 0. NULL is the empty text. Threads: reader. */
MICA_API int mica_text_compare(const mica_text *a, const mica_text *b);

/* Returns whether the text is equal to characters that end with a zero byte. NULL is the empty text. Threads: reader. */
MICA_API bool mica_text_is(const mica_text *text, const char *characters);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_text_set(...) MICA_AT_(mica_text_set(__VA_ARGS__))
#    define mica_text_set_bytes(...) MICA_AT_(mica_text_set_bytes(__VA_ARGS__))
#    define mica_text_append(...) MICA_AT_(mica_text_append(__VA_ARGS__))
#    define mica_text_append_bytes(...) MICA_AT_(mica_text_append_bytes(__VA_ARGS__))
#    define mica_text_copy(...) MICA_AT_(mica_text_copy(__VA_ARGS__))
#    define mica_text_clear(...) MICA_AT_(mica_text_clear(__VA_ARGS__))
#endif

#endif


MICA_BEGIN

struct mica_type;

enum { MICA_LIST_COUNT_MAX = (1 << 26) - 1 }; /* and MICA_LIST_BYTES_MAX bytes */
enum { MICA_LIST_BYTES_MAX = 256 << 20 };

/* An array of any length. */
typedef struct mica_list {
    union {
        void *
            items; /* NULL: empty. Four bytes before it contain the number of elements, and what the allocator needs. */
        uint64_t bits; /* eight bytes on every machine */
    } private_;
} mica_list;

/* Returns the number of elements; 0 for NULL. Threads: reader. */
static inline uint32_t mica_list_count(const mica_list *list)
{
    uint32_t count = 0;
    if (list && list->private_.items)
        memcpy(&count, (const char *)list->private_.items - 4, sizeof count);
    return count & MICA_LIST_COUNT_MAX;
}

/* Returns all elements to read, or NULL if there are none. Threads: reader. */
#define mica_list_items(list, T) ((const T *)mica_list_items_type((list), &mica_type_of_##T))
MICA_API const void *mica_list_items_type(const mica_list *list, const struct mica_type *element);

/* Returns all elements to write; NULL if there are none, or if memory runs out while they are copied because another list shares them.
 * Threads: one per list. */
#define mica_list_write(list, T) ((T *)mica_list_write_type((list), &mica_type_of_##T))
MICA_API void *mica_list_write_type(mica_list *list, const struct mica_type *element);

/* Inserts a new element, which is zero, at the end or before `position`, and returns it. Returns NULL if memory runs out, the position is
 * greater than the count, or the list is full; the list is unchanged then. Threads: one per list, as for all below. */
#define mica_list_append(list, T) ((T *)mica_private_list_append((list), &mica_type_of_##T, sizeof(T)))
MICA_API void *mica_list_append_type(mica_list *list, const struct mica_type *element);
#define mica_list_insert(list, T, position) ((T *)mica_list_insert_type((list), &mica_type_of_##T, (position), 1))

/* The same for several elements. A position of UINT32_MAX is the end. Threads: one per list. */
MICA_API void *mica_list_insert_type(mica_list *list, const struct mica_type *element, uint32_t position,
                                     uint32_t count);

/* Appends copies of values: mica_list_add(&scores, float, 7.5f, 8), mica_list_add(&points, Vec3, {1, 2, 3}). Returns what
 * mica_list_assign returns. */
#define mica_list_add(list, T, ...)                                                                                    \
    mica_list_replace_type((list), &mica_type_of_##T, UINT32_MAX, 0, (const T[]){__VA_ARGS__},                         \
                           (uint32_t)(sizeof((const T[]){__VA_ARGS__}) / sizeof(T)))

/* Makes the elements copies of an array of `count` values, which may be a part of the list itself. Returns MICA_ERROR_MEMORY or
 * MICA_ERROR_LIMIT if there is no room; the list is unchanged then. */
#define mica_list_assign(list, T, values, count)                                                                       \
    mica_list_replace_type((list), &mica_type_of_##T, 0, UINT32_MAX, (const T *){(values)}, (count))

/* Replaces `removed` elements from `position` by copies of `count` values. A position of UINT32_MAX is the end; a `removed` of UINT32_MAX
 * is all from there on. Returns what mica_list_assign returns. Threads: one per list. */
MICA_API mica_result mica_list_replace_type(mica_list *list, const struct mica_type *element, uint32_t position,
                                            uint32_t removed, const void *values, uint32_t count);

/* Removes the element at a position; the order of the others stays. Returns what mica_list_assign returns, and MICA_ERROR_INVALID if
 * there is no such element. */
#define mica_list_remove(list, T, position) mica_list_remove_type((list), &mica_type_of_##T, (position), 1)
/* The same for several elements. Threads: one per list. */
MICA_API mica_result mica_list_remove_type(mica_list *list, const struct mica_type *element, uint32_t position,
                                           uint32_t count);

/* Removes elements from the end, or appends new ones, which are zero. Returns what mica_list_assign returns. Threads: one per list. */
#define mica_list_resize(list, T, count) mica_list_resize_type((list), &mica_type_of_##T, (count))
MICA_API mica_result mica_list_resize_type(mica_list *list, const struct mica_type *element, uint32_t count);

/* Makes `list` a copy of another, which costs the same for any length. Returns what mica_list_assign returns. Threads: one per
 * list. */
#define mica_list_copy(list, T, from) mica_list_copy_type((list), &mica_type_of_##T, (from))
MICA_API mica_result mica_list_copy_type(mica_list *list, const struct mica_type *element, const mica_list *from);

/* Removes all elements, and frees what the list has. NULL is a no-op. Threads: one per list. */
#define mica_list_clear(list, T) mica_list_clear_type((list), &mica_type_of_##T)
MICA_API void mica_list_clear_type(mica_list *list, const struct mica_type *element);

/* Private: what lies before the elements, for the inline fast path of mica_list_append: two numbers, the owners and the count. */
enum {
    MICA_PRIVATE_LIST_HEAD_BYTES = 8,
    MICA_PRIVATE_LIST_OWNER = 1 << 14, /* one owner; below are the bytes of an element, and MICA_PRIVATE_LIST_OWNS */
    MICA_PRIVATE_LIST_OWNS = 1 << 13,  /* the elements have text or lists */
    MICA_PRIVATE_LIST_ELEMENT_MAX = (1 << 13) - 1, /* bytes of an element, or more */
    MICA_PRIVATE_LIST_SIZE_SHIFT = 26,             /* the number of the size of the block is above the count */
};
/* The bytes of a block by the number of its size, with the head. Threads: any. */
MICA_API extern const uint32_t mica_private_block_bytes[];

/* Appends to a list with one owner and room for one more, and leaves everything else to the library. Threads: one per list. */
static inline void *mica_private_list_append(mica_list *list, const struct mica_type *element, size_t bytes)
{
    if (__builtin_expect(!list || !list->private_.items || bytes >= MICA_PRIVATE_LIST_ELEMENT_MAX, 0))
        return mica_list_append_type(list, element);
    uint32_t *head = (uint32_t *)list->private_.items - 2;
    uint32_t owners = __atomic_load_n(head, __ATOMIC_ACQUIRE) & ~(uint32_t)MICA_PRIVATE_LIST_OWNS;
    size_t before = head[1] & MICA_LIST_COUNT_MAX, end = (before + 1) * bytes + MICA_PRIVATE_LIST_HEAD_BYTES;
    if (__builtin_expect(owners != (MICA_PRIVATE_LIST_OWNER | (uint32_t)bytes) || before == MICA_LIST_COUNT_MAX ||
                             end > mica_private_block_bytes[head[1] >> MICA_PRIVATE_LIST_SIZE_SHIFT],
                         0))
        return mica_list_append_type(list, element);
    ++head[1];
    return memset((char *)list->private_.items + before * bytes, 0, bytes);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_list_items_type(...) MICA_AT_(mica_list_items_type(__VA_ARGS__))
#    define mica_list_write_type(...) MICA_AT_(mica_list_write_type(__VA_ARGS__))
#    define mica_list_append_type(...) MICA_AT_(mica_list_append_type(__VA_ARGS__))
#    define mica_private_list_append(...) MICA_AT_(mica_private_list_append(__VA_ARGS__))
#    define mica_list_insert_type(...) MICA_AT_(mica_list_insert_type(__VA_ARGS__))
#    define mica_list_replace_type(...) MICA_AT_(mica_list_replace_type(__VA_ARGS__))
#    define mica_list_remove_type(...) MICA_AT_(mica_list_remove_type(__VA_ARGS__))
#    define mica_list_resize_type(...) MICA_AT_(mica_list_resize_type(__VA_ARGS__))
#    define mica_list_copy_type(...) MICA_AT_(mica_list_copy_type(__VA_ARGS__))
#    define mica_list_clear_type(...) MICA_AT_(mica_list_clear_type(__VA_ARGS__))
#endif

#endif


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
    MICA_INDEX_HASH,   /* a hash table, 4 to 8 bytes per row: for components that few entities of a large world have */
} mica_pool_index;

/* When the pool row of a destroyed entity is removed. Queries never show it in any case. */
typedef enum mica_dying {
    MICA_DYING_AT_ONCE = 0, /* together with the entity */
    MICA_DYING_AT_FLUSH, /* at the next flush, all in one pass; remove hooks run then. If memory for the list runs out, together
                               with the entity */
    MICA_DYING_LAZILY, /* when mica_pool_gc finds it; remove hooks run then */
} mica_dying;

typedef struct mica_type mica_type;
struct mica_handler;

/* What is known about a field besides its type. Zero is none. Layout hashes and files do not depend on it. */
typedef struct mica_attributes {
    const char *unit; /* such as "m/s" */
    const char *note; /* one line of documentation */
    /* The range of a number, or of each element, if the two differ; infinity is no limit. Values from text, JSON and SQL must be in it;
     * writes in C are not checked: see mica_value_check. */
    double minimum;
    double maximum;
    /* What the field of a component that is added without a value starts with: a number, bool or constant, or each element of an array.
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

/* For components that own something. Components with text and lists have these functions without writing them. All functions work on `count` contiguous values. construct and copy initialise raw memory;
 * on failure they undo what they did and return false. move initialises raw memory from values that count as raw memory
 * afterwards, and cannot fail. If NULL: construct fills with zero, copy and move copy bytes, destruct does nothing. */
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
    mica_pool_index index;      /* pools */
    mica_dying dying;           /* pools */
    mica_type *const *required; /* components that come along with this one: MICA_TYPES(Position). Not in a circle */
    mica_type *const *
        excludes; /* components that an entity can't have beside this one, known by their names: MICA_TYPES(Walking). Of a
                                 * registered component, the descriptions in this list have only names */
    mica_construct_fn construct;
    mica_destruct_fn destruct;
    mica_copy_fn copy;
    mica_move_fn move;
    void *context;
    /* The short form of destruct and copy, for one value: also called for values that are zero or have their initial values. Without
     * copy_one, a component with destroy_one can't be copied: clones and snapshots refuse it. */
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
    uint32_t id = type ? __atomic_load_n(&type->id_cache, __ATOMIC_ACQUIRE) : 0;
    return id ? id : mica_type_intern(type);
}

/* The id of component T. If T has no description, the compile error names mica_type_of_T. */
#define MICA_ID(T) mica_type_id(&mica_type_of_##T)

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

/* A list of components for the traits, which were described before. */
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

#define MICA_UNUSED_ __attribute__((unused))
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

/* What lists can have as elements, and fields with attributes as types, besides described types. Constant, which tells them apart. */
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

/* mica/lookup.h */
/* Mica, lookup: what the inline functions of mica/entity.h and mica/ref.h read. Everything here is private and may change with
 * every version: see docs/abi.md.
 *
 *     entity -> record: generation (24 bits), chunk number (24), row (16)
 *     component, chunk number -> column; column, row -> value
 *     component in a pool -> pool; entity -> row of the pool -> value
 */
#ifndef MICA_LOOKUP_H
#define MICA_LOOKUP_H


MICA_BEGIN

enum {
    MICA_PRIVATE_PAGE_SHIFT = 10,  /* records per page of the library */
    MICA_PRIVATE_SLICE_SHIFT = 9,  /* rows per slice */
    MICA_PRIVATE_MAP_SHIFT = 12,   /* entries per page of the map of a pool */
    MICA_PRIVATE_POOL_ID = 0x8000, /* the first id of components in pools */
};

/* The beginning of a chunk. */
typedef struct mica_private_chunk {
    uint32_t stamps_offset; /* of the first slice, from the beginning of the chunk */
    uint16_t stride;        /* stamps per slice: one for its structure, then one per column */
    uint8_t unused[2];
} mica_private_chunk;

/* The beginning of a pool. */
typedef struct mica_private_pool {
    uint32_t kind;      /* a mica_pool_index if the fields below find every value; else another number */
    uint32_t row_limit; /* rows in use lie below it */
    char *values;
    const mica_entity *owners;    /* by row */
    const uint64_t *const *pages; /* of a map: generation << 32 | row + 1, by entity index */
    uint32_t page_count;
} mica_private_pool;

/* The beginning of a world. */
typedef struct mica_private_lookup {
    uint64_t
        structure; /* changes whenever a pointer to a value may become invalid; its upper 24 bits are the world's own */
    uint64_t version;        /* stamped on what is written */
    const uint64_t *records; /* by entity index; the library has those from record_count on elsewhere */
    uint64_t record_count;
    uint64_t
        chunk_capacity; /* entries of a list of columns; after them are 16 bits each for the number of the column */
    char *const *const *columns; /* by component id, then chunk number: the column, or NULL if the chunk has none */
    char *const *no_columns;     /* the list of components that have none: only the library knows where they are */
    const mica_private_chunk *const *chunks; /* by number */
    const mica_private_pool *const *pools;   /* by component id - MICA_PRIVATE_POOL_ID; NULL where the world has none */
    uint64_t component_count;                /* entries of `columns` */
    uint32_t pool_count;
    uint32_t chunk_epoch; /* changes when a chunk number becomes free */
    uint64_t undo_before; /* the newest snapshot may need a copy of what has an older stamp; 0 without snapshots */
} mica_private_lookup;

/* Returns the beginning of a world. Threads: any. */
static inline const mica_private_lookup *mica_private_of(const mica_world *world)
{
    return (const mica_private_lookup *)(const void *)world;
}

/* Returns the record of an index below record_count. Other threads may hand out its entity meanwhile. Threads: reader. */
static inline uint64_t mica_private_record(const mica_private_lookup *lookup, uint64_t index)
{
    return __atomic_load_n(&lookup->records[index], __ATOMIC_RELAXED);
}

/* Returns the chunk number of a record; a number that is not below chunk_capacity if the record has another generation.
 * Threads: any. */
static inline uint64_t mica_private_chunk_number(uint64_t record, uint32_t generation)
{
    return (record >> 16) - ((uint64_t)generation << 24);
}

/* Returns the id of a type, or 0 if it has none yet. Threads: any. */
static inline uint64_t mica_private_id(const mica_type *type)
{
    return type ? __atomic_load_n(&type->id_cache, __ATOMIC_RELAXED) : 0;
}

/* Returns the pool of a component if the fields of mica_private_pool find its values, or NULL. Threads: reader. */
static inline const mica_private_pool *mica_private_fast_pool(const mica_world *world, uint64_t component)
{
    uint64_t number = component - MICA_PRIVATE_POOL_ID;
    if (!world || number >= mica_private_of(world)->pool_count)
        return NULL;
    const mica_private_pool *pool = mica_private_of(world)->pools[number];
    return pool && pool->kind <= MICA_INDEX_DIRECT ? pool : NULL;
}

/* Returns the row of an entity in such a pool; a number that is not below row_limit if it has none. Threads: reader. */
static inline uint64_t mica_private_pool_row(const mica_private_pool *pool, mica_entity entity)
{
    if (!pool)
        return UINT64_MAX;
    if (pool->kind == MICA_INDEX_DIRECT) {
        bool is_owner =
            entity.index < pool->row_limit && mica_same(pool->owners[entity.index], entity) && !mica_is_nil(entity);
        return is_owner ? entity.index : UINT64_MAX;
    }
    uint64_t index = entity.index, page = index >> MICA_PRIVATE_MAP_SHIFT;
    if (__builtin_expect(page >= pool->page_count, 0))
        return UINT64_MAX;
    uint64_t entry = pool->pages[page][index & ((1u << MICA_PRIVATE_MAP_SHIFT) - 1)];
    return entry - ((uint64_t)entity.generation << 32) - 1;
}

MICA_END
#endif

/* mica/world.h */
/* Mica, world: the container of entities, components, queries and recorded changes. A program can have any number of worlds;
 * they share nothing except component ids. */
#ifndef MICA_WORLD_H
#define MICA_WORLD_H


MICA_BEGIN

/* What a flush does with a change to an entity that was destroyed after the change was recorded. */
typedef enum mica_dead_target {
    MICA_DEAD_TARGET_WARN = 0, /* report it with the source location that recorded it, and continue */
    MICA_DEAD_TARGET_IGNORE,
    MICA_DEAD_TARGET_ERROR, /* reject the whole flush: nothing is applied, the changes are dropped */
} mica_dead_target;

/* Options of a world. Zero fields mean the defaults: (mica_world_def){.report = log_report}. */
typedef struct mica_world_def {
    mica_allocator allocator;
    mica_report_fn report; /* NULL prints to stderr */
    void *report_context;
    uint32_t chunk_bytes_first; /* size of the first chunk of an archetype, a power of two */
    uint32_t chunk_bytes_last;  /* maximum size, a power of two; each further chunk is twice as large, up to this */
    mica_dead_target dead_target;
    uint64_t seed; /* of the world's random numbers, such as those of mica_pool_gc; 0 is the same as 1 */
    /* 1 to 255: handles of entities, systems, phases, observers and snapshots differ from those of worlds with another number, so that
     * using one in the wrong world is detected. Clones and resumed worlds have the number of the original. Generations of entities
     * have 16 bits then. 0: none. */
    uint32_t handle_space;
} mica_world_def;

/* Returns the defaults: chunks from 2 KiB to 2 MiB, malloc, reports to stderr. Threads: any. */
MICA_API mica_world_def mica_world_def_default(void);

/* Creates an empty world. NULL means the defaults. Returns NULL if memory runs out or the def is invalid. Threads: any. */
MICA_API mica_world *mica_world_create(const mica_world_def *def);

/* What a program calls as mica_world_create: a name that only a library of the same version has, built with the same setting of
 * MICA_CHECKED. If the linker does not find it, the program and the library do not belong together. Bindings that have no
 * inline functions may use the name without the suffix. */
#ifdef MICA_CHECKED
#    define mica_private_world_create mica_world_create_needs_checked_mica_0_2
#else
#    define mica_private_world_create mica_world_create_needs_unchecked_mica_0_2
#endif
extern MICA_API mica_world *mica_private_world_create(const mica_world_def *def);

/* Destroys all entities (remove hooks and destructors run), queries and command buffers, then the world. NULL is a no-op.
 * Threads: owner. */
MICA_API void mica_world_destroy(mica_world *world);

/* Destroys every entity; keeps components, queries, hooks and memory. Old handles stay invalid. Slots are freed in a fixed order,
 * so entities created afterwards get the same handles every time. Returns MICA_ERROR_REFUSED while recording.
 * Threads: owner. */
MICA_API mica_result mica_world_clear(mica_world *world);

/* Returns unused memory to the allocator, and removes rows of dead entities from pools. Returns the number of bytes; 0 while
 * recording, for example inside hooks. Memory that text and lists of all worlds do not use goes back to the system, and is not counted.
 * Invalidates pointers to components. Threads: owner. */
MICA_API size_t mica_world_trim(mica_world *world);

/* A sealed world rejects operations that need a new archetype. Threads: owner. */
MICA_API void mica_world_seal(mica_world *world, bool sealed);

/* A counter that grows with every mark and every system run. Each change is stamped with its current value. */
typedef uint64_t mica_version;

/* Returns a mark: later writes, additions and removals are newer than it. Threads: owner. */
MICA_API mica_version mica_world_mark(mica_world *world);

/* Returns a counter that grows when entities or components are added, removed or moved. While it stays the same, views and
 * pointers to components stay valid. Use it to detect that an iteration was invalidated. Threads: reader. */
MICA_API mica_version mica_world_structure(const mica_world *world);

/* Returns a hash of everything a program can observe: handles, row order, described fields (never padding), singletons, names,
 * links, time, ticks and clocks of systems, waiting messages and requests, and messages kept in streams. Equal worlds have equal hashes on every machine and for any number of threads, if no field is NaN (docs/determinism.md). Threads: reader. */
MICA_API uint64_t mica_world_hash(const mica_world *world);

/* Like mica_world_hash, without time, clocks and messages: what a replica (mica/delta.h) has in common with the world it follows.
 * Threads: reader. */
MICA_API uint64_t mica_world_hash_content(const mica_world *world);

/* Checks every invariant. Returns MICA_OK, or reports the first violation. Slow. Threads: owner. */
MICA_API mica_result mica_world_validate(mica_world *world);

/* Returns the result of the last failed call and resets it to MICA_OK. Threads: owner. */
MICA_API mica_result mica_world_take_error(mica_world *world);

/* Reports an error as the world itself does: to its report handler and to mica_world_take_error. For modules built on the
 * world. Without a world (NULL) it prints the text to stderr. Returns the result. Threads: any. */
MICA_API mica_result mica_world_report(const mica_world *world, mica_result result, const char *text);

typedef struct mica_world_stats {
    uint64_t entity_count;
    uint32_t component_count;
    uint32_t archetype_count;
    uint32_t chunk_count;
    uint32_t query_count;
    uint32_t name_count; /* entities with a name */
    size_t memory_bytes; /* currently allocated */
    size_t chunk_bytes;  /* of these, in chunks */
} mica_world_stats;

/* Returns statistics about the contents. Threads: reader. */
MICA_API mica_world_stats mica_world_get_stats(const mica_world *world);

MICA_END

#if !defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_world_create mica_private_world_create
#endif

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_world_create(...) MICA_AT_(mica_private_world_create(__VA_ARGS__))
#    define mica_world_destroy(world) mica_world_destroy(MICA_AT_(world))
#    define mica_world_clear(world) mica_world_clear(MICA_AT_(world))
#    define mica_world_trim(world) mica_world_trim(MICA_AT_(world))
#    define mica_world_seal(world, ...) mica_world_seal(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_mark(world) mica_world_mark(MICA_AT_(world))
#    define mica_world_structure(world) mica_world_structure(MICA_AT_(world))
#    define mica_world_hash(world) mica_world_hash(MICA_AT_(world))
#    define mica_world_hash_content(world) mica_world_hash_content(MICA_AT_(world))
#    define mica_world_validate(world) mica_world_validate(MICA_AT_(world))
#    define mica_world_take_error(world) mica_world_take_error(MICA_AT_(world))
#    define mica_world_report(world, ...) mica_world_report(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_get_stats(world) mica_world_get_stats(MICA_AT_(world))
#endif
#endif


MICA_BEGIN

/* A component and its value. If data is NULL, the default value is used: constructed, or zero. */
typedef struct mica_value {
    mica_component component;
    uint32_t size_bytes; /* size of the data, checked against the component; 0 skips the check */
    const void *data;
} mica_value;

/* Creates an entity with these components, in any order, each at most once. Returns nil on error. Threads: owner. */
MICA_API mica_entity mica_create_id(mica_world *world, const mica_value *values, uint32_t count);

/* Destroys an entity and its components. Returns false if it is not alive. Threads: owner. */
MICA_API bool mica_destroy(mica_world *world, mica_entity entity);

/* Returns whether the entity is alive, or its creation is recorded. (Until the flush, has and get find no components of a
 * recorded entity.) Threads: reader. */
MICA_API bool mica_is_alive(const mica_world *world, mica_entity entity);

/* Adds a component with its default value and returns a pointer to it. If the entity has the component, returns a pointer to
 * that. Returns NULL on error. The pointer of a tag must not be dereferenced. Threads: owner. */
MICA_API void *mica_add_id(mica_world *world, mica_entity entity, mica_component component);

/* Adds or overwrites a component with a copy of the value. Returns false on error. Threads: owner. */
MICA_API bool mica_set_id(mica_world *world, mica_entity entity, mica_value value);

/* Removes a component. Returns false if the entity is not alive or does not have it. Threads: owner. */
MICA_API bool mica_remove_id(mica_world *world, mica_entity entity, mica_component component);

/* Returns whether the entity is alive and has the component, enabled or not. Threads: reader. */
MICA_API bool mica_has_id(const mica_world *world, mica_entity entity, mica_component component);

/* Returns the component for reading, or NULL without a report if the entity is not alive or does not have it.
 * Threads: reader. */
MICA_API const void *mica_get_id(const mica_world *world, mica_entity entity, mica_component component);

/* Like mica_get_id, for writing: marks the value as changed. Threads: owner. */
MICA_API void *mica_write_id(mica_world *world, mica_entity entity, mica_component component);

/* Enables or disables a component described with .toggle. No row moves and the value is kept; queries skip a disabled
 * component. Returns false if the entity does not have the component or it has no .toggle. Threads: owner. */
MICA_API bool mica_enable_id(mica_world *world, mica_entity entity, mica_component component, bool enabled);

/* Returns whether the entity has the component and it is enabled. Threads: reader. */
MICA_API bool mica_is_enabled_id(const mica_world *world, mica_entity entity, mica_component component);

/* Writes up to `capacity` component ids of the entity to `out`, in ascending order. Returns how many components the entity
 * has. Threads: reader. */
MICA_API uint32_t mica_get_components(const mica_world *world, mica_entity entity, mica_component *out,
                                      uint32_t capacity);

/* Creates an entity with copies of the components, values and enabled states of another. The name, the parent and the
 * children are not copied; mica_clone_tree of mica/hierarchy.h copies children too. Returns nil on error, also for an entity whose
 * creation is only recorded. Threads: owner. */
MICA_API mica_entity mica_clone(mica_world *world, mica_entity entity);

/* The inline functions that the macros below call. They read the private layout of mica/lookup.h, and call the functions above for
 * what it does not have: in checked builds always. */

/* Like mica_get_id, for a described component. Threads: reader. */
static inline const void *mica_lookup_get(const mica_world *world, mica_entity entity, mica_type *type)
{
#ifndef MICA_CHECKED
    const mica_private_lookup *lookup = mica_private_of(world);
    uint64_t component = mica_private_id(type), index = entity.index;
    if (__builtin_expect(world && component < lookup->component_count, 1)) {
        if (__builtin_expect(index < lookup->record_count, 1)) {
            uint64_t record = mica_private_record(lookup, index);
            uint64_t number = mica_private_chunk_number(record, entity.generation);
            char *const *columns = lookup->columns[component];
            const char *column = __builtin_expect(number < lookup->chunk_capacity, 1) ? columns[number] : NULL;
            if (__builtin_expect(column != NULL, 1))
                return column + (uint32_t)(record & 0xFFFF) * type->size_bytes;
            if (columns != lookup->no_columns)
                return NULL;
        }
    } else {
        const mica_private_pool *pool = mica_private_fast_pool(world, component);
        uint64_t row = mica_private_pool_row(pool, entity);
        if (__builtin_expect(pool != NULL, 1))
            return row < pool->row_limit ? pool->values + row * type->size_bytes : NULL;
    }
#endif
    return mica_get_id(world, entity, (mica_type_id)(type));
}

/* Like mica_has_id, for a described component. Threads: reader. */
static inline bool mica_lookup_has(const mica_world *world, mica_entity entity, mica_type *type)
{
#ifndef MICA_CHECKED
    const mica_private_lookup *lookup = mica_private_of(world);
    uint64_t component = mica_private_id(type), index = entity.index;
    if (__builtin_expect(world && component < lookup->component_count, 1)) {
        char *const *columns = lookup->columns[component];
        if (__builtin_expect(columns != lookup->no_columns && index < lookup->record_count, 1)) {
            uint64_t record = mica_private_record(lookup, index);
            uint64_t number = mica_private_chunk_number(record, entity.generation);
            return __builtin_expect(number < lookup->chunk_capacity, 1) && columns[number] != NULL;
        }
    } else {
        const mica_private_pool *pool = mica_private_fast_pool(world, component);
        if (__builtin_expect(pool != NULL, 1))
            return mica_private_pool_row(pool, entity) < pool->row_limit;
    }
#endif
    return mica_has_id(world, entity, (mica_type_id)(type));
}

/* Like mica_write_id, for a described component. The first write to a slice since the version of the world changed is left to the
 * library, which stamps the slice and makes the copy that a snapshot needs. Threads: owner. */
static inline void *mica_lookup_write(mica_world *world, mica_entity entity, mica_type *type)
{
#ifndef MICA_CHECKED
    const mica_private_lookup *lookup = mica_private_of(world);
    uint64_t component = mica_private_id(type), index = entity.index;
    if (__builtin_expect(world && component < lookup->component_count && index < lookup->record_count, 1)) {
        uint64_t record = mica_private_record(lookup, index);
        uint64_t number = mica_private_chunk_number(record, entity.generation);
        char *const *columns = lookup->columns[component];
        if (__builtin_expect(number < lookup->chunk_capacity && columns[number], 1)) {
            uint32_t row = (uint32_t)record & 0xFFFF;
            const mica_private_chunk *chunk = lookup->chunks[number];
            uint32_t column = ((const uint16_t *)(const void *)(columns + lookup->chunk_capacity))[number];
            const uint64_t *stamp = (const uint64_t *)(const void *)((const char *)chunk + chunk->stamps_offset) + 1 +
                                    column + (row >> MICA_PRIVATE_SLICE_SHIFT) * chunk->stride;
            if (__builtin_expect(type->size_bytes && __atomic_load_n(stamp, __ATOMIC_ACQUIRE) ==
                                                         __atomic_load_n(&lookup->version, __ATOMIC_RELAXED),
                                 1))
                return columns[number] + row * type->size_bytes;
        }
    }
#endif
    return mica_write_id(world, entity, (mica_type_id)(type));
}

/* A component to look up with mica_get_several, and where to write the pointer to its value. Use MICA_INTO. */
typedef struct mica_wanted {
    mica_type *type;
    const void *out_pointer; /* the address of a pointer */
} mica_wanted;

/* The most components of one call. */
enum { MICA_WANTED_MAX = 64 };

/* Looks up several components of one entity, at most MICA_WANTED_MAX. Writes NULL for those that it does not have. Returns how many were
 * found. The pointers are valid as long as those from mica_get_id. Threads: reader. */
static inline uint32_t mica_lookup_several(const mica_world *world, mica_entity entity, const mica_wanted *wanted,
                                           uint32_t count)
{
    uint32_t found = 0;
    if (count > MICA_WANTED_MAX) {
        (mica_world_report)(world, MICA_ERROR_INVALID, "mica_get_several: the number of components must be at most 64");
        return 0;
    }
    for (uint32_t i = 0; wanted && i < count; ++i) {
        const void *value = mica_lookup_get(world, entity, wanted[i].type);
        if (wanted[i].out_pointer)
            __builtin_memcpy((void *)(uintptr_t)wanted[i].out_pointer, &value, sizeof value);
        found += value != NULL;
    }
    return found;
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_create_id(world, ...) mica_create_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy(world, ...) mica_destroy(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_alive(world, ...) mica_is_alive(MICA_AT_(world), __VA_ARGS__)
#    define mica_add_id(world, ...) mica_add_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_id(world, ...) mica_set_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_remove_id(world, ...) mica_remove_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_has_id(world, ...) mica_has_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_id(world, ...) mica_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_id(world, ...) mica_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_enable_id(world, ...) mica_enable_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_enabled_id(world, ...) mica_is_enabled_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_components(world, ...) mica_get_components(MICA_AT_(world), __VA_ARGS__)
#    define mica_clone(world, ...) mica_clone(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_get(world, ...) mica_lookup_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_has(world, ...) mica_lookup_has(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_write(world, ...) mica_lookup_write(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_several(world, ...) mica_lookup_several(MICA_AT_(world), __VA_ARGS__)
#endif

/* MICA_WITH(T, {value}), or MICA_WITH(T) for the default value and for tags. */
#define MICA_WITH(...) MICA_JOIN_(MICA_WITH_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_WITH_1(T) {MICA_ID(T), 0, NULL}
#define MICA_WITH_2(T, ...) {MICA_ID(T), sizeof(T), &(const T)__VA_ARGS__}
/* MICA_FROM(T, pointer) copies the value from a variable. */
#define MICA_FROM(T, pointer) {MICA_ID(T), sizeof(T), (const T *){(pointer)}}
#define MICA_VALUE_(T, ...) ((mica_value)MICA_WITH_2(T, __VA_ARGS__))

/* mica_create(world) or mica_create(world, MICA_WITH(...), ...) */
#define mica_create(...) MICA_JOIN_(MICA_CREATE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_CREATE_1(world) mica_create_id((world), NULL, 0)
#define MICA_CREATE_2(world, ...) mica_create_id((world), MICA_VALUES_(__VA_ARGS__))
#define MICA_VALUES_(...)                                                                                              \
    (const mica_value[]){__VA_ARGS__}, (uint32_t)(sizeof((const mica_value[]){__VA_ARGS__}) / sizeof(mica_value))

#define mica_add(world, entity, T) ((T *)mica_add_id((world), (entity), MICA_ID(T)))
#define mica_set(world, entity, T, ...) mica_set_id((world), (entity), MICA_VALUE_(T, __VA_ARGS__))
#define mica_set_from(world, entity, T, pointer)                                                                       \
    mica_set_id((world), (entity), (mica_value)MICA_FROM(T, pointer))
#define mica_remove(world, entity, T) mica_remove_id((world), (entity), MICA_ID(T))
#define mica_has(world, entity, T) mica_lookup_has((world), (entity), &mica_type_of_##T)
#define mica_get(world, entity, T) ((const T *)mica_lookup_get((world), (entity), &mica_type_of_##T))
/* mica_get_several(world, entity, MICA_INTO(Position, &position), MICA_INTO(Velocity, &velocity)) */
#define mica_get_several(world, entity, ...)                                                                           \
    mica_lookup_several((world), (entity), (const mica_wanted[]){__VA_ARGS__},                                         \
                        (uint32_t)(sizeof((const mica_wanted[]){__VA_ARGS__}) / sizeof(mica_wanted)))
#define MICA_INTO(T, pointer) {&mica_type_of_##T, (const T **){(pointer)}}
#define mica_enable(world, entity, T) mica_enable_id((world), (entity), MICA_ID(T), true)
#define mica_disable(world, entity, T) mica_enable_id((world), (entity), MICA_ID(T), false)
#define mica_is_enabled(world, entity, T) mica_is_enabled_id((world), (entity), MICA_ID(T))

#define mica_write(world, entity, T) ((T *)mica_lookup_write((world), (entity), &mica_type_of_##T))

#endif


MICA_BEGIN

typedef struct mica_batch mica_batch;

/* `count` entities with the same components. Columns as for mica_create_many. Pool components whose rows outlive their owner
 * (`dying`) are rejected: add them after the commit. The arrays must stay valid until the end of the batch. */
typedef struct mica_batch_group {
    uint32_t count;
    uint32_t column_count;
    const mica_value *columns;
    uint32_t period; /* length of the columns, which repeat; 0: `count` */
} mica_batch_group;

/* Rows of one group with contiguous values. Set component and group to start; the rest is filled in. */
typedef struct mica_batch_run {
    mica_component component;
    uint32_t group; /* the group to start with while `entities` is NULL; mica_batch_next continues with later groups */
    uint32_t first; /* position of the first entity within the batch */
    uint32_t count;
    const mica_entity *entities;
    void *values;          /* NULL for a tag, and for a split component */
    uint32_t private_done; /* rows of the group visited so far */
    uint32_t private_chunk;
    uint32_t private_row;
} mica_batch_run;

/* Creates the entities of all groups; hooks do not run yet. On error the world is unchanged and the batch is NULL. Only one
 * batch at a time; rejected while recording. Threads: owner. */
MICA_API mica_result mica_batch_begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                                      mica_batch **out_batch);

/* Writes the handles of all groups to `out_entities`, group after group. Threads: owner. */
MICA_API void mica_batch_entities(mica_batch *batch, mica_entity *out_entities);

/* Advances to the next run of rows that have the component, so that their values can be completed; false at the end. The
 * component then counts as set. Component 0 visits every row. Threads: owner. */
MICA_API bool mica_batch_next(mica_batch *batch, mica_batch_run *run);

/* Ends the batch and runs the hooks: first for the components in `order`, in that order, then for the others by ascending id.
 * Then applies what was recorded meanwhile and returns the result of that. Threads: owner. */
MICA_API mica_result mica_batch_commit(mica_batch *batch, const mica_component *order, uint32_t order_count);

/* Ends the batch and removes everything it created. Hooks do not run. Threads: owner. */
MICA_API void mica_batch_cancel(mica_batch *batch);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_batch_begin(world, ...) mica_batch_begin(MICA_AT_(world), __VA_ARGS__)
#    define mica_batch_entities(batch, ...) mica_batch_entities(MICA_AT_(batch), __VA_ARGS__)
#    define mica_batch_next(batch, ...) mica_batch_next(MICA_AT_(batch), __VA_ARGS__)
#    define mica_batch_commit(batch, ...) mica_batch_commit(MICA_AT_(batch), __VA_ARGS__)
#    define mica_batch_cancel(batch) mica_batch_cancel(MICA_AT_(batch))
#endif
#endif

/* mica/bulk.h */
/* Mica, bulk: operations on many entities in one call, column by column. Each call succeeds completely or changes nothing.
 *
 *     Position where[1000];
 *     mica_entity crowd[1000];
 *     mica_create_many(world, 1000, (mica_value[]){MICA_COLUMN(Position, where), MICA_WITH(Walking)}, 2, crowd);
 *     mica_add_all_tag(wounded, Fleeing);                    to every entity that the query `wounded` matches
 *     mica_destroy_many(world, crowd, 1000);
 */
#ifndef MICA_BULK_H
#define MICA_BULK_H

/* mica/query.h */
/* Mica, query: find entities by their components.
 *
 *     mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity),
 *                                                              MICA_WITHOUT(Frozen)));
 *     for (mica_view view = mica_query_begin(moving); mica_view_next(&view);) {
 *         Position *position = mica_view_write(&view, Position);
 *         const Velocity *velocity = mica_view_read(&view, Velocity);
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             position[i].x += velocity[i].x;
 *     }
 *
 * A query caches the archetypes it matches and is notified of new ones. Creating a query is cheap enough for one-time use.
 * Entities that are disabled (mica/disable.h) do not match, unless the query asks for them.
 * Archetypes are visited in order of creation, rows in storage order. Do not make structural changes inside the loop: it would
 * end early with a report. Record the changes instead (mica/command.h).
 */
#ifndef MICA_QUERY_H
#define MICA_QUERY_H

/* mica/view.h */
/* Mica, view: a range of rows with the same components, as plain arrays. Queries and systems produce views. */
#ifndef MICA_VIEW_H
#define MICA_VIEW_H


MICA_BEGIN

enum {
    MICA_TERMS_MAX = 32,
    MICA_SLICE_ROWS = 512, /* the unit of change stamps and of parallel work */
    MICA_PRIVATE_READY = 4,
};

struct mica_frame;

/* A range of rows. Valid until the next mica_view_next. Fields of `private_` are not part of the API. */
typedef struct mica_view {
    uint32_t count;
    float dt;                       /* seconds since the system last ran; 0 outside systems */
    const struct mica_frame *frame; /* NULL outside systems: see mica/frame.h */
    uint64_t slice;                 /* identifies this job, independent of the number of workers */
    const mica_entity *entities;
    mica_world *world;
    struct {
        uint64_t version;    /* stamped on what is written; 0: the current version of the world */
        uint32_t row;        /* of the chunk, where this view begins */
        uint8_t walk;        /* how the next view is found */
        uint8_t term_count;  /* terms that have a column if it is not NULL */
        uint8_t ready_count; /* terms that are listed below; 0 if there are several slices, or pools */
        uint8_t
            ready_writes; /* a bit for each of them that is written; 255 unless all terms are listed and have columns */
        struct mica_query *query;
        uint64_t *stamps[MICA_PRIVATE_READY];          /* by term: of the only slice, if it may be written; else NULL */
        mica_component components[MICA_PRIVATE_READY]; /* by term; 0 if its column may not be read */
        void *columns[MICA_TERMS_MAX];                 /* by term, NULL if a term has none */
        struct micap_chunk *chunk;
        uint64_t structure; /* the world's when the loop began */
        uint64_t since;
        uint32_t match;           /* index into the matching archetypes */
        uint32_t chunk_index;     /* of the next chunk in that archetype */
        struct mica_pool *driver; /* the pool whose rows the loop walks, or NULL: see mica/pool.h */
        uint32_t cursor;          /* the next row of a loop over pools */
        uint32_t end;             /* the end of the driver's rows */
        const void *fitting;      /* an archetype that is known to match */
        const void *listed;       /* the next entry of a loop over listed chunks */
    } private_;
} mica_view;

/* Advances to the next range of rows; false at the end. A view is never empty. Threads: as its query. */
MICA_API bool mica_view_next(mica_view *view);

/* Returns the column of a component that the query reads or writes. Returns NULL for an optional component that is absent, and
 * NULL with a report for a component that is not in the query. The column of a tag that is present is not NULL, but has nothing to
 * read. Threads: as its query. */
MICA_API const void *mica_view_read_id(const mica_view *view, mica_component component);

/* Like mica_view_read_id, for a component that the query writes. Marks all rows of the view as changed.
 * Threads: as its query; several threads may write disjoint views. */
MICA_API void *mica_view_write_id(mica_view *view, mica_component component);

/* Like mica_view_write_id, but of a component with .track_changed only the rows passed to mica_view_mark_id count as changed. Of other
 * components all rows do. Threads: as above. */
MICA_API void *mica_view_write_unmarked_id(mica_view *view, mica_component component);

/* Marks one row of the view, counted from 0, as changed, for a component with .track_changed that the query writes. Reports a row
 * that the view does not have, and a component that the query does not write or that is not tracked. Threads: as above. */
MICA_API void mica_view_mark_id(mica_view *view, mica_component component, uint32_t row);

/* Like mica_view_read_id and mica_view_write_id, by the position of the term, starting at 0. This is the fastest way. Threads: as above. */
MICA_API const void *mica_view_read_at(const mica_view *view, uint32_t term);
MICA_API void *mica_view_write_at(mica_view *view, uint32_t term);

/* Returns whether the entities of the view have the component, which the query has a term for: for optional terms, and to see which
 * terms of a group of EITHER and OR matched. All entities of a view have it, or none of them has it. Whether it is enabled
 * does not matter. Returns false with a report for a component that is not in the query. The second function takes
 * the position of the term, starting at 0. Threads: as its query. */
MICA_API bool mica_view_has_id(const mica_view *view, mica_component component);
MICA_API bool mica_view_has_at(const mica_view *view, uint32_t term);

/* Returns one byte per entity of the view, 1 where the component is enabled and 0 where it is disabled, for a component with .toggle
 * that a READ, WRITE, MAYBE, EITHER or OR term of the query names. Returns NULL if the entities do not have it, and NULL with
 * a report for other components. Threads: as its query. */
MICA_API const uint8_t *mica_view_enabled_id(const mica_view *view, mica_component component);

/* What mica_view_read_at is in a program that is not checked: a column that is there needs no call. Threads: as above. */
static inline const void *mica_private_view_read_at(const mica_view *view, uint32_t term)
{
    if (view && term < view->private_.term_count && view->private_.columns[term])
        return view->private_.columns[term];
    return mica_view_read_at(view, term);
}

/* What mica_view_write_at is there: one slice whose stamp is known, and of which no snapshot needs a copy, needs no call either.
 * Threads: as above. */
static inline void *mica_private_view_write_at(mica_view *view, uint32_t term)
{
    if (view && term < MICA_PRIVATE_READY && term < view->private_.ready_count) {
        const mica_private_lookup *lookup = mica_private_of(view->world);
        uint64_t *stamp = view->private_.stamps[term], version = view->private_.version;
        /* Signed: the stamp of a tracked component is older than every snapshot, so that its rows are marked by the call. */
        if (stamp &&
            __builtin_expect((int64_t)__atomic_load_n(stamp, __ATOMIC_ACQUIRE) >= (int64_t)lookup->undo_before, 1)) {
            version = version ? version : __atomic_load_n(&lookup->version, __ATOMIC_RELAXED);
            __atomic_store_n(stamp, version, __ATOMIC_RELEASE);
            return view->private_.columns[term];
        }
    }
    return mica_view_write_at(view, term);
}

MICA_END

#if !defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_view_read_at mica_private_view_read_at
#    define mica_view_write_at mica_private_view_write_at
#endif
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_view_next(view) mica_view_next(MICA_AT_(view))
#    define mica_view_read_id(view, ...) mica_view_read_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_id(view, ...) mica_view_write_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_unmarked_id(view, ...) mica_view_write_unmarked_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_mark_id(view, ...) mica_view_mark_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_read_at(view, ...) mica_view_read_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_at(view, ...) mica_view_write_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_has_id(view, ...) mica_view_has_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_has_at(view, ...) mica_view_has_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_enabled_id(view, ...) mica_view_enabled_id(MICA_AT_(view), __VA_ARGS__)
#endif

#define mica_view_read(view, T) ((const T *)mica_view_read_id((view), MICA_ID(T)))
#define mica_view_has(view, T) mica_view_has_id((view), MICA_ID(T))
#define mica_view_enabled(view, T) mica_view_enabled_id((view), MICA_ID(T))
#define mica_view_write(view, T) ((T *)mica_view_write_id((view), MICA_ID(T)))
#define mica_view_write_unmarked(view, T) ((T *)mica_view_write_unmarked_id((view), MICA_ID(T)))
#define mica_view_mark(view, T, row) mica_view_mark_id((view), MICA_ID(T), (row))

#endif


MICA_BEGIN

typedef struct mica_query mica_query;

typedef enum mica_access {
    MICA_ACCESS_READ = 0,    /* must be present; provides a column for reading */
    MICA_ACCESS_WRITE,       /* must be present; provides a column for writing */
    MICA_ACCESS_HAS,         /* must be present; no column */
    MICA_ACCESS_WITHOUT,     /* must be absent */
    MICA_ACCESS_MAYBE_READ,  /* optional; provides a column for reading, NULL if absent; for a tag see mica_view_has */
    MICA_ACCESS_MAYBE_WRITE, /* optional; provides a column for writing, NULL if absent */
    MICA_ACCESS_EITHER, /* starts a group of which at least one must be present; provides a column for reading or NULL */
    MICA_ACCESS_OR,     /* continues the group started by the terms before it */
    MICA_ACCESS_CHANGED, /* must be present and changed since the mark, per slice, or per entity with .track_changed; no column */
    MICA_ACCESS_ADDED,    /* must be present and added since the mark; needs .track_added; no column */
    MICA_ACCESS_DISABLED, /* must be present and disabled (mica_disable); no column */
} mica_access;

/* If a component can be toggled, READ, WRITE, HAS, CHANGED and ADDED match only while it is enabled. MAYBE, EITHER and OR match it
 * either way, and WITHOUT requires that it is absent. A component has at most one term with a column. It can also
 * have CHANGED and ADDED terms, and DISABLED together with a MAYBE term. */
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

/* Returns a negative number, zero or a positive number if a sorts before, with or after b. */
typedef int (*mica_compare_fn)(const void *a, const void *b, void *context);

typedef struct mica_query_def {
    const char *name; /* for reports; NULL means "query" */
    const mica_term *terms;
    uint32_t term_count; /* up to MICA_TERMS_MAX; a query without terms, &(mica_query_def){0}, matches every entity */
    mica_location location;

    /* With a compare function, entities are visited in the order of this component across all archetypes; equal values keep
     * their storage order. The order is cached and updated only after a change. The query must READ or WRITE the component. */
    mica_component order_by;
    mica_compare_fn compare;
    void *context;

    /* A pool component with .many that the query asks for: every instance is visited in storage order, instead of each entity
     * once with its first instance. Cannot be combined with order_by. */
    mica_component instances_of;

    /* Also matches entities that are hidden: see mica/disable.h. */
    bool with_hidden;
} mica_query_def;

#define MICA_TERMS(...)                                                                                                \
    .terms = (const mica_term[]){__VA_ARGS__},                                                                         \
    .term_count = (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term))
#define MICA_QUERY(...) (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE})
#define MICA_QUERY_SORTED(T, compare_, context_, ...)                                                                  \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__),                                                                  \
                             .location = MICA_HERE,                                                                       \
                             .order_by = MICA_ID(T),                                                                   \
                             .compare = (compare_),                                                                    \
                             .context = (context_)})

#define MICA_QUERY_INSTANCES(T, ...)                                                                                   \
    (&(const mica_query_def){MICA_TERMS(__VA_ARGS__), .location = MICA_HERE, .instances_of = MICA_ID(T)})

/* Creates a query. The def is copied. On error returns NULL with a report that names the query, the term and the source line; a
 * NULL query matches nothing. Threads: owner. */
MICA_API mica_query *mica_query_create(mica_world *world, const mica_query_def *def);

/* Destroys a query. NULL is a no-op. Threads: owner. */
MICA_API void mica_query_destroy(mica_query *query);

/* Starts an iteration. CHANGED and ADDED refer to changes since the previous iteration of this query began; in the first one everything
 * counts as changed and added.
 * Threads: reader; for a query with CHANGED, ADDED or order_by, only one iteration at a time. */
MICA_API mica_view mica_query_begin(mica_query *query);

/* Like mica_query_begin, but CHANGED and ADDED mean since the given mark (mica_world_mark). Threads: as above, reader. */
MICA_API mica_view mica_query_begin_since(mica_query *query, mica_version since);

/* Returns how many entities match, without visiting rows if the terms allow it. In this function and the next two, CHANGED and
 * ADDED mean since the previous iteration began. Threads: reader. */
MICA_API uint64_t mica_query_count(mica_query *query);

/* Returns the first matching entity, or nil. Threads: reader. */
MICA_API mica_entity mica_query_first(mica_query *query);

/* Returns whether an entity matches. CHANGED terms test the slice of the entity, unless it is tracked. Threads: reader. */
MICA_API bool mica_query_matches(mica_query *query, mica_entity entity);

/* Called for one entity with pointers to its components in the order of the terms; NULL if a term has none. For an optional tag, or
 * one in a group, the pointer is not NULL if the entity has it; there is nothing to read. */
typedef void (*mica_each_fn)(mica_entity entity, void *const *columns, void *context);

/* Calls the function for every matching entity. WRITE terms count as written. Threads: owner. */
MICA_API void mica_query_each(mica_query *query, mica_each_fn fn, void *context);

/* Sorts the rows of each matching archetype by a component that the query reads or writes. The sort is stable. Later iterations
 * use this order until rows are added or removed. Invalidates pointers to components. Rejected while recording, and for pool
 * components (use mica_pool_sort). Threads: owner. */
MICA_API mica_result mica_query_sort_rows(mica_query *query, mica_component component, mica_compare_fn compare,
                                          void *context);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_query_create(world, ...) mica_query_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_destroy(query) mica_query_destroy(MICA_AT_(query))
#    define mica_query_begin(query) mica_query_begin(MICA_AT_(query))
#    define mica_query_begin_since(query, ...) mica_query_begin_since(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_count(query) mica_query_count(MICA_AT_(query))
#    define mica_query_first(query) mica_query_first(MICA_AT_(query))
#    define mica_query_matches(query, ...) mica_query_matches(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_each(query, ...) mica_query_each(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_sort_rows(query, ...) mica_query_sort_rows(MICA_AT_(query), __VA_ARGS__)
#endif
#endif


MICA_BEGIN

/* Creates `count` entities with these components. The data of a value is an array of `count` elements that becomes a column;
 * NULL means the default value for all. `out_entities` may be NULL. Rejected while recording. Threads: owner. */
MICA_API mica_result mica_create_many(mica_world *world, uint32_t count, const mica_value *columns,
                                      uint32_t column_count, mica_entity *out_entities);

/* Destroys entities. Skips stale handles and duplicates. Returns how many were destroyed. Threads: owner. */
MICA_API uint32_t mica_destroy_many(mica_world *world, const mica_entity *entities, uint32_t count);

/* Looks up one component of many entities, with prefetching. Writes NULL for entities that are not alive or do not have it.
 * Returns how many were found. Threads: reader. */
MICA_API uint32_t mica_get_many_id(const mica_world *world, const mica_entity *entities, uint32_t count,
                                   mica_component component, const void **out_pointers);

/* Adds a component to every entity that the query matches and that does not have it. All get the same value; NULL data means
 * the default. Rejected while recording. Threads: owner. */
MICA_API mica_result mica_add_all_id(mica_query *query, mica_value value);

/* Removes a component from every entity that the query matches. Rejected while recording. Threads: owner. */
MICA_API mica_result mica_remove_all_id(mica_query *query, mica_component component);

/* Destroys every entity that the query matches. Rejected while recording. Threads: owner. */
MICA_API mica_result mica_destroy_all(mica_query *query);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_create_many(world, ...) mica_create_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_many(world, ...) mica_destroy_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_many_id(world, ...) mica_get_many_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_add_all_id(query, ...) mica_add_all_id(MICA_AT_(query), __VA_ARGS__)
#    define mica_remove_all_id(query, ...) mica_remove_all_id(MICA_AT_(query), __VA_ARGS__)
#    define mica_destroy_all(query) mica_destroy_all(MICA_AT_(query))
#endif

/* A column of values for mica_create_many: an array of `count` T. */
#define MICA_COLUMN MICA_FROM

#define mica_get_many(world, entities, count, T, out_pointers)                                                         \
    mica_get_many_id((world), (entities), (count), MICA_ID(T), (const void **)(out_pointers))
#define mica_add_all(query, T, ...) mica_add_all_id((query), MICA_VALUE_(T, __VA_ARGS__))
#define mica_add_all_from(query, T, pointer) mica_add_all_id((query), (mica_value)MICA_FROM(T, pointer))
#define mica_add_all_tag(query, T) mica_add_all_id((query), (mica_value)MICA_WITH_1(T))
#define mica_remove_all(query, T) mica_remove_all_id((query), MICA_ID(T))

#endif

/* mica/command.h */
/* Mica, command: record structural changes now and apply them at the flush.
 *
 * Rows must not move while systems run or a query is iterated. Record changes instead:
 *
 *     mica_defer(world);                                     from now on the world records
 *     for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
 *         for (uint32_t i = 0; i < view.count; ++i)
 *             mica_destroy(world, view.entities[i]);
 *     mica_flush(world);                                     applies the changes and ends recording
 *
 * Until the flush, has, get and queries see the world without the recorded changes.
 *
 * Each thread records into its own buffer (mica_commands), which the owner creates beforehand. A flush applies the world's own
 * buffer first, then the others in order of creation, each in call order, so the result does not depend on timing. All changes
 * to one entity become one move. A handle returned by a recorded create is valid immediately and does not depend on timing
 * either. Staged values stay at their address until the flush.
 *
 * If a flush runs out of memory, or a seal rejects it, nothing changes and the flush can be repeated. Changes that hooks record
 * during a flush are applied in further rounds, each completely or not at all. Changes that are impossible (for example, an
 * entity with too many components) are reported and dropped; the flush applies all others and returns the error.
 */
#ifndef MICA_COMMAND_H
#define MICA_COMMAND_H


MICA_BEGIN

typedef struct mica_commands mica_commands;

/* Starts recording: until the flush, changes made through the world are recorded. Calls nest. If a hook or an
 * exclusive system calls mica_defer without mica_flush, recording ends when that function returns. Threads: owner. */
MICA_API void mica_defer(mica_world *world);

/* Ends one mica_defer, if there is one. The outermost flush applies the changes of all buffers. Threads: owner. */
MICA_API mica_result mica_flush(mica_world *world);

/* Creates a buffer, to be used by one thread at a time. Returns NULL on error. Threads: owner. */
MICA_API mica_commands *mica_commands_create(mica_world *world);

/* Discards the recorded changes and destroys the buffer. NULL is a no-op. Rejected inside a hook. Threads: owner. */
MICA_API void mica_commands_destroy(mica_commands *commands);

/* Sets the name that reports use for this buffer, such as the name of a system. The text must stay valid until the flush.
 * Threads: one per buffer, any. */
MICA_API void mica_commands_set_label(mica_commands *commands, const char *label);

/* Records a creation. Returns the new handle, which is valid immediately, or nil. Threads: one per buffer, any. */
MICA_API mica_entity mica_command_create_id(mica_commands *commands, const mica_value *values, uint32_t count,
                                            mica_location location);

/* Records a destruction. Returns false if the entity is not alive, or this buffer already destroys it.
 * Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_id(mica_commands *commands, mica_entity entity, mica_location location);

/* Records an addition and returns the staged value, which can be written until the flush. If the entity has the component, the
 * staged value starts as a copy of it (so a system that calls this must declare the read). Values staged by other buffers are
 * ignored. Returns NULL on error. Threads: one per buffer, any. */
MICA_API void *mica_command_add_id(mica_commands *commands, mica_entity entity, mica_component component,
                                   mica_location location);

/* Records one more instance of a pool component with .many and returns its staged value. Changes to such a component are
 * applied one by one in call order, hooks included. Returns NULL on error. Threads: one per buffer, any. */
MICA_API void *mica_command_add_instance_id(mica_commands *commands, mica_entity entity, mica_component component,
                                            mica_location location);

/* Records a set. Returns false on error. Threads: one per buffer, any. */
MICA_API bool mica_command_set_id(mica_commands *commands, mica_entity entity, mica_value value,
                                  mica_location location);

/* Records a removal. Returns false if this buffer knows of nothing to remove; it still removes what an earlier buffer adds.
 * Threads: one per buffer, any. */
MICA_API bool mica_command_remove_id(mica_commands *commands, mica_entity entity, mica_component component,
                                     mica_location location);

/* Records enabling or disabling. Returns false if the component has no .toggle. Threads: one per buffer, any. */
MICA_API bool mica_command_enable_id(mica_commands *commands, mica_entity entity, mica_component component,
                                     bool enabled, mica_location location);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_defer(world) mica_defer(MICA_AT_(world))
#    define mica_flush(world) mica_flush(MICA_AT_(world))
#    define mica_commands_create(world) mica_commands_create(MICA_AT_(world))
#    define mica_commands_destroy(commands) mica_commands_destroy(MICA_AT_(commands))
#    define mica_commands_set_label(commands, ...) mica_commands_set_label(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_create_id(commands, ...) mica_command_create_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_destroy_id(commands, ...) mica_command_destroy_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_add_id(commands, ...) mica_command_add_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_add_instance_id(commands, ...) mica_command_add_instance_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_set_id(commands, ...) mica_command_set_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_remove_id(commands, ...) mica_command_remove_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_enable_id(commands, ...) mica_command_enable_id(MICA_AT_(commands), __VA_ARGS__)
#endif

#define mica_command_create(...) MICA_JOIN_(MICA_COMMAND_CREATE_, MICA_ONE_OR_MORE_(__VA_ARGS__))(__VA_ARGS__)
#define MICA_COMMAND_CREATE_1(commands) mica_command_create_id((commands), NULL, 0, MICA_HERE)
#define MICA_COMMAND_CREATE_2(commands, ...)                                                                           \
    mica_command_create_id((commands), MICA_VALUES_(__VA_ARGS__), MICA_HERE)
#define mica_command_destroy(commands, entity) mica_command_destroy_id((commands), (entity), MICA_HERE)
#define mica_command_add(commands, entity, T)                                                                          \
    ((T *)mica_command_add_id((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_add_instance(commands, entity, T)                                                                 \
    ((T *)mica_command_add_instance_id((commands), (entity), MICA_ID(T), MICA_HERE))
#define mica_command_set(commands, entity, T, ...)                                                                     \
    mica_command_set_id((commands), (entity), MICA_VALUE_(T, __VA_ARGS__), MICA_HERE)
#define mica_command_set_from(commands, entity, T, pointer)                                                            \
    mica_command_set_id((commands), (entity), (mica_value)MICA_FROM(T, pointer), MICA_HERE)
#define mica_command_remove(commands, entity, T)                                                                       \
    mica_command_remove_id((commands), (entity), MICA_ID(T), MICA_HERE)
#define mica_command_enable(commands, entity, T)                                                                       \
    mica_command_enable_id((commands), (entity), MICA_ID(T), true, MICA_HERE)
#define mica_command_disable(commands, entity, T)                                                                      \
    mica_command_enable_id((commands), (entity), MICA_ID(T), false, MICA_HERE)

#endif

/* mica/component.h */
/* Mica, component: component descriptions of a world. The macros of mica/describe.h register components on first use;
 * these functions are for bindings, tools and types that are only known at run time. */
#ifndef MICA_COMPONENT_H
#define MICA_COMPONENT_H


MICA_BEGIN

/* Registers a description with the world and returns the component id. The description is copied. Returns 0 with a report if
 * the description is malformed, or if the world has a component of this name with another layout. Threads: owner. */
MICA_API mica_component mica_component_define(mica_world *world, const mica_type *type);

/* Finds a component of this world by name. Returns 0 if there is none. Threads: reader. */
MICA_API mica_component mica_component_find(const mica_world *world, const char *name);

/* Returns the next component of this world by id, or 0 at the end. Start with 0. Threads: reader. */
MICA_API mica_component mica_component_next(const mica_world *world, mica_component component);

/* Returns the description of a component, or NULL for an unknown id. Valid until the process ends. Threads: any. */
MICA_API const mica_type *mica_component_type(mica_component component);

/* Returns the hash of the name, which identifies the component across processes and files, or 0. Threads: any. */
MICA_API uint64_t mica_component_name_hash(mica_component component);

/* Returns the hash of the layout (size, and the kind, name and offset of each field), or 0. Threads: any. */
MICA_API uint64_t mica_component_layout_hash(mica_component component);

/* Returns a constant text that says what is wrong with a description, or NULL if it is valid: what mica_component_define
 * would report. Threads: any. */
MICA_API const char *mica_type_problem(const mica_type *type);

/* Like mica_component_layout_hash, for a valid description that need not belong to a component. Threads: any. */
MICA_API uint64_t mica_type_layout_hash(const mica_type *type);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_component_define(world, ...) mica_component_define(MICA_AT_(world), __VA_ARGS__)
#    define mica_component_find(world, ...) mica_component_find(MICA_AT_(world), __VA_ARGS__)
#    define mica_component_next(world, ...) mica_component_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_component_type(...) MICA_AT_(mica_component_type(__VA_ARGS__))
#    define mica_component_name_hash(...) MICA_AT_(mica_component_name_hash(__VA_ARGS__))
#    define mica_component_layout_hash(...) MICA_AT_(mica_component_layout_hash(__VA_ARGS__))
#    define mica_type_problem(...) MICA_AT_(mica_type_problem(__VA_ARGS__))
#    define mica_type_layout_hash(...) MICA_AT_(mica_type_layout_hash(__VA_ARGS__))
#endif

/* Registers the component T with the world before its first use, so that files and tools find it by name. */
#define mica_define(world, T) mica_component_define((world), &mica_type_of_##T)

#endif

/* mica/disable.h */
/* Mica, disable: hide entities without destroying them.
 *
 *     mica_entity_disable(world, enemy);                      keeps all its values, leaves all queries and systems
 *     mica_tree_disable(world, car);                          with its descendants: mica/hierarchy.h
 *     mica_query *sleeping = mica_query_create(world, MICA_QUERY(MICA_READ(Enemy), MICA_HAS(mica_disabled)));
 *     mica_entity_enable(world, enemy);
 *
 * A disabled entity has the tag mica_disabled. Queries and systems skip entities with it, unless one of their terms names the tag or
 * they have .with_hidden; its row moves when it is disabled, as with any tag. Messages do not reach it. Everything else sees it:
 * look-ups by handle or name, hooks and observers, pools, the hierarchy, transforms, SQL, hashes, snapshots, saved worlds and deltas.
 *
 * mica_disabled is an ordinary tag that is described with .hides = true. Describe tags of your own this way to hide entities for
 * other reasons, such as templates.
 */
#ifndef MICA_DISABLE_H
#define MICA_DISABLE_H


MICA_BEGIN

/* The id of the tag, for bindings and C++. Zero if memory runs out. Threads: any. */
MICA_API mica_component mica_disabled_id(void);

/* Hides an entity, or shows it again. Return true also if it was hidden, or shown, already; false with a report if it is not alive or
 * memory runs out. Inside systems the change is recorded. Threads: owner. */
MICA_API bool mica_entity_disable(mica_world *world, mica_entity entity);
MICA_API bool mica_entity_enable(mica_world *world, mica_entity entity);

/* Returns whether an entity has the tag. A component that is disabled with mica_disable does not count. Threads: reader. */
MICA_API bool mica_entity_is_disabled(const mica_world *world, mica_entity entity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_entity_disable(world, ...) mica_entity_disable(MICA_AT_(world), __VA_ARGS__)
#    define mica_entity_enable(world, ...) mica_entity_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_entity_is_disabled(world, ...) mica_entity_is_disabled(MICA_AT_(world), __VA_ARGS__)
#endif

#ifndef __cplusplus
MICA_TAG_WITH(mica_disabled, (.hides = true))
#endif

#endif

/* mica/event.h */
/* Mica, event: what hooks (mica/hook.h) and observers (mica/observer.h) are told. */
#ifndef MICA_EVENT_H
#define MICA_EVENT_H


MICA_BEGIN

typedef uint32_t mica_event_kind;
enum {
    MICA_EVENT_ADD = 0, /* after the component was added; its first value is in place */
    MICA_EVENT_SET,     /* after a value was assigned, by set or by create; not by add, which uses the default */
    MICA_EVENT_REMOVE,  /* before the component is removed, alone or with its entity; it can still be read */
    MICA_EVENT_DESTROY, /* before the entity is destroyed; the component is 0 */
    MICA_EVENT_ENABLE,  /* after the component was enabled; observers only */
    MICA_EVENT_DISABLE, /* after the component was disabled; observers only */
    MICA_EVENT_KINDS,
    MICA_EVENT_MATCH = 32, /* after the entity started to match the terms of a monitor (mica/observer.h) */
    MICA_EVENT_UNMATCH,    /* after it stopped to match them; it may be destroyed */
    MICA_EVENT_USER = 64,  /* and above: events of the program, sent with mica_event_emit; observers only */
};

/* What happened to a run of entities. Valid until the function returns. */
typedef struct mica_event {
    mica_world *world;
    mica_event_kind kind;
    mica_component component; /* 0 for DESTROY, MATCH and UNMATCH, and for user events without a component */
    uint32_t count;
    const mica_entity *entities;
    void *values;     /* `count` values, which may be changed; NULL for a tag, a split component or no component */
    const void *data; /* of a user event, else NULL */
    void *context;    /* of the hook or observer */
    mica_entity
        target; /* of a user event: the entity it was emitted for, which one that propagates began with; else nil */
} mica_event;

/* Changes to the world made in this function are recorded, and applied when the operation that called it ends. */
typedef void (*mica_event_fn)(const mica_event *event);

MICA_END
#endif

/* mica/hook.h */
/* Mica, hook: one function per component and event, called with whole ranges of entities. Setting a hook replaces the old one.
 *
 *     static void on_add(const mica_event *event)
 *     {
 *         Sprite *sprites = event->values;
 *         for (uint32_t i = 0; i < event->count; ++i)
 *             sprites[i].id = register_sprite(event->context, event->entities[i]);
 *     }
 *     mica_hook_set(world, Sprite, MICA_EVENT_ADD, on_add, renderer);
 *
 * A hook runs after (ADD, SET) or before (REMOVE, DESTROY) each single change. When an entity is destroyed, DESTROY comes first,
 * then REMOVE by ascending component id. Several functions per event, filters and net changes: see mica/observer.h.
 */
#ifndef MICA_HOOK_H
#define MICA_HOOK_H


MICA_BEGIN

/* Sets the hook of a component for ADD, SET or REMOVE, or the hook of all entities for DESTROY with component 0. A NULL function
 * removes the hook. Threads: owner. */
MICA_API mica_result mica_hook_set_id(mica_world *world, mica_component component, mica_event_kind kind,
                                      mica_event_fn fn, void *context);

/* Sets the function that is called before an entity is destroyed, or removes it with NULL. Threads: owner. */
static inline mica_result mica_hook_set_destroy(mica_world *world, mica_event_fn fn, void *context)
{
    return mica_hook_set_id(world, 0, MICA_EVENT_DESTROY, fn, context);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_hook_set_id(world, ...) mica_hook_set_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_hook_set_destroy(world, ...) mica_hook_set_destroy(MICA_AT_(world), __VA_ARGS__)
#endif

#define mica_hook_set(world, T, kind, fn, context)                                                                     \
    mica_hook_set_id((world), MICA_ID(T), (kind), (fn), (context))

#endif

/* mica/name.h */
/* Mica, name: optional names, unique within a scope. The scope is another entity, or nil for the top level: the path
 * "station/door" is the entity "door" in the scope of the top-level entity "station".
 *
 *     mica_name_set(world, door, station, "door");
 *     mica_entity found = mica_find(world, "station/door");
 *
 * Entities named in a scope that was destroyed keep their names but are no longer found. */
#ifndef MICA_NAME_H
#define MICA_NAME_H


MICA_BEGIN

/* Names an entity within a scope and replaces its old name; NULL or "" removes the name. Copies the text. Inside a system that is
 * not exclusive, the change is recorded and applied by the flush, which drops it with a report if the scope has the name then.
 * Otherwise it takes effect immediately, even while changes are recorded and for an entity whose creation is recorded.
 * Returns MICA_ERROR_EXISTS if the scope already has the name, MICA_ERROR_INVALID if the name contains '/' or the entity is its
 * own scope, and MICA_ERROR_DEAD for a dead entity or scope. Threads: owner. */
MICA_API mica_result mica_name_set(mica_world *world, mica_entity entity, mica_entity scope, const char *name);

/* Returns the name, or NULL. Valid until the name changes or the entity is destroyed. Threads: reader. */
MICA_API const char *mica_name_get(const mica_world *world, mica_entity entity);

/* Returns the scope of the name; nil for the top level and for an entity without a name. Threads: reader. */
MICA_API mica_entity mica_name_get_scope(const mica_world *world, mica_entity entity);

/* Finds an entity by its path, starting in a scope; nil is the top level. Returns nil if there is none. Threads: reader. */
MICA_API mica_entity mica_find_from(const mica_world *world, mica_entity scope, const char *path);

/* Finds an entity by its path from the top level, or returns nil. Threads: reader. */
static inline mica_entity mica_find(const mica_world *world, const char *path)
{
    return mica_find_from(world, mica_nil(), path);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_name_set(world, ...) mica_name_set(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_get(world, ...) mica_name_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_get_scope(world, ...) mica_name_get_scope(MICA_AT_(world), __VA_ARGS__)
#    define mica_find_from(world, ...) mica_find_from(MICA_AT_(world), __VA_ARGS__)
#    define mica_find(world, ...) mica_find(MICA_AT_(world), __VA_ARGS__)
#endif
#endif

/* mica/pool.h */
/* Mica, pool: components in a packed table of their own, next to the chunks.
 *
 *     MICA_POOL(Burning, seconds_left)                  instead of MICA_COMPONENT; nothing else in the program changes
 *
 * A pool component does not affect the archetype of an entity, so adding and removing it is cheap. Get, set, add, remove,
 * queries, references, hooks, toggles and recorded changes work as for any component. In a query, rows that are contiguous in
 * everything the query reads form one view; other rows form views of one row.
 *
 * This header contains what only pools can do: direct access to the arrays, instance handles, many instances per entity.
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
 * With .many = true an entity can have several instances: mica_pool_add adds one, mica_pool_find returns the first and
 * mica_pool_next the next, in the order they were added. mica_get and mica_set access the first, mica_remove removes all, and
 * mica_disable disables all, including those added later. Queries show each entity once, with its first instance; a query made
 * with MICA_QUERY_INSTANCES shows every instance.
 *
 * Two differences from chunks: use mica_pool_sort instead of mica_query_sort_rows; and if rows are removed at the flush or lazily
 * (.dying), remove hooks run then, not when the entity is destroyed.
 */
#ifndef MICA_POOL_H
#define MICA_POOL_H

/* mica/split.h */
/* Mica, split: components whose fields have a column each, for SIMD. Works in chunks and in pools.
 *
 *     MICA_COMPONENT_WITH(Body, (.split = true), (position, Vec3), (velocity, Vec3), mass)
 *
 *     float *x = mica_view_write_field(&view, Body, position.x);     one column per field, and per x, y and z of a vector
 *     const float *vx = mica_view_read_field(&view, Body, velocity.x);
 *     for (uint32_t i = 0; i < view.count; ++i)
 *         x[i] += vx[i] * dt;
 *
 *     float mass = *mica_get_field(world, ship, Body, mass);         one field of one entity
 *     Body whole;
 *     mica_get_value(world, ship, Body, &whole);                     a copy of the whole value
 *
 * Nested structs, and arrays of up to 4 numbers, become one column per element. Text and longer arrays stay one column of arrays.
 * Fields that are not described are not stored. Create, set, add, remove and everything else works as usual, but the whole
 * value has no address: mica_get and mica_write return NULL with a report, the pointer from mica_add must not be dereferenced,
 * and hooks get no values. A split component must be trivially copyable: no construct, destruct, copy or move function.
 */
#ifndef MICA_SPLIT_H
#define MICA_SPLIT_H


MICA_BEGIN

/* Returns one field of a split component for reading, by its offset in the struct. Returns NULL without a report if the entity is
 * not alive or does not have it, and NULL with a report if no column starts at that offset. Valid as long as a pointer from
 * mica_get. Threads: reader. */
MICA_API const void *mica_get_field_id(const mica_world *world, mica_entity entity, mica_component component,
                                       size_t offset);

/* Like above, for writing: marks the field as changed. Threads: owner. */
MICA_API void *mica_write_field_id(mica_world *world, mica_entity entity, mica_component component, size_t offset);

/* Copies the bytes of a component, split or not. Returns false if the entity is not alive or does not have it. The copy of a
 * component that owns something must only be read. Threads: reader. */
MICA_API bool mica_get_value_id(const mica_world *world, mica_entity entity, mica_component component, void *out_value);

/* Returns the column of one field of a split component that the query reads or writes. Returns NULL for an optional component that
 * is absent, and NULL with a report if the query or the component does not have it. Threads: as its query. */
MICA_API const void *mica_view_read_field_id(const mica_view *view, mica_component component, size_t offset);

/* Like above, for a component that the query writes. Marks the field as changed in all rows of the view.
 * Threads: as its query; several threads may write disjoint views. */
MICA_API void *mica_view_write_field_id(mica_view *view, mica_component component, size_t offset);

/* Like above, but of a component with .track_changed only the rows passed to mica_view_mark_id count as changed. Threads: as above. */
MICA_API void *mica_view_write_field_unmarked_id(mica_view *view, mica_component component, size_t offset);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_get_field_id(world, ...) mica_get_field_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_field_id(world, ...) mica_write_field_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_value_id(world, ...) mica_get_value_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_read_field_id(view, ...) mica_view_read_field_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_field_id(view, ...) mica_view_write_field_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_field_unmarked_id(view, ...) mica_view_write_field_unmarked_id(MICA_AT_(view), __VA_ARGS__)
#endif

#define mica_get_field(world, entity, T, field)                                                                        \
    ((const __typeof__(((T *)0)->field) *)mica_get_field_id((world), (entity), MICA_ID(T), offsetof(T, field)))
#define mica_get_value(world, entity, T, out_value)                                                                    \
    mica_get_value_id((world), (entity), MICA_ID(T), (T *){(out_value)})
#define mica_view_read_field(view, T, field)                                                                                \
    ((const __typeof__(((T *)0)->field) *)mica_view_read_field_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_view_write_field(view, T, field)                                                                          \
    ((__typeof__(((T *)0)->field) *)mica_view_write_field_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_view_write_field_unmarked(view, T, field)                                                                 \
    ((__typeof__(((T *)0)->field) *)mica_view_write_field_unmarked_id((view), MICA_ID(T), offsetof(T, field)))
#define mica_write_field(world, entity, T, field)                                                                     \
    ((__typeof__(((T *)0)->field) *)mica_write_field_id((world), (entity), MICA_ID(T), offsetof(T, field)))

#endif


MICA_BEGIN

typedef struct mica_pool mica_pool;

/* A row of a pool, by value. All zero is nil. Valid until rows are added to, removed from or sorted in this pool; checked builds
 * stop the program if it is used later. */
typedef struct mica_instance {
    uint32_t private_row; /* starts at 1 */
    uint32_t private_stamp;
} mica_instance;

/* Returns whether the instance is nil. Threads: any. */
static inline bool mica_instance_is_nil(mica_instance instance)
{
    return instance.private_row == 0;
}

/* Returns the world's pool of a component. Valid as long as the world. Returns NULL with a report if it is not a pool component,
 * or memory runs out. Threads: owner for the first use, then reader. */
MICA_API mica_pool *mica_pool_of_id(mica_world *world, mica_component component);

/* Returns the length of the arrays. With MICA_INDEX_DIRECT some rows have no owner (nil). Rows of destroyed entities can remain
 * for a while if they are removed at the flush or lazily. Threads: reader. */
MICA_API uint32_t mica_pool_row_count(const mica_pool *pool);

/* Returns the number of instances of living entities. Threads: reader. */
MICA_API uint32_t mica_pool_count(const mica_pool *pool);

/* Returns the owner of each row; NULL for a pool tag. Arrays are valid until rows are added or removed. Threads: reader. */
MICA_API const mica_entity *mica_pool_owners(const mica_pool *pool);

/* Returns the array of values for reading; NULL with a report for a split component or a tag. Threads: reader. */
MICA_API const void *mica_pool_read_id(const mica_pool *pool);

/* Like above, for writing: marks all rows as changed. Threads: owner. */
MICA_API void *mica_pool_write_id(mica_pool *pool);

/* Returns the array of one field of a split component, by its offset; NULL with a report if there is none.
 * Threads: reader. */
MICA_API const void *mica_pool_read_field_id(const mica_pool *pool, size_t offset);

/* Like above, for writing: marks the field as changed in all rows. Threads: owner. */
MICA_API void *mica_pool_write_field_id(mica_pool *pool, size_t offset);

/* Finds the (first) instance of an entity, or returns nil. Threads: reader. */
MICA_API mica_instance mica_pool_find(const mica_pool *pool, mica_entity entity);

/* Returns the next instance of the same entity, or nil. Threads: reader. */
MICA_API mica_instance mica_pool_next(const mica_pool *pool, mica_instance instance);

/* Returns the owner of an instance. Threads: reader. */
MICA_API mica_entity mica_pool_owner(const mica_pool *pool, mica_instance instance);

/* Adds an instance with the default value, after those that the entity has. Returns nil with a report if the entity has one and
 * the pool is not .many, if the entity is not alive, if memory runs out, and while recording (use mica_add_instance).
 * Threads: owner. */
MICA_API mica_instance mica_pool_add(mica_pool *pool, mica_entity entity);

/* Adds an instance with the default value, after those that the entity has, and returns its value. While recording, records it and
 * returns the staged value, which can be written until the flush. The component must be a pool with .many. The pointer of a
 * split component must not be dereferenced. Returns NULL with a report on error. Threads: owner. */
MICA_API void *mica_add_instance_id(mica_world *world, mica_entity entity, mica_component component);

/* Removes one instance; the others keep their order. While recording, records the position of the instance among those of its entity
 * (so a hook that a flush runs must not do this for an entity of which the same flush removes instances later), and the flush removes
 * it. Returns false for nil, or if it is recorded already. Threads: owner. */
MICA_API bool mica_pool_remove(mica_pool *pool, mica_instance instance);

/* Returns the value of an instance, or one field of it, for reading. Returns NULL for nil, and NULL with a report if there is no
 * such array. Threads: reader. */
MICA_API const void *mica_instance_read_id(const mica_pool *pool, mica_instance instance);
MICA_API const void *mica_instance_read_field_id(const mica_pool *pool, mica_instance instance, size_t offset);

/* Like above, for writing. Threads: owner. */
MICA_API void *mica_instance_write_id(mica_pool *pool, mica_instance instance);
MICA_API void *mica_instance_write_field_id(mica_pool *pool, mica_instance instance, size_t offset);

/* Samples random rows and removes those of destroyed entities, including dead neighbours. Stops after four
 * consecutive samples of living rows, or when `budget` rows were sampled. Costs four probes if there is nothing to remove. A block of
 * dead rows is removed in one call; scattered ones can take many calls (mica_pool_sweep finds all). Returns how many rows were removed; 0 while recording. The random numbers
 * depend on the world's seed. Threads: owner. */
MICA_API uint32_t mica_pool_gc(mica_pool *pool, uint32_t budget);

/* Removes all rows of destroyed entities. Returns how many; 0 while recording. Threads: owner. */
MICA_API uint32_t mica_pool_sweep(mica_pool *pool);

/* Sorts the rows. The sort is stable. In a group, the shared rows are sorted first, then the others. Rejected for a direct index
 * (rows are in entity order) and while recording. Threads: owner. */
MICA_API mica_result mica_pool_sort(mica_pool *pool, mica_compare_fn compare, void *context);

enum { MICA_GROUP_POOLS_MAX = 8 };

/* Keeps pools in the same order from now on: in each, the entities that have all of these components come first, row by row,
 * so that a query for them iterates plain arrays. A pool can be in one group; pools with a direct index or .many cannot.
 * Rejected while recording. Threads: owner. */
MICA_API mica_result mica_group_id(mica_world *world, const mica_component *components, uint32_t count);

typedef struct mica_pool_stats {
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t group_count;   /* rows at the front that are shared with the other pools of the group */
    uint64_t probe_count;   /* rows sampled by mica_pool_gc so far */
    uint64_t removed_count; /* rows removed by mica_pool_gc so far */
    size_t memory_bytes;
} mica_pool_stats;

/* Returns statistics about the pool. Threads: reader. */
MICA_API mica_pool_stats mica_pool_get_stats(const mica_pool *pool);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_add_instance_id(...) MICA_AT_(mica_add_instance_id(__VA_ARGS__))
#    define mica_pool_of_id(world, ...) mica_pool_of_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_pool_row_count(pool) mica_pool_row_count(MICA_AT_(pool))
#    define mica_pool_count(pool) mica_pool_count(MICA_AT_(pool))
#    define mica_pool_owners(pool) mica_pool_owners(MICA_AT_(pool))
#    define mica_pool_read_id(pool) mica_pool_read_id(MICA_AT_(pool))
#    define mica_pool_write_id(pool) mica_pool_write_id(MICA_AT_(pool))
#    define mica_pool_read_field_id(pool, ...) mica_pool_read_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_write_field_id(pool, ...) mica_pool_write_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_find(pool, ...) mica_pool_find(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_next(pool, ...) mica_pool_next(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_owner(pool, ...) mica_pool_owner(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_add(pool, ...) mica_pool_add(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_remove(pool, ...) mica_pool_remove(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_read_id(pool, ...) mica_instance_read_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_read_field_id(pool, ...) mica_instance_read_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_write_id(pool, ...) mica_instance_write_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_instance_write_field_id(pool, ...) mica_instance_write_field_id(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_gc(pool, ...) mica_pool_gc(MICA_AT_(pool), __VA_ARGS__)
#    define mica_pool_sweep(pool) mica_pool_sweep(MICA_AT_(pool))
#    define mica_pool_sort(pool, ...) mica_pool_sort(MICA_AT_(pool), __VA_ARGS__)
#    define mica_group_id(world, ...) mica_group_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_pool_get_stats(pool) mica_pool_get_stats(MICA_AT_(pool))
#endif

#define mica_pool_of(world, T) mica_pool_of_id((world), MICA_ID(T))
#define mica_add_instance(world, entity, T) ((T *)mica_add_instance_id((world), (entity), MICA_ID(T)))
#define mica_pool_read(pool, T) ((const T *)mica_pool_read_id(pool))
#define mica_pool_write(pool, T) ((T *)mica_pool_write_id(pool))
#define mica_pool_read_field(pool, T, field)                                                                           \
    ((const __typeof__(((T *)0)->field) *)mica_pool_read_field_id((pool), offsetof(T, field)))
#define mica_pool_write_field(pool, T, field)                                                                          \
    ((__typeof__(((T *)0)->field) *)mica_pool_write_field_id((pool), offsetof(T, field)))
#define mica_instance_read(pool, instance, T) ((const T *)mica_instance_read_id((pool), (instance)))
#define mica_instance_write(pool, instance, T) ((T *)mica_instance_write_id((pool), (instance)))
#define mica_instance_read_field(pool, instance, T, field)                                                             \
    ((const __typeof__(((T *)0)->field) *)mica_instance_read_field_id((pool), (instance), offsetof(T, field)))
#define mica_instance_write_field(pool, instance, T, field)                                                            \
    ((__typeof__(((T *)0)->field) *)mica_instance_write_field_id((pool), (instance), offsetof(T, field)))
#define mica_group(world, ...)                                                                                         \
    mica_group_id((world), (const mica_component[]){MICA_FOR_EACH_(MICA_GROUP_ID_, , __VA_ARGS__)},                    \
                  (uint32_t)(sizeof((const mica_component[]){MICA_FOR_EACH_(MICA_GROUP_ID_, , __VA_ARGS__)}) /         \
                             sizeof(mica_component)))
#define MICA_GROUP_ID_(unused, T) MICA_ID(T),

#endif

/* mica/ref.h */
/* Mica, ref: a reference to a component of an entity. It finds the component after moves, and yields NULL once the entity is
 * destroyed or the component removed. Copy and assign it freely.
 *
 *     mica_ref target = mica_ref_of(enemy, Position);
 *     const Position *there = mica_ref_read(world, &target, Position);        NULL if it no longer exists
 */
#ifndef MICA_REF_H
#define MICA_REF_H


MICA_BEGIN

/* Zero refers to nothing. The private fields cache the last look-up. It is valid while nothing moves in the world or, for a component
 * in chunks, while the entity stays in its row. */
typedef struct mica_ref {
    mica_entity entity;
    mica_component component;
    uint32_t private_epoch;
    uint64_t private_structure;
    uint64_t private_record;
    void *private_value;
} mica_ref;

/* Creates a reference. The component need not exist yet. Threads: any. */
static inline mica_ref mica_ref_of_id(mica_entity entity, mica_component component)
{
    mica_ref ref = {entity, component, 0, 0, 0, NULL};
    return ref;
}

/* Returns the component for reading, or NULL. Valid as long as a pointer from mica_get. Threads: reader, one per reference. */
MICA_API const void *mica_ref_read_id(const mica_world *world, mica_ref *ref);

/* Returns the component for writing, or NULL. Valid as long as a pointer from mica_write. Threads: owner. */
MICA_API void *mica_ref_write_id(mica_world *world, mica_ref *ref);

/* Like mica_ref_read_id, inline unless the last look-up is invalid, and in checked builds. Threads: reader, one per reference. */
static inline const void *mica_lookup_ref_read(const mica_world *world, mica_ref *ref)
{
#ifndef MICA_CHECKED
    if (__builtin_expect(world && ref, 1)) {
        const mica_private_lookup *lookup = mica_private_of(world);
        uint64_t structure = lookup->structure;
        if (__builtin_expect(structure == ref->private_structure, 1))
            return ref->private_value;
        bool is_same_world = !((structure ^ ref->private_structure) >> 40);
        if (is_same_world && ref->private_epoch == lookup->chunk_epoch && ref->entity.index < lookup->record_count &&
            ref->private_record == mica_private_record(lookup, ref->entity.index)) {
            ref->private_structure = structure;
            return ref->private_value;
        }
    }
#endif
    return mica_ref_read_id(world, ref);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_ref_read_id(world, ...) mica_ref_read_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_ref_write_id(world, ...) mica_ref_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_lookup_ref_read(world, ...) mica_lookup_ref_read(MICA_AT_(world), __VA_ARGS__)
#endif

#define mica_ref_of(entity, T) mica_ref_of_id((entity), MICA_ID(T))
#define mica_ref_read(world, ref, T) ((const T *)mica_lookup_ref_read((world), (ref)))
#define mica_ref_write(world, ref, T) ((T *)mica_ref_write_id((world), (ref)))

#endif

/* mica/removal.h */
/* Mica, removal: a list of the entities that lost a component, read at any later time. Queries find what was added
 * (MICA_ADDED); what was removed is in no query any more.
 *
 *     mica_removals *fallen = mica_removals_create(world, Health);
 *     ...
 *     mica_entity some[64];
 *     for (uint32_t count; (count = mica_removals_read(fallen, some, 64)) > 0;)
 *         bury(some, count);
 *
 * An entity is listed once for each time it lost the component, by remove or by destroy, in order. It may no longer be alive.
 */
#ifndef MICA_REMOVAL_H
#define MICA_REMOVAL_H


MICA_BEGIN

typedef struct mica_removals mica_removals;

/* Starts a list for a component. Returns NULL on error. Threads: owner. */
MICA_API mica_removals *mica_removals_create_id(mica_world *world, mica_component component);

/* Destroys the list. NULL is a no-op. Rejected inside a hook. Threads: owner. */
MICA_API void mica_removals_destroy(mica_removals *removals);

/* Takes up to `capacity` entities from the list, oldest first. Returns how many. Threads: owner. */
MICA_API uint32_t mica_removals_read(mica_removals *removals, mica_entity *out_entities, uint32_t capacity);

/* Returns how many removals were not listed since the last call because memory ran out. Each time is also reported.
 * Threads: owner. */
MICA_API uint64_t mica_removals_missed(mica_removals *removals);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_removals_create_id(world, ...) mica_removals_create_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_removals_destroy(removals) mica_removals_destroy(MICA_AT_(removals))
#    define mica_removals_read(removals, ...) mica_removals_read(MICA_AT_(removals), __VA_ARGS__)
#    define mica_removals_missed(removals) mica_removals_missed(MICA_AT_(removals))
#endif

#define mica_removals_create(world, T) mica_removals_create_id((world), MICA_ID(T))

#endif

/* mica/singleton.h */
/* Mica, singleton: components with exactly one value per world: time, settings, input. Described with MICA_SINGLETON. The value
 * exists from its first use, zero or constructed, and never moves.
 *
 *     mica_singleton_write(world, Clock)->seconds += 1;
 *     float now = mica_singleton_get(world, Clock)->seconds;
 *
 * Queries can READ and WRITE a singleton like other terms; its column then has one element, column[0]. */
#ifndef MICA_SINGLETON_H
#define MICA_SINGLETON_H


MICA_BEGIN

/* Returns the value for reading, or NULL if memory runs out or the component is not a singleton.
 * Threads: owner for the first use, then reader. */
MICA_API const void *mica_singleton_get_id(mica_world *world, mica_component component);

/* Returns whether the value exists, without creating it. Threads: reader. */
MICA_API bool mica_singleton_is_used(const mica_world *world, mica_component component);

/* Returns the value for writing, or NULL. Threads: owner. */
MICA_API void *mica_singleton_write_id(mica_world *world, mica_component component);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_singleton_get_id(world, ...) mica_singleton_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_is_used(world, ...) mica_singleton_is_used(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_write_id(world, ...) mica_singleton_write_id(MICA_AT_(world), __VA_ARGS__)
#endif

#define mica_singleton_get(world, T) ((const T *)mica_singleton_get_id((world), MICA_ID(T)))
#define mica_singleton_write(world, T) ((T *)mica_singleton_write_id((world), MICA_ID(T)))

#endif

/* mica/state.h */
/* Mica, state: what a world has besides its entities and values, so that a loaded world continues exactly like the saved one.
 *
 *     mica_state_take(world, &state);                        handles, order of rows, time, clocks, messages
 *     ... write mica_state_bytes and all entities and values ...
 *     mica_resume_begin(other, bytes, byte_count, handles, count, &resume);
 *     ... create the entities with one batch (mica/batch.h), in the order of `handles` ...
 *     mica_resume_end(resume);                               both worlds have the same hash, now and after any number of ticks
 *
 * mica_save and mica_spawn do all of this (mica/resource.h); these functions are for programs with a file format of their own.
 *
 * The state has: which handles are in use, free and used next; the order of archetypes, rows and chunks, and of rows in pools; what
 * queries and systems consider changed; time, pause and scale; ticks and fixed steps of phases; whether systems and phases are
 * enabled, and how long systems have waited; messages in streams and the positions of their readers, waiting messages and requests; lists of
 * removals. It refers to components, phases, systems and streams by name: what the other world does not have is left out.
 * Numbers are little-endian on every machine. docs/format.md describes the bytes.
 */
#ifndef MICA_STATE_H
#define MICA_STATE_H


MICA_BEGIN

/* The state of a world at one time, as bytes. */
typedef struct mica_state mica_state;

/* Copies the state of a world, which does not change. Returns MICA_ERROR_MEMORY if memory is short, and MICA_ERROR_REFUSED without a
 * report if the world is not at rest: inside a frame or a hook, while changes are recorded, or with recorded changes waiting for a
 * flush; then `*out_state` is NULL. Threads: owner. */
MICA_API mica_result mica_state_take(mica_world *world, mica_state **out_state);

/* Returns the bytes and their number. Valid until the state is freed. Threads: any. */
MICA_API const void *mica_state_bytes(const mica_state *state, size_t *out_byte_count);

/* Frees a state, before its world is destroyed. NULL is a no-op. Threads: owner. */
MICA_API void mica_state_free(mica_state *state);

/* Returns whether bytes consist of the records of a state. What the records say is checked when they are restored. Threads: any. */
MICA_API bool mica_state_check(const void *bytes, size_t byte_count);

/* Returns whether a state has a time and clocks, which a world has that uses mica/flow.h. Threads: any. */
MICA_API bool mica_state_has_time(const void *bytes, size_t byte_count);

/* A world that is being restored. */
typedef struct mica_resume mica_resume;

/* Returns whether a state can be restored into the world: it never had an entity, and no frame has run. Threads: reader. */
MICA_API bool mica_world_is_unused(const mica_world *world);

/* Begins to restore a state into an unused world that has the components, systems and streams. The entities that one batch creates
 * next get these handles, in this order; the bytes must stay valid until the end. Returns MICA_ERROR_MEMORY if memory is short,
 * MICA_ERROR_REFUSED if the world is not unused, and MICA_ERROR_DATA if the bytes are invalid; then `*out_resume` is NULL and an unused
 * world still is. Threads: owner. */
MICA_API mica_result mica_resume_begin(mica_world *world, const void *bytes, size_t byte_count,
                                       const mica_entity *entities, uint32_t entity_count, mica_resume **out_resume);

/* Restores the rest of the state, once the entities have their values, names and parents, and frees `resume`. If hooks changed what
 * was created, rows keep the order they have. On error, which is MICA_ERROR_MEMORY or MICA_ERROR_DATA, the entities stay.
 * Threads: owner. */
MICA_API mica_result mica_resume_end(mica_resume *resume);

/* Ends without restoring: handles that no entity has are free. NULL is a no-op. Threads: owner. */
MICA_API void mica_resume_cancel(mica_resume *resume);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_state_take(world, ...) mica_state_take(MICA_AT_(world), __VA_ARGS__)
#    define mica_state_bytes(state, ...) mica_state_bytes(MICA_AT_(state), __VA_ARGS__)
#    define mica_state_free(state) mica_state_free(MICA_AT_(state))
#    define mica_state_check(...) MICA_AT_(mica_state_check(__VA_ARGS__))
#    define mica_state_has_time(...) MICA_AT_(mica_state_has_time(__VA_ARGS__))
#    define mica_world_is_unused(world) mica_world_is_unused(MICA_AT_(world))
#    define mica_resume_begin(world, ...) mica_resume_begin(MICA_AT_(world), __VA_ARGS__)
#    define mica_resume_end(resume) mica_resume_end(MICA_AT_(resume))
#    define mica_resume_cancel(resume) mica_resume_cancel(MICA_AT_(resume))
#endif
#endif


#endif

/* mica/flow.h */
/* Mica, flow: systems and how they communicate. This header includes the core and everything that runs in frames.
 *
 * A system is a function over the entities that have certain components. mica_step runs all systems once, in parallel if their
 * declared reads and writes allow it; the result is the same for any number of threads.
 * Start with examples/systems.c; then read system.h and frame.h. Streams, messages, requests and observers connect systems. */
#ifndef MICA_FLOW_H
#define MICA_FLOW_H

/* mica/frame.h */
/* Mica, frame: the frame loop. A frame runs the systems phase by phase, with a flush after each phase.
 *
 *     mica_run_def run = mica_run_def_default();
 *     run.frames_per_second = 30;
 *     mica_run(world, &run); // until a system calls mica_stop
 *
 * or, for programs with a loop of their own:
 *
 *     while (is_running())
 *         mica_step(world, seconds_since_the_last_frame());
 *
 * The phases are START, BEGIN, FIXED, UPDATE and END, plus those you add. START runs once: in the first frame in which the phase
 * has systems, is enabled and the world is not paused. A snapshot, a clone and a saved world know whether it ran: a world that continues
 * does not start again.
 *
 * A phase with a fixed step runs as often as its step fits into
 * the elapsed time: not at all, once, or several times to catch up. Steps beyond catch_up_max in one frame are dropped; a remainder shorter than one step is kept for the next frame.
 * frame->alpha is the position of the frame between two fixed steps, for interpolation.
 *
 * The world after a frame is bit-identical for any number of workers and any timing.
 */
#ifndef MICA_FRAME_H
#define MICA_FRAME_H

/* mica/task.h */
/* Mica, task: parallel loops, reductions, and custom schedulers.
 *
 *     static void blur(uint32_t begin, uint32_t end, void *image) { ... }
 *     mica_parallel_for(world, image.height, 16, blur, &image);
 *
 * These functions work outside and inside systems. A thread that waits works meanwhile, so nesting cannot deadlock.
 *
 * Worker threads are created on first use. With a custom scheduler Mica creates no threads: it asks for helpers, and works
 * without them if none come.
 */
#ifndef MICA_TASK_H
#define MICA_TASK_H


MICA_BEGIN

/* A task: works until there is no more work at the moment. */
typedef void (*mica_task_fn)(void *data);

/* A custom scheduler. The thread that calls mica_step does all work that no helper takes, so helpers may come late. But each
 * submitted task must have run when wait returns. */
typedef struct mica_scheduler {
    /* Runs fn(data) once, on any thread. Can be called from any worker. Returns a handle for wait. */
    void *(*submit)(mica_task_fn fn, void *data, void *context);
    /* Returns when the task has run. Called by the owner, once per submitted task. */
    void (*wait)(void *task, void *context);
    void *context;
} mica_scheduler;

/* Processes the elements begin to end - 1. */
typedef void (*mica_range_fn)(uint32_t begin, uint32_t end, void *context);

/* Calls the function for ranges of `grain` elements (0: chosen automatically) that cover 0 to count - 1, on all workers. Returns
 * when all are done. The ranges do not depend on the number of workers. Threads: owner; inside a system, the system's own. */
MICA_API void mica_parallel_for(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context);

/* A reduction: a sum, a minimum, a bounding box. The result is bit-identical for any number of workers, even if the operation
 * rounds, because the parts do not depend on the workers and are combined in order. */
typedef struct mica_reduction {
    const void *zero; /* initial value of each part */
    uint32_t bytes;   /* its size, up to MICA_REDUCTION_BYTES_MAX */
    void (*range)(uint32_t begin, uint32_t end, void *sum,
                  void *context);                                 /* adds elements to a part: for mica_reduce_range */
    void (*view)(mica_view *view, void *sum, void *context);      /* adds rows to a part: for mica_reduce_query */
    void (*combine)(void *sum, const void *later, void *context); /* adds the following part */
    void *context;
} mica_reduction;

enum {
    MICA_WORKERS_MAX = 256, /* threads of a world, including the owner */
    MICA_REDUCTION_BYTES_MAX = 1024,
};

/* Reduces 0 to count - 1 in ranges of `grain` and writes the result to `out_sum`. Returns MICA_ERROR_MEMORY or MICA_ERROR_INVALID and
 * leaves `out_sum` unchanged on error. Threads: as mica_parallel_for, owner or the system's own. */
MICA_API mica_result mica_reduce_range(mica_world *world, uint32_t count, uint32_t grain, const mica_reduction *how,
                                       void *out_sum);

/* Reduces the rows of a query, in views of up to MICA_VIEW_ROWS rows. Threads: as above. */
MICA_API mica_result mica_reduce_query(mica_query *query, const mica_reduction *how, void *out_sum);

/* Returns the number of threads that work for this world, including the caller. Threads: reader. */
MICA_API uint32_t mica_worker_count(const mica_world *world);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_parallel_for(world, ...) mica_parallel_for(MICA_AT_(world), __VA_ARGS__)
#    define mica_reduce_range(world, ...) mica_reduce_range(MICA_AT_(world), __VA_ARGS__)
#    define mica_reduce_query(query, ...) mica_reduce_query(MICA_AT_(query), __VA_ARGS__)
#    define mica_worker_count(world) mica_worker_count(MICA_AT_(world))
#endif
#endif


MICA_BEGIN

/* A system id, unique within the world. Zero is none. */
typedef struct mica_system {
    uint32_t id;
} mica_system;

/* A phase id. Zero, MICA_PHASE_UPDATE, is the default of systems. */
typedef uint32_t mica_phase;
enum {
    MICA_PHASE_UPDATE = 0, /* once per frame: the default */
    MICA_PHASE_BEGIN,      /* once per frame, first: input */
    MICA_PHASE_FIXED,      /* with a fixed time step: simulation */
    MICA_PHASE_END,        /* once per frame, last: output */
    MICA_PHASE_START,      /* once per world, before the first BEGIN */
    MICA_PHASE_NONE = 0x7FFFFFFF,
};

/* The context in which a system runs. Valid while the system runs. */
typedef struct mica_frame {
    mica_world *world;
    mica_query *query; /* of the system's terms, for systems that iterate themselves; NULL without terms */
    void *context;     /* of the system */
    float dt;          /* seconds since the system last ran, scaled; in a phase with a fixed step, that step */
    float alpha;       /* from 0 to 1: the position of this frame between the last fixed step and the next */
    double seconds;    /* since the world was created, scaled; in a phase with a fixed step, the time of its steps */
    uint64_t tick;     /* runs of the phase so far */
    mica_system system;
    uint32_t order;    /* private: position in the phase */
    uint64_t identity; /* private: hash of the name */
} mica_frame;

/* How a world runs its systems. Start with mica_flow_def_default. */
typedef struct mica_flow_def {
    uint32_t worker_count; /* number of threads, including the caller, up to MICA_WORKERS_MAX; 0: one per core */
    const mica_scheduler *scheduler; /* replaces the built-in scheduler: see mica/task.h */
    uint64_t seed;                   /* of the random numbers of systems: see mica/random.h */
    double fixed_seconds;            /* the step of MICA_PHASE_FIXED; 1/60 */
    uint32_t catch_up_max;           /* maximum number of steps of a fixed phase per frame; 8 */
    bool no_fusion; /* run systems one after another instead of fused per slice: same result, for comparison */
} mica_flow_def;

/* Returns the defaults. Threads: any. */
MICA_API mica_flow_def mica_flow_def_default(void);

/* Configures how systems run. Without a call the defaults apply. Stops the threads of the old configuration. On error the old
 * configuration stays. Rejected inside a system. Threads: owner. */
MICA_API mica_result mica_flow_configure(mica_world *world, const mica_flow_def *def);

/* Runs one frame: every phase in order, each followed by a flush. Returns the first error of a flush or phase; errors that systems
 * cause themselves are only reported. If a flush fails because memory runs out or a seal rejects it, it is repeated before the next
 * systems run. If memory runs out before the systems of MICA_PHASE_START are called, the frame ends there, and the next frame
 * tries again. Rejected inside a system and while recording. Threads: owner. */
MICA_API mica_result mica_step(mica_world *world, float dt);

/* Like mica_step, but starts with the given system: everything before it in the frame is skipped. If it is in a phase with a
 * fixed step or in MICA_PHASE_START, that phase runs once. Threads: owner. */
MICA_API mica_result mica_step_from(mica_world *world, mica_system system, float dt);

/* A clock for mica_run, in seconds since any moment. */
typedef struct mica_clock {
    double (*now)(void *context);                /* must not go back */
    void (*wait)(double seconds, void *context); /* returns after about this time */
    void *context;
} mica_clock;

/* How mica_run runs frames. Start with mica_run_def_default. */
typedef struct mica_run_def {
    double frames_per_second; /* the loop waits for the rest of a shorter frame; 60; 0: it never waits */
    double frame_seconds_max; /* a longer frame counts as this long; 0.25 */
    uint64_t frame_count;     /* ends after this many frames; 0: runs until mica_stop */
    const mica_clock *clock;  /* NULL: the clock of the computer; tests pass their own */
} mica_run_def;

/* Returns the defaults. Threads: any. */
MICA_API mica_run_def mica_run_def_default(void);

/* Runs frames with measured time until a system calls mica_stop, `frame_count` frames have run or a frame fails. The dt of a frame
 * is the time since the frame before it began, at most frame_seconds_max; that of the first frame is 0. Frames that are late by
 * more than one frame are not made up for. So a frame that takes long, or a stop in the debugger, never makes later frames longer.
 * Returns the error of mica_step; calling it again continues. Rejected inside a system and while recording. Threads: owner. */
MICA_API mica_result mica_run(mica_world *world, const mica_run_def *def);

/* Ends mica_run after the current frame, which is completed. No effect outside mica_run. Threads: any, during mica_run. */
MICA_API void mica_stop(mica_world *world);

/* Runs one system, regardless of its rate and condition, and flushes. Threads: owner. */
MICA_API mica_result mica_system_run(mica_world *world, mica_system system, float dt);

/* Pauses or continues. While paused, mica_step only runs systems with .while_paused. Threads: owner. */
MICA_API void mica_pause(mica_world *world, bool paused);

/* While paused, lets the next mica_step run normally. Threads: owner. */
MICA_API void mica_pause_step(mica_world *world);

/* Scales time: every dt is multiplied by it. Rejects negative and infinite values. Threads: owner. */
MICA_API mica_result mica_time_set_scale(mica_world *world, double scale);

/* The time of the world. */
typedef struct mica_time {
    double seconds; /* total, scaled */
    uint64_t frame; /* number of frames started */
    uint64_t step;  /* number of runs of MICA_PHASE_FIXED */
    float dt;       /* of the last frame, scaled */
    float alpha;    /* between the last run of MICA_PHASE_FIXED and the next */
} mica_time;

/* Returns the time of the world. Threads: reader. */
MICA_API mica_time mica_time_get(const mica_world *world);

typedef struct mica_phase_def {
    const char *name;
    mica_phase beside; /* it runs right after this phase, */
    bool before;       /* or right before it */
    double
        fixed_seconds; /* its fixed step; 0: once per frame. Neighbouring phases with equal steps alternate step by step. */
    mica_location location;
} mica_phase_def;

/* Adds a phase. Returns MICA_PHASE_NONE with a report on error. Rejected inside a system. Threads: owner. */
MICA_API mica_phase mica_phase_add(mica_world *world, const mica_phase_def *def);

/* Removes a phase that was added, with its systems. Returns false if there is none. Threads: owner. */
MICA_API bool mica_phase_remove(mica_world *world, mica_phase phase);

/* Enables or disables a phase with all its systems. Threads: owner. */
MICA_API bool mica_phase_enable(mica_world *world, mica_phase phase, bool enabled);

/* Finds a phase by name, or returns MICA_PHASE_NONE. The built-in ones are "update", "begin", "fixed", "end" and
 * "start". Threads: reader. */
MICA_API mica_phase mica_phase_find(const mica_world *world, const char *name);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_flow_configure(world, ...) mica_flow_configure(MICA_AT_(world), __VA_ARGS__)
#    define mica_step(world, ...) mica_step(MICA_AT_(world), __VA_ARGS__)
#    define mica_step_from(world, ...) mica_step_from(MICA_AT_(world), __VA_ARGS__)
#    define mica_run(world, ...) mica_run(MICA_AT_(world), __VA_ARGS__)
#    define mica_stop(world) mica_stop(MICA_AT_(world))
#    define mica_system_run(world, ...) mica_system_run(MICA_AT_(world), __VA_ARGS__)
#    define mica_pause(world, ...) mica_pause(MICA_AT_(world), __VA_ARGS__)
#    define mica_pause_step(world) mica_pause_step(MICA_AT_(world))
#    define mica_time_set_scale(world, ...) mica_time_set_scale(MICA_AT_(world), __VA_ARGS__)
#    define mica_time_get(world) mica_time_get(MICA_AT_(world))
#    define mica_phase_add(world, ...) mica_phase_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_remove(world, ...) mica_phase_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_enable(world, ...) mica_phase_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_find(world, ...) mica_phase_find(MICA_AT_(world), __VA_ARGS__)
#endif

/* MICA_PHASE_AFTER(name, phase), MICA_PHASE_BEFORE(name, phase): further fields of the def may follow.
 *     mica_phase_add(world, MICA_PHASE_AFTER("physics", MICA_PHASE_BEGIN, .fixed_seconds = 1.0 / 120)); */
#define MICA_PHASE_AFTER(name_, ...)                                                                                   \
    (&(const mica_phase_def){.name = (name_), .location = MICA_HERE, .beside = __VA_ARGS__})
#define MICA_PHASE_BEFORE(name_, ...)                                                                                  \
    (&(const mica_phase_def){.name = (name_), .location = MICA_HERE, .before = true, .beside = __VA_ARGS__})

#endif

/* mica/message.h */
/* Mica, message: send messages to components. Handlers are registered by (component, message).
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
 *     mica_send(world, goblin, Damage, {3});               to the components of one entity that have a handler
 *     mica_broadcast(world, Damage, {1});                  to all entities, type by type, only types with a handler
 *     mica_message_every_frame(world, Update, MICA_PHASE_UPDATE);
 *
 * Messages sent inside systems are delivered after the flush of the phase. They reach entities created in that phase, and not
 * those destroyed in it. Delivery is done by systems, one per component with handlers, named "Health.messages": in parallel, slice by
 * slice. A component receives its messages in the order they were sent: (system, slice, call). Changes made by a handler are
 * recorded and applied by the flush after the round; messages sent by a handler are delivered in the next round.
 *
 * Handlers follow the rule of systems (mica/system.h): they access only the values they are given and record everything else. A
 * handler that reads other entities or streams declares it:
 *
 *     mica_handler_add(world, MICA_HANDLER_USING(Health, Damage, health_takes_damage, MICA_USES(MICA_USE_READ(Armour))));
 *
 * Outside systems, messages are delivered immediately on the owner's thread, one after another; changes made by a handler are
 * applied before the next one runs, and messages it sends are queued after those already waiting. Disabled components and disabled entities receive no
 * messages. Handlers can be part of a component's description and then need not be added:
 *
 *     static const mica_handler camera_handlers[] = {MICA_HANDLED(Update, camera_updates)};
 *     MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), zoom)
 */
#ifndef MICA_MESSAGE_H
#define MICA_MESSAGE_H

/* mica/system.h */
/* Mica, system: a function that runs every frame over matching entities.
 *
 *     static void move(mica_view *view)
 *     {
 *         Position *position = mica_view_write(view, Position);
 *         const Velocity *velocity = mica_view_read(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             position[i].x += velocity[i].x * view->dt;
 *     }
 *     mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
 *     mica_system_add(world, MICA_SYSTEM_WITH(collide, (.after = {"move"}), MICA_READ(Position)));
 *
 * There are four kinds of function. MICA_SYSTEM tells the first three apart by their parameters:
 *   MICA_SYSTEM       (mica_view *view)                  a range of rows, up to MICA_VIEW_ROWS
 *   MICA_SYSTEM       (entity, columns, context)         one entity: mica_each_fn
 *   MICA_SYSTEM       (count, columns)                   only the columns, in the order of the terms: mica_columns_fn
 *   MICA_SYSTEM_ONCE  (const mica_frame *frame)          once per run; it can iterate frame->query itself
 *
 * Terms declare what a system reads and writes. Two systems of a phase conflict if one writes what the other reads or writes.
 * Conflicting systems run in the order they were added, unless .before and .after say otherwise; all others can run at the
 * same time. One system can run on several threads, on different rows.
 *
 * Own rows only. A system that gets views, entities or columns must access only the rows it is given. The scheduler relies on
 * this: the second of two systems may process a slice while the first still processes others, and a chain of systems can run
 * over a slice while it is in the cache. A system that accesses other entities (mica_get) declares it:
 *   MICA_USES(MICA_USE_READ(Position))              the Position of any entity
 * During the whole run of the system no other system writes what is in .uses. A system that writes other rows declares
 * MICA_USE_WRITE and runs on one thread.
 *
 * Inside a system the structure of the world does not change. mica_create, mica_destroy, mica_add, mica_set and mica_remove are
 * recorded and applied by the flush after the phase, ordered by (system, slice, call). mica_view_commands returns the buffer;
 * its functions also store the source location for reports. A system with .flush_first sees what earlier systems of its phase
 * recorded: it and the systems after it run after all of them and a flush, which delivers messages like the one after a phase.
 * An exclusive system runs alone, after the changes of earlier systems are applied, and its changes are immediate.
 */
#ifndef MICA_SYSTEM_H
#define MICA_SYSTEM_H


MICA_BEGIN

enum {
    MICA_VIEW_ROWS = 2048, /* the maximum number of rows in a view of a system: whole slices */
    MICA_SYSTEM_ORDERS_MAX = 8,
};

struct mica_index;
struct mica_stream;

/* What a system accesses besides its own rows. */
typedef struct mica_use {
    mica_component component;   /* of any entity, or a singleton; or 0, and */
    struct mica_stream *stream; /* a stream: see mica/stream.h; or */
    bool write;
    struct mica_index *index; /* an index, which is made current before the system starts: see mica/index.h */
} mica_use;

/* How the rows of a system are divided into jobs for the workers. The result is the same for all. */
typedef enum mica_parallel {
    MICA_PARALLEL_AUTO = 0,  /* equal parts for all workers, if it is worth it */
    MICA_PARALLEL_NONE,      /* one thread, in order */
    MICA_PARALLEL_EVEN,      /* equal parts, always */
    MICA_PARALLEL_EVERY,     /* one job per parallel_rows entities: for few entities with much work each */
    MICA_PARALLEL_THRESHOLD, /* equal parts from parallel_rows entities on, else one thread */
} mica_parallel;

/* Called with a range of rows of the system's query. view->frame has the rest. */
typedef void (*mica_view_fn)(mica_view *view);
/* Called with columns of `count` values in the order of the terms; NULL if a term has none. */
typedef void (*mica_columns_fn)(uint32_t count, void *const *columns);
typedef void (*mica_once_fn)(const mica_frame *frame);
/* Returns whether the system runs this time. Called on the owner's thread before the phase begins. */
typedef bool (*mica_condition_fn)(const mica_frame *frame);

/* The definition of a system. Zero is the default of everything except the name, one function and the terms. */
typedef struct mica_system_def {
    const char *name;
    mica_view_fn view; /* exactly one of these four functions */
    mica_each_fn each;
    mica_columns_fn columns;
    mica_once_fn once;
    const mica_term *terms;
    uint32_t term_count;
    uint32_t use_count;
    const mica_use *uses;
    void *context;
    mica_phase phase;
    const char *before[MICA_SYSTEM_ORDERS_MAX]; /* names of systems in the same phase; they can be added later */
    const char *after[MICA_SYSTEM_ORDERS_MAX];
    mica_parallel parallel;
    uint32_t parallel_rows;
    int32_t
        priority; /* of systems that are ready, the one with the highest priority starts first; affects only timing */
    uint32_t every_frames; /* runs every n-th run of its phase; 0 means every run */
    double every_seconds;  /* runs when this much time has passed since its last run */
    mica_condition_fn condition;
    mica_component order_by; /* as in mica_query_def: rows are sorted, on one thread */
    mica_compare_fn compare;
    void *compare_context;
    bool with_hidden;  /* as in mica_query_def: also runs over entities that are hidden */
    bool flush_first;  /* runs after all systems before it in the order of the phase, and a flush: see above */
    bool exclusive;    /* runs alone, and its changes are immediate; needs .once */
    bool while_paused; /* also runs while the world is paused, with real time */
    bool disabled;     /* starts disabled */
    mica_location location;
} mica_system_def;

/* Adds a system. The def is copied. On error returns zero with a report that names the system, the term and the source line:
 * unknown component, duplicate name, a cycle of before and after (with the names in it). During a frame only an exclusive system
 * can add one; it runs from the next frame on. Threads: owner. */
MICA_API mica_system mica_system_add(mica_world *world, const mica_system_def *def);

/* Replaces the def of a system, keeping its id and its position in the order. On error the old def stays. For code that is
 * reloaded. Threads: owner. */
MICA_API mica_result mica_system_replace(mica_world *world, mica_system system, const mica_system_def *def);

/* Removes a system. Returns false if there is none, and false with a report for a system that runs message handlers. During a
 * frame only an exclusive system can do this; the system is removed at the end of the frame. Threads: owner. */
MICA_API bool mica_system_remove(mica_world *world, mica_system system);

/* Enables or disables a system. Returns false if there is none. Threads: owner. */
MICA_API bool mica_system_enable(mica_world *world, mica_system system, bool enabled);

/* Finds a system by name, or returns zero. Threads: reader. */
MICA_API mica_system mica_system_find(const mica_world *world, const char *name);

/* Returns the name, or NULL. Valid as long as the system. Threads: reader. */
MICA_API const char *mica_system_name(const mica_world *world, mica_system system);

/* Returns the command buffer of this view's job, or NULL outside systems. Valid while the function of the system runs.
 * Threads: any, the view's own. */
MICA_API mica_commands *mica_view_commands(const mica_view *view);

/* Like above, for a system that runs once. Threads: any, the system's own. */
MICA_API mica_commands *mica_frame_commands(const mica_frame *frame);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_system_add(world, ...) mica_system_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_replace(world, ...) mica_system_replace(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_remove(world, ...) mica_system_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_enable(world, ...) mica_system_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_find(world, ...) mica_system_find(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_name(world, ...) mica_system_name(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_commands(view) mica_view_commands(MICA_AT_(view))
#    define mica_frame_commands(frame) mica_frame_commands(MICA_AT_(frame))
#endif

/* MICA_SYSTEM(function, terms...). The name of the function is the name of the system; its parameters decide the kind. */
#define MICA_SYSTEM(fn, ...) MICA_SYSTEM_WITH(fn, (.disabled = false), __VA_ARGS__)
/* The same with more fields of the def: MICA_SYSTEM_WITH(function, (.phase = MICA_PHASE_END, .context = &log), terms...) */
#define MICA_SYSTEM_WITH(fn, options, ...)                                                                             \
    (&(const mica_system_def){.name = #fn,                                                                             \
                              .view = _Generic((fn), mica_view_fn: (fn), mica_each_fn: NULL, mica_columns_fn: NULL),   \
                              .each = _Generic((fn), mica_view_fn: NULL, mica_each_fn: (fn), mica_columns_fn: NULL),   \
                              .columns = _Generic((fn), mica_view_fn: NULL, mica_each_fn: NULL, mica_columns_fn: (fn)), \
                              MICA_TERMS(__VA_ARGS__),                                                                 \
                              .location = MICA_HERE,                                                                   \
                              MICA_UNWRAP_ options})
/* MICA_SYSTEM_ONCE(function), MICA_SYSTEM_ONCE_WITH(function, options). Pass terms, if any, as MICA_TERMS(...) in options. */
#define MICA_SYSTEM_ONCE(fn) MICA_SYSTEM_ONCE_WITH(fn, (.disabled = false))
#define MICA_SYSTEM_ONCE_WITH(fn, options)                                                                             \
    (&(const mica_system_def){.name = #fn, .once = (fn), .location = MICA_HERE, MICA_UNWRAP_ options})

/* .uses: MICA_USES(MICA_USE_READ(Position), MICA_USE_STREAM_WRITE(hits), {.index = grid}) */
#define MICA_USES(...)                                                                                                 \
    .uses = (const mica_use[]){__VA_ARGS__},                                                                           \
    .use_count = (uint32_t)(sizeof((const mica_use[]){__VA_ARGS__}) / sizeof(mica_use))
#define MICA_USE_READ(T) {MICA_ID(T), 0, false, 0}
#define MICA_USE_WRITE(T) {MICA_ID(T), 0, true, 0}
#define MICA_USE_STREAM_READ(stream) {0, (stream), false, 0}
#define MICA_USE_STREAM_WRITE(stream) {0, (stream), true, 0}

#endif


MICA_BEGIN

/* What a handler receives: a message for a range of entities with the component. */
typedef struct mica_message {
    mica_world *world;
    mica_component component;
    mica_component kind; /* the id of the message type */
    uint32_t count;
    const mica_entity *entities;
    void *values;            /* `count` components, for reading and writing; NULL for a tag or a split component */
    const void *data;        /* the message */
    const mica_frame *frame; /* of the system that runs the handler; outside systems, of the last frame */
    void *context;           /* of the handler */
} mica_message;

/* Accesses the values it is given and records all other changes. */
typedef void (*mica_message_fn)(const mica_message *message);

typedef struct mica_handler {
    mica_type *component; /* NULL in a component's description */
    mica_type *message;
    mica_message_fn fn;
    void *context;
    mica_location location;
    const mica_use *uses; /* what it accesses besides its values; copied */
    uint32_t use_count;
} mica_handler;

/* Adds a handler. Several handlers of one pair run in the order they were added. Rejected inside frames and handlers, and if the
 * handlers of a component declare more than 64 uses in total. Threads: owner. */
MICA_API mica_result mica_handler_add(mica_world *world, const mica_handler *handler);

/* Removes a handler that was added with this function for this pair. Returns false if there is none. Threads: owner. */
MICA_API bool mica_handler_remove(mica_world *world, mica_component component, mica_component message,
                                  mica_message_fn fn);

/* Sends a message to one entity: to its components with a handler, in the order they got their first handlers. Returns false if the
 * entity is not alive or memory runs out. Threads: any that runs a system; else owner. */
MICA_API bool mica_send_id(mica_world *world, mica_entity target, mica_value message, mica_location location);

/* Sends a message to every entity with a component that has a handler, component by component in the order they got their first
 * handlers. Returns false if memory runs out. Threads: as above, any that runs a system; else owner. */
MICA_API bool mica_broadcast_id(mica_world *world, mica_value message, mica_location location);

/* Adds a system for each component with a handler of this message, now and later, that runs the handlers over all rows in that
 * phase. The system is named "Component.Message"; the message is zero. Threads: owner. */
MICA_API mica_result mica_message_every_frame_id(mica_world *world, mica_component message, mica_phase phase);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_handler_add(world, ...) mica_handler_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_handler_remove(world, ...) mica_handler_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_send_id(world, ...) mica_send_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_broadcast_id(world, ...) mica_broadcast_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_message_every_frame_id(world, ...) mica_message_every_frame_id(MICA_AT_(world), __VA_ARGS__)
#endif

#define MICA_HANDLER(T, M, fn_) MICA_HANDLER_WITH(T, M, fn_, (.context = NULL))
/* With more fields of the struct: MICA_HANDLER_WITH(Health, Damage, fn, (.context = &log, MICA_USES(MICA_USE_READ(Armour)))) */
#define MICA_HANDLER_WITH(T, M, fn_, options)                                                                          \
    (&(const mica_handler){.component = &mica_type_of_##T,                                                             \
                           .message = &mica_type_of_##M,                                                               \
                           .fn = (fn_),                                                                                \
                           .location = MICA_HERE,                                                                      \
                           MICA_UNWRAP_ options})
#define MICA_HANDLED(M, fn_) {NULL, &mica_type_of_##M, (fn_), NULL, {__FILE__, __LINE__}, NULL, 0}
#define MICA_HANDLERS(list) .handlers = (list), .handler_count = sizeof(list) / sizeof *(list)
#define mica_send(world, target, M, ...)                                                                               \
    mica_send_id((world), (target), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_broadcast(world, M, ...) mica_broadcast_id((world), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_message_every_frame(world, M, phase) mica_message_every_frame_id((world), MICA_ID(M), (phase))

#endif

/* mica/observer.h */
/* Mica, observer: any number of functions per event, each with an optional filter.
 *
 *     mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Burning, light_up, MICA_HAS(Torch)));
 *     mica_observer_add(world, &(mica_observer_def){
 *         .events = (mica_event_kind[]){MICA_EVENT_ADD, MICA_EVENT_REMOVE}, .event_count = 2,
 *         .components = (mica_component[]){MICA_ID(Burning), MICA_ID(Frozen)}, .component_count = 2, .fn = update_icon});
 *
 * An observer of several events or components sees in event->kind and event->component what happened.
 * A hook (mica/hook.h) sees every single change. An observer is told the net result of an operation or flush: if an entity
 * changes many times in one flush, the observer is called once for each net difference. An entity that is changed and
 * destroyed in one flush only causes REMOVE for the components it had, and DESTROY.
 *
 * Order for one entity: before the change DESTROY, then REMOVE by ascending component id; after it ADD by ascending component
 * id, then SET, then ENABLE and DISABLE. The hook of an event runs before its observers, which run in the order they were added.
 * Changes that observers make are recorded and applied when the operation ends.
 *
 * A monitor is an observer of MATCH and UNMATCH:
 *
 *     mica_observer_add(world, MICA_MONITOR(update_radar, MICA_READ(Position), MICA_HAS(Enemy), MICA_WITHOUT(Hidden)));
 *
 * It is told when entities start and stop to match its terms as a query would: components that are added, removed, enabled and
 * disabled, entities that are created, destroyed, disabled and enabled. It is told after the operation or flush, when what hooks and
 * observers recorded is applied too: first UNMATCH with all entities that stopped, some of which may be destroyed, then MATCH with all
 * that started. An entity that starts and stops in between is not reported. To read the last value of a component, observe REMOVE.
 * Monitors are told in the order in which they were added. Some term must require a component; CHANGED, ADDED and singletons are
 * rejected. Restoring a snapshot tells nothing. If memory runs out while a change is noted, this is reported and the monitor is not
 * told of that entity.
 *
 * An observer of ADD, or of MATCH, with `.existing = true` is told what is there already when it is added, before mica_observer_add
 * returns and as if it had just happened: of ADD one component after the other as listed, each in the order of its rows, whether they are
 * enabled or not; of MATCH in the order of a query. Values that it gets count as changed. While the world records, it is told of the world
 * without the recorded changes, and the flush tells the rest: nothing is told twice.
 *
 * User events are sent by the program, at once or, while the world records (in systems, hooks and observers, and after mica_defer),
 * recorded like other changes. The flush applies the changes, then delivers the events one by one in the order (system, slice, call),
 * or of buffers and calls. What observers of one event change, and what monitors are told of it, comes before the next event. An event
 * for an entity that is destroyed in the same flush is dropped; for one that was destroyed before, mica_world_def.dead_target decides,
 * as for other changes.
 *
 *     mica_event_propagate(world, HIT, 0, finger, (mica_value){0});
 *
 * An event that propagates is delivered for the entity, then for its parent, and so on up to the root: each time event->entities is the
 * one it arrived at, and event->target the one it began with. Observers filter by where it arrived. mica_event_stop ends it.
 */
#ifndef MICA_OBSERVER_H
#define MICA_OBSERVER_H


MICA_BEGIN

/* An observer id. Zero is none. */
typedef struct mica_observer {
    uint32_t id;
} mica_observer;

typedef struct mica_observer_def {
    const char *name; /* for reports; NULL means "observer" */
    mica_event_kind event;
    mica_component component; /* 0 for DESTROY, MATCH and UNMATCH, and for user events with any component */
    /* Lists that replace `event` and `component` if they are not empty: the observer is told about each event of each
     * component. DESTROY is told once, whatever the components are. */
    const mica_event_kind *events;
    uint32_t event_count;
    const mica_component *components;
    uint32_t component_count;
    const mica_term *terms; /* query terms that the entity must match; none means no filter; of a monitor, some */
    uint32_t term_count;
    mica_event_fn fn;
    void *context;
    mica_location location;
    bool existing; /* of ADD and MATCH: it is told first what is there already, see above */
} mica_observer_def;

/* Adds an observer. The def is copied. Returns zero with a report on error. Rejected inside systems, hooks and observers.
 * Threads: owner. */
MICA_API mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def);

/* Removes an observer. Returns false if there is none. Rejected as above. Threads: owner. */
MICA_API bool mica_observer_remove(mica_world *world, mica_observer observer);

/* Sends a user event to its observers, about an entity or, with nil, about none. While the world records it is recorded with a
 * copy of the data, see above. Returns false with a report if the event is below MICA_EVENT_USER, the entity is not alive, the
 * data has text or lists, or memory runs out. Threads: any that runs a system; else owner. */
MICA_API bool mica_event_emit(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                              mica_value data);

/* The same, and then for each ancestor of the entity (mica/hierarchy.h), from its parent to the root. Threads: as above. */
MICA_API bool mica_event_propagate(mica_world *world, mica_event_kind event, mica_component component,
                                   mica_entity entity, mica_value data);

/* Called by an observer of a user event: the event does not propagate further. Other observers of the same entity are still called.
 * Returns false with a report if it is not such an event. Threads: owner. */
MICA_API bool mica_event_stop(const mica_event *event);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_observer_add(world, ...) mica_observer_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_observer_remove(world, ...) mica_observer_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_event_emit(world, ...) mica_event_emit(MICA_AT_(world), __VA_ARGS__)
#    define mica_event_propagate(world, ...) mica_event_propagate(MICA_AT_(world), __VA_ARGS__)
#    define mica_event_stop(...) mica_event_stop(MICA_AT_(__VA_ARGS__))
#endif

/* MICA_OBSERVER(event, T, function), or MICA_OBSERVER(event, T, function, terms...) with a filter. */
#define MICA_OBSERVER(event_, T, ...) MICA_OBSERVER_(event_, MICA_ID(T), __VA_ARGS__, {0})
#define MICA_OBSERVER_DESTROY(...) MICA_OBSERVER_(MICA_EVENT_DESTROY, 0, __VA_ARGS__, {0})
/* MICA_MONITOR(function, terms...): told MATCH and UNMATCH. */
#define MICA_MONITOR(fn_, ...)                                                                                         \
    (&(const mica_observer_def){                                                                                       \
        .name = #fn_,                                                                                                  \
        .events = (const mica_event_kind[]){MICA_EVENT_MATCH, MICA_EVENT_UNMATCH},                                     \
        .event_count = 2,                                                                                              \
        MICA_TERMS(__VA_ARGS__),                                                                                       \
        .fn = (fn_),                                                                                                   \
        .location = MICA_HERE})
/* The last term is not one: it is there so that the list is never empty. */
#define MICA_OBSERVER_(event_, component_, fn_, ...)                                                                   \
    (&(const mica_observer_def){                                                                                       \
        .name = #fn_,                                                                                                  \
        .event = (event_),                                                                                             \
        .component = (component_),                                                                                     \
        .terms = (const mica_term[]){__VA_ARGS__},                                                                     \
        .term_count = (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term)) - 1,                    \
        .fn = (fn_),                                                                                                   \
        .location = MICA_HERE})

#endif

/* mica/random.h */
/* Mica, random: random numbers that are the same on every machine and for every number of workers.
 *
 *     static void scatter(mica_view *view)
 *     {
 *         mica_random random = mica_random_of(view);
 *         Velocity *velocity = mica_view_write(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             velocity[i].x = mica_random_range(&random, -1, 1);
 *     }
 *
 * A generator is seeded with (seed of the world, tick, system, slice), so it does not matter which thread runs a slice, or when.
 * The algorithm is PCG XSH-RR 64/32 (M. E. O'Neill, 2014): small and fast, not for cryptography.
 */
#ifndef MICA_RANDOM_H
#define MICA_RANDOM_H


MICA_BEGIN

typedef struct mica_random {
    uint64_t state;
    uint64_t stream; /* odd */
} mica_random;

/* Returns a generator for a seed and a stream; streams of one seed are independent. Threads: any. */
MICA_API mica_random mica_random_make(uint64_t seed, uint64_t stream);

/* Returns the generator of this view's slice in this run of its system. Threads: any, the view's own. */
MICA_API mica_random mica_random_of(const mica_view *view);

/* Returns the generator of this run of a system that runs once. Threads: any, the system's own. */
MICA_API mica_random mica_random_of_frame(const mica_frame *frame);

/* Returns the generator of an entity in this run of a system: it depends on the handle, not on the row. Threads: any, the system's own. */
MICA_API mica_random mica_random_of_entity(const mica_frame *frame, mica_entity entity);

/* Returns the generator of the world for code outside of systems: seeded with the seed of the world and the number of frames so far.
 * Threads: reader. */
MICA_API mica_random mica_random_of_world(const mica_world *world);

/* Returns the next 32 bits. Threads: one per generator, any. */
static inline uint32_t mica_random_next(mica_random *random)
{
    if (!random) {
        (mica_world_report)(0, MICA_ERROR_INVALID, "mica_random_next: random must not be NULL");
        return 0;
    }
    uint64_t old = random->state;
    random->state = old * 6364136223846793005u + random->stream;
    uint32_t word = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return word >> turn | word << ((32 - turn) & 31);
}

/* Returns an unbiased number from 0 to limit - 1; 0 if the limit is 0. Threads: one per generator, any. */
static inline uint32_t mica_random_below(mica_random *random, uint32_t limit)
{
    if (limit == 0)
        return 0;
    if (!random)
        return mica_random_next(random); /* which reports it */
    uint64_t product = (uint64_t)mica_random_next(random) * limit;
    if ((uint32_t)product < limit) { /* Lemire 2019: nearly always decided without a division */
        uint32_t uneven = (0u - limit) % limit;
        while ((uint32_t)product < uneven)
            product = (uint64_t)mica_random_next(random) * limit;
    }
    return (uint32_t)(product >> 32);
}

/* Returns a number in [0, 1), a multiple of 2^-24. Threads: one per generator, any. */
static inline float mica_random_unit(mica_random *random)
{
    return (float)(mica_random_next(random) >> 8) * (1.0f / 16777216.0f);
}

/* Returns a number in [low, high). Threads: one per generator, any. */
static inline float mica_random_range(mica_random *random, float low, float high)
{
    return random ? low + (high - low) * mica_random_unit(random) : mica_random_unit(random);
}

/* Returns a number in [0, 1), a multiple of 2^-53. Threads: one per generator, any. */
static inline double mica_random_double(mica_random *random)
{
    uint64_t high = mica_random_next(random) >> 5;
    return (double)(high << 26 | (random ? mica_random_next(random) >> 6 : 0)) * (1.0 / 9007199254740992.0);
}

/* Returns an unbiased integer from low to high, both included; low if high is below it. Threads: one per generator, any. */
MICA_API int64_t mica_random_integer(mica_random *random, int64_t low, int64_t high);

/* Returns a normally distributed number. Threads: one per generator, any. */
MICA_API double mica_random_normal(mica_random *random, double mean, double deviation);

/* Returns an exponentially distributed number with this mean: the time until something happens that happens once in `mean` on average.
 * Threads: one per generator, any. */
MICA_API double mica_random_exponential(mica_random *random, double mean);

/* Puts `count` items of `item_bytes` each into random order; every order is equally likely. Threads: one per generator, any. */
MICA_API void mica_random_shuffle(mica_random *random, void *items, uint32_t count, size_t item_bytes);

/* Chooses `count` different numbers from 0 to limit - 1, in rising order; every choice is equally likely. If the limit is lower, chooses
 * all. Returns how many it wrote. Threads: one per generator, any. */
MICA_API uint32_t mica_random_sample(mica_random *random, uint32_t limit, uint32_t *out, uint32_t count);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_random_of(view) mica_random_of(MICA_AT_(view))
#    define mica_random_of_frame(frame) mica_random_of_frame(MICA_AT_(frame))
#    define mica_random_of_entity(frame, ...) mica_random_of_entity(MICA_AT_(frame), __VA_ARGS__)
#    define mica_random_of_world(world) mica_random_of_world(MICA_AT_(world))
#    define mica_random_double(...) MICA_AT_(mica_random_double(__VA_ARGS__))
#    define mica_random_integer(...) MICA_AT_(mica_random_integer(__VA_ARGS__))
#    define mica_random_normal(...) MICA_AT_(mica_random_normal(__VA_ARGS__))
#    define mica_random_exponential(...) MICA_AT_(mica_random_exponential(__VA_ARGS__))
#    define mica_random_shuffle(...) MICA_AT_(mica_random_shuffle(__VA_ARGS__))
#    define mica_random_sample(...) MICA_AT_(mica_random_sample(__VA_ARGS__))
#    define mica_random_next(...) MICA_AT_(mica_random_next(__VA_ARGS__))
#    define mica_random_below(...) MICA_AT_(mica_random_below(__VA_ARGS__))
#    define mica_random_unit(...) MICA_AT_(mica_random_unit(__VA_ARGS__))
#    define mica_random_range(...) MICA_AT_(mica_random_range(__VA_ARGS__))
#endif
#endif

/* mica/request.h */
/* Mica, request: questions posted one by one and answered in bulk.
 *
 * Finding a path needs the map in the cache; the system that wants a path has the entities in the cache. So the system posts a
 * request, and all requests about one map are handled together:
 *
 *     mica_requests *paths = mica_requests_create(world, MICA_REQUESTS(PathWanted, Path, find_paths, &maps));
 *     in a system with MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(paths)))
 *         mica_request_post(paths, map_number, view->entities[i], PathWanted, {from, to});
 *
 *     static void find_paths(const mica_request_group *group)     for each requested map, once per phase
 *     {
 *         const PathWanted *wanted = group->questions;
 *         Path *path = group->answers;
 *         for (uint32_t i = 0; i < group->count; ++i)
 *             path[i] = find(group->context, group->key, &wanted[i]);
 *     }
 *
 * Groups are handled after the phase, by ascending key, several at a time; within a group in the order (system, slice, call).
 * Handlers read the world and change nothing, unless they are .in_order. An answer becomes a component of the entity that asked,
 * set or added by the flush; if it asked several times, the last answer wins. With .as_stream answers go to a stream instead.
 */
#ifndef MICA_REQUEST_H
#define MICA_REQUEST_H


MICA_BEGIN

struct mica_stream;
typedef struct mica_requests mica_requests;

/* All requests with one key. The arrays are valid until the handler returns. */
typedef struct mica_request_group {
    mica_world *world;
    uint64_t key;
    uint32_t count;
    const mica_entity *entities; /* the entities that asked */
    const void *questions;
    void *answers;  /* to be filled in; initially zero */
    bool *answered; /* initially true; set to false to give no answer */
    void *context;
} mica_request_group;

typedef void (*mica_request_fn)(const mica_request_group *group);

typedef struct mica_requests_def {
    const char *name;
    mica_type *question;
    mica_type *answer; /* a component; NULL: no answers */
    mica_request_fn fn;
    void *context;
    bool
        as_stream; /* answers go to the stream mica_requests_answers, in the order of the questions, instead of components */
    bool application; /* with .as_stream: the application reads answers too, between frames */
    bool in_order;    /* handle groups one after another on one thread, for handlers that share data */
    mica_location location;
} mica_requests_def;

/* Creates a kind of request. Returns NULL with a report on error. Threads: owner. */
MICA_API mica_requests *mica_requests_create(mica_world *world, const mica_requests_def *def);

/* Destroys it with all unhandled requests. NULL is a no-op. Rejected inside a system. Threads: owner. */
MICA_API void mica_requests_destroy(mica_requests *requests);

/* Posts a request for an entity. Returns false with a report if memory runs out, or the system does not declare it.
 * Threads: any that runs a system; else owner. */
MICA_API bool mica_request_post_id(mica_requests *requests, uint64_t key, mica_entity entity, mica_value question,
                                   mica_location location);

/* Handles requests that were posted outside systems. Threads: owner. */
MICA_API mica_result mica_requests_handle(mica_requests *requests);

/* Returns the stream that a posting system declares to write. Threads: any. */
MICA_API struct mica_stream *mica_requests_stream(mica_requests *requests);

/* Returns the stream of answers if created with .as_stream, else NULL. Threads: any. */
MICA_API struct mica_stream *mica_requests_answers(mica_requests *requests);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_requests_create(world, ...) mica_requests_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_requests_destroy(requests) mica_requests_destroy(MICA_AT_(requests))
#    define mica_request_post_id(requests, ...) mica_request_post_id(MICA_AT_(requests), __VA_ARGS__)
#    define mica_requests_handle(requests) mica_requests_handle(MICA_AT_(requests))
#    define mica_requests_stream(requests) mica_requests_stream(MICA_AT_(requests))
#    define mica_requests_answers(requests) mica_requests_answers(MICA_AT_(requests))
#endif

#define MICA_REQUESTS(Question, Answer, fn_, context_)                                                                 \
    (&(const mica_requests_def){.name = #Question,                                                                     \
                                .question = &mica_type_of_##Question,                                                  \
                                .answer = &mica_type_of_##Answer,                                                      \
                                .fn = (fn_),                                                                           \
                                .context = (context_),                                                                 \
                                .location = MICA_HERE})
#define mica_request_post(requests, key, entity, Question, ...)                                                              \
    mica_request_post_id((requests), (key), (entity), MICA_VALUE_(Question, __VA_ARGS__), MICA_HERE)

#endif

/* mica/schedule.h */
/* Mica, schedule: which systems run, in which order and why. For inspectors, tools and logs.
 *
 *     for (mica_system system = {0}; (system = mica_system_next(world, system)).id;) {
 *         mica_system_info info;
 *         mica_system_get_info(world, system, &info);
 *         printf("%s%s\n", info.name, info.enabled ? "" : " (off)");
 *     }
 *
 * Systems are listed in the order in which one thread runs them. During a frame, the list is that of the start of the frame.
 */
#ifndef MICA_SCHEDULE_H
#define MICA_SCHEDULE_H


MICA_BEGIN

/* Returns the next phase in the order they run, or MICA_PHASE_NONE at the end. Start with MICA_PHASE_NONE. The internal phase
 * "(messages)", which runs message handlers, is listed too. Threads: owner. */
MICA_API mica_phase mica_phase_next(mica_world *world, mica_phase phase);

typedef struct mica_phase_info {
    const char *name;
    double fixed_seconds; /* its fixed step; 0: it runs once per frame */
    uint64_t run_count;
    uint32_t system_count; /* including disabled systems */
    bool enabled;
} mica_phase_info;

/* Describes a phase. Returns false if there is none. The name is valid as long as the phase. Threads: owner. */
MICA_API bool mica_phase_get_info(mica_world *world, mica_phase phase, mica_phase_info *out);

/* Returns the next system in the order they run, phase by phase, or zero at the end. Start with zero. Returns zero with a report
 * if memory runs out. Threads: owner. */
MICA_API mica_system mica_system_next(mica_world *world, mica_system system);

typedef struct mica_system_info {
    const char *name;
    mica_phase phase;
    mica_location location; /* where it was added */
    bool enabled;
    bool exclusive;
    bool flush_first;  /* a flush precedes it */
    bool one_thread;   /* never runs on several threads at once */
    bool has_handlers; /* Mica added it to run message handlers */
} mica_system_info;

/* Describes a system. Returns false if there is none. The name is valid as long as the system. Threads: reader. */
MICA_API bool mica_system_get_info(const mica_world *world, mica_system system, mica_system_info *out);

/* What a system reads or writes. */
typedef struct mica_system_access {
    mica_component component; /* or 0, and */
    const struct mica_stream *stream;
    bool write;
    bool own_rows; /* only in the rows that the system is called with */
} mica_system_access;

/* Writes up to `capacity` accesses of the system to `out`: its terms, then its uses. Returns how many it has, or 0 if there is no
 * such system. Threads: reader. */
MICA_API uint32_t mica_system_get_accesses(const mica_world *world, mica_system system, mica_system_access *out,
                                           uint32_t capacity);

/* Why a system waits for an earlier system of its phase. */
typedef struct mica_system_dependency {
    mica_system on;                   /* the system that runs first */
    mica_component component;         /* both access it; or 0, and */
    const struct mica_stream *stream; /* both access it; or NULL, and the reason is .before or .after */
} mica_system_dependency;

/* Writes up to `capacity` dependencies of the system to `out`. Returns how many it has, or 0 if there is no such system, or with a
 * report if memory runs out. An exclusive system has none: it waits for all systems before it in its phase, and all systems
 * after it wait for it. A system with flush_first, and those after it, wait for all systems before it; of these, only systems in
 * .before and .after are listed. Threads: owner. */
MICA_API uint32_t mica_system_get_dependencies(mica_world *world, mica_system system, mica_system_dependency *out,
                                               uint32_t capacity);

typedef enum mica_graph_format { MICA_GRAPH_TEXT = 0, MICA_GRAPH_DOT } mica_graph_format;

/* Writes the order of systems, with what each waits for and why, as text or in Graphviz format. Writes what fits into `capacity`
 * bytes, zero-terminated, and returns the complete length. Returns 0 with a report if memory runs out. Threads: owner. */
MICA_API size_t mica_graph_write(mica_world *world, mica_graph_format format, char *out, size_t capacity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_phase_next(world, ...) mica_phase_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_get_info(world, ...) mica_phase_get_info(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_next(world, ...) mica_system_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_get_info(world, ...) mica_system_get_info(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_get_accesses(world, ...) mica_system_get_accesses(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_get_dependencies(world, ...) mica_system_get_dependencies(MICA_AT_(world), __VA_ARGS__)
#    define mica_graph_write(world, ...) mica_graph_write(MICA_AT_(world), __VA_ARGS__)
#endif
#endif

/* mica/stats.h */
/* Mica, stats: the cost of each system per frame, and traces.
 *
 *     mica_stats_enable(world, 120);                       keep the last 120 frames
 *     ...
 *     mica_stats_print(world, stdout);
 *
 *     mica_trace_start(world);
 *     ...
 *     mica_trace_stop(world, "run.json");                  for Perfetto, speedscope and chrome://tracing
 *
 * Measuring affects only timing. A world that does not measure pays nothing.
 */
#ifndef MICA_STATS_H
#define MICA_STATS_H


#include <stdio.h>

MICA_BEGIN

typedef struct mica_system_stats {
    uint64_t runs;
    uint64_t time_ns;    /* sum over all workers */
    uint64_t entities;   /* rows processed */
    uint32_t slices;     /* views processed */
    uint32_t commands;   /* entities with recorded changes */
    uint32_t workers;    /* number of threads that ran it */
    uint32_t fused_with; /* number of systems fused with it, including itself; 0 if it is not fused */
} mica_system_stats;

typedef struct mica_frame_stats {
    uint64_t frame;
    uint64_t time_ns;  /* from start to end */
    uint64_t flush_ns; /* of these, in flushes */
    uint64_t busy_ns;  /* in systems, sum over all workers */
    uint64_t commands;
    uint32_t workers;
} mica_frame_stats;

/* Keeps statistics of the last `frame_count` frames; 0 stops and discards them. Threads: owner. */
MICA_API mica_result mica_stats_enable(mica_world *world, uint32_t frame_count);

/* Returns the statistics of a system in one frame (0 is the last), or false if they are not kept. Threads: owner. */
MICA_API bool mica_stats_get_system(const mica_world *world, mica_system system, uint32_t frames_ago,
                                    mica_system_stats *out);

/* The same summed over all frames that are kept; `workers` and `fused_with` are maxima. Threads: owner. */
MICA_API bool mica_stats_get_system_total(const mica_world *world, mica_system system, mica_system_stats *out);

/* Returns the statistics of one frame (0 is the last), or false if they are not kept. Threads: owner. */
MICA_API bool mica_stats_get_frame(const mica_world *world, uint32_t frames_ago, mica_frame_stats *out);

/* Prints a table over the kept frames, one line per system in execution order, times in microseconds. Threads: owner. */
MICA_API void mica_stats_print(const mica_world *world, FILE *out);

/* Starts a trace: records system, slices, thread, start and end of every job. Threads: owner. */
MICA_API mica_result mica_trace_start(mica_world *world);

/* Stops the trace and writes it in Chrome trace event format; a NULL path discards it. Returns MICA_ERROR_REFUSED with a report if
 * the file cannot be written or no trace was started. Threads: owner. */
MICA_API mica_result mica_trace_stop(mica_world *world, const char *path);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_stats_enable(world, ...) mica_stats_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_get_system(world, ...) mica_stats_get_system(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_get_system_total(world, ...) mica_stats_get_system_total(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_get_frame(world, ...) mica_stats_get_frame(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_print(world, ...) mica_stats_print(MICA_AT_(world), __VA_ARGS__)
#    define mica_trace_start(world) mica_trace_start(MICA_AT_(world))
#    define mica_trace_stop(world, ...) mica_trace_stop(MICA_AT_(world), __VA_ARGS__)
#endif
#endif

/* mica/stream.h */
/* Mica, stream: typed messages from many writers to many readers, in an order that does not depend on threads.
 *
 *     typedef struct Hit { mica_entity target; float damage; } Hit;
 *     MICA_STRUCT(Hit, target, damage)
 *     mica_stream *hits = mica_stream_create(world, MICA_STREAM(Hit));
 *
 *     in a system with MICA_USES(MICA_USE_STREAM_WRITE(hits))
 *         mica_stream_push(hits, Hit, {view->entities[i], 3});
 *     in a later system with MICA_USES(MICA_USE_STREAM_READ(hits))
 *         uint32_t count;
 *         for (const Hit *hit; (hit = mica_stream_read(hits, Hit, &count));)
 *             for (uint32_t i = 0; i < count; ++i) ...
 *
 * Messages are ordered by (system, slice, call). Several systems can write a stream at the same time. A system that declares to
 * read it runs after the writers that were added before it, and reads what later writers write in its next run.
 *
 * Each reading system runs on one thread and has its own read position. So has the application, which reads between frames;
 * exclusive systems, hooks, observers, and message handlers outside systems, read and write as the application. Message handlers
 * inside a frame can write without declaring it, unless another handler reads the stream. A message is kept until the slowest
 * reader has read it, even if that reader is disabled, or as long as .keep_frames says.
 *
 * If a system's output is one value instead of a list, use a singleton (mica/singleton.h).
 */
#ifndef MICA_STREAM_H
#define MICA_STREAM_H


MICA_BEGIN

typedef struct mica_stream mica_stream;

typedef struct mica_stream_def {
    const char *name;
    mica_type *type;   /* of a message; must be trivially copyable */
    uint32_t capacity; /* maximum number of messages; the oldest are dropped; 0: unlimited */
    uint32_t
        keep_frames;  /* drop messages after this many frames, read or not; 0: when every reader has read them. Without
                             readers they are dropped after the next frame. */
    bool application; /* the application is a reader too, between frames */
    mica_location location;
} mica_stream_def;

/* Creates a stream. Returns NULL with a report on error. Rejected inside a system. Threads: owner. */
MICA_API mica_stream *mica_stream_create(mica_world *world, const mica_stream_def *def);

/* Destroys a stream with its messages. NULL is a no-op. Rejected inside a system, and while a system declares it.
 * Threads: owner. */
MICA_API void mica_stream_destroy(mica_stream *stream);

/* Appends `count` contiguous messages and returns a pointer to them, to be filled in before the function of the system returns.
 * Returns NULL with a report if memory runs out or the system does not declare the write.
 * Threads: any that runs a system; else owner. */
MICA_API void *mica_stream_push_many_id(mica_stream *stream, uint32_t count, mica_location location);

/* Appends a copy of one message. Returns false on error, as above. Threads: as above, any that runs a system. */
MICA_API bool mica_stream_push_id(mica_stream *stream, const void *message, size_t message_bytes,
                                  mica_location location);

/* Returns the next unread messages of this reader, oldest first, as many as are contiguous, and their number. Returns NULL if all
 * are read. The messages are valid until the end of the frame; for the application, until systems run again.
 * Threads: the system's own; else owner. */
MICA_API const void *mica_stream_read_id(mica_stream *stream, uint32_t *out_count, mica_location location);

/* Returns the number of unread messages of this reader. Threads: as above, reader. */
MICA_API uint64_t mica_stream_count(const mica_stream *stream);

/* Returns how many messages this reader lost: dropped because of capacity or age before it read them, or not written because
 * memory ran out. If the caller is not a reader, returns how many were dropped because of capacity. Threads: as above, reader. */
MICA_API uint64_t mica_stream_dropped(const mica_stream *stream);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_stream_create(world, ...) mica_stream_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_stream_destroy(stream) mica_stream_destroy(MICA_AT_(stream))
#    define mica_stream_push_many_id(stream, ...) mica_stream_push_many_id(MICA_AT_(stream), __VA_ARGS__)
#    define mica_stream_push_id(stream, ...) mica_stream_push_id(MICA_AT_(stream), __VA_ARGS__)
#    define mica_stream_read_id(stream, ...) mica_stream_read_id(MICA_AT_(stream), __VA_ARGS__)
#    define mica_stream_count(stream) mica_stream_count(MICA_AT_(stream))
#    define mica_stream_dropped(stream) mica_stream_dropped(MICA_AT_(stream))
#endif

#define MICA_STREAM(T) MICA_STREAM_WITH(T, (.application = false))
#define MICA_STREAM_WITH(T, options)                                                                                   \
    (&(const mica_stream_def){.name = #T, .type = &mica_type_of_##T, .location = MICA_HERE, MICA_UNWRAP_ options})
#define mica_stream_push(stream, T, ...) mica_stream_push_id((stream), &(const T)__VA_ARGS__, sizeof(T), MICA_HERE)
#define mica_stream_push_from(stream, T, pointer) mica_stream_push_id((stream), (const T *){(pointer)}, sizeof(T), MICA_HERE)
#define mica_stream_push_many(stream, T, count) ((T *)mica_stream_push_many_id((stream), (count), MICA_HERE))
#define mica_stream_read(stream, T, out_count) ((const T *)mica_stream_read_id((stream), (out_count), MICA_HERE))

#endif


#endif

/* mica/math.h */
/* Mica, math: sine, exponential and similar functions with the same bits on every machine.
 *
 *     velocity[i].x = speed * mica_cosf(angle[i]);
 *
 * The functions of libm differ in the last bit between C libraries, compilers and processors, which makes simulations diverge.
 * These functions use only addition, subtraction, multiplication, division and square root, which IEEE 754 defines exactly, in a
 * fixed order. They are not inline, so compiler options of a program (fused multiply-add, -ffast-math) do not affect them.
 *
 * The float functions are accurate to 0.501 units in the last place (powf: 0.51), the double functions to 1 (atan2: 2), for all
 * arguments. They do not set errno. A NaN result is always the same positive quiet NaN.
 */
#ifndef MICA_MATH_H
#define MICA_MATH_H


MICA_BEGIN

/* Square root, correctly rounded; NaN below zero. sqrtf and sqrt of C are equivalent if the compiler turns them into an instruction
 * and -ffast-math is off. Threads: any. */
MICA_API float mica_sqrtf(float x);
MICA_API double mica_sqrt(double x);

/* Sine, cosine and tangent of an angle in radians; NaN for infinities. Threads: any. */
MICA_API float mica_sinf(float x);
MICA_API float mica_cosf(float x);
MICA_API float mica_tanf(float x);
MICA_API double mica_sin(double x);
MICA_API double mica_cos(double x);

/* The angle of the point (x, y) in radians, from -pi to pi; signed zeros are handled as in C. Threads: any. */
MICA_API float mica_atan2f(float y, float x);
MICA_API double mica_atan2(double y, double x);

/* Exponential function and natural logarithm; the logarithm is -infinity at zero and NaN below. Threads: any. */
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
 *     mica_destroy(world, car);                               destroys its children too
 *
 * Links are stored next to the entities: linking moves no row, creates no archetype and invalidates no pointer to a component.
 * Children are ordered. An entity has at most one parent and cannot become its own ancestor. Reading and linking take constant
 * time; depth, root and the cycle check walk up the tree.
 *
 * When an entity is destroyed, its children are destroyed first, deepest first, each with its hooks. mica_set_orphans and
 * mica_destroy_with keep them instead, without a parent.
 *
 * While the world records (mica/command.h), links are recorded too, and functions that read see the tree without them. A flush
 * first applies the links in call order, then all other changes: a child linked to a parent that is destroyed in the same flush
 * is destroyed with it. Links that turn out to be invalid are dropped and reported with their source location.
 *
 * Names (mica/name.h) are unique within the parent. mica_set_parent moves the name to the new parent, and fails if that has a
 * child of the same name. A name that was set in a scope other than the parent stays in that scope.
 *
 *     mica_name_child(world, wheel, "wheel");
 *     mica_find(world, "car/wheel");
 *
 * A stale handle has no parent, children or siblings; linking it is reported.
 */
#ifndef MICA_HIERARCHY_H
#define MICA_HIERARCHY_H


MICA_BEGIN

/* Makes an entity the last child of a parent; a nil parent detaches it. If it is already a child of that parent, its position
 * stays. Returns MICA_ERROR_DEAD for a stale handle, MICA_ERROR_INVALID for a cycle and MICA_ERROR_EXISTS if the name is taken;
 * then nothing changes. Threads: owner. */
MICA_API mica_result mica_set_parent(mica_world *world, mica_entity child, mica_entity parent);

/* Moves an entity right before or right after a sibling, whose parent becomes its parent. Errors as for mica_set_parent, and
 * MICA_ERROR_INVALID if the sibling has no parent or is the entity itself. Threads: owner. */
MICA_API mica_result mica_place_before(mica_world *world, mica_entity child, mica_entity sibling);
MICA_API mica_result mica_place_after(mica_world *world, mica_entity child, mica_entity sibling);

/* Like mica_set_parent for `count` pairs in order; all or none. Threads: owner. */
MICA_API mica_result mica_set_parents(mica_world *world, const mica_entity *children, const mica_entity *parents,
                                      uint32_t count);

/* Detaches all children of an entity; all or none. Threads: owner. */
MICA_API mica_result mica_detach_children(mica_world *world, mica_entity parent);

/* Creates an entity as the last child of a parent. Returns nil on error. Threads: owner. */
MICA_API mica_entity mica_create_child_id(mica_world *world, mica_entity parent, const mica_value *values,
                                          uint32_t count);

/* Return nil or 0 if there is none. Threads: reader. */
MICA_API mica_entity mica_parent(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_first_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_last_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_next_sibling(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_previous_sibling(const mica_world *world, mica_entity entity);
MICA_API uint32_t mica_child_count(const mica_world *world, mica_entity entity);

/* Returns the number of entities that have a parent or children. Threads: reader. */
MICA_API uint32_t mica_linked_count(const mica_world *world);

/* Returns the number of ancestors. Threads: reader. */
MICA_API uint32_t mica_depth(const mica_world *world, mica_entity entity);

/* Returns the topmost ancestor; the entity itself if it has no parent; nil for a stale handle. Threads: reader. */
MICA_API mica_entity mica_root(const mica_world *world, mica_entity entity);

/* Returns whether `ancestor` is the parent of `entity`, or the parent of its parent, and so on. Threads: reader. */
MICA_API bool mica_is_ancestor(const mica_world *world, mica_entity ancestor, mica_entity entity);

/* Iterate over a tree, parents before children, siblings in order: return the entity after `at`, or nil at the end.
 * mica_tree_skip skips the descendants of `at`. During the iteration, only change links of entities after `at`.
 * Threads: reader. */
MICA_API mica_entity mica_tree_next(const mica_world *world, mica_entity root, mica_entity at);
MICA_API mica_entity mica_tree_skip(const mica_world *world, mica_entity root, mica_entity at);

/* What happens to the children of a destroyed entity. */
typedef enum mica_orphans {
    MICA_ORPHANS_DIE = 0, /* they are destroyed before it, deepest first */
    MICA_ORPHANS_STAY,    /* they lose their parent and keep their own children */
} mica_orphans;

/* Sets what happens to children in this world. The default is MICA_ORPHANS_DIE. Threads: owner. */
MICA_API mica_result mica_set_orphans(mica_world *world, mica_orphans orphans);

/* Like mica_destroy, with a policy for the children of this entity. Returns false if it is not alive. Threads: owner. */
MICA_API bool mica_destroy_with(mica_world *world, mica_entity entity, mica_orphans orphans);

/* Destroys the children of an entity and their descendants. While recording: the children it has now. Returns the number of
 * children destroyed. Threads: owner. */
MICA_API uint32_t mica_destroy_children(mica_world *world, mica_entity parent);

/* Creates a copy of an entity and of all its descendants, linked and ordered like them; mica_clone copies only the entity. The copy
 * has no parent. Names are not copied, and references are copied as they are: those to entities of the tree refer to the originals.
 * Inside systems the copies are recorded. Returns nil on error; then nothing is created, except that hooks have seen the copies.
 * Threads: owner. */
MICA_API mica_entity mica_clone_tree(mica_world *world, mica_entity root);

/* Disable, or enable, an entity and all its descendants: see mica/disable.h. An entity that was disabled alone is enabled with its
 * tree. Inside systems the changes are recorded. Return how many entities changed; if memory runs out, with a report, those are the
 * first ones of the tree. Threads: owner. */
MICA_API uint32_t mica_tree_disable(mica_world *world, mica_entity root);
MICA_API uint32_t mica_tree_enable(mica_world *world, mica_entity root);

/* Names an entity among the children of its parent, or at the top level. Otherwise like mica_name_set; while recording, among the
 * children of its parent before the flush. Threads: owner. */
MICA_API mica_result mica_name_child(mica_world *world, mica_entity entity, const char *name);

/* Writes the path by which mica_find finds an entity, truncated to `capacity` bytes and zero-terminated, and returns the complete
 * length; 0 if the entity or one of its scopes has no name. Threads: reader. */
MICA_API size_t mica_path_get(const mica_world *world, mica_entity entity, char *out, size_t capacity);

/* Record a link. Return false if the arguments are invalid at record time. Threads: one per buffer, any. */
MICA_API bool mica_command_set_parent_id(mica_commands *commands, mica_entity child, mica_entity parent,
                                         mica_location location);
MICA_API bool mica_command_place_id(mica_commands *commands, mica_entity child, mica_entity sibling, bool after,
                                    mica_location location);
/* Records a destruction with a policy for the children. Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_with_id(mica_commands *commands, mica_entity entity, mica_orphans orphans,
                                           mica_location location);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_set_parent(world, ...) mica_set_parent(MICA_AT_(world), __VA_ARGS__)
#    define mica_place_before(world, ...) mica_place_before(MICA_AT_(world), __VA_ARGS__)
#    define mica_place_after(world, ...) mica_place_after(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_parents(world, ...) mica_set_parents(MICA_AT_(world), __VA_ARGS__)
#    define mica_detach_children(world, ...) mica_detach_children(MICA_AT_(world), __VA_ARGS__)
#    define mica_create_child_id(world, ...) mica_create_child_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_parent(world, ...) mica_parent(MICA_AT_(world), __VA_ARGS__)
#    define mica_first_child(world, ...) mica_first_child(MICA_AT_(world), __VA_ARGS__)
#    define mica_last_child(world, ...) mica_last_child(MICA_AT_(world), __VA_ARGS__)
#    define mica_next_sibling(world, ...) mica_next_sibling(MICA_AT_(world), __VA_ARGS__)
#    define mica_previous_sibling(world, ...) mica_previous_sibling(MICA_AT_(world), __VA_ARGS__)
#    define mica_child_count(world, ...) mica_child_count(MICA_AT_(world), __VA_ARGS__)
#    define mica_linked_count(world) mica_linked_count(MICA_AT_(world))
#    define mica_depth(world, ...) mica_depth(MICA_AT_(world), __VA_ARGS__)
#    define mica_root(world, ...) mica_root(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_ancestor(world, ...) mica_is_ancestor(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_next(world, ...) mica_tree_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_skip(world, ...) mica_tree_skip(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_orphans(world, ...) mica_set_orphans(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_with(world, ...) mica_destroy_with(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_children(world, ...) mica_destroy_children(MICA_AT_(world), __VA_ARGS__)
#    define mica_clone_tree(world, ...) mica_clone_tree(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_disable(world, ...) mica_tree_disable(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_enable(world, ...) mica_tree_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_child(world, ...) mica_name_child(MICA_AT_(world), __VA_ARGS__)
#    define mica_path_get(world, ...) mica_path_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_command_set_parent_id(commands, ...) mica_command_set_parent_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_place_id(commands, ...) mica_command_place_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_destroy_with_id(commands, ...) mica_command_destroy_with_id(MICA_AT_(commands), __VA_ARGS__)
#endif

/* mica_create_child(world, parent) or mica_create_child(world, parent, MICA_WITH(...), ...) */
#define mica_create_child(world, ...) MICA_JOIN_(MICA_CREATE_CHILD_, MICA_ONE_OR_MORE_(__VA_ARGS__))(world, __VA_ARGS__)
#define MICA_CREATE_CHILD_1(world, parent) mica_create_child_id((world), (parent), NULL, 0)
#define MICA_CREATE_CHILD_2(world, parent, ...) mica_create_child_id((world), (parent), MICA_VALUES_(__VA_ARGS__))

#define mica_command_set_parent(commands, child, parent)                                                               \
    mica_command_set_parent_id((commands), (child), (parent), MICA_HERE)
#define mica_command_place_before(commands, child, sibling)                                                            \
    mica_command_place_id((commands), (child), (sibling), false, MICA_HERE)
#define mica_command_place_after(commands, child, sibling)                                                            \
    mica_command_place_id((commands), (child), (sibling), true, MICA_HERE)
#define mica_command_destroy_with(commands, entity, orphans)                                                           \
    mica_command_destroy_with_id((commands), (entity), (orphans), MICA_HERE)

#endif

/* mica/transform.h */
/* Mica, transform: positions relative to parents, and global matrices.
 *
 *     mica_entity sun = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)), MICA_WITH(mica_global_matrix));
 *     mica_entity earth = mica_create_child(world, sun, MICA_WITH(mica_local, MICA_LOCAL_AT(150, 0, 0)),
 *                                           MICA_WITH(mica_global_matrix));
 *     mica_transform_update(world);                           once per frame, after everything that moves entities
 *     float x = mica_get(world, earth, mica_global_matrix)->x[3];
 *
 * You write mica_local; the update writes mica_global_matrix, only for entities that moved and their descendants. An entity takes
 * part if it has both components. Its matrix is relative to the nearest ancestor that takes part; other entities in between, such
 * as folders, have no effect.
 *
 * Moved entities are found by comparing written slices of mica_local with the values of the last update, so MICA_CHANGED
 * (mica_global_matrix) reports what really moved, per slice. The order of the entities is kept between updates: adding,
 * removing or relinking a few entities costs only their share.
 *
 * The result is bit-identical for any number of threads and on every machine.
 */
#ifndef MICA_TRANSFORM_H
#define MICA_TRANSFORM_H


MICA_BEGIN

/* Position, rotation and scale relative to the parent, applied as scale, rotation, translation. */
typedef struct mica_local {
    float position[3];
    float rotation[4]; /* unit quaternion x, y, z, w; all zero means no rotation */
    float scale[3];
} mica_local;

/* The matrix from entity space to global space: three rows, each with the translation last. The fourth row, 0 0 0 1, is implicit.
 * 48 bytes, ready for upload to a GPU. */
typedef struct mica_global_matrix {
    float x[4];
    float y[4];
    float z[4];
} mica_global_matrix;

/* Construct functions of both: no rotation, scale 1. They cannot fail. Threads: any. */
MICA_API bool mica_local_construct(void *values, uint32_t count, void *context);
MICA_API bool mica_global_matrix_construct(void *values, uint32_t count, void *context);

/* The component ids, for bindings and C++. Zero if memory runs out. Threads: any. */
MICA_API mica_component mica_local_id(void);
MICA_API mica_component mica_global_matrix_id(void);

/* Updates all matrices. Returns MICA_ERROR_MEMORY and changes nothing if memory runs out; the next update then does all of it.
 * Returns MICA_ERROR_REFUSED inside a hook. Threads: owner. */
MICA_API mica_result mica_transform_update(mica_world *world);

/* Adds the update as the system "update_transforms" to a phase, usually MICA_PHASE_END. It reads mica_local and writes
 * mica_global_matrix. Levels of large trees are processed in parallel. Returns zero with a report on error. Threads: owner. */
MICA_API mica_system mica_transform_add_system(mica_world *world, mica_phase phase);

/* Computes the matrix of a local transform relative to the matrix of a parent, or NULL for none. Threads: any. */
MICA_API void mica_matrix_from_local(const mica_local *local, const mica_global_matrix *parent,
                                     mica_global_matrix *out);

/* Transforms a point from entity space to global space; `point` and `out` may be the same. Threads: any. */
MICA_API void mica_matrix_point(const mica_global_matrix *matrix, const float point[3], float out[3]);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_local_construct(...) MICA_AT_(mica_local_construct(__VA_ARGS__))
#    define mica_global_matrix_construct(...) MICA_AT_(mica_global_matrix_construct(__VA_ARGS__))
#    define mica_transform_update(world) mica_transform_update(MICA_AT_(world))
#    define mica_transform_add_system(world, ...) mica_transform_add_system(MICA_AT_(world), __VA_ARGS__)
#    define mica_matrix_from_local(...) MICA_AT_(mica_matrix_from_local(__VA_ARGS__))
#    define mica_matrix_point(...) MICA_AT_(mica_matrix_point(__VA_ARGS__))
#endif

/* A mica_local with a position, no rotation and scale 1. */
#define MICA_LOCAL_AT(x, y, z) {{(x), (y), (z)}, {0, 0, 0, 1}, {1, 1, 1}}

#ifndef __cplusplus
MICA_COMPONENT_WITH(mica_local, (.construct = mica_local_construct), position, rotation, scale)
/* Files contain the name that it had in version 0.1. */
MICA_TYPE_(mica_global_matrix, "mica_world_matrix", (.construct = mica_global_matrix_construct), x, y, z)
#endif

#endif

/* mica/index.h */
/* Mica, index: find entities by the value of a field, or by their position.
 *
 *     mica_index *by_owner = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Item), .fields = "owner"});
 *     mica_index_update(by_owner);
 *     mica_entity some = mica_find_by(by_owner, mica_key_entity(anna));
 *     for (mica_match match = mica_index_range(by_owner, mica_key_entity(anna), mica_key_entity(anna)); mica_match_next(&match);)
 *         use(match.entity);
 *
 *     mica_index *grid = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y",
 *                                                                   .cell_size = 5, .maximum = {100, 100}});
 *     mica_system_add(world, MICA_SYSTEM_WITH(flock, (MICA_USES({.index = grid})), MICA_WRITE(Velocity)));
 *
 * An index of one field finds equal values and ranges in order. A grid is an index of two or three fields with a .cell_size: it finds
 * what is within a radius, and the nearest entities.
 *
 * When an index is current. Writes do not update indexes. An index shows the values of its last update, which compares what was written
 * or moved since the update before it and changes nothing else. A system that has the index in its .uses reads a current one: the update
 * runs right before the system starts, after all systems that write the component. Everywhere else call mica_index_update, or
 * mica_index_refresh for one entity. Since an index has copies of the values, a system may write the component while it reads the index:
 * it sees the values from before it started, on any number of threads.
 *
 * Entities that queries do not show are not in the index: disabled entities, and entities whose component is disabled. Order: by value or
 * cell, then by handle. It depends only on the values and handles, not on how the world got there. Snapshots, clear and clone need nothing.
 * Examples: examples/boids.c, examples/index.c.
 */
#ifndef MICA_INDEX_H
#define MICA_INDEX_H


MICA_BEGIN

typedef struct mica_index mica_index;

/* What is indexed. Zero is the default of everything except component and fields. */
typedef struct mica_index_def {
    const char *name;         /* for reports; NULL: the name of the component */
    mica_component component; /* with data, in chunks or in a pool, one per entity */
    /* One field, which is a number, bool, constant, asset or entity; or two or three numbers for a grid: "x, y". Each is a path as in
     * mica/value.h: "home.x", "size[2]". */
    const char *fields;
    bool hashed; /* a hash table finds equal values faster, at 16 to 32 bytes for each different value */
    bool unique; /* two entities with equal values are a mistake: see mica_index_update */

    double cell_size; /* not 0: a grid with cells of at least this size; best near the usual radius of a search */
    /* The cells cover these bounds, which must differ for each field. What lies outside is found too, but more slowly. On a torus the
     * bounds are the same place: positions and distances wrap around. */
    double minimum[3];
    double maximum[3];
    bool torus;
    mica_location location;
} mica_index_def;

/* Creates an index, which is empty until its first update. The def is copied. Returns NULL with a report that says what is wrong with
 * the def, or if memory runs out. Rejected inside systems. Threads: owner. */
MICA_API mica_index *mica_index_create(mica_world *world, const mica_index_def *def);

/* Destroys an index. Indexes that remain are destroyed with the world. Refused with a report while a system has it in its .uses.
 * NULL is a no-op. Threads: owner. */
MICA_API void mica_index_destroy(mica_index *index);

/* Makes the index current. Costs a look at the stamps if nothing changed. Ends loops over the index. With .unique, returns
 * MICA_ERROR_EXISTS while there are entities with equal values; each update that finds new ones reports one of them. The values stay as
 * they are, and mica_find_by returns the entity with the lowest handle. Returns MICA_ERROR_MEMORY if memory runs out: the index is then
 * empty until an update succeeds. Refused in hooks, and in systems that are not exclusive: their indexes are current. A pointer from
 * mica_write counts as written when it is returned: get it again after an update. Threads: owner. */
MICA_API mica_result mica_index_update(mica_index *index);

/* Makes the index current for one entity, which may be new, changed, without the component, or dead; for agents that act one after the
 * other and see what those before them did. Returns what mica_index_update returns. Refused in hooks. In a system that is not
 * exclusive it needs MICA_USE_WRITE of the component. Threads: owner; a system that runs once. */
MICA_API mica_result mica_index_refresh(mica_index *index, mica_entity entity);

/* Returns how many entities are in the index. Threads: reader. */
MICA_API uint32_t mica_index_entity_count(const mica_index *index);

/* A value to look for. Zero is no value: an open end of a range. */
typedef struct mica_key {
    mica_kind kind; /* MICA_KIND_I64, U64, F64, ENTITY, or NONE */
    union {
        int64_t integer;
        uint64_t natural;
        double real;
        mica_entity entity;
    } as;
} mica_key;

/* Return keys. Integers and real numbers find fields of all kinds of numbers. Threads: any. */
static inline mica_key mica_key_integer(int64_t value)
{
    mica_key key = {MICA_KIND_I64, {0}};
    key.as.integer = value;
    return key;
}

/* The same for large unsigned numbers, assets and flags. Threads: any. */
static inline mica_key mica_key_natural(uint64_t value)
{
    mica_key key = {MICA_KIND_U64, {0}};
    key.as.natural = value;
    return key;
}

/* A field of type float is compared with the key rounded to float. NaN equals itself and comes last. Threads: any. */
static inline mica_key mica_key_real(double value)
{
    mica_key key = {MICA_KIND_F64, {0}};
    key.as.real = value;
    return key;
}

/* For fields that are entities. Threads: any. */
static inline mica_key mica_key_entity(mica_entity value)
{
    mica_key key = {MICA_KIND_ENTITY, {0}};
    key.as.entity = value;
    return key;
}

/* Returns the entity with this value, the one with the lowest handle if there are several, or nil. Threads: reader. */
MICA_API mica_entity mica_find_by(const mica_index *index, mica_key key);

/* Private: what an index begins with. The hash table of an index of integers, open addressing with linear probing; id 0 is an empty slot. */
typedef struct mica_private_slot {
    uint64_t key;
    uint64_t id; /* index << 32 | generation of the entity */
} mica_private_slot;
typedef struct mica_private_index {
    const mica_private_slot *slots; /* NULL: there is no such table */
    uint32_t mask;
    uint32_t shift;
    int64_t lowest;   /* lower keys need the call */
    uint64_t flipped; /* bits of an integer that are inverted in the table */
} mica_private_index;

/* What mica_find_by is in a program that is not checked: an integer in a hash table needs no call. Threads: reader. */
static inline mica_entity mica_private_find_by(const mica_index *index, mica_key key)
{
    const mica_private_index *table = (const mica_private_index *)(const void *)index;
    if (table && table->slots && key.kind == MICA_KIND_I64 && key.as.integer >= table->lowest) {
        uint64_t word = (uint64_t)key.as.integer ^ table->flipped;
        uint32_t at = (uint32_t)((word ^ word >> 32) * 0x9e3779b97f4a7c15u >> table->shift);
        while (table->slots[at].key != word && table->slots[at].id)
            at = (at + 1) & table->mask;
        mica_entity entity = {(uint32_t)(table->slots[at].id >> 32), (uint32_t)table->slots[at].id};
        return entity;
    }
    return mica_find_by(index, key);
}

/* A loop over the entities of a range. Fields of `private_` are not part of the API. */
typedef struct mica_match {
    mica_entity entity;
    struct {
        const mica_index *index;
        uint64_t update; /* of the index, when the loop began */
        uint64_t last;   /* the highest value */
        uint32_t block;
        uint32_t position;
    } private_;
} mica_match;

/* Starts a loop over the entities with values from low to high, both included, in order. Equal keys are one value; a key of zero is an
 * open end. Call mica_match_next for the first entity. Threads: reader. */
MICA_API mica_match mica_index_range(const mica_index *index, mica_key low, mica_key high);

/* Advances to the next entity; false at the end. Ends with a report if the index was updated during the loop. Threads: reader. */
MICA_API bool mica_match_next(mica_match *match);

/* Returns how many entities have values from low to high. Threads: reader. */
MICA_API uint32_t mica_index_count(const mica_index *index, mica_key low, mica_key high);

/* A position; z is not used by grids of two fields. */
typedef struct mica_point {
    double x, y, z;
} mica_point;

/* An entity that a grid found. */
typedef struct mica_neighbour {
    mica_entity entity;
    double distance_squared;
    mica_point offset; /* from the centre to the entity; on a torus the shortest way */
} mica_neighbour;

/* Finds the entities within a radius of a point, at most at that distance, in the order of cells and then handles. Writes the first
 * `capacity` of them to `out` and returns how many there are. Distances are computed as doubles. A radius that is not a number of at
 * least 0 finds nothing. Threads: reader. */
MICA_API uint32_t mica_grid_within(const mica_index *grid, mica_point centre, double radius, mica_neighbour *out,
                                   uint32_t capacity);

/* The same around an entity of the grid, without the entity itself. Finds nothing for one that is not in the grid. Threads: reader. */
MICA_API uint32_t mica_grid_around(const mica_index *grid, mica_entity entity, double radius, mica_neighbour *out,
                                   uint32_t capacity);

/* Finds up to `capacity` entities that are nearest to a point, by rising distance and then by handle. Returns how many it wrote.
 * Threads: reader. */
MICA_API uint32_t mica_grid_nearest(const mica_index *grid, mica_point centre, mica_neighbour *out, uint32_t capacity);

/* Lists the entities in the cell of a point, by handle. Writes the first `capacity` of them and returns how many there are.
 * Threads: reader. */
MICA_API uint32_t mica_grid_cell(const mica_index *grid, mica_point point, mica_entity *out, uint32_t capacity);

/* Called for one entity with all its neighbours. They are valid during the call. */
typedef void (*mica_neighbours_fn)(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context);

/* What mica_grid_each does. */
typedef struct mica_grid_loop {
    double radius;
    mica_query *query; /* visits only entities that match; their neighbours are of any kind. NULL: all */
    bool pairs; /* each pair once: an entity is shown only the neighbours that come after it in the order of the grid */
    bool one_thread; /* in the order of the grid; else on all workers */
    mica_neighbours_fn fn;
    void *context;
} mica_grid_loop;

/* Visits every entity of the grid with its neighbours within the radius, also those that have none, cell by cell, which is much faster
 * than single searches. On several threads the function is called for different entities at the same time, so it must write only what
 * belongs to its entity. Inside a system, changes can't be recorded in the function, unless .one_thread is set. Returns
 * MICA_ERROR_MEMORY if memory for neighbours ran out, for the entities that were skipped. Threads: owner; inside a system, the system's own. */
MICA_API mica_result mica_grid_each(const mica_index *grid, const mica_grid_loop *loop);

/* Lists the entities that match a query in random order, for agents that act one after the other. The order depends only on the generator
 * and on the handles. Writes the first `capacity` of them and returns how many match; all must fit to be in random order. Threads: owner;
 * a system that runs once. */
MICA_API uint32_t mica_query_shuffled(mica_query *query, mica_random *random, mica_entity *out, uint32_t capacity);

MICA_END

#if !defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_find_by mica_private_find_by
#endif
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_index_create(world, ...) mica_index_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_index_destroy(index) mica_index_destroy(MICA_AT_(index))
#    define mica_index_update(index) mica_index_update(MICA_AT_(index))
#    define mica_index_refresh(index, ...) mica_index_refresh(MICA_AT_(index), __VA_ARGS__)
#    define mica_index_entity_count(index) mica_index_entity_count(MICA_AT_(index))
#    define mica_find_by(index, ...) mica_find_by(MICA_AT_(index), __VA_ARGS__)
#    define mica_index_range(index, ...) mica_index_range(MICA_AT_(index), __VA_ARGS__)
#    define mica_match_next(match) mica_match_next(MICA_AT_(match))
#    define mica_index_count(index, ...) mica_index_count(MICA_AT_(index), __VA_ARGS__)
#    define mica_grid_within(grid, ...) mica_grid_within(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_around(grid, ...) mica_grid_around(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_nearest(grid, ...) mica_grid_nearest(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_cell(grid, ...) mica_grid_cell(MICA_AT_(grid), __VA_ARGS__)
#    define mica_grid_each(grid, ...) mica_grid_each(MICA_AT_(grid), __VA_ARGS__)
#    define mica_query_shuffled(query, ...) mica_query_shuffled(MICA_AT_(query), __VA_ARGS__)
#endif
#endif

/* mica/snapshot.h */
/* Mica, snapshot: restore an earlier state of a world.
 *
 *     mica_snapshot before = mica_snapshot_take(world);      microseconds, independent of the size of the world
 *     ...                                                    anything: systems, creation, destruction, messages
 *     mica_snapshot_restore(world, before);                  costs what changed meanwhile
 *     mica_snapshot_drop(world, before);
 *
 * Snapshots are copy-on-write: only singletons and counters are copied when one is taken. The first write to a slice of a column
 * afterwards copies the old values of that slice; restoring puts them back. Live data never moves for a snapshot.
 *
 * Restored: entities with their handles and generations, values, the order of rows, pools and tags, singletons, names, the
 * hierarchy, messages in streams and mailboxes, time, ticks, pause and random numbers, which systems and phases are enabled,
 * which handles are used next, and what queries and systems consider changed. The world hash is the same as before, and the same
 * inputs produce the same world again. Pointers to components are invalid, as after any change; mica_ref finds its component.
 *
 * Not restored: component definitions, queries, systems, hooks, observers, streams and command buffers. They continue to exist,
 * including those created since the snapshot. Pool groups created since are dissolved, because they moved rows: create them again. Hooks and observers do
 * not run. Code that keeps copies of values outside the world, such as a renderer, must look at everything once
 * (mica_query_begin_since with 0). Marks taken after the snapshot still detect writes made after the restore.
 *
 * Any number of snapshots can exist. Restoring one keeps older and newer ones, and they can be restored in any order, as undo and
 * redo need (examples/undo.c). Archetypes created since the restored snapshot are removed if no newer snapshot exists; otherwise
 * they stay, empty.
 *
 * Values that own something are copied with the copy function of their component before they change. Taking a snapshot is rejected
 * while the world uses a component with a destructor and no copy function.
 *
 * If memory for a copy runs out, the write still succeeds and the snapshots are lost: restoring one then returns
 * MICA_ERROR_MEMORY and changes nothing.
 */
#ifndef MICA_SNAPSHOT_H
#define MICA_SNAPSHOT_H


MICA_BEGIN

/* A snapshot of one world, by value. All zero is none. */
typedef struct mica_snapshot {
    uint64_t id;
} mica_snapshot;

/* Takes a snapshot. Returns none with a report if memory runs out, inside systems and hooks, while recording or with recorded changes
 * pending, and for components that cannot be copied. Valid until dropped, or the world is destroyed. Threads: owner. */
MICA_API mica_snapshot mica_snapshot_take(mica_world *world);

/* Restores the state of a snapshot, which stays valid. Returns MICA_ERROR_UNKNOWN for none or a dropped one, MICA_ERROR_MEMORY if it
 * was lost or memory runs out, and MICA_ERROR_REFUSED where taking one is rejected; then nothing changes. Threads: owner. */
MICA_API mica_result mica_snapshot_restore(mica_world *world, mica_snapshot snapshot);

/* Drops a snapshot. Returns false if it does not exist. Threads: owner. */
MICA_API bool mica_snapshot_drop(mica_world *world, mica_snapshot snapshot);

/* Returns the size of the old data saved for this snapshot since it was taken; 0 right after it was taken. Threads: reader. */
MICA_API size_t mica_snapshot_bytes(const mica_world *world, mica_snapshot snapshot);

/* Creates a world with the same def and the same content: entities with their handles, values, the order of rows, pools and
 * groups, singletons, names and the hierarchy. Queries, systems, streams, hooks, command buffers and snapshots are not part of
 * it, nor are time, pending entities and their names; MICA_PHASE_START does not run again if it ran in the world. Both worlds have
 * the same mica_world_hash_content. Returns NULL
 * with a report to the world if memory is short, while changes are recorded, and for a component that can't be copied.
 * Threads: owner. */
MICA_API mica_world *mica_world_clone(mica_world *world);

/* History: the last ticks of a world, for rollback.
 *
 *     mica_history *history = mica_history_create(world, 60);
 *     for (;;) {
 *         if (late input for a tick arrived)
 *             mica_history_restore(history, late), step it, then take and step each later tick
 *         mica_history_take(history, tick);                  before the step of that tick
 *         mica_step(world, dt);
 *         ++tick;
 *     }
 */
typedef struct mica_history mica_history;

/* Creates a history of up to `capacity` ticks, at least one. Returns NULL if memory runs out. Destroyed with its world.
 * Threads: owner. */
MICA_API mica_history *mica_history_create(mica_world *world, uint32_t capacity);

/* Destroys a history and its snapshots. NULL is a no-op. Threads: owner. */
MICA_API void mica_history_destroy(mica_history *history);

/* Stores the current state under a tick number, which must be higher than the last one (else MICA_ERROR_INVALID). If the history
 * is full, the oldest tick is dropped. Other errors as for mica_snapshot_take. Threads: owner. */
MICA_API mica_result mica_history_take(mica_history *history, uint64_t tick);

/* Restores a tick and drops the later ones. Returns MICA_ERROR_UNKNOWN if the tick is not stored, else as mica_snapshot_restore; on
 * error nothing is dropped. Threads: owner. */
MICA_API mica_result mica_history_restore(mica_history *history, uint64_t tick);

/* Return whether a tick is stored, the number of stored ticks, and the first and last of them, 0 if none. Threads: reader. */
MICA_API bool mica_history_has(const mica_history *history, uint64_t tick);
MICA_API uint32_t mica_history_count(const mica_history *history);
MICA_API uint64_t mica_history_first(const mica_history *history);
MICA_API uint64_t mica_history_last(const mica_history *history);

/* Returns the memory that all ticks need together. Threads: reader. */
MICA_API size_t mica_history_bytes(const mica_history *history);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_snapshot_take(world) mica_snapshot_take(MICA_AT_(world))
#    define mica_snapshot_restore(world, ...) mica_snapshot_restore(MICA_AT_(world), __VA_ARGS__)
#    define mica_snapshot_drop(world, ...) mica_snapshot_drop(MICA_AT_(world), __VA_ARGS__)
#    define mica_snapshot_bytes(world, ...) mica_snapshot_bytes(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_clone(world) mica_world_clone(MICA_AT_(world))
#    define mica_history_create(world, ...) mica_history_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_history_destroy(history) mica_history_destroy(MICA_AT_(history))
#    define mica_history_take(history, ...) mica_history_take(MICA_AT_(history), __VA_ARGS__)
#    define mica_history_restore(history, ...) mica_history_restore(MICA_AT_(history), __VA_ARGS__)
#    define mica_history_has(history, ...) mica_history_has(MICA_AT_(history), __VA_ARGS__)
#    define mica_history_count(history) mica_history_count(MICA_AT_(history))
#    define mica_history_first(history) mica_history_first(MICA_AT_(history))
#    define mica_history_last(history) mica_history_last(MICA_AT_(history))
#    define mica_history_bytes(history) mica_history_bytes(MICA_AT_(history))
#endif
#endif

/* mica/hash.h */
/* Mica, hash: find out where two worlds differ.
 *
 *     mica_difference difference;
 *     if (mica_hash_diff(server, client, &difference))
 *         puts(difference.text);     "Position.x of entity 700 (generation 1), in {Position, Velocity}, row 188"
 *
 * A hash tree covers the world, its archetypes and pools, their slices, and the columns of each slice. Trees can be compared
 * without the worlds, which may be in other processes: send the root every tick, and the leaves if roots differ. mica/recording.h
 * stores the trees of a whole run in a file.
 */
#ifndef MICA_HASH_H
#define MICA_HASH_H


MICA_BEGIN

enum {
    MICA_HASH_SLICES = MICA_SLICE_ROWS, /* a leaf is a column of a slice */
    MICA_HASH_ROWS = 1,                 /* a leaf is one value of one entity */
};

/* A leaf: a column of some rows, or something that exists once per world. */
typedef struct mica_hash_leaf {
    uint64_t table; /* hash of the component names of an archetype, or of the name of a pool component; 0: the world */
    uint64_t component; /* hash of the component name; 0: the entities and their order */
    uint32_t row;       /* first row, counted from the start of the archetype or pool */
    uint32_t row_count;
    mica_entity entity; /* of the first row; nil for leaves of the world */
    uint64_t hash;
} mica_hash_leaf;

typedef struct mica_hash_tree mica_hash_tree;

/* Computes the hash tree of a world with leaves of MICA_HASH_SLICES or MICA_HASH_ROWS rows. Returns NULL with a report if memory runs
 * out. The tree can outlive the world, but not the world's allocator. Threads: reader. */
MICA_API mica_hash_tree *mica_hash_tree_take(const mica_world *world, uint32_t leaf_rows);

/* Creates a tree from leaves, for example from another process. The leaves are copied. Component names are those known to this
 * process. Returns NULL if memory runs out, or two leaves have the same position. Threads: any. */
MICA_API mica_hash_tree *mica_hash_tree_from_leaves(const mica_hash_leaf *leaves, uint32_t count);

/* Frees a tree. NULL is a no-op. Threads: any, if no thread uses it. */
MICA_API void mica_hash_tree_free(mica_hash_tree *tree);

/* Returns the hash over all leaves. It differs from mica_world_hash. Threads: any. */
MICA_API uint64_t mica_hash_tree_root(const mica_hash_tree *tree);

/* Returns the leaves, sorted by table, row and component, and their number. Valid as long as the tree. Threads: any. */
MICA_API const mica_hash_leaf *mica_hash_tree_leaves(const mica_hash_tree *tree, uint32_t *out_count);

/* The first difference. Unknown parts are empty, nil or 0. */
typedef struct mica_difference {
    uint64_t tick; /* of a recording */
    char system[64];
    char component[64];
    char field[64];
    char table[96]; /* "{Position, Velocity}", or "pool Burning" */
    mica_entity entity;
    uint32_t row; /* first differing row */
    uint32_t row_count;
    char text[512]; /* a description of all of it */
} mica_difference;

/* Returns whether two trees differ, and the first difference. Both must have leaves of the same size. `out` may be NULL.
 * Threads: any. */
MICA_API bool mica_hash_tree_diff(const mica_hash_tree *a, const mica_hash_tree *b, mica_difference *out);

/* Returns whether two worlds differ in what mica_world_hash covers, and the first component, entity and field that differ. `out` may
 * be NULL. If memory runs out, which is reported, it returns true without details. Threads: reader of both. */
MICA_API bool mica_hash_diff(const mica_world *a, const mica_world *b, mica_difference *out);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_hash_tree_take(world, ...) mica_hash_tree_take(MICA_AT_(world), __VA_ARGS__)
#    define mica_hash_tree_from_leaves(...) MICA_AT_(mica_hash_tree_from_leaves(__VA_ARGS__))
#    define mica_hash_tree_free(tree) mica_hash_tree_free(MICA_AT_(tree))
#    define mica_hash_tree_root(tree) mica_hash_tree_root(MICA_AT_(tree))
#    define mica_hash_tree_leaves(tree, ...) mica_hash_tree_leaves(MICA_AT_(tree), __VA_ARGS__)
#    define mica_hash_tree_diff(a, ...) mica_hash_tree_diff(MICA_AT_(a), __VA_ARGS__)
#    define mica_hash_diff(a, ...) mica_hash_diff(MICA_AT_(a), __VA_ARGS__)
#endif
#endif

/* mica/recording.h */
/* Mica, recording: record a run to a file, replay it, and find out where it diverges.
 *
 *     mica_input_handle(world, take_input, game);            applies input; called by mica_input and by a replay
 *     mica_recording_begin(world, "run.micarec", NULL);
 *     while (is_running()) {
 *         mica_input(world, &buttons, sizeof buttons);       any bytes, any number of times per frame
 *         mica_step(world, 1.0f / 60);
 *     }
 *     mica_recording_end(world);
 *
 * The file stores the input, the time step and the resulting world hash of each frame; optionally also a hash after each system,
 * and the hash tree (mica/hash.h). Then, in a world that was set up the same way:
 *
 *     mica_recording *recording = mica_recording_load("run.micarec", NULL);
 *     if (!mica_replay(world, recording, &difference))
 *         puts(difference.text);        "tick 41: first after system move: Position of entity 700 (generation 1), in ..."
 *
 * `mica replay` does this for modules, `mica diff` compares two recordings. A frame is in the file when mica_step returns, so a
 * recording survives a crash. Everything that changes the world between frames must go through mica_input, or the replay
 * diverges. Snapshots that are taken, restored and dropped meanwhile (mica/snapshot.h) are recorded and replayed too; restoring one
 * that was taken before the recording began ends the recording with a report, and the file stays valid up to the last frame.
 * docs/format.md describes the bytes.
 */
#ifndef MICA_RECORDING_H
#define MICA_RECORDING_H


MICA_BEGIN

/* Applies input to the world. The bytes are valid until it returns. */
typedef void (*mica_input_fn)(mica_world *world, const void *bytes, size_t byte_count, void *context);

/* Sets the input handler; NULL removes it. Rejected inside a system. Threads: owner. */
MICA_API mica_result mica_input_handle(mica_world *world, mica_input_fn fn, void *context);

enum { MICA_INPUT_BYTES_MAX = 16 << 20 };

/* Passes input to the handler and records it for the next frame. Returns MICA_ERROR_UNKNOWN with a report if there is no handler.
 * Rejected inside a frame. Threads: owner. */
MICA_API mica_result mica_input(mica_world *world, const void *bytes, size_t byte_count);

/* How precisely a recording can locate a difference. */
typedef enum mica_recording_detail {
    MICA_RECORDING_WORLD = 0, /* the frame: 40 bytes per frame */
    MICA_RECORDING_SLICES,    /* also component and slice: 40 bytes per changed column of a slice */
    MICA_RECORDING_ENTITIES,  /* also the entity: 40 bytes per changed value */
} mica_recording_detail;

typedef struct mica_recording_def {
    mica_recording_detail detail;
    bool systems; /* also the system: systems run one by one, and the world is hashed after each */
} mica_recording_def;

/* Begins to record every mica_step to a file. A NULL def means the defaults. Returns MICA_ERROR_FILE with a report if the file
 * cannot be written. Rejected while a recording is in progress and inside a frame. If writing fails later (a full disk), the
 * recording ends with a report and the world continues to run. Threads: owner. */
MICA_API mica_result mica_recording_begin(mica_world *world, const char *path, const mica_recording_def *def);

/* Ends the recording. Returns MICA_ERROR_FILE if it could not be written completely, MICA_ERROR_REFUSED if there is none. Destroying
 * the world also ends it. Threads: owner. */
MICA_API mica_result mica_recording_end(mica_world *world);

typedef struct mica_recording mica_recording;

enum { MICA_RECORDING_MAGIC_BYTES = 8 };

/* An error in a recording, and its position. */
typedef struct mica_recording_error {
    mica_result result;
    uint64_t offset;
    char text[256];
} mica_recording_error;

/* Loads and verifies a recording; an incomplete frame at the end is ignored. On error returns NULL and fills `out_error`, which may be
 * NULL. Threads: any. */
MICA_API mica_recording *mica_recording_load(const char *path, mica_recording_error *out_error);

/* The same for bytes in memory, which are copied. Threads: any. */
MICA_API mica_recording *mica_recording_open(const void *bytes, size_t byte_count, mica_recording_error *out_error);

/* Returns whether these bytes begin like a recording: the first MICA_RECORDING_MAGIC_BYTES of a file are enough. Threads: any. */
MICA_API bool mica_recording_detect(const void *bytes, size_t byte_count);

/* Frees a recording. NULL is a no-op. Threads: any, if no thread uses it. */
MICA_API void mica_recording_free(mica_recording *recording);

typedef struct mica_recording_info {
    uint64_t start_hash; /* of the world before the first frame */
    uint64_t byte_count;
    uint32_t tick_count;
    mica_recording_detail detail;
    bool systems;
    bool is_cut; /* the last frame is incomplete: the program did not end the recording */
} mica_recording_info;

/* One frame. Ticks start at 1. */
typedef struct mica_recorded_tick {
    uint64_t hash; /* of the world after it */
    float dt;
    uint32_t input_count;
} mica_recorded_tick;

/* Return the contents of a recording. A tick after the last is all zero, an input after the last is NULL. Pointers are valid as long
 * as the recording. Threads: any. */
MICA_API mica_recording_info mica_recording_get_info(const mica_recording *recording);
MICA_API mica_recorded_tick mica_recording_tick(const mica_recording *recording, uint32_t tick);
MICA_API const void *mica_recording_input(const mica_recording *recording, uint32_t tick, uint32_t index,
                                          size_t *out_byte_count);

/* Replays a recording on a world that has the same state as when the recording began: passes the input of each frame to the
 * handler, steps and compares. Returns true if all frames are equal. Otherwise stops after the first frame that differs, writes the
 * difference to `out`, which may be NULL, and returns false. Rejected (false) while recording and inside a frame. Threads: owner. */
MICA_API bool mica_replay(mica_world *world, const mica_recording *recording, mica_difference *out);

/* Returns whether two recordings differ, and the first difference. `out` may be NULL. Threads: any. */
MICA_API bool mica_recording_diff(const mica_recording *a, const mica_recording *b, mica_difference *out);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_input_handle(world, ...) mica_input_handle(MICA_AT_(world), __VA_ARGS__)
#    define mica_input(world, ...) mica_input(MICA_AT_(world), __VA_ARGS__)
#    define mica_recording_begin(world, ...) mica_recording_begin(MICA_AT_(world), __VA_ARGS__)
#    define mica_recording_end(world) mica_recording_end(MICA_AT_(world))
#    define mica_recording_load(...) MICA_AT_(mica_recording_load(__VA_ARGS__))
#    define mica_recording_open(...) MICA_AT_(mica_recording_open(__VA_ARGS__))
#    define mica_recording_detect(...) MICA_AT_(mica_recording_detect(__VA_ARGS__))
#    define mica_recording_free(recording) mica_recording_free(MICA_AT_(recording))
#    define mica_recording_get_info(recording) mica_recording_get_info(MICA_AT_(recording))
#    define mica_recording_tick(recording, ...) mica_recording_tick(MICA_AT_(recording), __VA_ARGS__)
#    define mica_recording_input(recording, ...) mica_recording_input(MICA_AT_(recording), __VA_ARGS__)
#    define mica_replay(world, ...) mica_replay(MICA_AT_(world), __VA_ARGS__)
#    define mica_recording_diff(a, ...) mica_recording_diff(MICA_AT_(a), __VA_ARGS__)
#endif
#endif

/* mica/module.h */
/* Mica, module: systems in a shared library that a program loads at run time, as `mica run` does.
 *
 *     #include "mica/flow.h"
 *     #include "mica/module.h"
 *     ...
 *     MICA_MODULE(world)
 *     {
 *         mica_define(world, Position);                    register it before levels are spawned
 *         mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Position)));
 *         return MICA_OK;
 *     }
 *
 * A module that has rules for spawning and saving (mica/resource.h), or needs the resource library (mica/library.h), has a second
 * entry point, which is called after all modules are loaded and before levels are spawned:
 *
 *     MICA_MODULE_RULES(world, library, out_rule_count)
 *     {
 *         shapes = library;
 *         rules[0].component = mica_define(world, Position);
 *         *out_rule_count = 1;
 *         return rules;
 *     }
 *
 * Link the shared library with mica::module (CMake), or with nothing: it uses the Mica of the program that loads it. A second copy
 * of Mica would assign different component ids.
 *
 *     mica run --module ./libfall.so --frames 600 level.mica
 *
 * Examples: examples/modules.
 */
#ifndef MICA_MODULE_H
#define MICA_MODULE_H


MICA_BEGIN

/* How a module was compiled. The program compares this before it calls the module. */
typedef struct mica_module {
    uint32_t version_major;
    uint32_t version_minor;
    uint32_t checked; /* 1 with MICA_CHECKED, else 0 */
} mica_module;

extern MICA_EXPORT const mica_module mica_module_info;

/* Called once, with an empty world. Any result except MICA_OK, and any report, ends the run. */
MICA_EXPORT mica_result mica_module_main(mica_world *world);

struct mica_library;
struct mica_resource_rule;

/* Optional. Returns the rules of the module, or NULL. Rules and library are valid until the program ends. */
MICA_EXPORT const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,
                                                               uint32_t *out_rule_count);

MICA_END

#ifdef MICA_CHECKED
#    define MICA_MODULE_CHECKED_ 1
#else
#    define MICA_MODULE_CHECKED_ 0
#endif

/* Defines the entry point of a module; the body follows. */
#define MICA_MODULE(world)                                                                                             \
    const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR, MICA_MODULE_CHECKED_};               \
    mica_result mica_module_main(mica_world *world)

/* Defines the entry point for rules; the body follows. */
#define MICA_MODULE_RULES(world, library, out_rule_count)                                                              \
    const struct mica_resource_rule *mica_module_rules(mica_world *world, const struct mica_library *library,          \
                                                       uint32_t *out_rule_count)

#endif

/* mica/delta.h */
/* Mica, delta: encode what changed in a world as bytes, and apply it to another world.
 *
 *     mica_sender *sender = mica_sender_create(server, NULL);
 *     mica_delta delta;
 *     mica_delta_encode(sender, client->acknowledged, &delta);      0: everything, for a new client
 *     send(client, delta.bytes, delta.byte_count);
 *
 *     mica_replica *replica = mica_replica_create(client, NULL);    in the other process
 *     mica_delta_apply(replica, bytes, byte_count);
 *     acknowledge(mica_replica_version(replica));
 *
 * A delta contains the current state of everything written since a base version, per slice and column. It can be applied to any
 * version from its base up to its own, so deltas may be lost or arrive late. Per receiver, the sender needs only the last
 * acknowledged version.
 *
 * The replica is identical to the sender's world: handles, row order and mica_world_hash_content, if it has all components and only the
 * sender changes it. With .mapped its entities have their own handles, and references in components are translated. The receiver
 * can have its own components and, if mapped, its own entities; deltas do not touch them. Entities of the sender that the receiver
 * destroys are not recreated. Hooks and observers run for components that are added, removed, enabled and disabled and
 * for destroyed entities, not for SET.
 *
 * Snapshots (mica/snapshot.h): a receiver may predict, if it restores a snapshot that it took after the last delta before it
 * applies the next one. After a restore to a snapshot from before the last delta, deltas are rejected until a later one is restored.
 * When the sender's world restores a snapshot, the next delta for each receiver contains everything.
 *
 * Deltas are verified before anything changes; invalid bytes return an error. Machines may have different byte orders; both programs must
 * have the same component layouts.
 *
 * Carried: chunk components, tags, toggles, split components, pools, all instances of .many components in their order, singletons, text and
 * lists, names and links (mica/hierarchy.h). Instances that the receiver adds to an entity of the sender come after the sender's.
 * Components with construct, destruct, copy or move functions need a rule on both sides (mica/rule.h). Encoding writes what the save function
 * makes of each value that was written; applying replaces values by what the spawn function makes of it, on a default value. Rules are
 * not used for tags and split components.
 * With .with_state, a delta also contains time, clocks, streams, messages and all that a world needs to continue exactly; the replica does not
 * use it, but hands it out: mica_replica_state. Parts of a state that did not change are not sent again.
 * Not carried: fields that are not described, unless a rule does, and names in the scope of a destroyed entity.
 */
#ifndef MICA_DELTA_H
#define MICA_DELTA_H

/* mica/rule.h */
/* Mica, rule: how the values of a component are written to files and deltas, and made from them again.
 *
 *     mica_resource_rule rule = {.component = MICA_ID(Mesh), .recipe = &mica_type_of_MeshRecipe, .spawn = spawn_mesh, .save = save_mesh};
 *     mica_save(world, "quick.mica", &(mica_save_def){.rules = &rule, .rule_count = 1});
 *     mica_sender_create(world, &(mica_sender_def){.rules = &rule, .rule_count = 1});
 *
 * A recipe is a struct with described fields (MICA_STRUCT), which the save function fills from a value of the component, and from which the
 * spawn function makes one. Used by mica/resource.h, mica/saver.h and mica/delta.h.
 */
#ifndef MICA_RULE_H
#define MICA_RULE_H


MICA_BEGIN

/* Of values in files and deltas. Readers convert them. */
typedef enum mica_byte_order {
    MICA_BYTE_ORDER_NATIVE = 0,
    MICA_BYTE_ORDER_LITTLE,
    MICA_BYTE_ORDER_BIG,
} mica_byte_order;

/* Instances that are being spawned: contiguous rows. */
typedef struct mica_spawn_run {
    mica_world *world;
    mica_component component;
    uint32_t count;
    const mica_entity *entities; /* the owners */
    const void *instances;       /* from the file, in the layout of the recipe; entity fields are already handles */
    void *values;                /* of the component, initially default values, to be filled in; NULL for a tag */
} mica_spawn_run;

/* Fills in values; structural changes are recorded. If it returns false, the whole spawn is undone. For a delta, the
 * entities may not exist yet, and the function must not change the world. */
typedef bool (*mica_spawn_fn)(const mica_spawn_run *run, void *context);

/* Fills `out_instance`, initially zero, from a value. If it returns false, saving fails. */
typedef bool (*mica_save_fn)(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                             void *context);

/* How a component is spawned and saved if the description of its fields is not enough, for example because it owns something.
 * Needed for each component with destruct, copy or move functions, or without described fields, by files and deltas; by deltas also with a
 * construct function. A rule without functions of its own says that the described fields are enough. Components with text and lists need none. */
typedef struct mica_resource_rule {
    mica_component component;
    int32_t spawn_order;     /* components with lower values are spawned first; saved in the file */
    const mica_type *recipe; /* layout of the instances in the file; NULL: the described fields */
    mica_spawn_fn spawn;     /* NULL: copies the described fields over a default value */
    mica_save_fn save;       /* NULL: the described fields */
    void *context;
} mica_resource_rule;

MICA_END
#endif


MICA_BEGIN

typedef struct mica_sender mica_sender;

typedef struct mica_sender_def {
    const mica_component *excluded; /* components that are not sent */
    uint32_t excluded_count;
    const mica_resource_rule *rules; /* for components with functions; copied, but not recipes and contexts */
    uint32_t rule_count;
    mica_byte_order byte_order; /* of values in deltas; any receiver converts them, the same order is fastest */
    bool with_state;            /* deltas contain the state of the world (mica/state.h): see mica_replica_state */
    bool skip_without_rule; /* do not send components with functions that have no rule; otherwise they are an error */
} mica_sender_def;

/* Creates a delta encoder for a world. NULL means the defaults. Returns NULL with a report if memory runs out or a rule is invalid. One
 * sender serves any number of receivers. Threads: owner. */
MICA_API mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def);

/* Destroys the encoder. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_sender_destroy(mica_sender *sender);

/* An encoded delta. The bytes belong to the sender and are valid until it encodes again. */
typedef struct mica_delta {
    const void *bytes;
    size_t byte_count;
    mica_version base;
    mica_version version; /* of the world as it is now; a receiver acknowledges it after applying the delta */
    uint32_t slice_count; /* slices of chunks and pools in it */
    uint64_t value_bytes; /* bytes of their columns */
} mica_delta;

/* Encodes what changed since a version that an earlier delta had, or everything since 0, in time proportional to the changes, except for
 * singletons, names, links, and in pools tags, toggles and the order of instances, which are compared completely. If the world has restored a snapshot
 * since `base`, everything is encoded, and the base of the delta is 0. Returns MICA_ERROR_INVALID for a version
 * that the world has not reached, MICA_ERROR_MEMORY if memory runs out or the delta exceeds 2 GiB, MICA_ERROR_DATA if a
 * save function returns false, and MICA_ERROR_REFUSED while recording and for a component with functions that has no rule.
 * Threads: owner. */
MICA_API mica_result mica_delta_encode(mica_sender *sender, mica_version base, mica_delta *out_delta);

typedef struct mica_replica mica_replica;

typedef struct mica_replica_def {
    bool mapped; /* entities get new handles instead of those of the sender */
    /* If not mapped, deltas with higher entity indices are rejected, because a world has tables by index; 0 means 16777216. */
    uint32_t index_limit;
    const mica_resource_rule *rules; /* as of the sender, with the same recipes */
    uint32_t rule_count;
} mica_replica_def;

/* Creates a replica: a world, usually an empty one, that deltas are applied to. NULL means the defaults. Returns NULL with a report if memory
 * runs out or a rule is invalid. Threads: owner. */
MICA_API mica_replica *mica_replica_create(mica_world *world, const mica_replica_def *def);

/* Destroys the replica; its entities stay. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_replica_destroy(mica_replica *replica);

/* Applies a delta. A delta that is not newer than the replica is ignored. Errors, with a report:
 *   MICA_ERROR_DATA      the bytes are not a valid delta, or a spawn function returned false
 *   MICA_ERROR_REFUSED   its base is newer than the replica, the receiver has an entity of its own with one of its handles, or
 *                        changes are being recorded
 *   MICA_ERROR_UNKNOWN   this world does not know a component
 *   MICA_ERROR_LAYOUT    a component has other fields here, another recipe, or functions and no rule
 *   MICA_ERROR_MEMORY    memory runs out
 * On error the world is unchanged, except if memory runs out while names or links are set: then the version is unchanged, and the
 * delta can be applied again. Threads: owner. */
MICA_API mica_result mica_delta_apply(mica_replica *replica, const void *bytes, size_t byte_count);

/* Returns the last applied version of the sender's world; 0 before the first. Threads: reader. */
MICA_API mica_version mica_replica_version(const mica_replica *replica);

/* Returns the state of the sender's world (mica/state.h) at the version of the replica, and its number of bytes: time, ticks, clocks of
 * systems, streams, waiting messages and requests, handles, order of archetypes and chunks, and what counts as changed. With it, the world
 * continues exactly: save or pack the world of the replica with this state in mica_save_def, and spawn the result into an unused world with the
 * same components, systems and streams. Returns NULL and 0 if the sender does not send states, if its world was not at rest (inside a
 * frame, or with recorded changes waiting), or if the replica is mapped, since a state is about the sender's handles. Valid until the
 * next delta is applied. Threads: reader. */
MICA_API const void *mica_replica_state(const mica_replica *replica, size_t *out_byte_count);

/* Convert between entities of the sender and of this world; nil if there is none. Threads: reader. */
MICA_API mica_entity mica_replica_local(const mica_replica *replica, mica_entity sender_entity);
MICA_API mica_entity mica_replica_remote(const mica_replica *replica, mica_entity local_entity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_sender_create(world, ...) mica_sender_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_sender_destroy(sender) mica_sender_destroy(MICA_AT_(sender))
#    define mica_delta_encode(sender, ...) mica_delta_encode(MICA_AT_(sender), __VA_ARGS__)
#    define mica_replica_create(world, ...) mica_replica_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_replica_destroy(replica) mica_replica_destroy(MICA_AT_(replica))
#    define mica_delta_apply(replica, ...) mica_delta_apply(MICA_AT_(replica), __VA_ARGS__)
#    define mica_replica_version(replica) mica_replica_version(MICA_AT_(replica))
#    define mica_replica_state(...) MICA_AT_(mica_replica_state(__VA_ARGS__))
#    define mica_replica_local(replica, ...) mica_replica_local(MICA_AT_(replica), __VA_ARGS__)
#    define mica_replica_remote(replica, ...) mica_replica_remote(MICA_AT_(replica), __VA_ARGS__)
#endif
#endif

/* mica/sql.h */
/* Mica, sql: the world as SQLite tables.
 *
 *     sqlite3 *database = mica_sql_open(world, NULL);        or mica_sql_attach, to your own connection
 *     sqlite3_exec(database, "update Health set current = maximum "
 *                            "where entity in (select entity from Position where x between 0 and 10)", NULL, NULL, NULL);
 *     sqlite3_close(database);                               before the world is destroyed
 *
 * Nothing is copied: a table reads the columns of a query, chunk by chunk. `entity = ?` is a direct look-up, so a join on entity
 * costs one look-up per row.
 *
 * Tables. Each component of the world is a table with one row per entity; with one row per instance for .many components; with
 * one row for a singleton in use. `entities` has all entities: entity, slot, generation, name, path, parent, child_count,
 * component_count, components. `components` and `fields` describe the types: select * from fields where component = 'Monster'.
 *
 * Lists. A mica_list is a column of JSON, and a table of its own, named after the component and the field: Person_inventory has a row
 * per element, with entity, instance (of .many components), position from 0, and the fields of the element, or `value` if it is no struct.
 * Rows are in the order of the component's table. `entity = ?` and `position = ?` are look-ups. INSERT puts an element before `position`, or
 * at the end if it is NULL or omitted, and what is not given is zero; INSERT OR REPLACE overwrites the element at `position`; DELETE moves
 * the elements after it; `position` can't be changed. Lists inside elements are columns of JSON only. `fields` has the name of the table
 * of each list. Every element that is written copies its list once: to write many of a long list, write the column of JSON.
 *
 * Columns. `entity` is the handle as an integer; `instance` numbers the instances of .many components from 0; `enabled` exists for
 * components that can be toggled; then come the described fields: x, "home.x", "path[0].y". An array with more than 16 elements is
 * one read-only column of JSON. If a name is taken (ignoring case), '_' is appended: a field named entity becomes entity_, a
 * component named Entities becomes Entities_. Components choose before lists. A table has at most 1000 columns; further fields are omitted.
 *
 *     bool, integers      INTEGER; bool is 0 or 1. u64 is read as signed: values above 2^63 - 1 are negative
 *     f32, f64            REAL; NaN is NULL, in both directions
 *     char[]              TEXT, up to the first zero byte
 *     enum                the name, or an integer for a value without a name; both can be written
 *     flags               names separated by '|', '' for none; an integer if a bit has no name; both can be written
 *     mica_entity         INTEGER; nil is NULL, in both directions. mica_asset likewise, as its hash
 *     mica_text           TEXT
 *     mica_list           TEXT, a JSON array
 *
 * Writing. UPDATE is mica_set with its hooks and change stamps (for instances and singletons: a write in place, without set hooks).
 * INSERT adds the component to an entity, and creates the entity if `entity` is NULL or omitted (sqlite3_last_insert_rowid is its
 * handle, except for instances); omitted or NULL columns get the default value. INSERT OR REPLACE overwrites. DELETE removes the
 * component. In `entities`, name and parent can be written, INSERT creates and DELETE destroys.
 *
 * A value that does not fit (an unknown enum name, a number out of range, text that is too long, a stale entity) is an error of the
 * statement. Statements and transactions are atomic: ROLLBACK and ROLLBACK TO restore a mica_snapshot taken at the first write.
 * (Exception: UPDATE ... FROM inside a transaction. SQLite has no savepoint for it; rows it wrote before an error stay written until
 * the transaction ends.) So writing is rejected where a snapshot is: inside systems and hooks, while recording, and in a world
 * with a component that has a destructor and no copy function. Hooks run for changes, not for their rollback. A rollback also undoes
 * changes that the program made since the first write.
 *
 * While a statement is being stepped, other statements of the connection can write: it continues with the remaining entities that
 * still exist. If the program itself changes the structure meanwhile, the statement ends with an error.
 *
 * Errors are SQLite errors with a text; errors of the world are also reported by the world. SQLite allocates the memory.
 * In the library mica_sql (CMake: mica::sql), which needs sqlite3.
 */
#ifndef MICA_SQL_H
#define MICA_SQL_H


MICA_BEGIN

struct sqlite3; /* a SQLite connection: include <sqlite3.h> to use it */

/* Options. Zero is the default. */
typedef struct mica_sql_def {
    const char
        *prefix; /* prefix of all table names, such as "left_", for several worlds in one connection; NULL means "" */
    bool read_only; /* reject writing */
} mica_sql_def;

/* Adds the tables of a world to a connection. NULL means the defaults. Tables of the database with the same name hide them. Components
 * defined later get a table when this is called again, while no statement runs. Returns MICA_ERROR_MEMORY, or MICA_ERROR_REFUSED with
 * a report if SQLite rejects a table. The world must stay valid until the connection is closed.
 * Threads: owner, like everything done with the connection afterwards. */
MICA_API mica_result mica_sql_attach(struct sqlite3 *database, mica_world *world, const mica_sql_def *def);

/* Opens a connection to an empty database in memory and adds the tables of a world. Returns NULL with a report on error. Close it
 * with sqlite3_close. Threads: owner. */
MICA_API struct sqlite3 *mica_sql_open(mica_world *world, const mica_sql_def *def);

/* Returns the integer for an entity in SQL; 0 for nil, which tables show as NULL. Threads: any. */
static inline int64_t mica_sql_from_entity(mica_entity entity)
{
    return (int64_t)((uint64_t)entity.generation << 32 | entity.index);
}

/* Returns the entity for an integer. Threads: any. */
static inline mica_entity mica_sql_to_entity(int64_t integer)
{
    mica_entity entity = {(uint32_t)(uint64_t)integer, (uint32_t)((uint64_t)integer >> 32)};
    return entity;
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_sql_attach(...) MICA_AT_(mica_sql_attach(__VA_ARGS__))
#    define mica_sql_open(world, ...) mica_sql_open(MICA_AT_(world), __VA_ARGS__)
#endif
#endif

/* mica/value.h */
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
 * "#index:generation" or null, a resource "#" and the hash of its path, or null. Integers may be given as strings, decimal or
 * hexadecimal after 0x. An array with
 * fewer elements than there are sets the others to zero. A mica_text is a string, or an array of characters if it is not UTF-8. A
 * mica_list is an array, and gets as many elements as the array has; fields of these that are not named are zero.
 */
#ifndef MICA_VALUE_H
#define MICA_VALUE_H


MICA_BEGIN

/* A part of a described value: all of it, a field, or an element. Zero is no member. Valid as long as the value is where it was. */
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

/* Sets a value from text. Fields that the text does not name stay as they are. Numbers must be in the range of their field. On error the value is unchanged, and `out_error`, which may
 * be NULL, says where the text is wrong: MICA_ERROR_INVALID, or MICA_ERROR_MEMORY if there is no room for text or lists. Does not mark the component as changed: get it with mica_write.
 * Threads: any. */
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
 * Clients that have parsed a document walk it, find members with mica_member_at, and assign. Returns what mica_value_parse returns; on error
 * the value is unchanged, and the position is 0. Threads: one per value. */
MICA_API mica_result mica_value_assign(mica_member member, mica_scalar scalar, mica_value_error *out_error);

/* Compares all numbers of a value with their ranges. Returns MICA_ERROR_INVALID if one is outside, and then says in `out_error`, which may
 * be NULL, which one, and what was expected. Threads: any. */
MICA_API mica_result mica_value_check(mica_member member, mica_value_error *out_error);

/* Sets a value to what it starts with: the initial values of its fields, and zero for others. On failure it is unchanged:
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

/* Changes an entity as a text says. Components that it does not have are added, with their default values for fields that the text does
 * not name; components and fields that the text does not name stay as they are; null removes a component, an array replaces all instances.
 * With "disabled", all other components are enabled. On error nothing changes, and `out_error`, which may be NULL, says where the text is
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

