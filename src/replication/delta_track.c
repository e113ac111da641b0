#include "replication/delta_track.h"

#include "base/hash.h"

static micap_delta_track *find(micap_delta_track *entries, uint32_t capacity, uint64_t key)
{
    uint32_t at = (uint32_t)micap_hash_mix(key);
    while (entries[at & (capacity - 1)].key && entries[at & (capacity - 1)].key != key)
        ++at;
    return &entries[at & (capacity - 1)];
}

static bool grow(micap_delta_tracks *tracks)
{
    uint32_t grown = tracks->capacity ? tracks->capacity * 2 : 64;
    micap_delta_track *fresh = micap_allocate_zeroed(tracks->memory, grown * sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < tracks->capacity; ++i)
        if (tracks->entries[i].key)
            *find(fresh, grown, tracks->entries[i].key) = tracks->entries[i];
    MICAP_RELEASE_ARRAY(tracks->memory, tracks->entries, tracks->capacity);
    tracks->entries = fresh;
    tracks->capacity = grown;
    return true;
}

mica_version micap_delta_tracks_note(micap_delta_tracks *tracks, uint64_t key, uint64_t hash, mica_version version)
{
    if (tracks->count * 2 >= tracks->capacity && !grow(tracks))
        return 0;
    key += key == 0;
    micap_delta_track *track = find(tracks->entries, tracks->capacity, key);
    if (track->key != key || track->hash != hash) {
        tracks->count += track->key != key;
        *track = (micap_delta_track){key, hash, version};
    }
    return track->version;
}

void micap_delta_tracks_free(micap_delta_tracks *tracks)
{
    MICAP_RELEASE_ARRAY(tracks->memory, tracks->entries, tracks->capacity);
}
