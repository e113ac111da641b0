#include "cluster/letters.h"

#include "base/argument.h"
#include "mica/component.h"
#include "mica/system.h"

#include <stdlib.h>

uint64_t micap_letters_sender(const mica_cluster *cluster, mica_entity from, const char *function)
{
    uint64_t identity = micap_neighbour_table_identity(&cluster->table, from);
    if (!identity)
        micap_report_argument(cluster->world, function, "from", "must be an entity with an identity");
    return identity;
}

bool micap_letters_keep(mica_cluster *cluster, micap_letters *letters, micap_letter letter)
{
    if (letters->bytes.failed ||
        !MICAP_RESERVE(&cluster->memory, letters->letters, &letters->capacity, (uint64_t)letters->count + 1)) {
        letters->bytes.failed = false;
        letters->bytes.count = letter.offset;
        return false;
    }
    letter.byte_count = letters->bytes.count - letter.offset;
    letters->letters[letters->count++] = letter;
    return true;
}

bool micap_letters_keep_copy(mica_cluster *cluster, micap_letters *letters, micap_letter letter, const char *bytes)
{
    letter.offset = letters->bytes.count;
    micap_bytes_put(&letters->bytes, bytes, letter.byte_count);
    return micap_letters_keep(cluster, letters, letter);
}

bool micap_letters_post(mica_cluster *cluster, micap_letters *letters, micap_letter letter, mica_value value)
{
    letter.system = mica_system_running(cluster->world).id;
    pthread_mutex_lock(&cluster->mail_lock);
    letter.offset = letters->bytes.count;
    letter.order = letters->count;
    micap_codec_put_value(&cluster->codec, &letters->bytes, mica_component_type(value.component), value.data);
    bool done = micap_letters_keep(cluster, letters, letter);
    pthread_mutex_unlock(&cluster->mail_lock);
    return done;
}

micap_sorted_letter *micap_letters_sort(mica_cluster *cluster, const micap_letters *letters,
                                        int (*compare)(const void *a, const void *b))
{
    uint32_t count = letters->count;
    if (!count)
        return NULL;
    micap_sorted_letter *sorted = micap_allocate(&cluster->memory, count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    if (!sorted) {
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i)
        sorted[i] = (micap_sorted_letter){letters->letters[i], letters->bytes.data + letters->letters[i].offset};
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted;
}

void micap_letters_free_sorted(mica_cluster *cluster, micap_sorted_letter *deliveries, uint32_t count)
{
    micap_release(&cluster->memory, deliveries, count * sizeof *deliveries, MICAP_ARRAY_ALIGNMENT);
}

bool micap_letters_read(mica_cluster *cluster, const micap_sorted_letter *delivery, const mica_type *type, char *value)
{
    micap_reader reader = {
        .begin = delivery->bytes, .at = delivery->bytes, .end = delivery->bytes + delivery->letter.byte_count};
    memset(value, 0, type->size_bytes);
    return micap_codec_take_value(&cluster->codec, &reader, type, value);
}

char *micap_letters_value(mica_cluster *cluster, const mica_type *type)
{
    char *value = micap_allocate_zeroed(&cluster->memory, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!value)
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for messages");
    return value;
}

void micap_letters_free_value(mica_cluster *cluster, const mica_type *type, char *value)
{
    micap_release(&cluster->memory, value, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
}

void micap_letters_empty(micap_letters *letters)
{
    letters->count = letters->bytes.count = 0;
}

void micap_letters_free(mica_cluster *cluster, micap_letters *letters)
{
    MICAP_RELEASE_ARRAY(&cluster->memory, letters->letters, letters->capacity);
    micap_bytes_free(&letters->bytes);
}
