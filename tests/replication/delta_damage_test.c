/* Deltas with one field that is wrong: each is refused in words of its own, and changes nothing. */
#include "../support/components.h"
#include "../support/parcel.h"
#include "../support/party.h"
#include "../support/require.h"
#include "../support/test.h"
#include "replication/delta_format.h"

#include <string.h>

typedef enum change {
    UNCHANGED,
    SET,    /* the word in it is another */
    BYTE,   /* the byte at an offset in it is 2: no bool has that */
    CUT,    /* the group ends before it */
    DROP,   /* it is not there */
    LONGER, /* its group has more bytes at the end */
    TWICE,  /* its group comes twice */
    LIKE,   /* name and layout of another component */
} change;

typedef enum other { OTHER_LETTER, OTHER_KNOT, OTHER_LOAN, OTHER_GUEST, OTHER_LAMP, OTHER_ADDED, OTHER_TOGGLE, OTHER_TEXT, OTHER_BAG } other;

static const micap_type *type_of_other(other other)
{
    switch (other) {
    case OTHER_LETTER: return micap_type_of(MICA_ID(Letter));
    case OTHER_KNOT: return micap_type_of(MICA_ID(Knot));
    case OTHER_LOAN: return micap_type_of(MICA_ID(Loan));
    case OTHER_GUEST: return micap_type_of(MICA_ID(Guest));
    case OTHER_LAMP: return micap_type_of(MICA_ID(Lamp));
    case OTHER_ADDED: return micap_type_of(micap_type_of(MICA_ID(Age))->added);
    case OTHER_TOGGLE: return micap_type_of(micap_type_of(MICA_ID(Health))->enabled);
    case OTHER_TEXT: return micap_type_of(MICA_ID(Text));
    case OTHER_BAG: return micap_type_of(MICA_ID(Bag));
    }
    return NULL;
}

typedef struct edit {
    const char *field;
    change change;
    uint64_t value; /* BYTE: the offset; LONGER: how many; LIKE: which one */
} edit;

typedef struct damage {
    const char *words; /* of the report */
    mica_result result;
    edit edits[2]; /* what moves bytes comes last */
} damage;

/* In the delta from nothing. */
static const damage damages[] = {
    {"this is not a delta", MICA_ERROR_DATA, {{"header: magic", SET, 1}}},
    {"its byte order is none", MICA_ERROR_DATA, {{"header: mark", SET, 5}}},
    {"another format", MICA_ERROR_DATA, {{"header: format", SET, 1}}},
    {"cut off, or too long", MICA_ERROR_DATA, {{"header: bytes", SET, 48}}},
    {"its checksum is another", MICA_ERROR_DATA, {{"header: checksum", SET, 1}}},
    {"version is not later than its base", MICA_ERROR_DATA, {{"header: version", SET, 0}}},
    {"version is not later than its base", MICA_ERROR_DATA, {{"header: base", SET, 1u << 30}}},
    {"it begins at version 1 ", MICA_ERROR_REFUSED, {{"header: base", SET, 1}}},

    {"a group of an unknown kind", MICA_ERROR_DATA, {{"Letter: kind", SET, 8}}},
    {"a group of an unknown kind", MICA_ERROR_DATA, {{"links: kind", SET, 0}}},
    {"a group is cut off", MICA_ERROR_DATA, {{"links: bytes", SET, 1u << 20}}},
    {"a group is longer than", MICA_ERROR_DATA, {{"Letter: kind", LONGER, 1}}},
    {"a group is longer than", MICA_ERROR_DATA, {{"Lamp: kind", LONGER, 9}}},

    {"a table is cut off", MICA_ERROR_DATA, {{"Letter: slices", CUT, 0}}},
    {"a table is cut off", MICA_ERROR_DATA, {{"Wind: columns", SET, 100}}},
    {"a table comes twice", MICA_ERROR_DATA, {{"Letter: kind", TWICE, 0}}},
    {"there is no component here", MICA_ERROR_UNKNOWN, {{"Letter: column 0: name", SET, 5}}},
    {"component Letter has other fields", MICA_ERROR_LAYOUT, {{"Letter: column 0: layout", SET, 5}}},
    {"component Text has functions here", MICA_ERROR_LAYOUT, {{"Letter: column 0: name", LIKE, OTHER_TEXT}}},
    {"kept elsewhere", MICA_ERROR_DATA, {{"Letter: column 0: name", LIKE, OTHER_LOAN}}},
    {"kept elsewhere", MICA_ERROR_DATA, {{"Letter: column 0: name", LIKE, OTHER_LAMP}}},
    {"kept elsewhere", MICA_ERROR_DATA, {{"Letter: column 0: name", LIKE, OTHER_ADDED}}},
    {"a component comes twice", MICA_ERROR_DATA,
     {{"Number: column 0: name", LIKE, OTHER_KNOT}, {"Number: column 3: name", LIKE, OTHER_KNOT}}},
    {"without its toggle or its fields", MICA_ERROR_DATA, {{"Number: column 2: name", LIKE, OTHER_KNOT}}},
    {"without its toggle or its fields", MICA_ERROR_DATA, {{"Wind: column 2: name", LIKE, OTHER_KNOT}}},
    {"without its toggle or its fields", MICA_ERROR_DATA, {{"Letter: column 0: name", LIKE, OTHER_TOGGLE}}},

    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slices", SET, 3}}},
    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slice 1: row", SET, 92}}},
    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slice 1: row", SET, 150}}},
    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slice 0: rows", SET, 0}}},
    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slice 1: rows", SET, 58}}},
    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slice 0: with entities", SET, 2}}},
    {"a slice lies where it can't", MICA_ERROR_DATA, {{"Letter: slice 0: columns", SET, 1u << 30}}},
    {"has not all columns", MICA_ERROR_DATA, {{"Letter: slice 0: columns", SET, 0}}},
    {"has not all columns", MICA_ERROR_DATA, {{"Letter: slice 1: entity 1: index", CUT, 0}}},
    {"numbered wrong", MICA_ERROR_DATA, {{"Letter: slice 0: number 0", SET, 1}}},
    {"numbered wrong", MICA_ERROR_DATA, {{"Number: slice 0: number 1", SET, 0}}},
    {"values that can't be", MICA_ERROR_DATA, {{"Letter: slice 1: values 0", CUT, 0}}},
    {"values that can't be", MICA_ERROR_DATA, {{"Number: slice 0: number 2", SET, 3}}}, /* a tag */
    {"values that can't be", MICA_ERROR_DATA, {{"Wind: slice 0: number 0", SET, 0}}},   /* the whole, which lies nowhere */
    {"values that can't be", MICA_ERROR_DATA, {{"Number: slice 0: values 2", BYTE, 0}}},
    {"values that can't be", MICA_ERROR_DATA, {{"Knot: slice 0: values 0", BYTE, sizeof(Knot) + sizeof(Tie) + 8}}},

    {"rows are missing", MICA_ERROR_DATA, {{"Letter: rows", SET, 151}}},
    {"there is no such handle", MICA_ERROR_DATA, {{"Letter: slice 0: entity 1: index", SET, 0}}},
    {"there is no such handle", MICA_ERROR_DATA, {{"Letter: slice 0: entity 1: index", SET, UINT32_MAX}}},
    {"there is no such handle", MICA_ERROR_DATA, {{"Letter: slice 0: entity 1: generation", SET, 0}}},
    {"there is no such handle", MICA_ERROR_DATA, {{"Letter: slice 0: entity 1: generation", SET, 1u << 24}}},
    {"two entities have the same index", MICA_ERROR_DATA, {{"Letter: slice 0: entity 1: index", SET, 1}}},

    {"a pool is cut off", MICA_ERROR_DATA, {{"Loan: is direct", CUT, 0}}},
    {"a pool is cut off", MICA_ERROR_DATA, {{"Loan: is direct", SET, 2}}},
    {"there is no component here", MICA_ERROR_UNKNOWN, {{"Loan: name", SET, 5}}},
    {"component Loan has other fields", MICA_ERROR_LAYOUT, {{"Loan: layout", SET, 5}}},
    {"with owners has not all columns", MICA_ERROR_DATA, {{"Loan: name", LIKE, OTHER_BAG}}},
    {"a pool is of a component", MICA_ERROR_DATA, {{"Bag: is direct", SET, 1}}},
    {"with owners has not all columns", MICA_ERROR_DATA, {{"Bag: slice 0: parts", SET, 7}}},
    {"a slice of a pool is cut off", MICA_ERROR_DATA, {{"Bag: slice 0: next 1", CUT, 0}}},
    {"or has values that can't be", MICA_ERROR_DATA, /* instances of what has one */
     {{"Loan: slice 0: parts", SET, 15}, {"Loan: slice 0: parts", LONGER, 12}}},
    {"are linked wrong", MICA_ERROR_DATA, {{"Bag: slice 0: next 0", SET, 6}}},
    {"are linked wrong", MICA_ERROR_DATA, {{"Bag: slice 0: next 0", SET, 4}}}, /* another's */
    {"are linked wrong", MICA_ERROR_DATA, {{"Bag: slice 0: next 3", SET, 3}}}, /* so is that of 0 */
    {"are not all linked", MICA_ERROR_DATA, {{"Bag: slice 0: next 0", SET, UINT32_MAX}}},
    {"in a circle", MICA_ERROR_DATA, {{"Bag: slice 0: next 3", SET, 0}}},
    {"a pool is of a component", MICA_ERROR_DATA, {{"Loan: name", LIKE, OTHER_LETTER}}},
    {"a pool is of a component", MICA_ERROR_DATA, {{"Loan: name", LIKE, OTHER_GUEST}}},
    {"a pool comes twice", MICA_ERROR_DATA, {{"Loan: kind", TWICE, 0}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slices", SET, 2}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slice 0: row", SET, 3}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slice 0: rows", SET, 0}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slice 0: rows", SET, 4}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slice 0: parts", SET, 0}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slice 0: parts", SET, 16}}},
    {"a slice of a pool lies where", MICA_ERROR_DATA, {{"Loan: slices", SET, 2}, {"Loan: kind", LONGER, 12}}},
    {"with owners has not all columns", MICA_ERROR_DATA, {{"Loan: slice 0: parts", SET, MICAP_DELTA_OWNERS}}},
    {"with owners has not all columns", MICA_ERROR_DATA, {{"Loan: slice 0: parts", SET, 3}}},
    {"a slice of a pool is cut off", MICA_ERROR_DATA, {{"Loan: slice 0: entities", CUT, 0}}},
    {"a slice of a pool is cut off", MICA_ERROR_DATA, {{"Loan: slice 0: values", CUT, 0}}},
    {"a slice of a pool is cut off", MICA_ERROR_DATA, {{"Loan: slice 0: toggles", CUT, 0}}},
    {"or has values that can't be", MICA_ERROR_DATA, {{"Loan: slice 0: values", BYTE, sizeof(Loan) + 8}}},
    {"or has values that can't be", MICA_ERROR_DATA, /* toggles of what has none */
     {{"Coat: slice 0: parts", SET, 7}, {"Coat: slice 0: parts", LONGER, 3}}},
    {"a toggle is 0 or 1", MICA_ERROR_DATA, {{"Loan: slice 0: toggles", BYTE, 1}}},
    {"an entity is twice in a pool", MICA_ERROR_DATA, {{"Loan: slice 0: entity 1: index", SET, 151}}},
    {"there is no such handle", MICA_ERROR_DATA, {{"Loan: slice 0: entity 1: generation", SET, 1u << 24}}},
    {"rows are missing", MICA_ERROR_DATA, {{"Loan: rows", SET, 4}}},
    {"the wrong row of a pool", MICA_ERROR_DATA, {{"Loan: is direct", SET, 1}}},
    {"the wrong row of a pool", MICA_ERROR_DATA, {{"Seat: slice 0: entity 152: index", SET, 151}}},
    {"the wrong row of a pool", MICA_ERROR_DATA, {{"Seat: slice 0: entity 152: generation", SET, 1u << 24}}},

    {"tags are cut off", MICA_ERROR_DATA, {{"Guest: words", CUT, 0}}},
    {"tags are cut off", MICA_ERROR_DATA, {{"Guest: words", SET, 4}}},
    {"there is no component here", MICA_ERROR_UNKNOWN, {{"Guest: name", SET, 5}}},
    {"a pool tag is of a component that is none", MICA_ERROR_DATA, {{"Guest: name", LIKE, OTHER_LETTER}}},
    {"a pool tag is of a component that is none", MICA_ERROR_DATA, {{"Guest: name", LIKE, OTHER_LOAN}}},

    {"a singleton is cut off", MICA_ERROR_DATA, {{"Lamp: layout", CUT, 0}}},
    {"there is no component here", MICA_ERROR_UNKNOWN, {{"Lamp: name", SET, 5}}},
    {"component Lamp has other fields", MICA_ERROR_LAYOUT, {{"Lamp: layout", SET, 5}}},
    {"a singleton is cut off", MICA_ERROR_DATA, {{"Lamp: value", CUT, 0}}},
    {"or has values that can't be", MICA_ERROR_DATA, {{"Lamp: name", LIKE, OTHER_LETTER}}},
    {"or has values that can't be", MICA_ERROR_DATA, {{"Lamp: value", BYTE, 0}}},

    {"names come twice", MICA_ERROR_DATA, {{"names: kind", TWICE, 0}}},
    {"a name is cut off, or is none", MICA_ERROR_DATA, {{"names: count", SET, 3}}},
    {"a name is cut off, or is none", MICA_ERROR_DATA, {{"names: 1: text", CUT, 0}}},
    {"a name is cut off, or is none", MICA_ERROR_DATA, {{"names: 1: length", SET, 0}}},
    {"a name is cut off, or is none", MICA_ERROR_DATA, {{"names: 1: length", SET, UINT32_MAX}}},
    {"a name is cut off, or is none", MICA_ERROR_DATA, {{"names: 1: text", SET, '/'}}},
    {"a name is cut off, or is none", MICA_ERROR_DATA, {{"names: 1: text", SET, 'a'}}}, /* ends early */

    {"states come twice", MICA_ERROR_DATA, {{"state: kind", TWICE, 0}}},
    {"has no records", MICA_ERROR_DATA, {{"state: records", SET, 0}}},
    {"a record of the state is cut off", MICA_ERROR_DATA, {{"state: records", SET, 100}}},
    {"a record of the state is cut off", MICA_ERROR_DATA, {{"state: 1: content", CUT, 0}}},
    {"or is none", MICA_ERROR_DATA, {{"state: 1: kind", SET, 1}}},
    {"or is none", MICA_ERROR_DATA, {{"state: 7: kind", SET, 1000}}},
    {"or is none", MICA_ERROR_DATA, {{"state: 0: is sent", SET, 2}}},
    {"record 1 of the state is missing", MICA_ERROR_DATA, {{"state: 0: is sent", SET, 0}, {"state: 0: content", DROP, 0}}},

    {"links are cut off", MICA_ERROR_DATA, {{"links: parents", CUT, 0}}},
    {"links are cut off", MICA_ERROR_DATA, {{"links: parents", SET, 2}}},
    {"links are cut off", MICA_ERROR_DATA, {{"links: 0: count", SET, UINT32_MAX}}},
    {"or in the wrong page", MICA_ERROR_DATA, {{"links: page", SET, 1}}},
};

/* In the delta from the first state to the second. */
static const damage later_damages[] = {
    {"the pool of Seat has another index", MICA_ERROR_DATA, {{"Seat: is direct", SET, 0}}},
    {"rows are missing", MICA_ERROR_DATA, {{"Letter: rows", SET, 250}}},
    {"rows are missing", MICA_ERROR_DATA, {{"Letter: rows", SET, 250}, {"Letter: slice 2: row", SET, 187}}},
    {"rows are missing", MICA_ERROR_DATA,
     {{"Letter: slice 2: with entities", SET, 0}, {"Letter: slice 2: entities", DROP, 0}}},
    {"an entity is in two places", MICA_ERROR_DATA, {{"Letter: slice 0: entity 0: index", SET, 2}}},
    {"an entity is in two places", MICA_ERROR_DATA, {{"Letter: slice 2: entity 1: index", SET, 150}}},
    {"an entity is in two places", MICA_ERROR_DATA, {{"Letter: slice 2: entity 1: index", SET, 151}}}, /* a Knot */
    {"an entity is in two places", MICA_ERROR_DATA, {{"Letter: slice 2: entity 1: index", SET, 157}}}, /* unmentioned */
    {"two entities have the same index", MICA_ERROR_DATA, {{"Letter: slice 2: entity 1: generation", SET, 9}, {"Letter: slice 2: entity 1: index", SET, 2}}},
    {"two entities have the same index", MICA_ERROR_DATA, {{"Letter: slice 2: entity 1: generation", SET, 9}, {"Letter: slice 2: entity 1: index", SET, 150}}},
    {"two entities have the same index", MICA_ERROR_DATA, {{"Letter: slice 2: entity 1: index", SET, 193}}},
};

/* What is invalid, at least here, and does no harm. */
static const struct {
    const char *name;
    edit edits[2];
    bool is_later; /* in the second delta */
} oddities[] = {
    {"a row of nil", {{"Loan: slice 0: entity 1: generation", SET, 0}}, false},
    {"a row of an unknown entity", {{"Loan: slice 0: entity 1: generation", SET, 7}}, false},
    {"another kind of pool than here", {{"Seat: is direct", SET, 0}}, false},
    {"tags of nil", {{"Guest: bits", SET, UINT64_MAX}}, false},
    {"tags twice", {{"Guest: kind", TWICE, 0}}, false},
    {"a singleton twice", {{"Lamp: kind", TWICE, 0}}, false},
    {"a name of nil", {{"names: 0: entity", SET, 0}}, false},
    {"a name in an unknown scope", {{"names: 1: scope", SET, 77ull << 32 | 151}}, false},
    {"a name in its own scope", {{"names: 0: scope", SET, 1ull << 32 | 151}}, false},
    {"a name that is taken",
     {{"names: 1: scope", SET, 0}, {"names: 1: text", SET, 'h' | 'o' << 8 | 's' << 16 | 't' << 24}},
     false},
    {"links of an unknown parent", {{"links: 0: parent", SET, 77ull << 32 | 151}}, false},
    {"a link to a dead child", {{"links: 0: children", SET, 77ull << 32 | 152}}, false},
    {"a link to itself", {{"links: 0: children", SET, 1ull << 32 | 151}}, false},
    {"links twice", {{"links: kind", TWICE, 0}}, false},
    {"links in a circle", {{"links: 0: children", SET, 1ull << 32 | 152}}, true},
    {"a link to an unknown child", {{"links: 0: children", SET, 77ull << 32 | 152}}, true},
};

static void make_edit(parcel *parcel, const edit *edit)
{
    if (edit->change == UNCHANGED)
        return;
    const field *field = parcel_field(parcel, edit->field);
    uint32_t end = field->group + 8 + (uint32_t)parcel_word(parcel, field->group + 4, 4);
    const micap_type *type = type_of_other((other)edit->value);
    switch (edit->change) {
    case UNCHANGED: break;
    case SET: parcel_set_word(parcel, field->at, field->bytes, edit->value); break;
    case BYTE: parcel->bytes[field->at + edit->value] = 2; break;
    case CUT: parcel_replace(parcel, field->group, field->at, end - field->at, 0); break;
    case DROP: parcel_replace(parcel, field->group, field->at, field->bytes, 0); break;
    case LONGER: parcel_replace(parcel, field->group, end, 0, (uint32_t)edit->value); break;
    case TWICE: parcel_repeat(parcel, field->group); break;
    case LIKE:
        parcel_set_word(parcel, field->at, 8, type->name_hash);
        if (strstr(field[1].name, "layout")) /* tags have none */
            parcel_set_word(parcel, field[1].at, 8, type->layout_hash);
        break;
    }
}

/* Applies the delta with what is wrong with it; all the rest is right. */
static mica_result apply_damaged(mica_replica *replica, const party *from, uint32_t which, const damage *damage)
{
    static parcel parcel;
    parcel_open(&parcel, from->deltas[which], from->delta_bytes[which]);
    for (uint32_t i = 0; i < COUNT_OF(damage->edits); ++i)
        make_edit(&parcel, &damage->edits[i]);
    parcel_seal(&parcel, strcmp(damage->edits[0].field, "header: bytes") != 0,
                strcmp(damage->edits[0].field, "header: checksum") != 0);
    mica_result result = mica_delta_apply(replica, parcel.bytes, parcel.count);
    parcel_close(&parcel);
    return result;
}

static void expect_refusal(mica_replica *replica, reports *heard, const party *from, uint32_t which,
                           const damage *damage)
{
    mica_result result = apply_damaged(replica, from, which, damage);
    const char *text = heard->count ? heard->list[0].text : "nothing was said";
    const edit *edit = &damage->edits[0];
    REQUIRE_SAYING(result == damage->result, "%s, change %d to %llu: %d, %s", edit->field, (int)edit->change,
                   (unsigned long long)edit->value, (int)result, text);
    REQUIRE_SAYING(strstr(text, damage->words), "%s, change %d to %llu: %s", edit->field, (int)edit->change,
                   (unsigned long long)edit->value, text);
    forget_reports(heard);
}

START_TEST(each_field_that_is_wrong_is_refused_in_words_of_its_own)
{
    static party from;
    party_open(&from, (mica_allocator){0});
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        reports heard;
        mica_world *world = open_world(&heard);
        party_define(world);
        mica_define(world, Text);
        mica_replica *replica = mica_replica_create(world, &(mica_replica_def){.mapped = mapped});
        for (uint32_t which = 0; which < 2; ++which) {
            const damage *list = which ? later_damages : damages;
            uint32_t count = which ? COUNT_OF(later_damages) : COUNT_OF(damages);
            uint64_t hash = mica_world_hash(world);
            for (uint32_t i = 0; i < count; ++i) {
                expect_refusal(replica, &heard, &from, which, &list[i]);
                REQUIRE_SAYING(mica_world_hash(world) == hash, "%s", list[i].edits[0].field);
            }
            expect_valid(world);
            ck_assert_int_eq(mica_delta_apply(replica, from.deltas[which], from.delta_bytes[which]), MICA_OK);
            ck_assert(mapped || mica_world_hash(world) == from.hashes[which]);
        }
        mica_replica_destroy(replica);
        close_world(world, &heard);
    }
    party_close(&from);
}
END_TEST

START_TEST(invalid_but_harmless_data_is_ignored)
{
    static party from;
    party_open(&from, (mica_allocator){0});
    for (uint32_t i = 0; i < 2 * COUNT_OF(oddities); ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        party_define(world);
        mica_replica *replica = mica_replica_create(world, &(mica_replica_def){.mapped = i % 2});
        damage damage = {.edits = {oddities[i / 2].edits[0], oddities[i / 2].edits[1]}};
        if (oddities[i / 2].is_later)
            ck_assert_int_eq(mica_delta_apply(replica, from.deltas[0], from.delta_bytes[0]), MICA_OK);
        mica_result result = apply_damaged(replica, &from, oddities[i / 2].is_later, &damage);
        REQUIRE_SAYING(result == MICA_OK, "%s: %s", oddities[i / 2].name, heard.count ? heard.list[0].text : "");
        expect_valid(world);
        ck_assert_int_eq(mica_delta_apply(replica, from.deltas[2], from.delta_bytes[2]), MICA_OK);
        REQUIRE_SAYING(i % 2 || mica_world_hash(world) == from.hashes[1], "%s", oddities[i / 2].name);
        mica_replica_destroy(replica);
        close_world(world, &heard);
    }
    party_close(&from);
}
END_TEST

TEST_SUITE(delta_damage, invalid_but_harmless_data_is_ignored, each_field_that_is_wrong_is_refused_in_words_of_its_own)
