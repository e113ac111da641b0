/* Deltas from one world of the program to another that follows it. */
#include "program.h"

#include "mica/hash.h"

static void sender_create(program *program, scene *scene)
{
    (void)program;
    if (!scene->sender) {
        mica_sender_def def = {.skip_without_rule = true};
        def.rules = scene_rules(&def.rule_count);
        scene->sender = mica_sender_create(scene->world, &def);
        ++scene->sender_serial;
    }
}

static void sender_destroy(program *program, scene *scene)
{
    (void)program;
    mica_sender_destroy(scene->sender);
    scene->sender = NULL;
}

/* This world begins anew, as the follower of another one. */
static void replica_create(program *program, scene *scene)
{
    struct scene *other = take_other_scene(program, scene);
    if (!other)
        return;
    bool mapped = take_one_in(program, 3);
    uint8_t config = (uint8_t)((scene->config & ~CONFIG_KINDS) | (other->config & CONFIG_KINDS) | CONFIG_EMPTY);
    scene_close(program, scene);
    scene_open(program, scene, config);
    scene_define(scene);
    mica_replica_def def = {.mapped = mapped};
    def.rules = scene_rules(&def.rule_count);
    scene->replica = mica_replica_create(scene->world, &def);
    scene->followed = other;
    scene->is_mapped = mapped;
    scene->only_follows = true;
    sender_create(program, other);
    scene->followed_serial = other->sender_serial;
}

/* Names in the scope of an entity whose creation is recorded are carried after the flush. */
static bool has_waiting_names(mica_world *world)
{
    bool has = false;
    mica_query *all = mica_query_create(world, &(mica_query_def){.with_hidden = true});
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            mica_entity scope = mica_name_get_scope(world, view.entities[i]);
            has = has || (mica_is_alive(world, scope) && !mica_query_matches(all, scope));
        }
    mica_query_destroy(all);
    return has;
}

static bool is_carried_whole(struct scene *scene)
{
    return (scene->config & 1) == 0 && !scene->has_uncarried && !scene->streams[0] && !scene->streams[1] &&
           !scene->requests && !has_waiting_names(scene->world);
}

static void expect_same(program *program, scene *scene, struct scene *from)
{
    if (scene->is_mapped || !is_carried_whole(from) ||
        mica_world_hash_content(scene->world) == mica_world_hash_content(from->world))
        return;
    mica_difference difference = {0};
    mica_hash_diff(from->world, scene->world, &difference);
    fprintf(stderr, "%s\n", difference.text);
    EXPECT(program, false, "a replica differs from the world it follows");
}

/* This world, a replica, catches up with the world it follows. */
static void replicate(program *program, scene *scene)
{
    if (scene->database)
        return; /* a transaction may be open, which restores a snapshot when it is rolled back */
    if (!scene->replica)
        replica_create(program, scene);
    struct scene *from = scene->followed;
    if (!scene->replica || !from || !from->sender)
        return;
    bool begins = from->sender_serial != scene->followed_serial;
    mica_delta delta;
    mica_version base = begins ? 0 : mica_replica_version(scene->replica);
    if (mica_delta_encode(from->sender, base, &delta) != MICA_OK || take_one_in(program, 8)) /* or it is lost */
        return;
    ++scene->delta_count;
    mica_result result = mica_delta_apply(scene->replica, delta.bytes, delta.byte_count);
    if (result == MICA_OK)
        scene->followed_serial = from->sender_serial;
    if (!scene->only_follows || program->used_faults)
        return;
    EXPECT(program, result == MICA_OK, "a replica that only follows refuses a delta");
    expect_same(program, scene, from);
}

const operation replication_operations[] = {
    {"sender_create", sender_create, READS},
    {"sender_destroy", sender_destroy, READS},
    {"replica_create", replica_create, KEEPS_FOLLOWING | SLOW},
    {"replicate", replicate, KEEPS_FOLLOWING},
};
OPERATIONS(replication)
