/* Mica, request: questions posted one by one and answered in bulk.
 * Some work is cheaper for many entities at once, such as finding paths on one map, which then stays in the cache. A system posts
 * requests, and one function answers all requests about the same map:
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

#include "mica/entity.h"
#include "mica/frame.h"

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
    void *answers;  /* to be filled in; initially zero; their text and lists belong to the world */
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

/* Destroys it with all unhandled requests; the world does it otherwise. NULL is a no-op. Rejected inside a system, and with a report while
 * a system declares it in .uses. Threads: owner. */
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
                                .question = &MICA_JOIN_(mica_type_of_, Question),                                                  \
                                .answer = &MICA_JOIN_(mica_type_of_, Answer),                                                      \
                                .fn = (fn_),                                                                           \
                                .context = (context_),                                                                 \
                                .location = MICA_HERE})
#define mica_request_post(requests, key, entity, Question, ...)                                                              \
    mica_request_post_id((requests), (key), (entity), MICA_VALUE_(Question, __VA_ARGS__), MICA_HERE)

#endif
