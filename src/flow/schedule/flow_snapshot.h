/* The flow in snapshots and files: time, ticks, how long systems have waited, and the state of listeners. See micap_module_ops. */
#ifndef MICAP_FLOW_SCHEDULE_FLOW_SNAPSHOT_H
#define MICAP_FLOW_SCHEDULE_FLOW_SNAPSHOT_H

#include "flow/schedule/listener.h"
#include "mica/frame.h"

/* The reserved handles of a command buffer of a system. */
typedef struct micap_saved_buffer {
    uint32_t index; /* among the buffers of the system */
    uint32_t taken_count;
    mica_entity *handles;
    uint32_t count;
} micap_saved_buffer;

typedef struct micap_saved_phase {
    mica_phase id;
    bool is_enabled;
    uint64_t tick;
    double seconds;
    double waited_seconds;
} micap_saved_phase;

typedef struct micap_saved_system {
    uint32_t id;
    bool is_enabled;
    double seconds_waited;
    mica_version last_version;
    micap_saved_buffer *buffers; /* from a file: snapshots find the handles of buffers in the world */
    uint32_t buffer_count;
} micap_saved_system;

typedef struct micap_saved_flow {
    mica_time time;
    float asked_dt;
    uint64_t seed;
    double scale;
    bool is_paused;
    bool is_let_through;
    micap_saved_phase *phases;
    uint32_t phase_count;
    micap_saved_system *systems;
    uint32_t system_count;
    void *listeners[MICAP_LISTENERS]; /* NULL: not in use */
} micap_saved_flow;

void *micap_flow_save(mica_world *world, void *state);
void micap_flow_drop(mica_world *world, void *state, void *saved);
bool micap_flow_prepare(mica_world *world, void *state, const void *saved);
void micap_flow_load(mica_world *world, void *state, const void *saved);

/* A clone has no systems and no time, but knows that it must not start again. False with a report if memory is short. */
bool micap_flow_clone(mica_world *to, const void *state);

#endif
