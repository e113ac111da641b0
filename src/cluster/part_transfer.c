#include "cluster/part_transfer.h"

#include "mica/component.h"
#include "mica/query.h"
#include "mica/view.h"

#include <stdio.h>

static void hear_report(const mica_report *report, void *context)
{
    snprintf(context, MICAP_TRANSFER_TEXT_BYTES, "%.250s", report->text);
}

/* The part as a world of its own, with the components of another one. */
static mica_world *spawn_part(const micap_codec *codec, const mica_resource *resource, char *out_text)
{
    const mica_world *other = codec->world;
    mica_world_def def = mica_world_def_default();
    def.allocator = codec->memory->allocator;
    def.report = hear_report;
    def.report_context = out_text;
    mica_world *world = mica_world_create(&def);
    bool done = world != NULL;
    for (mica_component at = 0; done && (at = mica_component_next(other, at));)
        done = mica_component_define(world, mica_component_type(at)) != 0;
    mica_spawn_def how = {
        .rules = codec->rules, .rule_count = codec->rule_count, .skip_state = true, .skip_singletons = true};
    if (done && mica_spawn(world, resource, &how) == MICA_OK)
        return world;
    mica_world_destroy(world);
    return NULL;
}

static bool transfer_entity(micap_codec *from, micap_codec *to, micap_bytes *bytes, mica_entity entity,
                            uint64_t identity)
{
    bytes->count = 0;
    micap_codec_put_entity(from, bytes, entity);
    if (bytes->failed) /* there may be no bytes at all */
        return false;
    micap_reader reader = {.begin = bytes->data, .at = bytes->data, .end = bytes->data + bytes->count};
    return !mica_is_nil(micap_codec_create_entity(to, &reader, identity));
}

bool micap_part_transfer(micap_codec *codec, const mica_resource *resource, char out_text[MICAP_TRANSFER_TEXT_BYTES])
{
    snprintf(out_text, MICAP_TRANSFER_TEXT_BYTES, "memory is short");
    mica_world *world = spawn_part(codec, resource, out_text);
    if (!world)
        return false;
    micap_codec from = {.memory = codec->memory,
                        .world = world,
                        .rules = codec->rules,
                        .rule_count = codec->rule_count,
                        .scratch = {.memory = codec->memory}};
    micap_bytes bytes = {.memory = codec->memory};
    mica_term terms[] = {{.component = MICA_ID(mica_identity), .access = MICA_ACCESS_READ},
                         {.component = MICA_ID(mica_remote), .access = MICA_ACCESS_WITHOUT}};
    mica_query *query =
        mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2, .with_hidden = true});
    bool done = query != NULL;
    if (query)
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
            const mica_identity *identities = mica_view_read_at(&view, 0);
            for (uint32_t i = 0; i < view.count && done; ++i)
                done = transfer_entity(&from, codec, &bytes, view.entities[i], identities[i].value);
        }
    micap_bytes_free(&bytes);
    micap_codec_free(&from);
    mica_world_destroy(world);
    return done;
}
