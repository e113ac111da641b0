#include "flow/messaging/ordered_queue.h"

#include "base/bits.h"

#include <string.h>

enum { BLOCK_BYTES_FIRST = 4 << 10, BLOCK_BYTES_LAST = 256 << 10 };

typedef struct saved_span {
    uint64_t frame;
    size_t bytes;
} saved_span;

void micap_queue_init(micap_queue *queue, micap_memory *memory, uint32_t alignment)
{
    *queue = (micap_queue){.memory = memory};
    queue->alignment = alignment > MICAP_ARRAY_ALIGNMENT ? alignment : MICAP_ARRAY_ALIGNMENT;
}

static void release_block(micap_queue *queue, micap_queue_block *block)
{
    micap_release(queue->memory, block, block->bytes, MICAP_CACHE_LINE);
}

static void close_span(micap_queue_writer *writer)
{
    if (writer->span)
        writer->block->used = (size_t)(writer->at - (char *)writer->block);
    writer->span = NULL;
    writer->at = writer->limit = NULL;
    writer->sequence = MICAP_SEQUENCE_NONE;
}

static void spare_block(micap_queue *queue, micap_queue_block *block)
{
    micap_queue_writer *writer = &queue->writers[block->writer];
    block->used = sizeof *block;
    if (writer->block == block)
        return;
    block->next = writer->spare;
    writer->spare = block;
}

static void drop_span(micap_queue *queue, micap_queue_span *span)
{
    if (atomic_load_explicit(&queue->owns, memory_order_relaxed))
        queue->life.release(&queue->life, span->begin, span->end);
    micap_queue_block *block = span->block;
    if (--block->span_count == 0)
        spare_block(queue, block);
}

static void close_spans(micap_queue *queue)
{
    for (uint32_t i = 0; i < queue->writer_count; ++i)
        close_span(&queue->writers[i]);
}

void micap_queue_drop(micap_queue *queue, uint64_t position)
{
    close_spans(queue);
    while (queue->first && micap_queue_span_end(queue->first) <= position) {
        micap_queue_span *span = queue->first;
        queue->first = span->next;
        drop_span(queue, span);
    }
    if (!queue->first)
        queue->last = NULL;
}

void micap_queue_trim(micap_queue *queue)
{
    for (uint32_t i = 0; i < queue->writer_count; ++i) {
        micap_queue_writer *writer = &queue->writers[i];
        close_span(writer);
        while (writer->spare) {
            micap_queue_block *block = writer->spare;
            writer->spare = block->next;
            release_block(queue, block);
        }
        if (writer->block && !writer->block->span_count) {
            release_block(queue, writer->block);
            writer->block = NULL;
        }
    }
}

struct micap_saved_queue {
    size_t bytes; /* of all this */
    micap_queue_life life;
    bool owns;
    uint64_t first_position;
    uint64_t begin;
    uint64_t frame;
    uint32_t span_count;
    saved_span spans[]; /* their content follows */
};

static char *content_of(micap_saved_queue *saved)
{
    return (char *)&saved->spans[saved->span_count];
}

static char *content_end(micap_saved_queue *saved)
{
    return (char *)saved + saved->bytes;
}

/* Makes the content, which has the bytes of another, a copy of it. NULL, and nothing is left, if memory is short. */
static micap_saved_queue *own_content(micap_memory *memory, micap_saved_queue *saved)
{
    if (!saved->owns || saved->life.retain(&saved->life, content_of(saved), content_end(saved)))
        return saved;
    micap_release(memory, saved, saved->bytes, MICAP_ARRAY_ALIGNMENT);
    return NULL;
}

void micap_queue_drop_saved(micap_memory *memory, micap_saved_queue *saved)
{
    if (!saved)
        return;
    if (saved->owns)
        saved->life.release(&saved->life, content_of(saved), content_end(saved));
    micap_release(memory, saved, saved->bytes, MICAP_ARRAY_ALIGNMENT);
}

static void forget_prepared(micap_queue *queue)
{
    micap_queue_drop_saved(queue->memory, queue->prepared);
    queue->prepared = NULL;
}

void micap_queue_free(micap_queue *queue)
{
    micap_queue_commit(queue);
    micap_queue_drop(queue, UINT64_MAX);
    micap_queue_trim(queue);
    micap_release(queue->memory, queue->writers, queue->writer_count * sizeof *queue->writers, MICAP_CACHE_LINE);
    MICAP_RELEASE_ARRAY(queue->memory, queue->sequences, queue->sequence_capacity);
    forget_prepared(queue);
    *queue = (micap_queue){.memory = queue->memory, .alignment = queue->alignment, .life = queue->life};
}

bool micap_queue_prepare(micap_queue *queue, uint32_t worker_count, uint32_t sequence_count)
{
    if (worker_count > queue->writer_count) {
        micap_queue_writer *writers =
            micap_allocate_zeroed(queue->memory, worker_count * sizeof *writers, MICAP_CACHE_LINE);
        if (!writers)
            return false;
        if (queue->writer_count)
            memcpy(writers, queue->writers, queue->writer_count * sizeof *writers);
        micap_release(queue->memory, queue->writers, queue->writer_count * sizeof *writers, MICAP_CACHE_LINE);
        for (uint32_t i = queue->writer_count; i < worker_count; ++i)
            writers[i] =
                (micap_queue_writer){.sequence = MICAP_SEQUENCE_NONE, .first_sequence = UINT32_MAX, .index = i};
        queue->writers = writers;
        queue->writer_count = worker_count;
    }
    uint32_t known = queue->sequence_capacity;
    if (!MICAP_RESERVE(queue->memory, queue->sequences, &queue->sequence_capacity, sequence_count))
        return false;
    if (queue->sequence_capacity > known)
        memset(queue->sequences + known, 0, (queue->sequence_capacity - known) * sizeof *queue->sequences);
    close_spans(queue);
    return true;
}

/* Returns the first spare block that is large enough, or a new one, twice as large as the last. NULL if memory is short. */
static micap_queue_block *take_block(micap_queue *queue, micap_queue_writer *writer, size_t needed)
{
    for (micap_queue_block **link = &writer->spare; *link; link = &(*link)->next)
        if ((*link)->bytes >= needed) {
            micap_queue_block *block = *link;
            *link = block->next;
            return block;
        }
    size_t bytes = writer->block ? writer->block->bytes * 2 : BLOCK_BYTES_FIRST;
    bytes = bytes < BLOCK_BYTES_LAST ? bytes : BLOCK_BYTES_LAST;
    bytes = bytes < needed ? micap_power_of_two_at_least(needed) : bytes;
    micap_queue_block *block = micap_allocate(queue->memory, bytes, MICAP_CACHE_LINE);
    if (block)
        *block = (micap_queue_block){.bytes = bytes, .used = sizeof *block, .writer = writer->index};
    return block;
}

/* Returns the offset in a block at which the content of a new span begins. */
static size_t span_begin(const micap_queue *queue, const micap_queue_block *block)
{
    uintptr_t header = (uintptr_t)block + micap_align_up(block->used, MICAP_ARRAY_ALIGNMENT);
    return micap_align_up(header + sizeof(micap_queue_span), queue->alignment) - (uintptr_t)block;
}

static bool open_block(micap_queue *queue, micap_queue_writer *writer, size_t bytes)
{
    micap_queue_block *old = writer->block;
    if (old && span_begin(queue, old) + bytes <= old->bytes)
        return true;
    size_t needed = sizeof(micap_queue_block) + sizeof(micap_queue_span) + queue->alignment + bytes;
    micap_queue_block *block = take_block(queue, writer, needed);
    if (!block)
        return false;
    writer->block = block;
    if (old && !old->span_count)
        spare_block(queue, old);
    return true;
}

static void link_span(micap_queue_span **first, micap_queue_span **last, micap_queue_span *span)
{
    if (*last)
        (*last)->next = span;
    else
        *first = span;
    *last = span;
}

static void enter_sequence(micap_queue *queue, micap_queue_writer *writer, uint32_t sequence, micap_queue_span *span)
{
    MICAP_ASSERT(sequence < queue->sequence_capacity, "sequence numbers are assigned before the phase begins");
    link_span(&queue->sequences[sequence].first, &queue->sequences[sequence].last, span);
    writer->first_sequence = sequence < writer->first_sequence ? sequence : writer->first_sequence;
    writer->sequence_end = sequence + 1 > writer->sequence_end ? sequence + 1 : writer->sequence_end;
}

void *micap_queue_append_slowly(micap_queue *queue, uint32_t worker, uint32_t sequence, size_t bytes)
{
    micap_queue_writer *writer = &queue->writers[worker];
    close_span(writer);
    if (!open_block(queue, writer, bytes))
        return NULL;
    micap_queue_block *block = writer->block;
    char *begin = (char *)block + span_begin(queue, block);
    micap_queue_span *span = (micap_queue_span *)(void *)(begin - sizeof *span);
    *span = (micap_queue_span){.block = block, .begin = begin, .end = begin + bytes};
    ++block->span_count;
    writer->span = span;
    writer->sequence = sequence;
    writer->at = span->end;
    writer->limit = (char *)block + block->bytes;
    if (sequence != MICAP_SEQUENCE_NONE) {
        enter_sequence(queue, writer, sequence, span);
    } else {
        span->position = queue->end;
        span->frame = queue->frame;
        link_span(&queue->first, &queue->last, span);
        queue->end += bytes;
    }
    return begin;
}

bool micap_queue_own(micap_queue *queue, uint32_t worker, char *entry, size_t bytes)
{
    if (queue->life.retain(&queue->life, entry, entry + bytes))
        return true;
    micap_queue_take_back(queue, worker, bytes);
    return false;
}

void micap_queue_commit(micap_queue *queue)
{
    uint32_t first = UINT32_MAX, end = 0;
    for (uint32_t i = 0; i < queue->writer_count; ++i) {
        micap_queue_writer *writer = &queue->writers[i];
        close_span(writer);
        first = writer->first_sequence < first ? writer->first_sequence : first;
        end = writer->sequence_end > end ? writer->sequence_end : end;
        writer->first_sequence = UINT32_MAX;
        writer->sequence_end = 0;
    }
    for (uint32_t sequence = first; sequence < end; ++sequence) {
        for (micap_queue_span *span = queue->sequences[sequence].first; span; span = span->next) {
            span->position = queue->end;
            span->frame = queue->frame;
            queue->end = micap_queue_span_end(span);
        }
        if (!queue->sequences[sequence].first)
            continue;
        link_span(&queue->first, &queue->last, queue->sequences[sequence].first);
        queue->last = queue->sequences[sequence].last;
        queue->sequences[sequence] = (struct micap_queue_sequence){0};
    }
}

bool micap_queue_is_sound(const micap_queue *queue)
{
    uint64_t position = queue->first ? queue->first->position : queue->end;
    const micap_queue_span *last = NULL;
    for (const micap_queue_span *span = queue->first; span; span = span->next) {
        if (span->position != position || span->end < span->begin || !span->block->span_count)
            return false;
        position = micap_queue_span_end(span);
        last = span;
    }
    return position == queue->end && last == queue->last && queue->begin <= queue->end;
}

micap_saved_queue *micap_queue_save(const micap_queue *queue)
{
    size_t data_bytes = 0;
    uint32_t count = 0;
    for (const micap_queue_span *span = queue->first; span; span = span->next, ++count)
        data_bytes += (size_t)(span->end - span->begin);
    size_t bytes = sizeof(micap_saved_queue) + count * sizeof(saved_span) + data_bytes;
    micap_saved_queue *saved = micap_allocate(queue->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    *saved = (micap_saved_queue){.bytes = bytes,
                                 .life = queue->life,
                                 .owns = atomic_load_explicit(&queue->owns, memory_order_relaxed),
                                 .first_position = queue->first ? queue->first->position : queue->end,
                                 .begin = queue->begin,
                                 .frame = queue->frame};
    char *data = (char *)&saved->spans[count];
    for (const micap_queue_span *span = queue->first; span; span = span->next) {
        size_t span_bytes = (size_t)(span->end - span->begin);
        saved->spans[saved->span_count++] = (saved_span){span->frame, span_bytes};
        memcpy(data, span->begin, span_bytes);
        data += span_bytes;
    }
    return own_content(queue->memory, saved);
}

static bool prepare_copy(micap_queue *queue, const micap_saved_queue *saved)
{
    queue->prepared = micap_allocate(queue->memory, saved->bytes, MICAP_ARRAY_ALIGNMENT);
    if (!queue->prepared)
        return false;
    memcpy(queue->prepared, saved, saved->bytes);
    queue->prepared = own_content(queue->memory, queue->prepared);
    return queue->prepared != NULL;
}

/* Makes a spare block with room for everything, and a copy of what owns something. */
bool micap_queue_prepare_load(micap_queue *queue, const micap_saved_queue *saved)
{
    size_t needed = 0;
    forget_prepared(queue);
    if (saved->owns && !prepare_copy(queue, saved))
        return false;
    for (uint32_t i = 0; i < saved->span_count; ++i)
        needed += sizeof(micap_queue_span) + 2 * (size_t)queue->alignment + saved->spans[i].bytes;
    if (!needed)
        return true;
    micap_queue_writer *writer = &queue->writers[0];
    micap_queue_block *block = take_block(queue, writer, sizeof *block + needed);
    if (!block)
        return false;
    block->used = sizeof *block;
    block->next = writer->spare;
    writer->spare = block;
    return true;
}

void micap_queue_load(micap_queue *queue, const micap_saved_queue *saved)
{
    micap_queue_commit(queue);
    micap_queue_drop(queue, UINT64_MAX);
    if (!saved) {
        forget_prepared(queue);
        queue->begin = queue->end;
        return;
    }
    saved = queue->prepared ? queue->prepared : saved;
    queue->end = saved->first_position;
    const char *data = (const char *)&saved->spans[saved->span_count];
    for (uint32_t i = 0; i < saved->span_count; ++i) {
        queue->frame = saved->spans[i].frame;
        void *room = micap_queue_append_slowly(queue, 0, MICAP_SEQUENCE_NONE, saved->spans[i].bytes);
        MICAP_ASSERT(room, "prepare_load has made room");
        memcpy(room, data, saved->spans[i].bytes);
        data += saved->spans[i].bytes;
    }
    close_spans(queue);
    queue->frame = saved->frame;
    queue->begin = saved->begin;
    if (queue->prepared) { /* what it owned belongs to the queue now */
        atomic_store_explicit(&queue->owns, true, memory_order_relaxed);
        micap_release(queue->memory, queue->prepared, queue->prepared->bytes, MICAP_ARRAY_ALIGNMENT);
        queue->prepared = NULL;
    }
}

void micap_saved_queue_range(const micap_saved_queue *saved, uint64_t *out_begin, uint64_t *out_end)
{
    *out_begin = saved->begin;
    *out_end = saved->first_position;
    for (uint32_t i = 0; i < saved->span_count; ++i)
        *out_end += saved->spans[i].bytes;
}

void micap_queue_write(const micap_queue *queue, micap_bytes *bytes, const micap_queue_codec *codec)
{
    uint32_t count = 0;
    for (const micap_queue_span *span = queue->first; span; span = span->next)
        ++count;
    uint64_t first = queue->first ? queue->first->position : queue->end, unit = codec->entry_bytes;
    micap_bytes_put_number(bytes, unit ? first / unit : 0);
    micap_bytes_put_number(bytes, unit ? queue->begin / unit : 0);
    micap_bytes_put_number(bytes, queue->frame);
    micap_bytes_put_number(bytes, count);
    for (const micap_queue_span *span = queue->first; span; span = span->next) {
        micap_bytes_put_number(bytes, span->frame);
        codec->put(bytes, span->begin, span->end, codec->context);
    }
}

/* Reads the spans and their content. */
static bool read_spans(micap_reader *reader, micap_bytes *spans, micap_bytes *content, const micap_queue_codec *codec)
{
    uint64_t count = micap_reader_take_up_to(reader, micap_reader_left(reader));
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t before = content->count;
        saved_span span = {.frame = micap_reader_take_number(reader)};
        if (reader->failed || !codec->take(reader, content, codec->context))
            return false;
        span.bytes = content->count - before;
        if (span.bytes)
            micap_bytes_put(spans, &span, sizeof span);
    }
    return !reader->failed && !spans->failed && !content->failed;
}

micap_saved_queue *micap_queue_read(const micap_queue *queue, micap_reader *reader, const micap_queue_codec *codec)
{
    uint64_t limit = UINT64_MAX >> 24;
    micap_saved_queue head = {.life = queue->life, .owns = queue->life.retain != NULL};
    head.first_position = micap_reader_take_up_to(reader, limit) * codec->entry_bytes;
    head.begin = micap_reader_take_up_to(reader, limit) * codec->entry_bytes;
    head.frame = micap_reader_take_number(reader);
    micap_bytes spans = {.memory = queue->memory}, content = {.memory = queue->memory};
    bool fine = !reader->failed && read_spans(reader, &spans, &content, codec);
    fine = fine && head.begin >= head.first_position && head.begin - head.first_position <= content.count;
    head.bytes = sizeof head + spans.count + content.count;
    head.span_count = spans.count / (uint32_t)sizeof(saved_span);
    micap_saved_queue *saved = fine ? micap_allocate(queue->memory, head.bytes, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (saved) {
        *saved = head;
        if (spans.count) {
            memcpy(saved->spans, spans.data, spans.count);
            memcpy(&saved->spans[head.span_count], content.data, content.count);
        }
    } else if (head.owns && content.count) {
        head.life.release(&head.life, content.data, content.data + content.count);
    }
    micap_bytes_free(&spans);
    micap_bytes_free(&content);
    return saved;
}
