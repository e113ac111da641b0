#include "cluster/new_families.h"

#include "base/hash.h"
#include "cluster/distribution.h"
#include "cluster/envelopes.h"
#include "cluster/exchange.h"
#include "cluster/reference.h"

#include <stdlib.h>

#define NO_MEMBER UINT32_MAX
/* How many choices of a family are looked at before one is made: each takes time in proportion to the family. */
enum { LOOKS_MAX = 256 };

typedef struct member {
    mica_entity entity;
    uint64_t label, next;
    uint32_t family; /* a member of it */
} member;

/* From a member, or from an older entity. */
typedef struct reference {
    uint64_t identity; /* of an older source */
    uint32_t source;   /* or NO_MEMBER */
    uint32_t target;
    uint32_t offset; /* in the bytes of the source */
    uint32_t family; /* a member of it */
} reference;

/* Consecutive members and references. */
typedef struct family {
    uint64_t hash;
    uint32_t member_first, member_count;
    uint32_t reference_first, reference_count;
} family;

/* Families with the same hash: of this rank, or at the rank that counts them, of another. */
typedef struct tally {
    uint64_t hash;
    uint32_t count, rank;
    uint32_t first; /* the number of the first */
} tally;

struct micap_new_families {
    mica_entity *sources;
    uint32_t source_count, source_capacity;
    member *members;
    uint32_t member_count, member_capacity;
    uint32_t *member_of_index; /* by the index of an entity: 1 + its member; 0: none */
    uint32_t member_of_index_capacity;
    reference *references;
    uint32_t reference_count, reference_capacity;
    family *families;
    uint32_t family_count, family_capacity;
    tally *tallies, *counted;
    uint32_t tally_count, tally_capacity, counted_count, counted_capacity;
    uint64_t *labels; /* of a family, sorted, and room for two more of each member */
    uint32_t label_capacity;
    uint32_t source; /* that is being read */
    uint64_t source_identity;
};

static void fail_memory(mica_cluster *cluster)
{
    micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for new entities that refer to each other");
}

static struct micap_new_families *state_of(mica_cluster *cluster)
{
    if (!cluster->new_families)
        cluster->new_families =
            micap_allocate_zeroed(&cluster->memory, sizeof *cluster->new_families, MICAP_ARRAY_ALIGNMENT);
    return cluster->new_families;
}

void micap_new_families_free(mica_cluster *cluster)
{
    struct micap_new_families *state = cluster->new_families;
    micap_memory *memory = &cluster->memory;
    if (!state)
        return;
    MICAP_RELEASE_ARRAY(memory, state->sources, state->source_capacity);
    MICAP_RELEASE_ARRAY(memory, state->members, state->member_capacity);
    MICAP_RELEASE_ARRAY(memory, state->member_of_index, state->member_of_index_capacity);
    MICAP_RELEASE_ARRAY(memory, state->references, state->reference_capacity);
    MICAP_RELEASE_ARRAY(memory, state->families, state->family_capacity);
    MICAP_RELEASE_ARRAY(memory, state->tallies, state->tally_capacity);
    MICAP_RELEASE_ARRAY(memory, state->counted, state->counted_capacity);
    MICAP_RELEASE_ARRAY(memory, state->labels, state->label_capacity);
    micap_release(memory, state, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    cluster->new_families = NULL;
}

void micap_new_families_note(mica_cluster *cluster, mica_entity source)
{
    struct micap_new_families *state = state_of(cluster);
    if (state && state->source_count && mica_same(state->sources[state->source_count - 1], source))
        return;
    if (state &&
        MICAP_RESERVE(&cluster->memory, state->sources, &state->source_capacity, (uint64_t)state->source_count + 1))
        state->sources[state->source_count++] = source;
    else
        fail_memory(cluster);
}

bool micap_new_families_exist(const mica_cluster *cluster)
{
    return cluster->new_families && cluster->new_families->source_count;
}

/* ---- members and references */

/* The number of a member; NO_MEMBER if memory is short. */
static uint32_t require_member(mica_cluster *cluster, mica_entity entity)
{
    struct micap_new_families *state = cluster->new_families;
    uint32_t before = state->member_of_index_capacity;
    if (!MICAP_RESERVE(&cluster->memory, state->member_of_index, &state->member_of_index_capacity,
                       (uint64_t)entity.index + 1)) {
        fail_memory(cluster);
        return NO_MEMBER;
    }
    memset(state->member_of_index + before, 0,
           (state->member_of_index_capacity - before) * sizeof *state->member_of_index);
    if (state->member_of_index[entity.index])
        return state->member_of_index[entity.index] - 1;
    if (!MICAP_RESERVE(&cluster->memory, state->members, &state->member_capacity, (uint64_t)state->member_count + 1)) {
        fail_memory(cluster);
        return NO_MEMBER;
    }
    uint32_t number = state->member_count++;
    state->members[number] = (member){.entity = entity, .family = number};
    state->member_of_index[entity.index] = number + 1;
    return number;
}

static void add_reference(mica_entity target, uint32_t offset, void *context)
{
    mica_cluster *cluster = context;
    struct micap_new_families *state = cluster->new_families;
    uint32_t number = require_member(cluster, target);
    if (number == NO_MEMBER)
        return;
    if (MICAP_RESERVE(&cluster->memory, state->references, &state->reference_capacity,
                      (uint64_t)state->reference_count + 1))
        state->references[state->reference_count++] = (reference){
            .identity = state->source_identity, .source = state->source, .target = number, .offset = offset};
    else
        fail_memory(cluster);
}

/* Finds the references of an entity to new ones; returns a hash of everything else that it is. */
static uint64_t read_entity(mica_cluster *cluster, mica_entity entity, micap_bytes *bytes)
{
    bytes->count = 0;
    cluster->codec.on_new = add_reference;
    cluster->codec.on_new_context = cluster;
    micap_codec_put_entity(&cluster->codec, bytes, entity);
    cluster->codec.on_new = NULL;
    if (bytes->failed) /* there may be none */
        return 0;
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, cluster->seed, 8);
    micap_hasher_integer(&hasher, cluster->tick, 8);
    micap_hasher_bytes(&hasher, bytes->data, bytes->count);
    return micap_hasher_finish(&hasher);
}

static void collect(mica_cluster *cluster, struct micap_new_families *state)
{
    micap_bytes bytes = {.memory = &cluster->memory};
    for (uint32_t i = 0; i < state->source_count; ++i) {
        mica_entity source = state->sources[i];
        if (!mica_is_alive(cluster->world, source))
            continue;
        const mica_identity *identity = mica_get(cluster->world, source, mica_identity);
        state->source = NO_MEMBER;
        state->source_identity = identity ? identity->value : 0;
        if (identity)
            read_entity(cluster, source, &bytes);
        else
            require_member(cluster, source);
    }
    for (uint32_t i = 0; i < state->member_count; ++i) { /* their targets come to the end of the list */
        state->source = i;
        state->source_identity = 0;
        uint64_t label = read_entity(cluster, state->members[i].entity, &bytes);
        state->members[i].label = label;
    }
    if (bytes.failed)
        fail_memory(cluster);
    micap_bytes_free(&bytes);
}

/* ---- families */

static uint32_t family_of(struct micap_new_families *state, uint32_t number)
{
    member *members = state->members;
    while (members[number].family != number) {
        members[number].family = members[members[number].family].family;
        number = members[number].family;
    }
    return number;
}

static int compare_members(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return micap_compare_words(x->family, y->family);
}

static int compare_references(const void *a, const void *b)
{
    const reference *x = a, *y = b;
    return micap_compare_words(x->family, y->family);
}

/* Sorts members and references by family. The numbers in references follow. */
static void sort_by_family(struct micap_new_families *state)
{
    for (uint32_t i = 0; i < state->reference_count; ++i)
        if (state->references[i].source != NO_MEMBER) {
            uint32_t from = family_of(state, state->references[i].source);
            state->members[from].family = family_of(state, state->references[i].target);
        }
    for (uint32_t i = 0; i < state->member_count; ++i)
        state->members[i].family = family_of(state, i);
    for (uint32_t i = 0; i < state->reference_count; ++i)
        state->references[i].family = state->members[state->references[i].target].family;
    for (uint32_t i = 0; i < state->member_count; ++i)
        state->members[i].next = i; /* where it was */
    qsort(state->members, state->member_count, sizeof *state->members, compare_members);
    qsort(state->references, state->reference_count, sizeof *state->references, compare_references);
}

/* Lists families, whose members and references are consecutive. False if memory is short. */
static bool list_families(mica_cluster *cluster, struct micap_new_families *state)
{
    uint32_t *places = micap_allocate(&cluster->memory, state->member_count * sizeof *places, MICAP_ARRAY_ALIGNMENT);
    if (!places || !MICAP_RESERVE(&cluster->memory, state->families, &state->family_capacity, state->member_count) ||
        !MICAP_RESERVE(&cluster->memory, state->labels, &state->label_capacity, 3 * (uint64_t)state->member_count)) {
        micap_release(&cluster->memory, places, state->member_count * sizeof *places, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    for (uint32_t i = 0; i < state->member_count; ++i)
        places[state->members[i].next] = i;
    uint32_t at = 0;
    for (uint32_t i = 0; i < state->member_count; ++i) {
        if (!i || state->members[i].family != state->members[i - 1].family)
            state->families[state->family_count++] = (family){.member_first = i, .reference_first = at};
        family *last = &state->families[state->family_count - 1];
        ++last->member_count;
        for (; at < state->reference_count && state->references[at].family == state->members[i].family; ++at)
            ++last->reference_count;
    }
    for (uint32_t i = 0; i < state->reference_count; ++i) {
        reference *own = &state->references[i];
        own->source = own->source == NO_MEMBER ? NO_MEMBER : places[own->source];
        own->target = places[own->target];
    }
    micap_release(&cluster->memory, places, state->member_count * sizeof *places, MICAP_ARRAY_ALIGNMENT);
    return true;
}

/* ---- labels */

static uint64_t mix(uint64_t a, uint64_t b)
{
    return micap_hash_mix(a * 0x9e3779b97f4a7c15u + micap_hash_mix(b));
}

/* What a reference says about its target, and about its source. */
static uint64_t word_of_source(const struct micap_new_families *state, const reference *from)
{
    bool is_old = from->source == NO_MEMBER;
    return mix(mix(is_old ? from->identity : state->members[from->source].label, is_old), from->offset);
}

static uint64_t word_of_target(const struct micap_new_families *state, const reference *to)
{
    return mix(mix(state->members[to->target].label, 2), to->offset);
}

/* Sums do not depend on the order of references. */
static void refine(struct micap_new_families *state, const family *family)
{
    member *members = state->members + family->member_first;
    const reference *references = state->references + family->reference_first;
    for (uint32_t i = 0; i < family->member_count; ++i)
        members[i].next = micap_hash_mix(members[i].label);
    for (uint32_t i = 0; i < family->reference_count; ++i) {
        state->members[references[i].target].next += word_of_source(state, &references[i]);
        if (references[i].source != NO_MEMBER)
            state->members[references[i].source].next += word_of_target(state, &references[i]);
    }
    for (uint32_t i = 0; i < family->member_count; ++i)
        members[i].label = micap_hash_mix(members[i].next);
}

static int compare_labels(const void *a, const void *b)
{
    return micap_compare_words(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Returns how many labels there are, and the lowest that two members have. */
static uint32_t count_labels(struct micap_new_families *state, const family *family, uint64_t *out_twice)
{
    uint32_t count = 0;
    bool is_found = false;
    for (uint32_t i = 0; i < family->member_count; ++i)
        state->labels[i] = state->members[family->member_first + i].label;
    qsort(state->labels, family->member_count, sizeof *state->labels, compare_labels);
    for (uint32_t i = 0; i < family->member_count; ++i) {
        bool is_again = i && state->labels[i] == state->labels[i - 1];
        count += !is_again;
        if (is_again && !is_found)
            *out_twice = state->labels[i];
        is_found |= is_again;
    }
    return count;
}

/* Refines until no more labels differ; returns how many there are. */
static uint32_t refine_all(struct micap_new_families *state, const family *family, uint64_t *out_twice)
{
    uint32_t before = 0, count = count_labels(state, family, out_twice);
    for (; before < count && count < family->member_count; count = count_labels(state, family, out_twice)) {
        before = count;
        refine(state, family);
    }
    return count;
}

/* Members with the same label can be at places that are not the same, as in rings of different lengths: the whole family is different
 * then, if one or the other is chosen. Their labels become hashes of that. */
static void look_ahead(struct micap_new_families *state, const family *family, uint64_t label)
{
    uint32_t count = family->member_count;
    member *members = state->members + family->member_first;
    uint64_t *saved = state->labels + count, *outcomes = saved + count, twice;
    for (uint32_t i = 0; i < count; ++i)
        saved[i] = members[i].label;
    for (uint32_t chosen = 0; chosen < count; ++chosen) {
        outcomes[chosen] = 0;
        if (saved[chosen] != label)
            continue;
        for (uint32_t i = 0; i < count; ++i)
            members[i].label = saved[i];
        members[chosen].label = mix(label, 3);
        refine_all(state, family, &twice);
        for (uint32_t i = 0; i < count; ++i)
            outcomes[chosen] += micap_hash_mix(members[i].label);
    }
    for (uint32_t i = 0; i < count; ++i)
        members[i].label = saved[i] == label ? mix(saved[i], outcomes[i]) : saved[i];
}

/* Whether one member has a label; labels are sorted. */
static bool is_unique(const struct micap_new_families *state, const family *family, uint64_t label)
{
    uint32_t begin = 0, end = family->member_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (state->labels[middle] < label)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin + 1 == family->member_count || state->labels[begin + 1] != label;
}

/* Equal members all of whose references are from or to the same others, as the children of one parent: any two of them can change places,
 * so all get labels at once. False if there are others. */
static bool number_twins(struct micap_new_families *state, const family *family, uint64_t label)
{
    for (uint32_t i = 0; i < family->reference_count; ++i) {
        const reference *own = &state->references[family->reference_first + i];
        uint64_t target = state->members[own->target].label;
        uint64_t source = own->source == NO_MEMBER ? 0 : state->members[own->source].label;
        bool is_from = own->source != NO_MEMBER && source == label, is_to = target == label;
        if ((is_from && !is_unique(state, family, target)) ||
            (is_to && own->source != NO_MEMBER && !is_unique(state, family, source)))
            return false;
    }
    member *members = state->members + family->member_first;
    for (uint32_t i = 0, number = 0; i < family->member_count; ++i)
        if (members[i].label == label)
            members[i].label = mix(label, 4 + number++);
    return true;
}

/* Gives all members labels that differ. Those that stay equal are interchangeable: whichever is chosen, the result is the same family. */
static void tell_apart(struct micap_new_families *state, const family *family)
{
    uint64_t twice = 0;
    refine(state, family);
    for (uint32_t looks = 0, count; (count = refine_all(state, family, &twice)) < family->member_count;) {
        member *chosen = state->members + family->member_first;
        uint32_t equal_count = 0;
        for (uint32_t i = 0; i < family->member_count; ++i)
            equal_count += chosen[i].label == twice;
        if (number_twins(state, family, twice))
            continue;
        looks += equal_count;
        if (looks <= LOOKS_MAX) {
            look_ahead(state, family, twice);
            if (refine_all(state, family, &twice) > count)
                continue;
        }
        while (chosen->label != twice)
            ++chosen;
        chosen->label = mix(chosen->label, 3);
    }
}

static void label_members(struct micap_new_families *state, family *family)
{
    tell_apart(state, family);
    for (uint32_t i = 0; i < family->member_count; ++i)
        family->hash += micap_hash_mix(state->members[family->member_first + i].label);
    for (uint32_t i = 0; i < family->reference_count; ++i) {
        const reference *own = &state->references[family->reference_first + i];
        family->hash += mix(word_of_source(state, own), word_of_target(state, own));
    }
    family->hash = micap_hash_mix(family->hash);
    family->hash += !family->hash; /* 0 is no identity */
}

static int compare_families(const void *a, const void *b)
{
    return micap_compare_words(((const family *)a)->hash, ((const family *)b)->hash);
}

static bool find_families(mica_cluster *cluster, struct micap_new_families *state)
{
    sort_by_family(state);
    if (!list_families(cluster, state))
        return false;
    for (uint32_t i = 0; i < state->family_count; ++i)
        label_members(state, &state->families[i]);
    qsort(state->families, state->family_count, sizeof *state->families, compare_families);
    if (!MICAP_RESERVE(&cluster->memory, state->tallies, &state->tally_capacity, state->family_count))
        return false;
    for (uint32_t i = 0; i < state->family_count; ++i) {
        if (!i || state->families[i].hash != state->families[i - 1].hash)
            state->tallies[state->tally_count++] = (tally){.hash = state->families[i].hash};
        ++state->tallies[state->tally_count - 1].count;
    }
    return true;
}

/* ---- numbers */

void micap_new_families_receive_count(mica_cluster *cluster, uint32_t from, uint64_t hash, uint32_t count)
{
    struct micap_new_families *state = state_of(cluster);
    if (state &&
        MICAP_RESERVE(&cluster->memory, state->counted, &state->counted_capacity, (uint64_t)state->counted_count + 1))
        state->counted[state->counted_count++] = (tally){.hash = hash, .count = count, .rank = from};
    else
        fail_memory(cluster);
}

static int compare_tallies(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    int order = micap_compare_words(x->hash, y->hash);
    return order ? order : micap_compare_words(x->rank, y->rank);
}

void micap_new_families_receive_number(mica_cluster *cluster, uint64_t hash, uint32_t first)
{
    struct micap_new_families *state = cluster->new_families;
    tally *found = state && state->tally_count
                       ? bsearch(&(tally){.hash = hash}, state->tallies, state->tally_count, sizeof *found,
                                 compare_tallies) /* those of this rank have no .rank */
                       : NULL;
    if (found)
        found->first = first;
}

/* Ranks get numbers in their order. */
static void number_counted(mica_cluster *cluster, struct micap_new_families *state)
{
    if (state->counted_count)
        qsort(state->counted, state->counted_count, sizeof *state->counted, compare_tallies);
    uint32_t next = 0;
    for (uint32_t i = 0; i < state->counted_count; ++i) {
        const tally *counted = &state->counted[i];
        next = i && counted->hash == counted[-1].hash ? next : 0;
        micap_references_tell(cluster, counted->rank, MICAP_NOTE_NUMBER, counted->hash, next);
        next += counted->count;
    }
    state->counted_count = 0;
}

static void set_identity(mica_cluster *cluster, mica_entity entity, uint64_t identity)
{
    mica_identity own = {identity};
    if (!mica_set_id(cluster->world, entity, (mica_value)MICA_FROM(mica_identity, &own)) ||
        !micap_identity_map_note(&cluster->identities, identity, entity)) {
        fail_memory(cluster);
        return;
    }
    micap_distribution_set_weight(cluster, entity, 0);
    micap_references_tell(cluster, micap_references_home(cluster, identity), MICAP_NOTE_OWNED, identity,
                          cluster->transport.rank);
}

static void set_identities(mica_cluster *cluster, const struct micap_new_families *state)
{
    const tally *own = state->tallies;
    for (uint32_t i = 0, number = 0; i < state->family_count && cluster->result == MICA_OK; ++i, ++number) {
        const family *family = &state->families[i];
        if (own->hash != family->hash) {
            ++own;
            number = 0;
        }
        for (uint32_t k = 0; k < family->member_count; ++k) {
            const member *member = &state->members[family->member_first + k];
            uint64_t identity = mix(mix(family->hash, (uint64_t)own->first + number), member->label);
            set_identity(cluster, member->entity, identity ? identity : 1);
        }
    }
}

void micap_new_families_assign(mica_cluster *cluster)
{
    struct micap_new_families *state = state_of(cluster);
    if (!state)
        fail_memory(cluster);
    if (state && cluster->result == MICA_OK)
        collect(cluster, state);
    if (state && state->member_count && cluster->result == MICA_OK && !find_families(cluster, state))
        fail_memory(cluster);
    for (uint32_t i = 0; state && i < state->tally_count; ++i)
        micap_references_tell(cluster, micap_references_home(cluster, state->tallies[i].hash), MICAP_NOTE_FAMILIES,
                              state->tallies[i].hash, state->tallies[i].count);
    micap_exchange_round(cluster);
    state = cluster->new_families;
    if (state)
        number_counted(cluster, state);
    micap_exchange_round(cluster);
    if (!state)
        return;
    set_identities(cluster, state);
    for (uint32_t i = 0; i < state->member_count; ++i)
        state->member_of_index[state->members[i].entity.index] = 0;
    state->source_count = state->member_count = state->reference_count = state->family_count = state->tally_count = 0;
}
