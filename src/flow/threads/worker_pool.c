#include "flow/threads/worker_pool.h"

#include "base/assert.h"
#include "os/clock.h"

enum {
    SPIN_NS = 20000, /* how long an idle worker looks around: about what waking one costs, several times */
    SPIN_ROUNDS = 32,
};

/* What this thread is to a crew. */
static _Thread_local struct micap_seat {
    const micap_crew *crew;
    uint32_t index;
} seat;

uint32_t micap_crew_here(const micap_crew *crew)
{
    return seat.crew == crew ? seat.index : 0;
}

static bool find_work(micap_crew *crew, uint32_t worker, micap_item *out)
{
    micap_worker *self = &crew->workers[worker];
    for (uint32_t level = 0; level < MICAP_LEVELS; ++level) {
        if (micap_deque_take(&self->queues[level], out))
            return true;
        for (uint32_t i = 0; i < crew->worker_count; ++i) {
            uint32_t victim = (self->next_victim + i) % crew->worker_count;
            if (victim != worker && micap_deque_steal(&crew->workers[victim].queues[level], out)) {
                self->next_victim = victim;
                return true;
            }
        }
    }
    return false;
}

static bool is_anything_offered(micap_crew *crew)
{
    for (uint32_t i = 0; i < crew->worker_count; ++i)
        for (uint32_t level = 0; level < MICAP_LEVELS; ++level)
            if (!micap_deque_is_empty(&crew->workers[i].queues[level]))
                return true;
    return false;
}

static void help(void *data);

/* Asks the user's scheduler for one more helper, unless enough are there or on their way. */
static void call_helper(micap_crew *crew)
{
    uint32_t helpers = atomic_load_explicit(&crew->helpers, memory_order_relaxed);
    do {
        if (helpers + 1 >= crew->worker_count)
            return;
    } while (!atomic_compare_exchange_weak(&crew->helpers, &helpers, helpers + 1));
    pthread_mutex_lock(&crew->lock);
    bool room = MICAP_RESERVE(crew->memory, crew->tickets, &crew->ticket_capacity, (uint64_t)crew->ticket_count + 1);
    uint32_t slot = room ? crew->ticket_count++ : 0;
    if (room)
        crew->tickets[slot] = NULL;
    pthread_mutex_unlock(&crew->lock);
    if (!room) { /* then without */
        atomic_fetch_sub(&crew->helpers, 1);
        return;
    }
    void *ticket = crew->scheduler.submit(help, crew, crew->scheduler.context);
    pthread_mutex_lock(&crew->lock);
    crew->tickets[slot] = ticket;
    pthread_mutex_unlock(&crew->lock);
}

static void wake(micap_crew *crew, bool all)
{
    if (atomic_load(&crew->sleepers) == 0)
        return;
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add(&crew->event, 1);
    if (all)
        pthread_cond_broadcast(&crew->changed);
    else
        pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

/* Until something is offered, or the counter is zero, or the crew ends. */
static void sleep_until_news(micap_crew *crew, const atomic_uint *left)
{
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add(&crew->sleepers, 1);
    uint32_t event = atomic_load(&crew->event);
    /* Whoever offers or finishes something after this look sees a sleeper and counts the event up. */
    while (!is_anything_offered(crew) && !atomic_load(&crew->ending) && !(left && atomic_load(left) == 0) &&
           atomic_load(&crew->event) == event)
        pthread_cond_wait(&crew->changed, &crew->lock);
    atomic_fetch_sub(&crew->sleepers, 1);
    pthread_mutex_unlock(&crew->lock);
}

static void run_item(micap_crew *crew, uint32_t worker, micap_item item)
{
    micap_work *work = item.work;
    while (item.begin < item.end) {
        while (item.end - item.begin > 1) { /* leave the upper half to thieves */
            uint32_t middle = item.begin + (item.end - item.begin) / 2;
            if (!micap_deque_push(&crew->workers[worker].queues[work->level], (micap_item){work, middle, item.end}))
                break;
            if (crew->scheduler.submit)
                call_helper(crew);
            else
                wake(crew, false);
            item.end = middle;
        }
        work->fn(work->data, item.begin, worker);
        ++item.begin;
        void (*done)(micap_work *, uint32_t) = work->done; /* who waits may take the work away once all are counted */
        if (atomic_fetch_sub(&work->left, 1) == 1) {
            if (done)
                done(work, worker);
            wake(crew, true);
            return;
        }
    }
}

void micap_crew_work_until(micap_crew *crew, uint32_t worker, const atomic_uint *left)
{
    uint64_t idle_since = 0;
    uint32_t rounds = 0;
    while (atomic_load_explicit(left, memory_order_acquire)) {
        micap_item item;
        if (find_work(crew, worker, &item)) {
            run_item(crew, worker, item);
            idle_since = 0;
            continue;
        }
        micap_relax();
        if (++rounds % SPIN_ROUNDS)
            continue;
        uint64_t now = micap_clock_ns();
        if (!idle_since)
            idle_since = now;
        else if (now - idle_since > SPIN_NS)
            sleep_until_news(crew, left);
        else
            micap_yield();
    }
}

/* A thread of the crew. */
static void *work_for_ever(void *data)
{
    micap_worker *self = data;
    micap_crew *crew = self->crew;
    seat = (struct micap_seat){crew, self->index};
    uint64_t idle_since = 0;
    uint32_t rounds = 0;
    while (!atomic_load_explicit(&crew->ending, memory_order_acquire)) {
        micap_item item;
        if (find_work(crew, self->index, &item)) {
            run_item(crew, self->index, item);
            idle_since = 0;
            continue;
        }
        micap_relax();
        if (++rounds % SPIN_ROUNDS)
            continue;
        uint64_t now = micap_clock_ns();
        if (!idle_since) {
            idle_since = now;
        } else if (now - idle_since > SPIN_NS) {
            sleep_until_news(crew, NULL);
            idle_since = 0;
        }
    }
    return NULL;
}

/* A helper of the user's scheduler: takes a free place, works while there is something, and goes. */
static void help(void *data)
{
    micap_crew *crew = data;
    for (uint32_t i = 1; i < crew->worker_count; ++i) {
        bool busy = false;
        if (!atomic_compare_exchange_strong(&crew->workers[i].busy, &busy, true))
            continue;
        struct micap_seat before = seat;
        seat = (struct micap_seat){crew, i};
        uint64_t idle_since = 0;
        while (!idle_since || micap_clock_ns() - idle_since < SPIN_NS) {
            micap_item item;
            if (find_work(crew, i, &item)) {
                run_item(crew, i, item);
                idle_since = 0;
            } else if (!idle_since) {
                idle_since = micap_clock_ns();
            }
        }
        seat = before;
        atomic_store(&crew->workers[i].busy, false);
        break;
    }
    atomic_fetch_sub(&crew->helpers, 1);
}

/* Threads that can't be made are done without. */
static void start(micap_crew *crew)
{
    crew->started = true;
    for (uint32_t i = 1; i < crew->worker_count; ++i)
        crew->workers[i].started =
            pthread_create(&crew->workers[i].thread, NULL, work_for_ever, &crew->workers[i]) == 0;
}

void micap_crew_offer(micap_crew *crew, uint32_t worker, micap_work *work, uint32_t count)
{
    micap_item item = {work, 0, count};
    if (!crew->started && !crew->scheduler.submit)
        start(crew);
    if (!micap_deque_push(&crew->workers[worker].queues[work->level], item))
        run_item(crew, worker, item);
    else if (crew->scheduler.submit)
        call_helper(crew);
    else
        wake(crew, false);
}

void micap_crew_run(micap_crew *crew, uint32_t worker, micap_work_fn fn, void *data, uint32_t count)
{
    if (count == 1 || crew->worker_count == 1) {
        for (uint32_t i = 0; i < count; ++i)
            fn(data, i, worker);
        return;
    }
    micap_work work = {.fn = fn, .data = data, .level = 1};
    atomic_init(&work.left, count);
    if (count == 0)
        return;
    micap_crew_offer(crew, worker, &work, count);
    micap_crew_work_until(crew, worker, &work.left);
}

void micap_crew_dismiss(micap_crew *crew)
{
    for (uint32_t i = 0; i < crew->ticket_count; ++i)
        crew->scheduler.wait(crew->tickets[i], crew->scheduler.context);
    crew->ticket_count = 0;
}

micap_crew *micap_crew_create(micap_memory *memory, uint32_t worker_count, const mica_scheduler *scheduler)
{
    micap_crew *crew = micap_allocate_zeroed(memory, sizeof *crew, MICAP_CACHE_LINE);
    if (!crew)
        return NULL;
    crew->memory = memory;
    crew->worker_count = worker_count;
    if (scheduler)
        crew->scheduler = *scheduler;
    crew->workers = micap_allocate_zeroed(memory, worker_count * sizeof *crew->workers, _Alignof(micap_worker));
    if (!crew->workers) {
        micap_release(memory, crew, sizeof *crew, MICAP_CACHE_LINE);
        return NULL;
    }
    for (uint32_t i = 0; i < worker_count; ++i) {
        crew->workers[i].crew = crew;
        crew->workers[i].index = i;
    }
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
    return crew;
}

void micap_crew_destroy(micap_crew *crew)
{
    if (!crew)
        return;
    micap_crew_dismiss(crew);
    atomic_store(&crew->ending, true);
    wake(crew, true);
    for (uint32_t i = 1; i < crew->worker_count; ++i)
        if (crew->workers[i].started)
            pthread_join(crew->workers[i].thread, NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->changed);
    micap_memory *memory = crew->memory;
    MICAP_RELEASE_ARRAY(memory, crew->tickets, crew->ticket_capacity);
    micap_release(memory, crew->workers, crew->worker_count * sizeof *crew->workers, _Alignof(micap_worker));
    micap_release(memory, crew, sizeof *crew, MICAP_CACHE_LINE);
}
