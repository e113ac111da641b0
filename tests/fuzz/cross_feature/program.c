#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *program_failure;

/* What the worlds said last, for the message of a failure. Workers report too. */
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_report[FAILURE_BYTES];

void program_note_report(const mica_report *report, void *context)
{
    (void)context;
    pthread_mutex_lock(&report_lock);
    snprintf(last_report, sizeof last_report, "%s", report->text);
    pthread_mutex_unlock(&report_lock);
}

void program_fail(const program *program, const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: step %u (%s): %s\n  last report: %s\n", file, line, program->next,
            program->current ? operation_of(program->current->operation)->name : "end", what, last_report);
    if (program_failure)
        snprintf(program_failure, FAILURE_BYTES, "%s", what);
    abort();
}

uint8_t take(program *program)
{
    uint32_t at = program->taken++;
    const uint8_t *arguments = program->current->arguments;
    if (at < STEP_ARGUMENTS)
        return arguments[at];
    random_source more = {.state = at};
    memcpy(&more.state, arguments, STEP_ARGUMENTS);
    more.state ^= (uint64_t)at << 48;
    return (uint8_t)random_u32(&more);
}

uint32_t take_below(program *program, uint32_t limit)
{
    return take(program) % limit;
}

bool take_one_in(program *program, uint32_t odds)
{
    return take(program) % odds == odds - 1;
}

sample_kind take_kind(program *program, scene *scene)
{
    return scene->kinds[take_below(program, scene->kind_count)];
}

sample_kind take_kind_that(program *program, scene *scene, bool (*is)(sample_kind kind))
{
    uint32_t first = take(program);
    for (uint32_t i = 0; i < scene->kind_count; ++i) {
        sample_kind kind = scene->kinds[(first + i) % scene->kind_count];
        if (is(kind))
            return kind;
    }
    return SAMPLE_COUNT;
}

mica_entity take_entity(program *program, scene *scene)
{
    uint8_t byte = take(program);
    if (program->event_count > 0 && byte < 160)
        return program->event_entities[byte % program->event_count];
    if (byte == 255)
        return mica_nil();
    if (byte == 254)
        return (mica_entity){scene->highest_index + 1000, (program_handle_space(program) << 16) + 1};
    uint32_t known = scene->entity_next < ENTITIES_KEPT ? scene->entity_next : ENTITIES_KEPT;
    if (known == 0)
        return mica_nil();
    if (byte >= 200) /* one of the newest: 253 is the last */
        return scene->entities[(scene->entity_next - 1 - (253u - byte) % known) % ENTITIES_KEPT];
    return scene->entities[byte % known];
}

scene *take_other_scene(program *program, scene *scene)
{
    if (program->scene_count < 2)
        return NULL;
    uint32_t step = 1 + take_below(program, program->scene_count - 1);
    return &program->scenes[(scene->number + step) % program->scene_count];
}

void take_values(program *program, scene *scene, drawn_values *out)
{
    uint32_t wanted = take_below(program, 4);
    out->count = 0;
    for (uint32_t i = 0; i < wanted; ++i) {
        sample_kind kind = take_kind(program, scene);
        bool is_new = true;
        for (uint32_t j = 0; j < out->count; ++j)
            is_new = is_new && out->kinds[j] != kind;
        if (!is_new)
            continue;
        out->kinds[out->count] = kind;
        out->values[out->count] = sample_value_begin(kind, take(program), &out->rooms[out->count]);
        ++out->count;
    }
}

void give_values_back(drawn_values *values)
{
    for (uint32_t i = 0; i < values->count; ++i)
        sample_value_end(values->kinds[i], &values->rooms[i]);
}

reaction *take_reaction(program *program, scene *scene)
{
    if (scene->reaction_next == REACTIONS)
        return NULL;
    reaction *reaction = &scene->reactions[scene->reaction_next++];
    uint32_t wanted = program->depth > 0 || program->is_repeating ? 0 : 1 + take_below(program, BODY_STEPS_MAX);
    uint32_t left = program->step_count - program->next;
    *reaction = (struct reaction){
        .program = program,
        .scene = scene,
        .body_first = program->next,
        .body_count = wanted < left ? wanted : left,
    };
    program->next += reaction->body_count;
    return reaction;
}

void remember(scene *scene, mica_entity entity)
{
    if (mica_is_nil(entity))
        return;
    scene->entities[scene->entity_next++ % ENTITIES_KEPT] = entity;
    if (entity.index > scene->highest_index)
        scene->highest_index = entity.index;
}

bool is_full(const scene *scene)
{
    return mica_world_get_stats(scene->world).entity_count > ENTITIES_LIMIT;
}

bool is_recorded(const scene *scene)
{
    return scene->recorded_count > 0 || scene->defer_depth > 0 || scene->program->depth > 0 || scene->is_sealed;
}

bool is_many(sample_kind kind)
{
    return sample_is_many(kind);
}

bool is_pool_with_rows(sample_kind kind)
{
    return sample_is_pooled(kind) && samples[kind].has_data;
}

const char *scratch_path(const char *name)
{
    static char path[256];
    static char folder[64];
    if (!folder[0])
        snprintf(folder, sizeof folder, "%s/mica_fuzz_%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (int)getpid());
    snprintf(path, sizeof path, "%s_%s", folder, name);
    return path;
}

static void print_step(program *program, const scene *scene, const step *step)
{
    if (!program->out)
        return;
    fprintf(program->out, "%*s%s %u", (int)program->depth * 4, "", operation_of(step->operation)->name, scene->number);
    for (uint32_t i = 0; i < STEP_ARGUMENTS; ++i)
        fprintf(program->out, " %u", step->arguments[i]);
    fprintf(program->out, "\n");
    fflush(program->out);
}

static void perform(program *program, scene *scene, const step *step, const operation *operation)
{
    const struct step *outer = program->current;
    uint32_t outer_taken = program->taken;
    program->current = step;
    program->taken = 0;
    print_step(program, scene, step);
    operation->run(program, scene);
    program->current = outer;
    program->taken = outer_taken;
}

void run_body(reaction *reaction, body_kind kind, const mica_entity *entities, uint32_t count)
{
    program *program = reaction->program;
    if (program->depth >= 2)
        return;
    const mica_entity *outer_entities = program->event_entities;
    uint32_t outer_count = program->event_count;
    body_kind outer_kind = program->body;
    program->body = kind;
    program->event_entities = entities;
    program->event_count = count;
    ++program->depth;
    for (uint32_t i = 0; i < reaction->body_count && program->body_budget > 0; ++i, --program->body_budget) {
        const step *step = &program->steps[reaction->body_first + i];
        const operation *operation = operation_of(step->operation);
        if ((operation->flags & IN_BODY) && !(operation->flags & SWITCHED_OFF))
            perform(program, reaction->scene, step, operation);
    }
    --program->depth;
    program->body = outer_kind;
    program->event_entities = outer_entities;
    program->event_count = outer_count;
}

static void take_input(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    scene *scene = context;
    program *program = scene->program;
    (void)world;
    step input;
    if (byte_count != sizeof input)
        return;
    memcpy(&input, bytes, sizeof input);
    perform(program, scene, &input, operation_of(input.operation));
}

void scene_take_input(scene *scene)
{
    mica_input_handle(scene->world, take_input, scene);
}

/* Ranges of split components are checked in memory of their own: that is not what is meant to fail. */
static void validate(program *program, scene *scene)
{
    uint64_t countdown = scene->allocator.countdown;
    scene->allocator.countdown = 0;
    bool is_valid = mica_world_validate(scene->world) == MICA_OK;
    scene->allocator.countdown = countdown;
    if (is_valid)
        return;
    char what[FAILURE_BYTES];
    size_t length = strcspn(last_report, "0123456789(");
    snprintf(what, sizeof what, "validate: %.*s", (int)length, last_report);
    program_fail(program, what, __FILE__, __LINE__);
}

/* What monitors were told must be what queries find. After a restore, and if a change could not be noted, they begin anew. */
static void compare_monitors(program *program, scene *scene, bool begins_anew)
{
    for (uint32_t i = 0; i < MONITORS; ++i) {
        match_set *monitor = &scene->monitors[i];
        if (monitor->observer.id)
            EXPECT(program, begins_anew || match_set_is_right(monitor), "a monitor was not told what a query finds");
        if (monitor->observer.id)
            match_set_reset(monitor);
    }
}

/* A step on a world that is being recorded is input, or changes nothing that the recording must know, or is left out. */
static void run_step(program *program, scene *scene, const step *step, const operation *operation)
{
    if (!scene->is_recording || (operation->flags & (READS | WHILE_RECORDING))) {
        perform(program, scene, step, operation);
    } else if (operation->flags & AS_INPUT) {
        const struct step *outer = program->current;
        program->current = step;
        mica_input(scene->world, step, sizeof *step);
        program->current = outer;
    }
}

void program_step(program *program, const step *step)
{
    scene *scene = &program->scenes[step->world % program->scene_count];
    const operation *operation = operation_of(step->operation);
    if ((operation->flags & SWITCHED_OFF) || (program->is_repeating && (operation->flags & SLOW)))
        return;
    uint64_t before = operation->flags & READS ? mica_world_hash(scene->world) : 0;
    bool fails_now = scene->has_allocator && scene->allocator.countdown > 0;
    bool was_in_transaction = scene_is_in_transaction(scene);
    scene->went_back = false;
    run_step(program, scene, step, operation);
    program->current = step;
    if (fails_now)
        faulty_allocator_fail_at(&scene->allocator, 0, false);
    if (!(operation->flags & (READS | KEEPS_FOLLOWING)))
        scene->only_follows = false;
    if (program->is_repeating)
        return;
    validate(program, scene);
    bool ends_transaction = was_in_transaction && !scene_is_in_transaction(scene); /* maybe by going back */
    compare_monitors(program, scene, fails_now || scene->went_back || ends_transaction);
    /* SQLite rolls a transaction back if memory runs out in it. */
    bool is_rolled_back = fails_now && ends_transaction;
    if ((operation->flags & READS) && !is_rolled_back)
        EXPECT(program, mica_world_hash(scene->world) == before, "a call that only reads changed the world hash");
}

static void note_hashes(program *program)
{
    history_of_hashes *hashes = program->hashes;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < program->scene_count; ++i)
        hash = hash * 31 + mica_world_hash(program->scenes[i].world);
    if (hashes->count < STEPS_MAX)
        hashes->hashes[hashes->count++] = hash;
}

static void open_program(program *program, const uint8_t *bytes, size_t byte_count)
{
    uint8_t header[HEADER_BYTES] = {0};
    if (byte_count > 0)
        memcpy(header, bytes, byte_count < HEADER_BYTES ? byte_count : HEADER_BYTES);
    size_t rest = byte_count > HEADER_BYTES ? byte_count - HEADER_BYTES : 0;
    program->steps = rest > 0 ? (const step *)(bytes + HEADER_BYTES) : NULL;
    program->step_count = rest / STEP_BYTES < STEPS_MAX ? (uint32_t)(rest / STEP_BYTES) : STEPS_MAX;
    program->body_budget = BODY_BUDGET;
    program->scene_count = 1 + header[0] % WORLDS_MAX;
    for (uint32_t i = 0; i < program->scene_count; ++i) {
        program->scenes[i].number = i;
        scene_open(program, &program->scenes[i], header[1 + i]);
    }
}

static void run_once(program *program, const uint8_t *bytes, size_t byte_count)
{
    open_program(program, bytes, byte_count);
    while (program->next < program->step_count && !program->is_over) {
        program_step(program, &program->steps[program->next++]);
        note_hashes(program);
    }
    program->current = NULL;
    if (!program->swaps_workers && !program->replays) {
        for (uint32_t i = 0; i < program->scene_count; ++i) {
            scene *scene = &program->scenes[i];
            if (scene->is_recording)
                continue;
            compare_clone(program, scene);
            compare_save(program, scene);
            validate(program, scene);
        }
    }
    for (uint32_t i = program->scene_count; i-- > 0;)
        scene_close(program, &program->scenes[i]);
    EXPECT(program, sample_owners_alive() == 0, "values that own memory are still alive after their world");
}

static void compare_runs(program *program, const history_of_hashes *first, const history_of_hashes *second)
{
    for (uint32_t i = 0; i < first->count; ++i)
        if (i >= second->count || first->hashes[i] != second->hashes[i]) {
            fprintf(stderr, "the second run differs after step %u\n", i);
            program_fail(program, "another number of workers gives another world", __FILE__, __LINE__);
        }
}

void program_run(const uint8_t *bytes, size_t byte_count, FILE *out)
{
    static program program; /* large, and not reentrant anyway */
    static history_of_hashes first, second;
    first.count = second.count = 0;
    memset(&program, 0, sizeof program);
    program.out = out;
    program.hashes = &first;
    run_once(&program, bytes, byte_count);
    bool used_workers = program.used_workers && !program.used_faults && !program.repeated_longer;
    uint32_t recording_step = program.recording_step;
    if (program.has_recording && !program.used_faults) {
        memset(&program, 0, sizeof program);
        program.hashes = &second;
        program.replays = true;
        program.recording_step = recording_step;
        run_once(&program, bytes, byte_count);
        second.count = 0;
    }
    if (used_workers) {
        memset(&program, 0, sizeof program);
        program.hashes = &second;
        program.swaps_workers = true;
        run_once(&program, bytes, byte_count);
        if (!program.repeated_longer)
            compare_runs(&program, &first, &second);
    }
    unlink(scratch_path("recording"));
}
