/* What has no stamps: the sender remembers since when a part of the world is as it is. */
#include "base/hash.h"
#include "replication/delta_format.h"

static micap_delta_track *find_track(micap_delta_track *tracks, uint32_t capacity, uint64_t key)
{
    uint32_t at = (uint32_t)micap_hash_mix(key);
    while (tracks[at & (capacity - 1)].key && tracks[at & (capacity - 1)].key != key)
        ++at;
    return &tracks[at & (capacity - 1)];
}

static bool grow_tracks(mica_sender *sender)
{
    uint32_t grown = sender->track_capacity ? sender->track_capacity * 2 : 64;
    micap_memory *memory = &sender->world->memory;
    micap_delta_track *fresh = micap_allocate_zeroed(memory, grown * sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < sender->track_capacity; ++i)
        if (sender->tracks[i].key)
            *find_track(fresh, grown, sender->tracks[i].key) = sender->tracks[i];
    MICAP_RELEASE_ARRAY(memory, sender->tracks, sender->track_capacity);
    sender->tracks = fresh;
    sender->track_capacity = grown;
    return true;
}

bool micap_delta_has_changed(mica_sender *sender, uint64_t key, uint64_t hash)
{
    if (sender->track_count * 2 >= sender->track_capacity && !grow_tracks(sender)) {
        sender->bytes.failed = true;
        return true;
    }
    key += key == 0;
    micap_delta_track *track = find_track(sender->tracks, sender->track_capacity, key);
    if (track->key != key || track->hash != hash) {
        sender->track_count += track->key != key;
        *track = (micap_delta_track){key, hash, sender->delta.version};
    }
    return track->version > sender->delta.base;
}
