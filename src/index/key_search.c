#include "index/key_search.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/job_run.h"
#include "index/index_read.h"
#include "index/index_update.h"

static void report_kind(const mica_index *index, const char *function)
{
    mica_kind kind = index->sources[0].kind;
    micap_report_argument(index->head.world, function, "key",
                          kind == MICA_KIND_ENTITY ? "must be an entity"
                          : kind == MICA_KIND_TEXT ? "must be a text"
                                                   : "must be a number");
}

static micap_key_fit word_of(const mica_index *index, mica_key key, micap_rounding rounding, uint64_t *out_word)
{
    return index->sources[0].kind == MICA_KIND_TEXT ? micap_text_keys_fit(&index->texts, key, rounding, out_word)
                                                    : micap_key_word(&index->sources[0], key, rounding, out_word);
}

mica_key micap_index_key_of(const mica_index *index, uint64_t word)
{
    return index->sources[0].kind == MICA_KIND_TEXT ? mica_key_text(micap_text_keys_text(&index->texts, word))
                                                    : micap_key_of_word(&index->sources[0], word);
}

mica_entity mica_find_by(const mica_index *index, mica_key key)
{
    const micap_sorted_keys *keys = micap_index_read_keys(index, __func__);
    uint64_t word;
    if (!keys)
        return mica_nil();
    micap_key_fit fit = word_of(index, key, MICAP_ROUND_NONE, &word);
    if (fit == MICAP_KEY_WRONG)
        report_kind(index, __func__);
    if (fit != MICAP_KEY_FITS)
        return mica_nil();
    if (keys->is_hashed)
        return micap_entity_from_id(micap_key_table_find(&keys->table, word));
    const micap_key_entry *entry = micap_sorted_keys_at(keys, micap_sorted_keys_find_key(keys, word));
    return entry && entry->key == word ? micap_entity_from_id(entry->id) : mica_nil();
}

bool micap_key_range(const mica_index *index, mica_key low, mica_key high, const char *function, uint64_t *out_low,
                     uint64_t *out_high)
{
    *out_low = 0;
    *out_high = UINT64_MAX;
    micap_key_fit from = MICAP_KEY_FITS, to = MICAP_KEY_FITS;
    if (low.kind != MICA_KIND_NONE)
        from = word_of(index, low, MICAP_ROUND_UP, out_low);
    if (high.kind != MICA_KIND_NONE)
        to = word_of(index, high, MICAP_ROUND_DOWN, out_high);
    if (from == MICAP_KEY_WRONG || to == MICAP_KEY_WRONG)
        report_kind(index, function);
    return from == MICAP_KEY_FITS && to == MICAP_KEY_FITS && *out_low <= *out_high;
}

mica_match mica_index_range(const mica_index *index, mica_key low, mica_key high)
{
    mica_match match = {0};
    const micap_sorted_keys *keys = micap_index_read_keys(index, __func__);
    uint64_t first, last;
    if (!keys || !micap_key_range(index, low, high, __func__, &first, &last))
        return match;
    micap_key_place place = micap_sorted_keys_find_key(keys, first);
    match.private_.index = index;
    match.private_.update = index->update;
    match.private_.last = last;
    match.private_.block = place.block;
    match.private_.position = place.position;
    return match;
}

bool mica_match_next(mica_match *match)
{
    if (MICAP_MISSING(NULL, match))
        return false;
    const mica_index *index = match->private_.index;
    if (!index)
        return false;
    if (MICAP_UNLIKELY(match->private_.update != index->update)) {
        match->private_.index = NULL;
        micap_fail(index->head.world, MICA_ERROR_REFUSED, index->location,
                   "index %s: it was updated during a loop over it", index->name);
        return false;
    }
    const micap_sorted_keys *keys = &index->keys;
    micap_key_place place = {match->private_.block, match->private_.position};
    const micap_key_entry *entry = micap_sorted_keys_at(keys, place);
    if (!entry || entry->key > match->private_.last) {
        match->private_.index = NULL;
        return false;
    }
    place = micap_sorted_keys_next(keys, place);
    match->private_.block = place.block;
    match->private_.position = place.position;
    match->entity = micap_entity_from_id(entry->id);
    return true;
}

uint32_t mica_index_count(const mica_index *index, mica_key low, mica_key high)
{
    const micap_sorted_keys *keys = micap_index_read_keys(index, __func__);
    uint64_t first, last;
    if (!keys || !micap_key_range(index, low, high, __func__, &first, &last))
        return 0;
    micap_key_place end = {keys->block_count, 0};
    if (last != UINT64_MAX)
        end = micap_sorted_keys_find_key(keys, last + 1);
    return micap_sorted_keys_between(keys, micap_sorted_keys_find_key(keys, first), end);
}

/* Whether the index has the values that the world has, when this returns. */
static bool is_current(mica_index *index)
{
    mica_world *world = index->head.world;
    const micap_running_job *job = micap_running_job_of(world);
    if (world->hook_depth || (job && !micap_system_uses_index(job->system, index)))
        return false;
    if (!job) { /* what is stamped with the version of now is compared again by the next update */
        micap_index_update(index, micap_version(world) - 1);
        return !index->must_rebuild;
    }
    mica_system_access accesses[MICAP_ACCESSES_MAX];
    for (uint32_t i = micap_system_own_accesses(job->system, accesses); i-- > 0;)
        if (accesses[i].write && accesses[i].component == index->head.component)
            return false;
    return !index->must_rebuild;
}

/* The words of a range; false if no value is in it. */
static bool words_of_range(const mica_index *index, const micap_field_range *range, uint64_t *out_low,
                           uint64_t *out_high)
{
    *out_low = range->low;
    *out_high = range->high;
    if (!range->text)
        return range->low <= range->high;
    mica_key key = mica_key_text(range->text), open = {MICA_KIND_NONE, {0}};
    bool is_open_below = range->compare == MICA_LESS || range->compare == MICA_AT_MOST;
    bool is_open_above = range->compare == MICA_GREATER || range->compare == MICA_AT_LEAST;
    return micap_key_range(index, is_open_below ? open : key, is_open_above ? open : key, __func__, out_low, out_high);
}

bool micap_key_each_between(mica_index *first, const micap_field_range *range, micap_found_fn fn, void *context)
{
    mica_index *index = first;
    while (index && (index->is_grid || index->head.component != range->component ||
                     index->sources[0].leaf_offset + index->sources[0].offset != range->field_offset))
        index = index->next;
    if (!index || !is_current(index))
        return false;
    uint64_t low, high;
    if (!words_of_range(index, range, &low, &high))
        return true;
    const micap_sorted_keys *keys = &index->keys;
    micap_key_place place = micap_sorted_keys_find_key(keys, low);
    for (const micap_key_entry *entry; (entry = micap_sorted_keys_at(keys, place)) != NULL && entry->key <= high;
         place = micap_sorted_keys_next(keys, place))
        fn(micap_entity_from_id(entry->id), context);
    return true;
}
