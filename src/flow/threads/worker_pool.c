#include "flow/threads/worker_pool.h"

#include "base/assert.h"
#include "base/block_heap.h"
#include "os/clock.h"

enum {
    SPIN_NS = 20000, /* how long an idle worker looks for jobs: several times the cost of waking it */
    SPIN_ROUNDS = 32,
};

/* The pool that this thread works for, and its index there. */
static _Thread_local struct current_worker {
    const micap_worker_pool *pool;
    uint32_t index;
} current;

uint32_t micap_worker_pool_index(const micap_worker_pool *pool)
{
    return current.pool == pool ? current.index : 0;
}

static bool find_jobs(micap_worker_pool *pool, uint32_t worker, micap_job_range *out)
{
    micap_worker *self = &pool->workers[worker];
    for (uint32_t priority = 0; priority < MICAP_PRIORITIES; ++priority) {
        if (micap_deque_take(&self->deques[priority], out))
            return true;
        for (uint32_t i = 0; i < pool->worker_count; ++i) {
            uint32_t victim = (self->next_victim + i) % pool->worker_count;
            if (victim != worker && micap_deque_steal(&pool->workers[victim].deques[priority], out)) {
                self->next_victim = victim;
                return true;
            }
        }
    }
    return false;
}

static bool has_jobs(micap_worker_pool *pool)
{
    for (uint32_t i = 0; i < pool->worker_count; ++i)
        for (uint32_t priority = 0; priority < MICAP_PRIORITIES; ++priority)
            if (!micap_deque_is_empty(&pool->workers[i].deques[priority]))
                return true;
    return false;
}

static void help(void *data);

/* Requests one more helper from the user's scheduler, unless there is one for each worker. */
static void request_helper(micap_worker_pool *pool)
{
    uint32_t helpers = atomic_load_explicit(&pool->helpers, memory_order_relaxed);
    do {
        if (helpers + 1 >= pool->worker_count)
            return;
    } while (!atomic_compare_exchange_weak(&pool->helpers, &helpers, helpers + 1));
    pthread_mutex_lock(&pool->lock);
    bool room = MICAP_RESERVE(pool->memory, pool->tickets, &pool->ticket_capacity, (uint64_t)pool->ticket_count + 1);
    uint32_t index = room ? pool->ticket_count++ : 0;
    if (room)
        pool->tickets[index] = NULL;
    pthread_mutex_unlock(&pool->lock);
    if (!room) { /* continue without it */
        atomic_fetch_sub(&pool->helpers, 1);
        return;
    }
    void *ticket = pool->scheduler.submit(help, pool, pool->scheduler.context);
    pthread_mutex_lock(&pool->lock);
    pool->tickets[index] = ticket;
    pthread_mutex_unlock(&pool->lock);
}

static void wake(micap_worker_pool *pool, bool all)
{
    if (atomic_load(&pool->sleepers) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->event, 1);
    if (all)
        pthread_cond_broadcast(&pool->changed);
    else
        pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

/* Sleeps until there are jobs, the counter is zero or the pool ends. */
static void sleep_until_event(micap_worker_pool *pool, const atomic_uint *left)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    uint32_t event = atomic_load(&pool->event);
    /* A thread that submits or completes jobs after this check sees a sleeper and raises the event counter. */
    while (!has_jobs(pool) && !atomic_load(&pool->ending) && !(left && atomic_load(left) == 0) &&
           atomic_load(&pool->event) == event)
        pthread_cond_wait(&pool->changed, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void run_range(micap_worker_pool *pool, uint32_t worker, micap_job_range range)
{
    micap_job_batch *batch = range.batch;
    while (range.begin < range.end) {
        while (range.end - range.begin > 1) { /* leave the upper half to be stolen */
            uint32_t middle = range.begin + (range.end - range.begin) / 2;
            if (!micap_deque_push(&pool->workers[worker].deques[batch->priority],
                                  (micap_job_range){batch, middle, range.end}))
                break;
            if (pool->scheduler.submit)
                request_helper(pool);
            else
                wake(pool, false);
            range.end = middle;
        }
        batch->fn(batch->data, range.begin, worker);
        ++range.begin;
        void (*done)(micap_job_batch *, uint32_t) =
            batch->done; /* read first: the batch may be freed once its jobs are counted */
        if (atomic_fetch_sub(&batch->left, 1) == 1) {
            if (done)
                done(batch, worker);
            wake(pool, true);
            return;
        }
    }
}

void micap_worker_pool_work_until(micap_worker_pool *pool, uint32_t worker, const atomic_uint *left)
{
    uint64_t idle_since = 0;
    uint32_t rounds = 0;
    while (atomic_load_explicit(left, memory_order_acquire)) {
        micap_job_range range;
        if (find_jobs(pool, worker, &range)) {
            run_range(pool, worker, range);
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
            sleep_until_event(pool, left);
        else
            micap_yield();
    }
}

/* The main function of a thread of the pool. */
static void *run_worker(void *data)
{
    micap_worker *self = data;
    micap_worker_pool *pool = self->pool;
    current = (struct current_worker){pool, self->index};
    uint64_t idle_since = 0;
    uint32_t rounds = 0;
    bool is_idle = false;
    while (!atomic_load_explicit(&pool->ending, memory_order_acquire)) {
        micap_job_range range;
        if (find_jobs(pool, self->index, &range)) {
            if (is_idle)
                micap_heap_thread_busy();
            is_idle = false;
            run_range(pool, self->index, range);
            idle_since = 0;
            continue;
        }
        micap_relax();
        if (++rounds % SPIN_ROUNDS)
            continue;
        if (!is_idle)
            micap_heap_thread_idle();
        is_idle = true;
        uint64_t now = micap_clock_ns();
        if (!idle_since) {
            idle_since = now;
        } else if (now - idle_since > SPIN_NS) {
            sleep_until_event(pool, NULL);
            idle_since = 0;
        }
    }
    return NULL;
}

/* The function of a helper of the user's scheduler: takes a free index, runs jobs while there are some, and returns. */
static void help(void *data)
{
    micap_worker_pool *pool = data;
    for (uint32_t i = 1; i < pool->worker_count; ++i) {
        bool busy = false;
        if (!atomic_compare_exchange_strong(&pool->workers[i].busy, &busy, true))
            continue;
        struct current_worker before = current;
        current = (struct current_worker){pool, i};
        uint64_t idle_since = 0;
        while (!idle_since || micap_clock_ns() - idle_since < SPIN_NS) {
            micap_job_range range;
            if (find_jobs(pool, i, &range)) {
                run_range(pool, i, range);
                idle_since = 0;
            } else if (!idle_since) {
                idle_since = micap_clock_ns();
            }
        }
        current = before;
        atomic_store(&pool->workers[i].busy, false);
        break;
    }
    atomic_fetch_sub(&pool->helpers, 1);
}

/* The pool works without the threads that could not be started. */
static void start_threads(micap_worker_pool *pool)
{
    pool->started = true;
    for (uint32_t i = 1; i < pool->worker_count; ++i)
        pool->workers[i].started = pthread_create(&pool->workers[i].thread, NULL, run_worker, &pool->workers[i]) == 0;
}

void micap_worker_pool_submit(micap_worker_pool *pool, uint32_t worker, micap_job_batch *batch, uint32_t count)
{
    micap_job_range range = {batch, 0, count};
    if (!pool->started && !pool->scheduler.submit)
        start_threads(pool);
    if (!micap_deque_push(&pool->workers[worker].deques[batch->priority], range))
        run_range(pool, worker, range);
    else if (pool->scheduler.submit)
        request_helper(pool);
    else
        wake(pool, false);
}

void micap_worker_pool_run(micap_worker_pool *pool, uint32_t worker, micap_job_fn fn, void *data, uint32_t count)
{
    if (count == 1 || pool->worker_count == 1) {
        for (uint32_t i = 0; i < count; ++i)
            fn(data, i, worker);
        return;
    }
    micap_job_batch batch = {.fn = fn, .data = data, .priority = 1};
    atomic_init(&batch.left, count);
    if (count == 0)
        return;
    micap_worker_pool_submit(pool, worker, &batch, count);
    micap_worker_pool_work_until(pool, worker, &batch.left);
}

void micap_worker_pool_join_helpers(micap_worker_pool *pool)
{
    for (uint32_t i = 0; i < pool->ticket_count; ++i)
        pool->scheduler.wait(pool->tickets[i], pool->scheduler.context);
    pool->ticket_count = 0;
}

micap_worker_pool *micap_worker_pool_create(micap_memory *memory, uint32_t worker_count,
                                            const mica_scheduler *scheduler)
{
    micap_worker_pool *pool = micap_allocate_zeroed(memory, sizeof *pool, MICAP_CACHE_LINE);
    if (!pool)
        return NULL;
    pool->memory = memory;
    pool->worker_count = worker_count;
    if (scheduler)
        pool->scheduler = *scheduler;
    pool->workers = micap_allocate_zeroed(memory, worker_count * sizeof *pool->workers, _Alignof(micap_worker));
    if (!pool->workers) {
        micap_release(memory, pool, sizeof *pool, MICAP_CACHE_LINE);
        return NULL;
    }
    for (uint32_t i = 0; i < worker_count; ++i) {
        pool->workers[i].pool = pool;
        pool->workers[i].index = i;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    return pool;
}

void micap_worker_pool_destroy(micap_worker_pool *pool)
{
    if (!pool)
        return;
    micap_worker_pool_join_helpers(pool);
    atomic_store(&pool->ending, true);
    wake(pool, true);
    for (uint32_t i = 1; i < pool->worker_count; ++i)
        if (pool->workers[i].started)
            pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->changed);
    micap_memory *memory = pool->memory;
    MICAP_RELEASE_ARRAY(memory, pool->tickets, pool->ticket_capacity);
    micap_release(memory, pool->workers, pool->worker_count * sizeof *pool->workers, _Alignof(micap_worker));
    micap_release(memory, pool, sizeof *pool, MICAP_CACHE_LINE);
}
