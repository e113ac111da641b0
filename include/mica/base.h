/* Mica, base: definitions that all other headers use: results, reports and the allocator.
 *
 * Thread rules. The comment of every public function states one of these rules, sometimes with a restriction such as "one per
 * buffer" or "the system's own" (only the thread that runs the system):
 *   Threads: any     may be called from any thread at any time.
 *   Threads: reader  from any thread, as long as no thread changes the same world meanwhile.
 *   Threads: owner   from one thread at a time, while no other thread uses the same world.
 * Systems may call functions of the owner that are recorded (mica/system.h), such as mica_create and mica_destroy, on several threads.
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

/* Private: features of the compiler (gcc, clang or clang-cl) that the inline functions of the headers use. */
#define MICA_EXPECT_ __builtin_expect
#define MICA_LOAD_ __atomic_load_n
#define MICA_STORE_ __atomic_store_n
#define MICA_RELAXED_ __ATOMIC_RELAXED
#define MICA_ACQUIRE_ __ATOMIC_ACQUIRE
#define MICA_RELEASE_ __ATOMIC_RELEASE
#define MICA_COPY_BYTES_ __builtin_memcpy
#define MICA_TYPEOF_ __typeof__
#define MICA_UNUSED_ __attribute__((unused))
#define MICA_ASM_ __asm__

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
    MICA_ERROR_REFUSED, /* not allowed now: inside a frame or hook, while recording, or in a sealed world */
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
