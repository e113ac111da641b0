/* Mica, inspect: lets `mica inspect` look into a running world and change it.
 *
 *     mica_inspector *inspector = mica_inspect_serve(world, NULL);      prints a URL with a token
 *     while (is_running())
 *         mica_step(world, 1.0f / 60);                                 deltas are sent and edits are made here
 *     mica_inspect_stop(inspector);
 *
 *     $ mica inspect 'http://127.0.0.1:43817/?token=...'               in another terminal: prints the address of a web page
 *
 * The world is only read and changed after a frame, in the thread that calls mica_step (mica_after_frame). Other threads only send and
 * receive bytes, so the program never waits for an inspector. While no inspector is connected, a frame costs one comparison more.
 * After each frame, an inspector gets what changed since the frame that it acknowledged (mica/delta.h). Changes of more than 256 KiB are
 * sent ten to forty times per second, unless .every_frame is set or the world is paused. Unless .read_only is set, an inspector can pause
 * the world, run single frames, and change entities. A recording (mica/recording.h) does not contain such edits, so its replay diverges.
 *
 * While an inspector is connected, the program keeps snapshots (mica/snapshot.h) of its last 600 frames, up to 256 MiB, if it has at most
 * .past_entity_max entities. The inspector can let the program continue from one of them. To find out what wrote a value, the program runs
 * a past frame again, system by system, and returns to the present: effects of systems outside of the world then happen twice.
 * .no_past turns both off.
 *
 * Security. The server listens on 127.0.0.1, unless another address is given, which is reported. Every request needs the token,
 * and a Host and Origin of this server. Messages, connections and time are limited; a client that does not keep up is disconnected.
 * docs/inspect_protocol.md describes the messages.
 *
 * In the library mica_inspect (CMake: mica::inspect), which needs civetweb.
 */
#ifndef MICA_INSPECT_H
#define MICA_INSPECT_H

#include "mica/world.h"

MICA_BEGIN

typedef struct mica_inspector mica_inspector;

/* Options. Zero is the default. */
typedef struct mica_inspect_def {
    const char *name; /* of the program, as inspectors show it; NULL: "mica" */
    const char *
        address; /* an IP address to listen on; NULL: 127.0.0.1. Any other is reported, since it opens the world to a network */
    uint16_t port;       /* 0: a free one */
    const char *token;   /* 16 to 64 letters and digits; NULL: a random one */
    uint32_t client_max; /* inspectors at a time, up to 16; 0: 4 */
    bool read_only;      /* inspectors can't change anything, not even pause */
    bool
        no_past; /* the program does not keep its last frames: it can't continue from one, nor find out what wrote a value */
    uint32_t past_entity_max; /* as .no_past while the world has more entities: keeping frames costs time; 0: 200 000 */
    bool quiet;               /* does not print the URL */
    bool every_frame;         /* sends large changes after each frame, too, for a complete history */
} mica_inspect_def;

/* Starts a server. NULL means the defaults. Returns NULL with a report if the def is invalid, the address can't be used, the world has
 * an inspector (or another function of mica_after_frame), or memory runs out. Threads: owner. */
MICA_API mica_inspector *mica_inspect_serve(mica_world *world, const mica_inspect_def *def);

/* Disconnects all clients and stops the server. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_inspect_stop(mica_inspector *inspector);

/* Returns the URL with the token, for `mica inspect`. Valid until the server stops. Threads: any. */
MICA_API const char *mica_inspect_url(const mica_inspector *inspector);

/* Returns the number of connected inspectors. Threads: any. */
MICA_API uint32_t mica_inspect_client_count(const mica_inspector *inspector);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_inspect_serve(world, ...) mica_inspect_serve(MICA_AT_(world), __VA_ARGS__)
#    define mica_inspect_stop(inspector) mica_inspect_stop(MICA_AT_(inspector))
#    define mica_inspect_url(inspector) mica_inspect_url(MICA_AT_(inspector))
#    define mica_inspect_client_count(inspector) mica_inspect_client_count(MICA_AT_(inspector))
#endif
#endif
