#include "damage.h"

#include <check.h>
#include <string.h>

static void overwrite(const damage *damage)
{
    const uint8_t byte = (uint8_t)damage->wrong;
    const uint16_t half = (uint16_t)damage->wrong;
    const uint32_t word = (uint32_t)damage->wrong;
    switch (damage->bytes) {
    case sizeof byte: memcpy(damage->at, &byte, sizeof byte); break;
    case sizeof half: memcpy(damage->at, &half, sizeof half); break;
    case sizeof word: memcpy(damage->at, &word, sizeof word); break;
    default: memcpy(damage->at, &damage->wrong, sizeof damage->wrong); break;
    }
}

void expect_damage_named_at(mica_world *world, reports *heard, const damage *list, uint32_t count, mica_location caller)
{
    expect_valid_at(world, caller);
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t healthy = 0;
        ck_assert_msg(list[i].bytes <= sizeof healthy, "%s:%d: damage %u is more than a word", caller.file, caller.line,
                      i);
        memcpy(&healthy, list[i].at, list[i].bytes);
        overwrite(&list[i]);
        mica_result result = mica_world_validate(world);
        ck_assert_msg(result == MICA_ERROR_INVALID, "%s:%d: damage %u (%s) is not seen", caller.file, caller.line, i,
                      list[i].named);
        expect_report_at(heard, MICA_ERROR_INVALID, list[i].named, caller);
        expect_no_report_at(heard, caller);
        forget_reports(heard);
        memcpy(list[i].at, &healthy, list[i].bytes);
        expect_valid_at(world, caller);
    }
}
