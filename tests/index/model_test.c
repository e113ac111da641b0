/* Random histories of worlds with indexes, compared with a search through all entities: every storage, every kind of index, creates,
 * writes, destroys, disabled entities and components, snapshots and workers. */
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/test_length.h"

#include "mica/flow.h"
#include "mica/index.h"
#include "mica/snapshot.h"

#include <math.h>
#include <string.h>

typedef struct Spot { float x, y, z; int32_t number; mica_entity friend; } Spot;
MICA_COMPONENT(Spot, x, y, z, number, friend)
typedef Spot SpotSplit;
MICA_COMPONENT_WITH(SpotSplit, (.split = true), x, y, z, number, friend)
typedef Spot SpotToggle;
MICA_COMPONENT_WITH(SpotToggle, (.toggle = true), x, y, z, number, friend)
typedef Spot SpotTracked;
MICA_COMPONENT_WITH(SpotTracked, (.track_changed = true), x, y, z, number, friend)
typedef Spot SpotPool;
MICA_POOL(SpotPool, x, y, z, number, friend)
typedef Spot SpotDirect;
MICA_POOL_WITH(SpotDirect, (.index = MICA_INDEX_DIRECT, .track_changed = true), x, y, z, number, friend)
typedef Spot SpotHash;
MICA_POOL_WITH(SpotHash, (.index = MICA_INDEX_HASH, .split = true), x, y, z, number, friend)
typedef Spot SpotLazy;
MICA_POOL_WITH(SpotLazy, (.dying = MICA_DYING_LAZILY, .toggle = true), x, y, z, number, friend)
MICA_TAG(Other)

static mica_component component_of(int number)
{
    switch (number) {
    case 0: return MICA_ID(Spot);
    case 1: return MICA_ID(SpotSplit);
    case 2: return MICA_ID(SpotToggle);
    case 3: return MICA_ID(SpotTracked);
    case 4: return MICA_ID(SpotPool);
    case 5: return MICA_ID(SpotDirect);
    case 6: return MICA_ID(SpotHash);
    default: return MICA_ID(SpotLazy);
    }
}

enum { COMPONENTS = 8, ENTITIES_MAX = 6000, SNAPSHOTS = 4, NUMBERS = 60, INDEXES = 8 };

/* The bounds are not those of the positions: some lie outside. */
static const mica_index_def defs[INDEXES] = {
    {.name = "number", .fields = "number"},
    {.name = "hashed number", .fields = "number", .hashed = true},
    {.name = "friend", .fields = "friend", .hashed = true},
    {.name = "x", .fields = "x"},
    {.name = "plane", .fields = "x, y", .cell_size = 7, .minimum = {5, -10}, .maximum = {80, 70}},
    {.name = "space", .fields = "x, y, z", .cell_size = 20, .minimum = {0, 0, 0}, .maximum = {100, 100, 90}},
    {.name = "torus", .fields = "x,y", .cell_size = 9, .minimum = {0, 0}, .maximum = {90, 100}, .torus = true},
    {.name = "torus of three", .fields = " z , y, x", .cell_size = 30, .maximum = {100, 100, 70}, .torus = true},
};

typedef struct known {
    mica_entity entity;
    Spot spot;
} known;

typedef struct model {
    reports heard;
    mica_world *world;
    random_source random;
    mica_component component;
    bool can_toggle;
    mica_query *query;
    mica_query *half; /* of the entities with the tag */
    mica_index *indexes[INDEXES];
    mica_entity living[ENTITIES_MAX];
    uint32_t living_count;
    known shown[ENTITIES_MAX]; /* by handle */
    uint32_t shown_count;
    struct {
        mica_snapshot snapshot;
        mica_entity living[ENTITIES_MAX];
        uint32_t living_count;
    } kept[SNAPSHOTS];
} model;

static int compare_known(const void *a, const void *b)
{
    const known *left = a, *right = b;
    return left->entity.index < right->entity.index ? -1 : left->entity.index > right->entity.index;
}

/* What the indexes must have, found by looking at every entity. */
static void look(model *model)
{
    model->shown_count = 0;
    for (mica_view view = mica_query_begin(model->query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            known *one = &model->shown[model->shown_count++];
            one->entity = view.entities[i];
            REQUIRE(model->shown_count < ENTITIES_MAX);
        }
    const size_t offsets[] = {offsetof(Spot, x), offsetof(Spot, y), offsetof(Spot, z), offsetof(Spot, number),
                              offsetof(Spot, friend)};
    bool is_split = mica_component_type(model->component)->split;
    for (uint32_t i = 0; i < model->shown_count; ++i) {
        known *one = &model->shown[i];
        for (uint32_t k = 0; k < 5 && is_split; ++k)
            memcpy((char *)&one->spot + offsets[k],
                   mica_get_field_id(model->world, one->entity, model->component, offsets[k]),
                   k < 4 ? sizeof(float) : sizeof(mica_entity));
        if (!is_split)
            one->spot = *(const Spot *)mica_get_id(model->world, one->entity, model->component);
    }
    qsort(model->shown, model->shown_count, sizeof *model->shown, compare_known);
}

/* Fields. */

static bool is_in(const known *one, int index, double low, double high)
{
    double value = index == 3 ? one->spot.x : one->spot.number;
    return value >= low && value <= high;
}

static void check_range(model *model, int index, double low, double high)
{
    static known expected[ENTITIES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->shown_count; ++i)
        if (is_in(&model->shown[i], index, low, high))
            expected[count++] = model->shown[i];
    for (uint32_t i = 1; i < count; ++i) /* stable: equal values stay in the order of handles */
        for (uint32_t k = i; k && (index == 3 ? expected[k].spot.x < expected[k - 1].spot.x
                                              : expected[k].spot.number < expected[k - 1].spot.number);
             --k) {
            known moved = expected[k];
            expected[k] = expected[k - 1];
            expected[k - 1] = moved;
        }
    uint32_t found = 0;
    const mica_index *read = model->indexes[index];
    for (mica_match match = mica_index_range(read, mica_key_real(low), mica_key_real(high)); mica_match_next(&match);
         ++found)
        REQUIRE_SAYING(found < count && mica_same(match.entity, expected[found].entity), "%s", defs[index].name);
    REQUIRE(found == count && mica_index_count(read, mica_key_real(low), mica_key_real(high)) == count);
    mica_entity first = mica_nil();
    for (uint32_t i = 0; i < count && mica_is_nil(first); ++i)
        if (is_in(&expected[i], index, low, low))
            first = expected[i].entity;
    REQUIRE(mica_same(mica_find_by(read, mica_key_real(low)), first));
}

static void check_friend(model *model, mica_entity friend)
{
    mica_entity first = mica_nil();
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->shown_count; ++i)
        if (mica_same(model->shown[i].spot.friend, friend)) {
            first = count++ ? first : model->shown[i].entity;
        }
    REQUIRE(mica_same(mica_find_by(model->indexes[2], mica_key_entity(friend)), first));
    REQUIRE(mica_index_count(model->indexes[2], mica_key_entity(friend), mica_key_entity(friend)) == count);
}

/* Grids. */

typedef struct place {
    double at[3];
    uint32_t axes;
    uint32_t cell;
    bool exists;
} place;

static double wrap(double value, double low, double high)
{
    double extent = high - low;
    while (value < low)
        value += extent;
    while (value >= high)
        value -= extent;
    return value;
}

static place place_at(int index, const double *at)
{
    const mica_index_def *def = &defs[index];
    place place = {.axes = index == 4 || index == 6 ? 2 : 3, .exists = true};
    uint32_t step = 1;
    for (uint32_t i = 0; i < place.axes; ++i) {
        double extent = def->maximum[i] - def->minimum[i], count = floor(extent / def->cell_size);
        place.exists &= isfinite(at[i]) != 0;
        place.at[i] = def->torus && place.exists ? wrap(at[i], def->minimum[i], def->maximum[i]) : at[i];
        if (!place.exists)
            return place;
        double cell = floor((place.at[i] - def->minimum[i]) * (count / extent));
        cell = cell < 0 ? 0 : cell >= count ? count - 1 : cell;
        place.cell += (uint32_t)cell * step;
        step *= (uint32_t)count;
    }
    return place;
}

static place place_of(int index, const Spot *spot)
{
    if (index == 7)
        return place_at(index, (double[]){spot->z, spot->y, spot->x});
    return place_at(index, (double[]){spot->x, spot->y, spot->z});
}

static double distance_squared(int index, const place *a, const place *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < a->axes; ++i) {
        double offset = b->at[i] - a->at[i], extent = defs[index].maximum[i] - defs[index].minimum[i];
        if (defs[index].torus && offset > extent / 2)
            offset -= extent;
        else if (defs[index].torus && offset < -extent / 2)
            offset += extent;
        sum += offset * offset;
    }
    return sum;
}

typedef struct near {
    mica_entity entity;
    uint32_t cell;
    double distance_squared;
} near;

static int compare_by_cell(const void *a, const void *b)
{
    const near *left = a, *right = b;
    if (left->cell != right->cell)
        return left->cell < right->cell ? -1 : 1;
    return left->entity.index < right->entity.index ? -1 : 1;
}

static int compare_by_distance(const void *a, const void *b)
{
    const near *left = a, *right = b;
    if (left->distance_squared != right->distance_squared)
        return left->distance_squared < right->distance_squared ? -1 : 1;
    return left->entity.index < right->entity.index ? -1 : 1;
}

/* All within a radius but one entity. */
static uint32_t search(const model *model, int index, const place *from, double radius, mica_entity but, near *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->shown_count; ++i) {
        place to = place_of(index, &model->shown[i].spot);
        double distance = to.exists ? distance_squared(index, from, &to) : 0;
        if (to.exists && distance <= radius * radius && !mica_same(model->shown[i].entity, but))
            out[count++] = (near){model->shown[i].entity, to.cell, distance};
    }
    qsort(out, count, sizeof *out, compare_by_cell);
    return count;
}

static void expect_same(int index, const near *expected, uint32_t expected_count, const mica_neighbour *found,
                        uint32_t count)
{
    REQUIRE_SAYING(count == expected_count, "%s: %u instead of %u", defs[index].name, count, expected_count);
    for (uint32_t i = 0; i < count; ++i)
        REQUIRE_SAYING(mica_same(found[i].entity, expected[i].entity) &&
                           found[i].distance_squared == expected[i].distance_squared,
                       "%s", defs[index].name);
}

static near expected[ENTITIES_MAX];
static mica_neighbour found[ENTITIES_MAX];

static void check_grid(model *model, int index)
{
    random_source *random = &model->random;
    double at[3];
    for (int i = 0; i < 3; ++i)
        at[i] = (double)random_below(random, 1300) / 10 - 15;
    place from = place_at(index, at);
    mica_point centre = {at[0], at[1], at[2]};
    double radius = random_one_in(random, 8) ? 200 : (double)random_below(random, 150) / 10;
    const mica_index *grid = model->indexes[index];
    uint32_t count = search(model, index, &from, radius, mica_nil(), expected);
    expect_same(index, expected, count, found, mica_grid_within(grid, centre, radius, found, ENTITIES_MAX));

    uint32_t all = search(model, index, &from, 1e9, mica_nil(), expected), wanted = random_below(random, 20);
    qsort(expected, all, sizeof *expected, compare_by_distance);
    expect_same(index, expected, all < wanted ? all : wanted, found, mica_grid_nearest(grid, centre, found, wanted));

    mica_entity cell[ENTITIES_MAX];
    uint32_t in_cell = mica_grid_cell(grid, centre, cell, ENTITIES_MAX), met = 0;
    qsort(expected, all, sizeof *expected, compare_by_cell);
    for (uint32_t i = 0; i < all; ++i)
        if (expected[i].cell == from.cell)
            REQUIRE(met < in_cell && mica_same(cell[met++], expected[i].entity));
    REQUIRE(met == in_cell && mica_index_entity_count(grid) == all);

    if (!model->shown_count)
        return;
    const known *one = &model->shown[random_below(random, model->shown_count)];
    from = place_of(index, &one->spot);
    count = from.exists ? search(model, index, &from, radius, one->entity, expected) : 0;
    expect_same(index, expected, count, found, mica_grid_around(grid, one->entity, radius, found, ENTITIES_MAX));
}

/* What every entity sees, in any order: sums do not depend on it. */
typedef struct tally {
    const model *model;
    int index;
    bool pairs;
    _Atomic uint64_t visit_sum;
    _Atomic uint64_t neighbour_sum;
    mica_entity last;
} tally;

static uint64_t pair_hash(mica_entity a, mica_entity b, bool pairs)
{
    uint64_t low = a.index, high = b.index;
    if (pairs && low > high) {
        low = b.index;
        high = a.index;
    }
    return (low * 1000003 + high) * 0x9e3779b97f4a7c15u >> 20;
}

static void add_tally(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    tally *tally = context;
    tally->visit_sum += entity.index + 1;
    for (uint32_t i = 0; i < count; ++i)
        tally->neighbour_sum += pair_hash(entity, neighbours[i].entity, tally->pairs);
}

static void check_loop(model *model, int index)
{
    random_source *random = &model->random;
    double radius = (double)random_below(random, 60) / 10;
    tally tally = {.pairs = random_one_in(random, 2)};
    bool halves = !tally.pairs && random_one_in(random, 2);
    mica_grid_loop loop = {.radius = radius,
                           .pairs = tally.pairs,
                           .one_thread = random_one_in(random, 2),
                           .query = halves ? model->half : NULL,
                           .fn = add_tally,
                           .context = &tally};
    REQUIRE(mica_grid_each(model->indexes[index], &loop) == MICA_OK);
    uint64_t visit_sum = 0, neighbour_sum = 0;
    for (uint32_t i = 0; i < model->shown_count; ++i) {
        const known *one = &model->shown[i];
        place from = place_of(index, &one->spot);
        if (!from.exists || (halves && !mica_query_matches(model->half, one->entity)))
            continue;
        visit_sum += one->entity.index + 1;
        for (uint32_t k = tally.pairs ? i + 1 : 0; k < model->shown_count; ++k) {
            place to = place_of(index, &model->shown[k].spot);
            if (k != i && to.exists && distance_squared(index, &from, &to) <= radius * radius)
                neighbour_sum += pair_hash(one->entity, model->shown[k].entity, tally.pairs);
        }
    }
    REQUIRE(tally.visit_sum == visit_sum && tally.neighbour_sum == neighbour_sum);
}

static void check(model *model)
{
    random_source *random = &model->random;
    look(model);
    for (int i = 0; i < INDEXES; ++i) {
        if (random_one_in(random, 3))
            continue; /* it has more to catch up with next time */
        REQUIRE(mica_index_update(model->indexes[i]) == MICA_OK);
        if (i >= 4) {
            check_grid(model, i);
            if (model->shown_count < 500)
                check_loop(model, i);
            continue;
        }
        REQUIRE(mica_index_entity_count(model->indexes[i]) == model->shown_count);
        double low = random_below(random, NUMBERS) - NUMBERS / 2, high = low + random_below(random, 10);
        if (i == 2)
            check_friend(model,
                         model->living_count ? model->living[random_below(random, model->living_count)] : mica_nil());
        else
            check_range(model, i, low, random_one_in(random, 3) ? low : high);
    }
}

/* Changes. */

static float coordinate(random_source *random)
{
    if (random_one_in(random, 100))
        return random_one_in(random, 2) ? NAN : INFINITY;
    return (float)random_below(random, 1200) / 10 - 10;
}

static Spot spot_of(model *model)
{
    random_source *random = &model->random;
    mica_entity friend = model->living_count ? model->living[random_below(random, model->living_count)] : mica_nil();
    return (Spot){coordinate(random), coordinate(random), coordinate(random),
                  (int32_t)random_below(random, NUMBERS) - NUMBERS / 2, friend};
}

static mica_entity some(model *model)
{
    return model->living_count ? model->living[random_below(&model->random, model->living_count)] : mica_nil();
}

static void create(model *model)
{
    uint32_t count = random_one_in(&model->random, 30) ? 900 : 1 + random_below(&model->random, 8);
    for (uint32_t i = 0; i < count && model->living_count < ENTITIES_MAX / 2; ++i) {
        Spot spot = spot_of(model);
        mica_value value = {model->component, sizeof spot, &spot};
        mica_entity entity = mica_create_id(model->world, &value, random_one_in(&model->random, 10) ? 0 : 1);
        if (random_one_in(&model->random, 3))
            mica_add(model->world, entity, Other);
        model->living[model->living_count++] = entity;
    }
}

static void destroy(model *model)
{
    uint32_t count = random_one_in(&model->random, 30) ? 500 : 1 + random_below(&model->random, 6);
    for (uint32_t i = 0; i < count && model->living_count; ++i) {
        uint32_t at = random_below(&model->random, model->living_count);
        REQUIRE(mica_destroy(model->world, model->living[at]));
        model->living[at] = model->living[--model->living_count];
    }
}

static void write(model *model)
{
    for (uint32_t i = random_below(&model->random, 10); i; --i) {
        mica_entity entity = some(model);
        Spot spot = spot_of(model);
        if (!mica_is_nil(entity) && mica_has_id(model->world, entity, model->component))
            mica_set_id(model->world, entity, (mica_value){model->component, sizeof spot, &spot});
    }
}

static void add_or_remove(model *model)
{
    mica_entity entity = some(model);
    if (mica_is_nil(entity))
        return;
    Spot spot = spot_of(model);
    if (!mica_remove_id(model->world, entity, model->component))
        mica_set_id(model->world, entity, (mica_value){model->component, sizeof spot, &spot});
    if (random_one_in(&model->random, 2) && !mica_remove(model->world, entity, Other))
        mica_add(model->world, entity, Other);
}

static void toggle(model *model)
{
    mica_entity entity = some(model);
    if (mica_is_nil(entity))
        return;
    if (!model->can_toggle || random_one_in(&model->random, 2)) {
        if (mica_entity_is_disabled(model->world, entity))
            mica_entity_enable(model->world, entity);
        else
            mica_entity_disable(model->world, entity);
    } else if (mica_has_id(model->world, entity, model->component)) {
        if (mica_is_enabled_id(model->world, entity, model->component))
            mica_enable_id(model->world, entity, model->component, false);
        else
            mica_enable_id(model->world, entity, model->component, true);
    }
}

static void take_or_restore(model *model)
{
    uint32_t at = random_below(&model->random, SNAPSHOTS);
    if (model->kept[at].snapshot.id && !random_one_in(&model->random, 3)) {
        REQUIRE(mica_snapshot_restore(model->world, model->kept[at].snapshot) == MICA_OK);
        model->living_count = model->kept[at].living_count;
        memcpy(model->living, model->kept[at].living, sizeof model->living);
        return;
    }
    if (model->kept[at].snapshot.id)
        mica_snapshot_drop(model->world, model->kept[at].snapshot);
    model->kept[at].snapshot = mica_snapshot_take(model->world);
    model->kept[at].living_count = model->living_count;
    memcpy(model->kept[at].living, model->living, sizeof model->living);
}

static void clone(model *model)
{
    mica_entity entity = some(model);
    if (!mica_is_nil(entity) && model->living_count < ENTITIES_MAX / 2)
        model->living[model->living_count++] = mica_clone(model->world, entity);
}

/* One change, followed by a refresh of the entity alone: the indexes are current then. */
static void change_and_refresh(model *model)
{
    for (int i = 0; i < INDEXES; ++i)
        REQUIRE(mica_index_update(model->indexes[i]) == MICA_OK);
    for (uint32_t k = 0; k < 5; ++k) {
        mica_entity entity = some(model);
        if (mica_is_nil(entity))
            return;
        Spot spot = spot_of(model);
        switch (random_below(&model->random, 4)) {
        case 0: mica_remove_id(model->world, entity, model->component); break;
        case 1:
            for (uint32_t i = 0; i < model->living_count; ++i)
                if (mica_same(model->living[i], entity))
                    model->living[i] = model->living[--model->living_count];
            mica_destroy(model->world, entity);
            break;
        default: mica_set_id(model->world, entity, (mica_value){model->component, sizeof spot, &spot});
        }
        for (int i = 0; i < INDEXES; ++i)
            REQUIRE(mica_index_refresh(model->indexes[i], entity) == MICA_OK);
    }
    look(model);
    for (int i = 4; i < INDEXES; ++i)
        check_grid(model, i);
    check_range(model, 1, 0, 3);
}

/* Systems: one writes, the next reads what the first wrote, in parallel. */
static model *running;

static void move(mica_view *view)
{
    mica_random random = mica_random_of(view);
    Spot *spots = mica_view_write(view, Spot);
    for (uint32_t i = 0; i < view->count; ++i)
        if (mica_random_below(&random, 4) == 0) {
            spots[i].x += mica_random_range(&random, -3, 3);
            spots[i].number = (int32_t)mica_random_below(&random, NUMBERS);
        }
}

static void read(mica_view *view)
{
    const Spot *spots = mica_view_read(view, Spot);
    for (uint32_t i = 0; i < view->count; ++i) {
        place from = place_of(4, &spots[i]);
        mica_neighbour near[4];
        uint32_t count = mica_grid_within(running->indexes[4], (mica_point){spots[i].x, spots[i].y, 0}, 0, near, 4);
        REQUIRE(from.exists ? count > 0 : count == 0);
        mica_entity first = mica_find_by(running->indexes[1], mica_key_integer(spots[i].number));
        REQUIRE(!mica_is_nil(first) && first.index <= view->entities[i].index);
    }
}

static void run_systems(model *model)
{
    if (model->component != MICA_ID(Spot))
        return;
    running = model;
    REQUIRE(mica_step(model->world, 0.1f) == MICA_OK);
}

static void change(model *model)
{
    switch (random_below(&model->random, 14)) {
    case 0:
    case 1: create(model); break;
    case 2: destroy(model); break;
    case 3:
    case 4:
    case 5: write(model); break;
    case 6: add_or_remove(model); break;
    case 7: toggle(model); break;
    case 8:
    case 9: take_or_restore(model); break;
    case 10: clone(model); break;
    case 11: change_and_refresh(model); break;
    case 12: run_systems(model); break;
    default:
        if (random_one_in(&model->random, 20)) {
            REQUIRE(mica_world_clear(model->world) == MICA_OK);
            model->living_count = 0;
        } else if (random_one_in(&model->random, 4)) {
            mica_world_trim(model->world);
        }
    }
}

static void open_model(model *model, int component, uint64_t seed, uint32_t workers)
{
    model->random = (random_source){seed};
    model->world = open_world_of_small_chunks(&model->heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    REQUIRE(mica_flow_configure(model->world, &flow) == MICA_OK);
    model->component = component_of(component);
    model->can_toggle = mica_component_type(model->component)->toggle;
    mica_term terms[] = {{.component = model->component, .access = MICA_ACCESS_READ}, MICA_HAS(Other)};
    model->query = mica_query_create(model->world, &(mica_query_def){.terms = terms, .term_count = 1});
    model->half = mica_query_create(model->world, &(mica_query_def){.terms = terms, .term_count = 2});
    for (int i = 0; i < INDEXES; ++i) {
        mica_index_def def = defs[i];
        def.component = model->component;
        REQUIRE((model->indexes[i] = mica_index_create(model->world, &def)));
    }
    if (model->component != MICA_ID(Spot))
        return;
    mica_system_add(model->world, MICA_SYSTEM_WITH(move, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Spot)));
    mica_system_add(model->world,
                    MICA_SYSTEM_WITH(read,
                                     (.parallel = MICA_PARALLEL_EVEN,
                                      MICA_USES({.index = model->indexes[4]}, {.index = model->indexes[1]})),
                                     MICA_READ(Spot)));
}

START_TEST(indexes_answer_as_a_search_through_all_entities_does)
{
    static model model;
    memset(&model, 0, sizeof model);
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 0) * 1000 + (uint64_t)_i;
    open_model(&model, _i % COMPONENTS, seed, _i / COMPONENTS % 2 ? 3 : 1);
    test_length length = test_length_begin("index model", seed, UNDER_SANITIZER ? 60 : 250, 6);
    for (uint64_t round = 0; test_length_continues(&length, round); ++round) {
        for (uint32_t i = random_below(&model.random, 6); i; --i)
            change(&model);
        check(&model);
        if (round % 16 == 0)
            expect_valid(model.world);
    }
    for (int i = 0; i < INDEXES && model.component != MICA_ID(Spot); ++i)
        mica_index_destroy(model.indexes[i]);
    close_world(model.world, &model.heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("index_model");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, indexes_answer_as_a_search_through_all_entities_does, 0, 2 * COMPONENTS);
    return test_run("index_model", cases);
}
