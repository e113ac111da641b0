/* Mica, request: questions posted one by one and answered in bulk.
 *
 * Finding a path needs the map in the cache, while the system that wants one has the entities there. So it asks, and all
 * questions about one map are answered together:
 *
 *     mica_requests *paths = mica_requests_create(world, MICA_REQUESTS(PathWanted, Path, find_paths, &maps));
 *     in a system with .uses = MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(paths)))
 *         mica_request_post(paths, map_number, view->entities[i], PathWanted, {from, to});
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

#include "mica/entity.h"
#include "mica/frame.h"

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
    mica_location location;
} mica_requests_def;

/* Makes a kind of request. Returns NULL with a report when it can't. Threads: owner. */
MICA_API mica_requests *mica_requests_create(mica_world *world, const mica_requests_def *def);

/* Gives it back, with what is still to be handled; NULL is fine. Refused inside a system. Threads: owner. */
MICA_API void mica_requests_destroy(mica_requests *requests);

/* Posts a question. False with a report when memory is short, or the system does not declare it.
 * Threads: any that runs a system; else owner. */
MICA_API bool mica_request_post_id(mica_requests *requests, uint64_t key, mica_entity who, mica_value question,
                                   mica_location location);

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
                                .location = MICA_HERE})
#define mica_request_post(requests, key, who, Question, ...)                                                                \
    mica_request_post_id((requests), (key), (who), MICA_VALUE_(Question, __VA_ARGS__), MICA_HERE)

#endif
