/* mica inspect: programs and files that are looked at, and the server of the page. Where the parts are:
 *   inspector_command.c   the command: opens sources, serves the page and the API
 *   inspector_source.c    a source: a replica of a program, or the world of a file; connecting, requests to the program
 *   inspector_recording.c a source that is a recording: its world runs here
 *   inspector_history.c   past frames of a source: showing one, differences, values of a field
 *   inspector_api.c       which request is answered by which function
 *   inspector_entities.c  entities, components and archetypes as JSON
 *   inspector_sql.c       statements of SQL
 *   inspector_watch.c     values that are noted while frames arrive; what wrote a value, plots
 *   inspector_events.c    what happens: components and entities that come and go, streams, messages, requests, events, observers
 * Functions that read the world of a source are called with its lock held. */
#ifndef MICAP_CLI_INSPECTOR_H
#define MICAP_CLI_INSPECTOR_H

#include "base/byte_stream.h"
#include "cli/file_world.h"
#include "cli/recorded_run.h"
#include "inspect/edit.h"
#include "inspect/protocol.h"
#include "inspect/traffic_log.h"
#include "inspect/web.h"
#include "inspect/writers.h"
#include "json/json_writer.h"
#include "mica/delta.h"
#include "mica/mica.h"
#include "mica/observer.h"
#include "mica/snapshot.h"

#include <pthread.h>

enum {
    SOURCES_MAX = 16,
    MOMENTS_MAX = 3600, /* a minute at 60 frames per second */
    REQUEST_SECONDS_MAX = 5,
    REPLY_BYTES_MAX = 1 << 16,
    WATCHES_MAX = 12,
    HAPPENINGS_MAX = 4096,
};
#define HISTORY_BYTES_MAX ((size_t)512 << 20)

/* A frame of the past that can be shown again. */
typedef struct moment {
    uint64_t frame;
    double seconds;
    uint64_t entity_count;
    mica_snapshot snapshot;
    size_t bytes; /* of what changed until the next one */
    /* Of a recording. */
    float dt;
    bool is_extra;   /* a tick between those that are kept, which was run again */
    uint64_t serial; /* of these */
} moment;

/* A recording that runs again. */
typedef struct replayed {
    recorded_run run;
    micap_edit_target target; /* for requests to a branch */
    micap_memory memory;
    uint32_t tick;        /* that was run last */
    uint32_t stride;      /* ticks from one moment to the next */
    uint32_t extra_count; /* moments in between */
    uint64_t serial;
    bool is_different;   /* from the recording: it runs no further */
    bool is_branched;    /* it runs in real time, from a tick on */
    bool is_let_through; /* a single frame of a paused branch */
    uint32_t branch_tick;
    mica_snapshot origin; /* the world after that tick */
    uint64_t frame;       /* of the branch */
    float dt;             /* of its frames */
    uint64_t stats_ns;    /* when statistics were written */
} replayed;

/* A value over the last frames: a field of an entity, or how many entities match a query. */
typedef struct watch {
    uint32_t id; /* 0: not used */
    char label[300];
    mica_entity entity;
    mica_component component; /* 0: a query */
    char path[256];
    mica_query *query;
    uint64_t frames[MOMENTS_MAX]; /* a ring */
    double values[MOMENTS_MAX];   /* NaN: there was none */
    uint32_t first, count;
} watch;

/* A component was added, removed, enabled or disabled, entities were destroyed, or something passed through the program. */
typedef struct happening {
    uint64_t number, frame;
    const char *kind;         /* "added", "stream", ... */
    char name[64];            /* of the stream, message, requests or observer */
    mica_event_kind event;    /* of a user event, or that an observer was told */
    mica_component component; /* 0: none */
    mica_entity entity;       /* the first */
    uint64_t key;             /* of requests */
    uint32_t count;
    char *value; /* text of the first one; NULL: none */
} happening;

typedef struct source {
    const char *origin; /* a URL or a path */
    char name[64];
    bool is_program;
    replayed *replayed; /* NULL: no recording */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a reply arrived, or the connection ended */
    pthread_t thread;
    struct micap_web_client *client;
    bool has_thread, is_stopping, is_connected, is_paused, is_read_only;
    char problem[160]; /* why it is not connected */
    file_world file;
    mica_world *world; /* NULL before the first message */
    mica_replica *replica;
    struct sqlite3 *database;    /* read-only tables of the world; NULL until it is used */
    uint32_t table_count;        /* components that have tables */
    moment moments[MOMENTS_MAX]; /* a ring */
    uint32_t moment_first, moment_count;
    size_t moment_bytes;
    uint64_t moment_dropped; /* number of the oldest one, counted from the first ever */
    uint64_t held_moment;    /* the number, plus one, of a moment that is not dropped; 0: none */
    bool is_past;            /* `shown` is shown; deltas wait until there are a few */
    uint32_t shown;          /* from the oldest */
    struct {
        char *bytes;
        size_t count;
    } pending[MICAP_DELTAS_IN_FLIGHT]; /* delta messages that wait */
    uint32_t pending_count;
    char *stats; /* JSON from the program */
    size_t stats_bytes;
    uint64_t change; /* rises with all that a page can see */
    uint64_t request, reply;
    mica_result reply_result;
    char reply_text[REPLY_BYTES_MAX];
    char *timeline; /* a trace of a frame, JSON */
    size_t timeline_bytes;
    watch *watches; /* WATCHES_MAX; NULL until one is added */
    uint32_t watch_count;
    mica_observer observers[2];           /* of all components: being there, being enabled */
    uint32_t observed_count;              /* components that it observes */
    uint64_t happening_count;             /* so far */
    uint64_t events_ns;                   /* when the page asked for events; 0: never */
    bool is_sent_events;                  /* the program was told to send what passes through it */
    uint64_t arriving;                    /* the frame whose delta is applied */
    happening happenings[HAPPENINGS_MAX]; /* a ring */
} source;

/* Opens a program or a file. Returns false with a message on failure; close it in either case. */
bool source_open(source *source, const options *options, const char *origin);
void source_close(source *source);
/* Sends a request (docs/inspect_protocol.md) to the program and waits for its reply. The lock is held by the caller, and released while it waits. */
mica_result source_request(source *source, const char *line, const char *body, char *out_text, size_t capacity);
/* Applies the deltas that have waited while a past frame was shown. The present is shown. */
void source_apply_pending(source *source);

/* Waits until something changes, at most that long; the lock is released meanwhile. */
void source_wait(source *source, int seconds);

/* A recording, its modules and levels, which are the inputs. False with a message on failure; close it in either case. */
bool recording_open(source *source, const options *options);
void recording_close(source *source);
/* history_find: runs ticks again. The world is in some state afterwards. */
bool recording_find(source *source, uint64_t frame, uint32_t *out_position);
/* Like source_request, in a branch. */
mica_result recording_request(source *source, const char *line, const char *body, char *out_text, size_t capacity);
int recording_branch(source *source, const micap_web_request *request, micap_json_writer *writer);
/* Answers what wrote a field in a tick. */
int recording_wrote(source *source, micap_writers_def def, uint64_t frame, micap_json_writer *writer);

/* Remembers the state of the world as the newest frame. */
void history_push(source *source, uint64_t frame, double seconds);
void history_clear(source *source);
moment *history_at(source *source, uint32_t position);
/* Finds the last moment that is not after a frame; in a recording, exactly that tick. False if there is none. Positions that were found before are
 * invalid then. */
bool history_find(source *source, uint64_t frame, uint32_t *out_position);
/* The same, and nothing runs. */
bool history_find_kept(const source *source, uint64_t frame, uint32_t *out_position);
/* Shows a moment; the newest one is the present. */
mica_result history_show(source *source, uint32_t position);

/* Forgets the moments after a time: the program continues from an earlier one. */
void history_cut(source *source, double seconds);
/* Puts back what is shown after a look at other moments. */
void history_show_again(source *source);

/* Notes the values of all watches. Call this after a delta. */
void watches_sample(source *source, uint64_t frame);
void watches_clear(source *source);
/* Makes sure that all components are observed. Call this after a delta: the first one adds everything. */
void events_observe(source *source);
void events_clear(source *source);
/* Takes a message of the program. False if it is damaged. */
bool events_receive(source *source, micap_reader *reader);
/* Takes what micap_traffic_log_add has written. */
bool events_take(source *source, micap_reader *reader, uint64_t left_out);
/* Lets the program send what passes through it while a page asks for events. */
void events_ask(source *source);
/* Makes the query of a request. NULL with an error that has a position if the text is wrong. */
mica_query *query_of(source *source, const micap_web_request *request, micap_json_writer *writer);

/* Answers of the API. Each writes JSON and returns a status of HTTP. */
int answer_history(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_show(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_diff(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_changes(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_branch(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_wrote(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_timeline(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_scatter(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_watches(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_watch(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_events(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_components(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_entities(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_tree(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_entity(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_query(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_memory(source *source, const micap_web_request *request, micap_json_writer *writer);
int answer_sql(source *source, const micap_web_request *request, micap_json_writer *writer);
void source_close_database(source *source);
void write_status(source *source, micap_json_writer *writer);

/* Parameters of a request. */
uint64_t parameter_number(const micap_web_request *request, const char *name, uint64_t otherwise);
bool parameter_entity(const micap_web_request *request, const char *name, mica_entity *out);
/* Writes {"error": text} and returns the status. */
int write_error(micap_json_writer *writer, int status, const char *text);
/* Writes a handle as a string: numbers of JavaScript have 53 bits. */
void write_handle(micap_json_writer *writer, mica_entity entity);

/* Answers a request for the API. `sources` is an array of `count`. */
typedef struct inspector {
    char *origins[SOURCES_MAX]; /* URLs and paths */
    uint32_t origin_count;
    source sources[SOURCES_MAX];
    uint32_t source_count;
    pthread_mutex_t lock; /* of the sockets */
    micap_socket *sockets[16];
    uint32_t socket_count;
    bool is_stopping;
} inspector;
void answer_request(const micap_web_request *request, micap_web_reply *reply, void *context);

/* The page, or a text that says how to build it. */
extern const unsigned char inspector_page[];
extern const size_t inspector_page_bytes;

#endif
