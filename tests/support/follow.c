#include "follow.h"

#include "components.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/pool.h"
#include "require.h"
#include "sample.h"

#include <stdio.h>
#include <string.h>

static const sample_kind kinds[] = {
    SAMPLE_BYTE,
    SAMPLE_SMALL,
    SAMPLE_PADDED,
    SAMPLE_WIDE,
    SAMPLE_BIG,
    SAMPLE_SEEDED, /* with a construct function and no other: it needs no rule */
    SAMPLE_SWITCHED,
    SAMPLE_DATED,
    SAMPLE_SPLIT,
    SAMPLE_SWITCHED_SPLIT,
    SAMPLE_POOL,
    SAMPLE_POOL_HASH,
    SAMPLE_POOL_DIRECT,
    SAMPLE_POOL_SPLIT,
    SAMPLE_POOL_DIRECT_SPLIT,
    SAMPLE_OWNER,
    SAMPLE_SWITCHED_OWNER,
    SAMPLE_POOL_OWNER,
    SAMPLE_POOL_DIRECT_OWNER,
    SAMPLE_POOL_MANY,
    SAMPLE_POOL_MANY_OWNER,
    SAMPLE_POOL_TAG,
    SAMPLE_TAG,
    SAMPLE_SWITCHED_TAG,
    SAMPLE_DATED_TAG,
    SAMPLE_TEXT,
    SAMPLE_POOL_TEXT,
    SAMPLE_HIDING_TAG,
};

/* What a delta has of a value with functions. */
typedef struct FollowRecipe { uint32_t number; mica_entity owner; mica_text label; } FollowRecipe;
MICA_STRUCT(FollowRecipe, number, owner, label)

static bool save_sample(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                        void *context)
{
    FollowRecipe *recipe = out_instance;
    (void)world;
    (void)context;
    memcpy(&recipe->number, value, sizeof recipe->number); /* the first field of all that own something */
    recipe->owner = entity;
    mica_text_set(&recipe->label, recipe->number % 2 ? "a label that does not fit in its place" : "label");
    return true;
}

static bool spawn_sample(const mica_spawn_run *run, void *context)
{
    const FollowRecipe *recipes = run->instances;
    const sample *sample = context;
    for (uint32_t i = 0; i < run->count; ++i) {
        if (!mica_same(recipes[i].owner, run->entities[i]) ||
            mica_text_length(&recipes[i].label) != (recipes[i].number % 2 ? 38 : 5))
            return false; /* as in a damaged delta */
        sample->assign((char *)run->values + (size_t)i * sample->type->size_bytes, recipes[i].number);
    }
    return true;
}

const mica_resource_rule *carried_rules(uint32_t *out_count)
{
    static const sample_kind owners[] = {SAMPLE_OWNER,           SAMPLE_SWITCHED_OWNER,
                                         SAMPLE_POOL_OWNER,      SAMPLE_POOL_DIRECT_OWNER,
                                         SAMPLE_POOL_MANY_OWNER, SAMPLE_POOL};
    static mica_resource_rule rules[COUNT_OF(owners)];
    for (uint32_t i = 0; i < COUNT_OF(owners); ++i)
        rules[i] = (mica_resource_rule){.component = sample_id(owners[i]),
                                        .recipe = &mica_type_of_FollowRecipe,
                                        .spawn = spawn_sample,
                                        .save = save_sample,
                                        .context = (void *)&samples[owners[i]]};
    *out_count = COUNT_OF(owners);
    return rules;
}

void define_carried(mica_world *world)
{
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i)
        mica_component_define(world, samples[kinds[i]].type);
    mica_define(world, Bond);
    mica_define(world, Debt);
    mica_define(world, Crowd);
    mica_define(world, Cards);
    mica_define(world, Errand);
    mica_define(world, Motto);
    mica_define(world, SampleClock);
}

void open_sender(sender_side *side, uint64_t seed)
{
    memset(side, 0, sizeof *side);
    side->world = open_world_of_small_chunks(&side->heard);
    define_carried(side->world);
    mica_sender_def def = {.byte_order = seed % 2 ? MICA_BYTE_ORDER_BIG : MICA_BYTE_ORDER_LITTLE};
    def.rules = carried_rules(&def.rule_count);
    side->sender = mica_sender_create(side->world, &def);
    side->random = (random_source){seed};
}

void close_sender(sender_side *side)
{
    mica_sender_destroy(side->sender);
    close_world(side->world, &side->heard);
}

void open_receiver(receiver_side *side, bool mapped)
{
    memset(side, 0, sizeof *side);
    side->world = open_world(&side->heard); /* with other chunks than the sender's */
    define_carried(side->world);
    mica_replica_def def = {.mapped = mapped, .index_limit = 8192};
    def.rules = carried_rules(&def.rule_count);
    side->replica = mica_replica_create(side->world, &def);
}

void close_receiver(receiver_side *side)
{
    mica_replica_destroy(side->replica);
    close_world(side->world, &side->heard);
}

static mica_entity any(sender_side *side)
{
    while (side->living_count) {
        uint32_t at = random_below(&side->random, side->living_count);
        if (mica_is_alive(side->world, side->living[at]))
            return side->living[at];
        side->living[at] = side->living[--side->living_count];
    }
    return mica_nil();
}

static void set_any(sender_side *side, mica_entity entity)
{
    sample_room room;
    sample_kind kind = kinds[random_below(&side->random, COUNT_OF(kinds))];
    mica_value value = sample_value_begin(kind, random_below(&side->random, 1000), &room);
    mica_set_id(side->world, entity, value);
    sample_value_end(kind, &room);
}

static void remove_any(sender_side *side, mica_entity entity)
{
    mica_component id = sample_id(kinds[random_below(&side->random, COUNT_OF(kinds))]);
    if (mica_has_id(side->world, entity, id))
        mica_remove_id(side->world, entity, id);
}

static void toggle_any(sender_side *side, mica_entity entity)
{
    static const sample_kind toggled[] = {SAMPLE_SWITCHED, SAMPLE_SWITCHED_SPLIT, SAMPLE_SWITCHED_TAG,
                                          SAMPLE_POOL_DIRECT_SPLIT};
    mica_component id = sample_id(toggled[random_below(&side->random, COUNT_OF(toggled))]);
    if (mica_has_id(side->world, entity, id))
        mica_enable_id(side->world, entity, id, random_below(&side->random, 2));
    if (mica_has(side->world, entity, Errand))
        mica_enable_id(side->world, entity, MICA_ID(Errand), random_below(&side->random, 2));
    if (mica_has(side->world, entity, Debt))
        mica_enable_id(side->world, entity, MICA_ID(Debt), random_below(&side->random, 2));
}

static void name_any(sender_side *side, mica_entity entity)
{
    char name[16];
    snprintf(name, sizeof name, "n%u", random_below(&side->random, 40));
    mica_entity parent = mica_parent(side->world, entity);
    if (mica_is_nil(mica_find_from(side->world, parent, name)))
        mica_name_set(side->world, entity, parent, random_below(&side->random, 4) ? name : NULL);
}

static void link_any(sender_side *side, mica_entity entity)
{
    mica_entity parent = random_below(&side->random, 3) ? any(side) : mica_nil();
    if (mica_same(entity, parent) || mica_is_ancestor(side->world, entity, parent))
        return;
    mica_set_parent(side->world, entity, parent);
    forget_reports(&side->heard); /* a name may be taken there */
}

static void bind_any(sender_side *side, mica_entity entity)
{
    mica_set(side->world, entity, Bond, {any(side), {any(side), mica_nil()}, random_below(&side->random, 2)});
    mica_set(side->world, entity, Debt, {any(side), random_below(&side->random, 100)});
}

static void gather_any(sender_side *side, mica_entity entity)
{
    uint32_t count = random_below(&side->random, 4);
    mica_set(side->world, entity, Crowd, {.name = mica_text_of(count ? "a crowd that has a long name" : "crowd")});
    Crowd *crowd = mica_write(side->world, entity, Crowd);
    for (uint32_t i = 0; i < count; ++i)
        mica_list_add(&crowd->members, Member, {mica_text_of("one of many that belong to it"), any(side)});
    mica_set(side->world, entity, Cards, {.suit = mica_text_of("hearts and diamonds")});
    mica_list_add(&mica_write(side->world, entity, Cards)->numbers, uint16_t, (uint16_t)count, 7);
    Motto *motto = mica_singleton_write(side->world, Motto);
    mica_text_set(&motto->text, count % 2 ? "whatever happens to it" : "short");
    mica_list_assign(&motto->friends, mica_entity, (mica_entity[]){entity}, 1);
}

/* One of the instances of an entity; nil if it has none. */
static mica_instance any_instance(sender_side *side, mica_pool *pool, mica_entity entity)
{
    mica_instance found = mica_pool_find(pool, entity);
    while (!mica_instance_is_nil(found) && random_below(&side->random, 2)) {
        mica_instance next = mica_pool_next(pool, found);
        if (mica_instance_is_nil(next))
            break;
        found = next;
    }
    return found;
}

/* Adds, writes and removes instances of entities that have several. */
static void run_errands(sender_side *side, mica_entity entity)
{
    mica_pool *errands = mica_pool_of(side->world, Errand);
    for (uint32_t i = random_below(&side->random, 4); i; --i) {
        mica_instance fresh = mica_pool_add(errands, entity);
        Errand *errand = mica_instance_write_id(errands, fresh);
        *errand = (Errand){.giver = any(side), .urgency = random_below(&side->random, 9)};
        mica_text_set(&errand->task, i % 2 ? "carry this letter to the other end of the town" : "wait");
    }
    entity = any(side);
    mica_instance old = any_instance(side, errands, entity);
    if (!mica_instance_is_nil(old) && random_below(&side->random, 2))
        mica_text_set(&((Errand *)mica_instance_write_id(errands, old))->task, "another one, which is long as well");
    else if (!mica_instance_is_nil(old))
        mica_pool_remove(errands, old);
}

static void write_any(sender_side *side, mica_entity entity)
{
    static const sample_kind whole[] = {SAMPLE_SMALL, SAMPLE_PADDED,    SAMPLE_POOL,  SAMPLE_POOL_HASH,      SAMPLE_BIG,
                                        SAMPLE_TEXT,  SAMPLE_POOL_TEXT, SAMPLE_OWNER, SAMPLE_POOL_MANY_OWNER};
    sample_kind kind = whole[random_below(&side->random, COUNT_OF(whole))];
    void *value =
        mica_has_id(side->world, entity, sample_id(kind)) ? mica_write_id(side->world, entity, sample_id(kind)) : NULL;
    if (value)
        samples[kind].assign(value, random_below(&side->random, 1000));
}

static void create_some(sender_side *side)
{
    uint32_t count = 1 + random_below(&side->random, 40);
    for (uint32_t i = 0; i < count && side->living_count < LIVING_MAX; ++i) {
        mica_entity entity = mica_create(side->world, MICA_WITH(Bond, {.strong = true}));
        side->living[side->living_count++] = entity;
        for (uint32_t more = random_below(&side->random, 4); more; --more)
            set_any(side, entity);
    }
}

static int compare_errands(const void *a, const void *b, void *context)
{
    const Errand *left = a, *right = b;
    (void)context;
    return left->urgency < right->urgency ? -1 : left->urgency > right->urgency;
}

static void sort_some(sender_side *side)
{
    mica_component small = sample_id(SAMPLE_SMALL);
    mica_term term = {.component = small, .access = MICA_ACCESS_READ};
    mica_query *query = mica_query_create(
        side->world, &(mica_query_def){.name = "sort", .terms = &term, .term_count = 1, .with_hidden = true});
    mica_query_sort_rows(query, small, sample_compare, (void *)&samples[SAMPLE_SMALL]);
    mica_query_destroy(query);
    mica_pool *pool = mica_pool_of_id(side->world, sample_id(SAMPLE_POOL));
    mica_pool_sort(pool, sample_compare, (void *)&samples[SAMPLE_POOL]);
    mica_pool_sort(mica_pool_of(side->world, Errand), compare_errands, NULL);
}

void live_a_tick(sender_side *side)
{
    uint32_t steps = random_below(&side->random, 60);
    for (uint32_t i = 0; i < steps; ++i) {
        mica_entity entity = any(side);
        uint32_t what = mica_is_nil(entity) ? 0 : random_below(&side->random, 25);
        switch (what) {
        case 0: create_some(side); break;
        case 1:
        case 2: mica_destroy(side->world, entity); break;
        case 3:
        case 4:
        case 5:
        case 6: set_any(side, entity); break;
        case 7:
        case 8: remove_any(side, entity); break;
        case 9: toggle_any(side, entity); break;
        case 10: name_any(side, entity); break;
        case 11:
        case 12: link_any(side, entity); break;
        case 13: bind_any(side, entity); break;
        case 20:
        case 21: gather_any(side, entity); break;
        case 22:
        case 23:
        case 24: run_errands(side, entity); break;
        case 14: mica_singleton_write(side->world, SampleClock)->number = i; break;
        default: write_any(side, entity); break;
        }
    }
    uint32_t rare = random_below(&side->random, 400);
    if (rare == 0)
        mica_world_clear(side->world);
    else if (rare < 8)
        mica_world_trim(side->world);
    else if (rare < 14)
        sort_some(side);
}

void follow(sender_side *from, receiver_side *to, bool is_reliable)
{
    mica_delta delta;
    REQUIRE(mica_delta_encode(from->sender, to->acknowledged, &delta) == MICA_OK);
    if (!is_reliable && random_one_in(&from->random, 3))
        return;
    mica_result result = mica_delta_apply(to->replica, delta.bytes, delta.byte_count);
    REQUIRE_SAYING(result == MICA_OK, "%s", to->heard.count ? to->heard.list[0].text : "");
    REQUIRE(mica_replica_version(to->replica) == delta.version);
    if (is_reliable || !random_one_in(&from->random, 3))
        to->acknowledged = delta.version;
}

void expect_same(const mica_world *a, const mica_world *b, uint32_t tick)
{
    mica_difference difference;
    if (mica_world_hash_content(a) == mica_world_hash_content(b))
        return;
    mica_hash_diff(a, b, &difference);
    ck_abort_msg("tick %u: %s", tick, difference.text);
}

/* All instances, in the same order. */
static void expect_same_errands(const sender_side *from, const receiver_side *to, mica_entity there, mica_entity here)
{
    const mica_pool *left = mica_pool_of(from->world, Errand), *right = mica_pool_of(to->world, Errand);
    mica_instance a = mica_pool_find(left, there), b = mica_pool_find(right, here);
    for (; !mica_instance_is_nil(a); a = mica_pool_next(left, a), b = mica_pool_next(right, b)) {
        const Errand *errand = mica_instance_read_id(left, a), *same = mica_instance_read_id(right, b);
        mica_entity local = mica_replica_local(to->replica, errand->giver);
        REQUIRE(same && mica_text_compare(&errand->task, &same->task) == 0 && errand->urgency == same->urgency);
        REQUIRE(mica_is_nil(local) ? !mica_is_alive(to->world, same->giver) : mica_same(local, same->giver));
    }
    REQUIRE(mica_instance_is_nil(b));
}

void expect_alike(const sender_side *from, const receiver_side *to)
{
    REQUIRE(mica_world_get_stats(from->world).entity_count == mica_world_get_stats(to->world).entity_count);
    for (uint32_t i = 0; i < from->living_count; ++i) {
        mica_entity there = from->living[i], here = mica_replica_local(to->replica, there);
        REQUIRE(mica_is_alive(from->world, there) == !mica_is_nil(here));
        if (mica_is_nil(here))
            continue;
        REQUIRE(mica_same(mica_replica_remote(to->replica, here), there));
        mica_component a[64], b[64];
        uint32_t count = mica_get_components(from->world, there, a, 64);
        REQUIRE(mica_get_components(to->world, here, b, 64) == count && memcmp(a, b, count * sizeof *a) == 0);
        for (uint32_t k = 0; k < COUNT_OF(kinds); ++k) {
            sample_room left, right;
            mica_component id = sample_id(kinds[k]);
            if (!samples[kinds[k]].has_data || !mica_has_id(from->world, there, id))
                continue;
            const void *original = &left, *other = &right;
            if (samples[kinds[k]].owns || kinds[k] == SAMPLE_TEXT || kinds[k] == SAMPLE_POOL_TEXT) {
                original = mica_get_id(from->world, there, id);
                other = mica_get_id(to->world, here, id);
            } else {
                memset(&left, 0, sizeof left);
                memset(&right, 0, sizeof right);
                mica_get_value_id(from->world, there, id, &left);
                mica_get_value_id(to->world, here, id, &right);
            }
            uint32_t number = samples[kinds[k]].key(original);
            REQUIRE_SAYING(number == samples[kinds[k]].key(other), "%s", samples[kinds[k]].name);
        }
        const Crowd *crowd = mica_get(from->world, there, Crowd), *twin = mica_get(to->world, here, Crowd);
        for (uint32_t k = 0; crowd && k < mica_list_count(&crowd->members); ++k) {
            const Member *member = &mica_list_items(&crowd->members, Member)[k];
            const Member *same = &mica_list_items(&twin->members, Member)[k];
            mica_entity local = mica_replica_local(to->replica, member->entity);
            REQUIRE(mica_text_compare(&member->role, &same->role) == 0);
            REQUIRE(mica_is_nil(local) ? !mica_is_alive(to->world, same->entity) : mica_same(local, same->entity));
        }
        expect_same_errands(from, to, there, here);
        const Bond *bond = mica_get(from->world, there, Bond), *copy = mica_get(to->world, here, Bond);
        mica_entity friend = mica_replica_local(to->replica, bond->to);
        REQUIRE(mica_is_nil(friend) ? !mica_is_alive(to->world, copy->to) : mica_same(friend, copy->to));
        REQUIRE(bond->strong == copy->strong);
        REQUIRE(
            mica_same(mica_replica_local(to->replica, mica_parent(from->world, there)), mica_parent(to->world, here)));
        const char *name = mica_name_get(from->world, there), *same = mica_name_get(to->world, here);
        REQUIRE(!name == !same && (!name || strcmp(name, same) == 0));
    }
}
