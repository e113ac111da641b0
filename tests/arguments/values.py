"""What the arguments of a call look like: by type, by the name of the parameter, and by function where that is not enough.

An expectation says what a call with an invalid argument must do, besides not crashing, not hanging and leaving the
world valid:

    REPORT   return a harmless result, change nothing and report
    QUIET    return a harmless result and change nothing; no report is asked for, and the reason is in the header
    LOOK     QUIET for a function that only reads (its first parameter is const), else REPORT
    LOUD     if the result is the harmless one, there must be a report; the call may also accept the value
    ANY      nothing more: the value is valid, or the function returns nothing that tells
"""
import collections

REPORT, QUIET, LOOK, LOUD, ANY = "REPORT", "QUIET", "LOOK", "LOUD", "ANY"
Bad = collections.namedtuple("Bad", "label expression expectation")
Values = collections.namedtuple("Values", "valid bad")

NULL_POINTER = Bad("NULL", "NULL", REPORT)


def handle(valid):
    """Something the caller holds a pointer to: never NULL."""
    return Values(valid, [NULL_POINTER])


def optional(valid):
    """A pointer for which NULL is a documented value."""
    return Values(valid, [Bad("NULL", "NULL", ANY)])


# By type, without `const` and `struct`. A type that is missing here fails the generator.
TYPES = {
    "mica_world *": handle("valid_world()"),
    "mica_query *": handle("valid_query()"),
    "mica_view *": Values("valid_view()", [NULL_POINTER, Bad("zero", "&(mica_view){0}", LOUD)]),
    "mica_edges *": Values("valid_edges()", [NULL_POINTER, Bad("zero", "&(mica_edges){.entity = {0, 0}}", QUIET)]),
    "mica_frame *": Values("valid_frame()", [NULL_POINTER, Bad("zero", "&(mica_frame){0}", LOUD)]),
    "mica_event *": Values("valid_event()", [NULL_POINTER, Bad("zero", "&(mica_event){0}", LOUD)]),
    "mica_commands *": handle("valid_commands()"),
    "mica_pool *": handle("valid_pool()"),
    "mica_batch *": handle("valid_batch()"),
    "mica_removals *": handle("valid_removals()"),
    "mica_stream *": handle("valid_stream()"),
    "mica_index *": handle("valid_index()"),
    "mica_match *": Values("valid_match()", [NULL_POINTER, Bad("zero", "&(mica_match){.entity = {0}}", QUIET)]),
    "mica_neighbour *": handle("(mica_neighbour[4]){{.distance_squared = 0}}"),
    "mica_requests *": handle("valid_requests()"),
    "mica_hash_tree *": handle("valid_hash_tree()"),
    "mica_history *": handle("valid_history()"),
    "mica_sender *": handle("valid_sender()"),
    "mica_replica *": handle("valid_replica()"),
    "mica_recording *": handle("valid_recording()"),
    "mica_resource *": handle("valid_resource()"),
    "mica_spawned *": handle("valid_spawned()"),
    "mica_watch *": handle("valid_watch()"),
    "mica_library *": handle("valid_library()"),
    "mica_draft *": handle("valid_draft()"),
    "mica_saver *": handle("valid_saver()"),
    "mica_schema *": handle("valid_schema()"),
    "mica_compiler *": handle("valid_compiler()"),
    "sqlite3 *": handle("valid_database()"),
    "FILE *": handle("valid_stdio()"),
    "mica_random *": handle("&(mica_random){1, 1}"),
    "mica_ref *": Values("valid_ref()", [NULL_POINTER, Bad("zero", "&(mica_ref){0}", QUIET),
                                         Bad("stale", "stale_ref()", QUIET), Bad("forged", "forged_ref()", QUIET)]),
    "mica_type *": handle("valid_type()"),
    "mica_text *": handle("valid_dynamic_text()"),
    "mica_list *": handle("valid_list()"),
    "mica_wanted *": optional("&(mica_wanted){&mica_type_of_Position, &(const Position *){NULL}}"),
    "mica_local *": handle("&(mica_local){0}"),
    "mica_global_matrix *": handle("&(mica_global_matrix){0}"),
    "float *": handle("(float[3]){0}"),

    # Where results go.
    "mica_state *": handle("valid_state()"),
    "mica_state **": handle("&(mica_state *){NULL}"),
    "mica_resume *": handle("valid_resume()"),
    "mica_batch **": handle("&(mica_batch *){NULL}"),
    "mica_resume **": handle("&(mica_resume *){NULL}"),
    "mica_batch_run *": Values("&(mica_batch_run){.component = MICA_ID(Position)}",
                               [NULL_POINTER, Bad("a huge group", "&(mica_batch_run){.component = MICA_ID(Position), "
                                                  ".group = UINT32_MAX}", QUIET)]),
    "mica_blob *": handle("&(mica_blob){0}"),
    "mica_compiled *": handle("&(mica_compiled){0}"),
    "mica_delta *": handle("&(mica_delta){0}"),
    "mica_difference *": optional("&(mica_difference){0}"),
    "mica_frame_stats *": handle("&(mica_frame_stats){0}"),
    "mica_system_stats *": handle("&(mica_system_stats){0}"),
    "mica_phase_info *": handle("&(mica_phase_info){0}"),
    "mica_system_info *": handle("&(mica_system_info){0}"),
    "mica_system_access *": handle("(mica_system_access[4]){{0}}"),
    "mica_term *": handle("(mica_term[4]){{0}}"),
    "mica_system_dependency *": handle("(mica_system_dependency[4]){{.component = 0}}"),
    "mica_reload_stats *": optional("&(mica_reload_stats){0}"),
    "mica_recording_error *": optional("error_of_recording()"),
    "mica_resource_error *": optional("error_of_resource()"),
    "mica_value_error *": optional("error_of_value()"),
    "uint32_t *": handle("&(uint32_t){0}"),
    "size_t *": optional("&(size_t){0}"),
    "void **": handle("(const void *[8]){0}"),

    # Defs. Their fields are spoiled one by one: see FIELDS.
    "mica_allocator *": optional("&(mica_allocator){0}"),
    "mica_batch_group *": handle("valid_batch_group()"),
    "mica_compile_def *": handle("valid_compile_def()"),
    "mica_draft_component_def *": handle("&(mica_draft_component_def){.type = &mica_type_of_Velocity}"),
    "mica_draft_finish_def *": optional("&(mica_draft_finish_def){0}"),
    "mica_flow_def *": optional("valid_flow_def()"),
    "mica_handler *": handle("MICA_HANDLER(Position, Damage, on_message)"),
    "mica_hash_leaf *": handle("&(mica_hash_leaf){.row_count = 1}"),
    "mica_grid_loop *": handle("&(mica_grid_loop){.radius = 1, .fn = on_neighbours}"),
    "mica_index_def *": handle("valid_index_def()"),
    "mica_library_def *": optional("valid_library_def()"),
    "mica_observer_def *": handle("MICA_OBSERVER(MICA_EVENT_ADD, Position, on_event, MICA_HAS(Velocity))"),
    "mica_phase_def *": handle('MICA_PHASE_AFTER("late", MICA_PHASE_UPDATE)'),
    "mica_query_def *": handle("MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity))"),
    "mica_recording_def *": optional("&(mica_recording_def){0}"),
    "mica_reduction *": handle("valid_reduction()"),
    "mica_replica_def *": optional("&(mica_replica_def){0}"),
    "mica_requests_def *": handle("MICA_REQUESTS(Question, Answer, on_request, NULL)"),
    "mica_resource_def *": optional("&(mica_resource_def){0}"),
    "mica_run_def *": handle("valid_run_def()"),
    "mica_save_def *": optional("valid_save_def()"),
    "mica_sender_def *": optional("valid_sender_def()"),
    "mica_spawn_def *": optional("valid_spawn_def()"),
    "mica_sql_def *": optional("&(mica_sql_def){.prefix = \"left_\"}"),
    "mica_stream_def *": handle("MICA_STREAM(Damage)"),
    "mica_system_def *": handle("MICA_SYSTEM(on_view, MICA_WRITE(Position), MICA_READ(Velocity))"),
    "mica_world_def *": optional("valid_world_def()"),

    # Functions of the program.
    "mica_compare_fn": handle("compare_floats"),
    "mica_compile_error_fn": optional("on_compile_error"),
    "mica_each_fn": handle("on_each"),
    "mica_event_fn": optional("on_event"),
    "mica_input_fn": optional("on_input"),
    "mica_message_fn": handle("on_message"),
    "mica_neighbours_fn": handle("on_neighbours"),
    "mica_range_fn": handle("on_range"),

    # Ids by value.
    "mica_entity": Values("valid_entity()", [
        Bad("nil", "mica_nil()", LOOK), Bad("stale", "stale_entity()", LOOK),
        Bad("of another world", "foreign_entity()", LOOK), Bad("huge", "(mica_entity){UINT32_MAX, 1}", LOOK),
        Bad("of a huge generation", "(mica_entity){valid_entity().index, UINT32_MAX}", LOOK)]),
    "mica_component": Values("MICA_ID(Position)", [
        Bad("none", "0", LOOK), Bad("unknown", "UNKNOWN_COMPONENT", LOOK),
        Bad("unknown in pools", "UNKNOWN_POOL_COMPONENT", LOOK), Bad("huge", "UINT32_MAX", LOOK),
        Bad("a singleton", "MICA_ID(Clock)", LOUD), Bad("a tag", "MICA_ID(Frozen)", ANY),
        Bad("a pool", "MICA_ID(Burning)", ANY), Bad("split", "MICA_ID(Body)", ANY)]),
    "mica_value": Values("VALUE(Position)", [
        Bad("nothing", "(mica_value){0}", LOUD), Bad("unknown", "((mica_value){UNKNOWN_COMPONENT, 0, NULL})", REPORT),
        Bad("too small", "((mica_value){MICA_ID(Position), 1, &(Position){0}})", REPORT),
        Bad("too large", "((mica_value){MICA_ID(Position), UINT32_MAX, &(Position){0}})", REPORT),
        Bad("a singleton", "VALUE(Clock)", LOUD)]),
    "mica_instance": Values("valid_instance()", [
        Bad("nil", "(mica_instance){0}", LOOK), Bad("huge", "(mica_instance){UINT32_MAX, 0}", LOOK),
        Bad("stale", "stale_instance()", LOUD)]),
    "mica_snapshot": Values("valid_snapshot()", [
        Bad("none", "(mica_snapshot){0}", LOOK), Bad("huge", "(mica_snapshot){UINT64_MAX}", LOOK),
        Bad("dropped", "dropped_snapshot()", LOOK), Bad("of another world", "foreign_snapshot()", LOOK)]),
    "mica_system": Values("valid_system()", [
        Bad("none", "(mica_system){0}", LOOK), Bad("huge", "(mica_system){UINT32_MAX}", LOOK),
        Bad("removed", "removed_system()", LOOK), Bad("of another world", "foreign_system()", LOOK)]),
    "mica_observer": Values("valid_observer()", [
        Bad("none", "(mica_observer){0}", LOOK), Bad("huge", "(mica_observer){UINT32_MAX}", LOOK)]),
    "mica_phase": Values("valid_phase()", [
        Bad("none", "MICA_PHASE_NONE", LOOK), Bad("huge", "UINT32_MAX", LOOK), Bad("unknown", "1000", LOOK)]),
    "mica_asset": Values("valid_asset()", [
        Bad("none", "(mica_asset){0}", LOOK), Bad("unknown", "(mica_asset){12345}", LOOK)]),
    "mica_member": Values("valid_member()", [Bad("none", "(mica_member){0}", QUIET)]),
    "mica_scalar": Values("((mica_scalar){.kind = MICA_KIND_I64, .integer = 1})", [
        Bad("a string without text", "((mica_scalar){.kind = MICA_KIND_TEXT})", REPORT),
        Bad("no kind", "((mica_scalar){.kind = (mica_kind)99})", QUIET)]),
    "mica_event_kind": Values("MICA_EVENT_USER", [Bad("too small", "7", REPORT), Bad("huge", "UINT32_MAX", ANY)]),
    "mica_key": Values("mica_key_integer(1)", [
        Bad("an entity", "mica_key_entity(valid_entity())", REPORT),
        Bad("of an unknown kind", "((mica_key){.kind = (mica_kind)99})", REPORT)]),
    "mica_point": Values("((mica_point){1, 2, 3})", [Bad("not a number", "((mica_point){NAN, NAN, NAN})", QUIET)]),
    "mica_version": Values("0", [Bad("huge", "UINT64_MAX", LOUD)]),
    "mica_location": Values("MICA_HERE", [Bad("no file", "(mica_location){0}", ANY)]),

    # Arrays come with a count: see ARRAYS.
    "mica_entity *": Values("valid_entities()", [NULL_POINTER, Bad("stale", "stale_entities()", LOUD)]),
    "mica_component *": Values("valid_components()", [NULL_POINTER, Bad("unknown", "unknown_components()", LOUD)]),
    "mica_value *": handle("valid_values()"),
    "char *const *": handle("valid_files()"),
    "char *": Values('"name"', [NULL_POINTER, Bad("empty", '""', LOUD), Bad("long", "long_text()", LOUD),
                                Bad("not UTF-8", r'"\xff\xfe"', LOUD)]),
    "void *": handle("(Position[8]){0}"),

    # Numbers.
    "bool": Values("true", []),
    "int": Values("1", [Bad("negative", "-1", ANY), Bad("huge", "INT_MAX", ANY)]),
    "int32_t": Values("1", [Bad("negative", "INT32_MIN", ANY), Bad("huge", "INT32_MAX", ANY)]),
    "int64_t": Values("1", [Bad("negative", "INT64_MIN", ANY), Bad("huge", "INT64_MAX", ANY)]),
    "uint32_t": Values("1", [Bad("0", "0", LOUD), Bad("huge", "UINT32_MAX", LOUD)]),
    "uint64_t": Values("1", [Bad("0", "0", LOUD), Bad("huge", "UINT64_MAX", LOUD)]),
    "size_t": Values("1", [Bad("0", "0", LOUD), Bad("huge", "SIZE_MAX", LOUD)]),
    "float": Values("0.25f", [Bad("not a number", "NAN", ANY), Bad("negative", "-1e30f", ANY),
                              Bad("infinite", "INFINITY", ANY)]),
    "double": Values("0.5", [Bad("not a number", "NAN", ANY), Bad("negative", "-1e300", ANY),
                             Bad("infinite", "INFINITY", ANY)]),
}

# What functions look at or change: pointers that are no defs.
HANDLES = [kind for kind, entry in TYPES.items() if entry.valid.startswith("valid_") and not entry.valid.endswith("_def()")]

# By type and name of the parameter, whatever the function.
NAMED = {
    ("mica_entity", "source"): Values("valid_child()", TYPES["mica_entity"].bad),
    ("mica_entity", "target"): TYPES["mica_entity"],
    ("mica_entity *", "targets"): Values("valid_children()", TYPES["mica_entity *"].bad),
    ("mica_component", "relation"): Values("MICA_ID(Near)", [
        Bad("none", "0", REPORT), Bad("unknown", "UNKNOWN_COMPONENT", REPORT),
        Bad("unknown in pools", "UNKNOWN_POOL_COMPONENT", REPORT), Bad("huge", "UINT32_MAX", REPORT),
        Bad("a component", "MICA_ID(Position)", REPORT), Bad("a pool", "MICA_ID(Buff)", REPORT)]),
    ("mica_value", "fields"): Values("VALUE(Near)", [
        Bad("nothing", "(mica_value){0}", REPORT), Bad("not of a relation", "VALUE(Position)", REPORT),
        Bad("too small", "((mica_value){MICA_ID(Near), 1, &(Near){0}})", REPORT),
        Bad("too large", "((mica_value){MICA_ID(Near), 64, &(Near){0}})", REPORT)]),
    ("mica_entity", "child"): Values("valid_child()", TYPES["mica_entity"].bad),
    ("mica_entity", "sibling"): Values("valid_sibling()", TYPES["mica_entity"].bad),
    ("mica_index *", "grid"): Values("valid_grid()", [NULL_POINTER, Bad("an index of one field", "valid_index()", REPORT)]),
    ("char *", "name"): TYPES["char *"],
    ("char *", "path"): Values('scratch("path")', [NULL_POINTER, Bad("empty", '""', REPORT),
                                                   Bad("long", "long_text()", REPORT)]),
    ("char *", "out"): handle("(char[256]){0}"),
    ("size_t", "offset"): Values("offsetof(Body, mass)", [Bad("between fields", "1", REPORT),
                                                          Bad("huge", "SIZE_MAX", REPORT)]),
    ("void *", "context"): Values("NULL", []),
    ("void *", "error_context"): Values("NULL", []),
    ("uint32_t", "index"): Values("0", [Bad("huge", "UINT32_MAX", QUIET)]),
}

# Pointers to as many elements as the parameter after them says.
ARRAYS = ("mica_entity *", "mica_component *", "mica_value *", "char *const *", "void *", "char *", "mica_hash_leaf *",
          "mica_batch_group *", "mica_system_access *", "mica_system_dependency *", "mica_neighbour *")

# Structs that are given as a whole: their fields are the program's, or private.
WHOLE = ("mica_entity", "mica_view", "mica_frame", "mica_local", "mica_global_matrix", "mica_text", "mica_list", "mica_key", "mica_match")
# Structs inside of defs that are spoiled field by field too.
NESTED = ("mica_resource_def",)
PRIVATE_FIELDS = ("id_cache", "context", "error_context", "report_context", "open_context", "link_context",
                  "parent_context", "progress_context", "compare_context")

# Fields of a def, where NULL may be a default.
FIELD_TYPES = {
    "mica_allocator": [Bad("without release", "(mica_allocator){.allocate = allocate_some}", LOUD)],
    "mica_use *": [],        # with its count
    "mica_event_kind *": [], # with its count
    "mica_term *": [],       # with its count
    "mica_constant *": [],   # with its count
    "mica_field *": [],      # with its count
    "mica_type *const *": [], # ends with NULL
    "mica_resource_rule *": [],
    "mica_compile_rule *": [],
    "mica_clock *": [Bad("without functions", "&(mica_clock){0}", LOUD)],
    "mica_scheduler *": [Bad("without functions", "&(mica_scheduler){0}", LOUD)],
    "mica_kind": [Bad("unknown", "(mica_kind)0x7FFF", LOUD)],
}
FIELDS = {}

# Valid arguments that depend on the function.
VALID = {
    ("mica_hash_diff", "b"): "other_world()",
    ("mica_load_edges_id", "values"): "&(struct mica_edge_of_Near){.target = valid_sibling()}",
    ("mica_place_source_id", "before"): "mica_nil()",
    ("mica_state_check", "bytes"): "valid_state_bytes()",
    ("mica_state_check", "byte_count"): "valid_state_byte_count()",
    ("mica_state_has_time", "bytes"): "valid_state_bytes()",
    ("mica_state_has_time", "byte_count"): "valid_state_byte_count()",
    ("mica_world_is_unused", "world"): "unused_world()",
    ("mica_resume_begin", "world"): "unused_world()",
    ("mica_resume_begin", "bytes"): "valid_state_bytes()",
    ("mica_resume_begin", "byte_count"): "valid_state_byte_count()",
    ("mica_resume_begin", "entity_count"): "0",
    ("mica_hash_tree_diff", "b"): "other_hash_tree()",
    ("mica_recording_diff", "b"): "valid_recording()",
    ("mica_singleton_get_id", "component"): "MICA_ID(Clock)",
    ("mica_singleton_write_id", "component"): "MICA_ID(Clock)",
    ("mica_singleton_is_used", "component"): "MICA_ID(Clock)",
    ("mica_pool_of_id", "component"): "MICA_ID(Burning)",
    ("mica_enable_id", "component"): "MICA_ID(Health)",
    ("mica_command_enable_id", "component"): "MICA_ID(Health)",
    ("mica_command_add_instance_id", "component"): "MICA_ID(Buff)",
    ("mica_add_instance_id", "component"): "MICA_ID(Buff)",
    ("mica_view_enabled_id", "component"): "MICA_ID(Health)",
    ("mica_get_field_id", "component"): "MICA_ID(Body)",
    ("mica_write_field_id", "component"): "MICA_ID(Body)",
    ("mica_view_read_field_id", "component"): "MICA_ID(Body)",
    ("mica_view_write_field_id", "component"): "MICA_ID(Body)",
    ("mica_view_write_field_unmarked_id", "component"): "MICA_ID(Body)",
    ("mica_view_mark_id", "component"): "MICA_ID(Body)",
    ("mica_message_every_frame_id", "message"): "MICA_ID(Damage)",
    ("mica_handler_remove", "message"): "MICA_ID(Damage)",
    ("mica_handler_remove", "world"): "world_with_handler()",
    ("mica_group_id", "components"): "valid_pool_components()",
    ("mica_group_id", "count"): "2",
    ("mica_hook_set_id", "kind"): "MICA_EVENT_ADD",
    ("mica_send_id", "message"): "VALUE(Damage)",
    ("mica_broadcast_id", "message"): "VALUE(Damage)",
    ("mica_request_post_id", "question"): "VALUE(Question)",
    ("mica_event_emit", "data"): "VALUE(Damage)",
    ("mica_event_propagate", "data"): "VALUE(Damage)",
    ("mica_command_emit", "data"): "VALUE(Damage)",
    ("mica_command_propagate", "data"): "VALUE(Damage)",
    ("mica_add_all_id", "value"): "VALUE(Mass)",
    ("mica_pool_read_field_id", "pool"): "valid_split_pool()",
    ("mica_pool_write_field_id", "pool"): "valid_split_pool()",
    ("mica_instance_read_field_id", "pool"): "valid_split_pool()",
    ("mica_instance_write_field_id", "pool"): "valid_split_pool()",
    ("mica_instance_read_field_id", "instance"): "valid_split_instance()",
    ("mica_instance_write_field_id", "instance"): "valid_split_instance()",
    ("mica_pool_add", "pool"): "valid_pool_of_many()",
    ("mica_pool_next", "pool"): "valid_pool_of_many()",
    ("mica_pool_next", "instance"): "mica_pool_find(valid_pool_of_many(), valid_entity())",
    ("mica_view_read_id", "component"): "MICA_ID(Velocity)",
    ("mica_set_parents", "children"): "valid_children()",
    ("mica_tree_next", "at"): "valid_child()",
    ("mica_name_set", "scope"): "valid_child()",
    ("mica_find_from", "path"): '"named"',
    ("mica_find", "path"): '"named"',
    ("mica_system_find", "name"): '"on_view"',
    ("mica_system_find", "world"): "world_with_system()",
    ("mica_phase_find", "name"): '"update"',
    ("mica_component_find", "name"): '"Position"',
    ("mica_delta_apply", "bytes"): "delta_bytes()",
    ("mica_delta_apply", "byte_count"): "delta_byte_count()",
    ("mica_input", "world"): "world_with_input()",
    ("mica_recording_end", "world"): "world_that_records()",
    ("mica_recording_load", "path"): "recording_path()",
    ("mica_recording_open", "bytes"): "recording_bytes()",
    ("mica_recording_open", "byte_count"): "recording_byte_count()",
    ("mica_recording_detect", "bytes"): "recording_bytes()",
    ("mica_recording_detect", "byte_count"): "recording_byte_count()",
    ("mica_replay", "world"): "world_to_replay()",
    ("mica_resource_load", "path"): "resource_path()",
    ("mica_resource_open", "bytes"): "resource_bytes()",
    ("mica_resource_open", "byte_count"): "resource_byte_count()",
    ("mica_resource_values_id", "type"): "&mica_type_of_Position",
    ("mica_library_load", "path"): '"level.mica"',
    ("mica_library_release", "resource"): "library_resource()",
    ("mica_library_release_assets", "resource"): "resource_with_assets()",
    ("mica_library_find", "asset"): "library_asset()",
    ("mica_library_path", "asset"): "library_asset()",
    ("mica_library_reload", "asset"): "library_asset()",
    ("mica_library_asset", "path"): '"level.mica"',
    ("mica_draft_asset", "path"): '"level.mica"',
    ("mica_draft_entity", "parent"): "MICA_NO_PARENT",
    ("mica_draft_add", "entity"): "0",
    ("mica_draft_add", "component"): "0",
    ("mica_draft_disable", "component"): "0",
    ("mica_schema_add_file", "path"): "schema_path()",
    ("mica_compile_file", "path"): "json_path()",
    ("mica_compile_text", "text"): "JSON_TEXT",
    ("mica_compile_text", "byte_count"): "sizeof JSON_TEXT - 1",
    ("mica_hash_tree_take", "leaf_rows"): "MICA_HASH_SLICES",
    ("mica_stream_push_id", "message"): "&(Damage){1}",
    ("mica_stream_push_id", "message_bytes"): "sizeof(Damage)",
    ("mica_stream_read_id", "stream"): "stream_with_message()",
    ("mica_requests_answers", "requests"): "requests_with_stream()",
    ("mica_trace_stop", "world"): "world_that_traces()",
    ("mica_stats_get_system", "world"): "world_with_stats()",
    ("mica_stats_get_system_total", "world"): "world_with_stats()",
    ("mica_stats_get_frame", "world"): "world_with_stats()",
    ("mica_stats_print", "world"): "world_with_stats()",
    ("mica_stats_get_system", "frames_ago"): "0",
    ("mica_stats_get_frame", "frames_ago"): "0",
    ("mica_history_take", "tick"): "2",
    ("mica_recording_input", "index"): "0",
    ("mica_get_value_id", "out_value"): "(Position[1]){0}",
    ("mica_blob_free", "blob"): "valid_blob()",
    ("mica_resource_asset_path", "asset"): "resource_asset()",
    ("mica_resource_name", "entity"): "0",
    ("mica_is_ancestor", "entity"): "valid_child()",
    ("mica_view_write_at", "term"): "0",
    ("mica_resource_value", "entity"): "0",
    ("mica_resource_value", "component"): "0",
    ("mica_resource_is_repeated", "component"): "0",
    ("mica_resource_is_disabled", "component"): "0",
    ("mica_write_depfile", "path"): 'scratch("depfile")',
    ("mica_removals_read", "out_entities"): "(mica_entity[4]){{0}}",
    ("mica_query_shuffled", "out"): "(mica_entity[4]){{0}}",
    ("mica_grid_cell", "out"): "(mica_entity[4]){{0}}",
    ("mica_batch_entities", "out_entities"): "(mica_entity[4]){{0}}",
    ("mica_create_many", "out_entities"): "(mica_entity[4]){{0}}",
    ("mica_get_components", "out"): "(mica_component[4]){0}",
    ("mica_world_destroy", "world"): "world_to_destroy()",
    ("mica_matrix_from_local", "out"): "&(mica_global_matrix){0}",
    ("mica_lookup_get", "type"): "&mica_type_of_Position",
    ("mica_lookup_has", "type"): "&mica_type_of_Position",
    ("mica_lookup_write", "type"): "&mica_type_of_Position",
    ("mica_member_find", "path"): '"x"',
    ("mica_member_write", "path"): '"x"',
    ("mica_text_set_bytes", "length"): "4",
    ("mica_text_append_bytes", "length"): "4",
    ("mica_list_items_type", "element"): "&mica_type_of_int",
    ("mica_list_write_type", "element"): "&mica_type_of_int",
    ("mica_list_append_type", "element"): "&mica_type_of_int",
    ("mica_list_insert_type", "element"): "&mica_type_of_int",
    ("mica_list_replace_type", "element"): "&mica_type_of_int",
    ("mica_list_remove_type", "element"): "&mica_type_of_int",
    ("mica_list_resize_type", "element"): "&mica_type_of_int",
    ("mica_list_copy_type", "element"): "&mica_type_of_int",
    ("mica_list_clear_type", "element"): "&mica_type_of_int",
    ("mica_value_parse", "text"): '"{}"',
    ("mica_value_assign", "member"): "mica_member_at(valid_member(), 0)",
    ("mica_value_write", "text"): "(char[64]){0}",
    ("mica_value_write", "capacity"): "64",
    ("mica_entity_write_json", "text"): "(char[64]){0}",
    ("mica_entity_write_json", "capacity"): "64",
    ("mica_query_write_text", "text"): "(char[64]){0}",
    ("mica_query_write_text", "capacity"): "64",
    ("mica_query_explain", "text"): "(char[64]){0}",
    ("mica_query_explain", "capacity"): "64",
    ("mica_query_text", "text"): "\"\"",
    ("mica_query_terms", "capacity"): "4",
    ("mica_entity_parse_json", "text"): r'"{\"components\": {}}"',
    ("mica_member_at", "position"): "0",
}

# Bad values that depend on the function.
BAD = {
    ("mica_parallel_for", "count"): [],  # a huge one is that much work
    ("mica_system_add", "def"): [NULL_POINTER, Bad("zero", "&(mica_system_def){0}", REPORT)],
    ("mica_compile_text", "text"): [NULL_POINTER, Bad("zeros", "(char[sizeof JSON_TEXT]){0}", LOUD),  # as long as byte_count says
                                    Bad("not UTF-8", r'(char[sizeof JSON_TEXT]){"\xff\xfe"}', LOUD)],
    ("mica_draft_entity", "name"): [Bad("not UTF-8", r'"\xff\xfe"', LOUD), Bad("long", "long_text()", LOUD)],
    ("mica_find_from", "path"): [NULL_POINTER, Bad("empty", '""', QUIET), Bad("long", "long_text()", QUIET)],
    ("mica_find", "path"): [NULL_POINTER, Bad("empty", '""', QUIET), Bad("long", "long_text()", QUIET)],
    ("mica_member_find", "path"): [NULL_POINTER, Bad("empty", '""', ANY), Bad("long", "long_text()", QUIET)],
    ("mica_member_write", "path"): [NULL_POINTER, Bad("empty", '""', ANY), Bad("long", "long_text()", QUIET)],
    ("mica_text_set_bytes", "bytes"): [NULL_POINTER],
    ("mica_text_append_bytes", "bytes"): [NULL_POINTER],
    ("mica_text_set_bytes", "length"): [Bad("0", "0", ANY), Bad("huge", "SIZE_MAX", LOUD)],
    ("mica_text_append_bytes", "length"): [Bad("0", "0", ANY), Bad("huge", "SIZE_MAX", LOUD)],
    ("mica_list_replace_type", "removed"): [Bad("0", "0", ANY), Bad("huge", "UINT32_MAX - 1", REPORT)],
    ("mica_list_remove_type", "count"): [Bad("0", "0", ANY), Bad("huge", "UINT32_MAX", REPORT)],
    ("mica_list_insert_type", "position"): [Bad("the end", "UINT32_MAX", ANY), Bad("huge", "1000", REPORT)],
    ("mica_list_replace_type", "position"): [Bad("the end", "UINT32_MAX", ANY), Bad("huge", "1000", REPORT)],
    ("mica_list_resize_type", "count"): [Bad("0", "0", ANY), Bad("huge", "UINT32_MAX", REPORT)],
    ("mica_member_at", "position"): [Bad("huge", "UINT32_MAX", QUIET)],
    ("mica_value_write", "text"): [NULL_POINTER],
    ("mica_value_write", "capacity"): [Bad("0", "0", ANY), Bad("1", "1", ANY)],
    ("mica_entity_write_json", "text"): [NULL_POINTER],
    ("mica_entity_write_json", "capacity"): [Bad("0", "0", ANY), Bad("1", "1", ANY)],
    ("mica_query_write_text", "text"): [NULL_POINTER],
    ("mica_query_write_text", "capacity"): [Bad("0", "0", ANY), Bad("1", "1", ANY)],
    ("mica_query_explain", "text"): [NULL_POINTER],
    ("mica_query_explain", "capacity"): [Bad("0", "0", ANY), Bad("1", "1", ANY)],
    ("mica_entity_parse_json", "text"): [NULL_POINTER, Bad("empty", '""', QUIET), Bad("long", "long_text()", QUIET)],
}

# Functions that never report. Others note the line of the call in checked builds.
SILENT = ("mica_result_text", "mica_note_location", "mica_instance_is_nil", "mica_ref_of_id", "mica_sql_from_entity",
          "mica_sql_to_entity", "mica_random_make", "mica_text_get", "mica_text_length", "mica_text_of", "mica_text_compare",
          "mica_text_is", "mica_list_count", "mica_key_integer", "mica_key_natural", "mica_key_real", "mica_key_entity")


def is_silent(function):
    return function.name in SILENT or function.header in ("math.h", "handle.h")


# Functions of values alone, for which every value is valid.
TOTAL = ("mica_result_text", "mica_is_nil", "mica_same", "mica_instance_is_nil", "mica_ref_of_id",
         "mica_sql_from_entity", "mica_sql_to_entity", "mica_random_make", "mica_world_report",
         "mica_key_integer", "mica_key_natural", "mica_key_real", "mica_key_entity")

# Functions that answer whether or where there is something, or undo what may be undone already: that there is nothing is
# no mistake, so they need not report it. So do all functions with a const handle as their first argument. NULL is a
# mistake all the same.
ANSWERS = (
    "mica_component_type", "mica_component_name_hash", "mica_component_layout_hash", "mica_type_problem",
    "mica_write_id", "mica_write_field_id", "mica_ref_write_id", "mica_query_matches",
    "mica_remove_id", "mica_command_remove_id", "mica_destroy_many", "mica_snapshot_drop",
    "mica_phase_remove", "mica_phase_enable", "mica_system_remove", "mica_system_enable", "mica_observer_remove",
    "mica_handler_remove", "mica_library_release", "mica_instance_write_id", "mica_instance_write_field_id",
    "mica_pool_remove", "mica_resource_values_id", "mica_lookup_write", "mica_member_of", "mica_member_of_type",
    "mica_phase_next", "mica_phase_get_info", "mica_system_next", "mica_system_get_dependencies",
)

IS_FINE = (ANY, "NULL is a no-op, so that what could not be created can be destroyed")
WAS_REPORTED = (QUIET, "a query that could not be created was reported then; it matches nothing")

# What a bad argument leads to where the general rule does not hold: (function, parameter, label): (expectation, reason).
EXPECTED = {
    ("mica_create_many", "out_entities", "NULL"): (ANY, "the handles may not be wanted"),
    ("mica_note_location", "file", "NULL"): (ANY, "a place need not be known"),
    ("mica_commands_set_label", "label", "NULL"): (ANY, "takes the label away"),
    ("mica_component_next", "component", "*"): (ANY, "ids are only compared; 0 begins with the first"),
    ("mica_phase_next", "phase", "*"): (ANY, "ids are only compared; MICA_PHASE_NONE begins with the first"),
    ("mica_system_next", "system", "*"): (ANY, "ids are only compared; zero begins with the first"),
    ("mica_set_parent", "parent", "nil"): (ANY, "detaches the child"),
    ("mica_command_set_parent_id", "parent", "nil"): (ANY, "detaches the child"),
    ("mica_tree_next", "root", "*"): (ANY, "the root is where the walk ends, and only compared"),
    ("mica_tree_skip", "root", "*"): (ANY, "the root is where the walk ends, and only compared"),
    ("mica_name_child", "name", "NULL"): (ANY, "takes the name away"),
    ("mica_name_set", "name", "NULL"): (ANY, "takes the name away"),
    ("mica_place_source_id", "before", "nil"): (ANY, "moves it to the end"),
    ("mica_load_edges_id", "sources", "stale"): (ANY, "edges of entities that are not alive are left out"),
    ("mica_name_set", "scope", "nil"): (ANY, "the top"),
    ("mica_find_from", "scope", "nil"): (ANY, "the top"),
    ("mica_event_emit", "component", "none"): (ANY, "an event without a component"),
    ("mica_event_emit", "entity", "nil"): (ANY, "an event about no entity"),
    ("mica_event_emit", "data", "nothing"): (ANY, "an event without data"),
    ("mica_event_propagate", "component", "none"): (ANY, "an event without a component"),
    ("mica_event_propagate", "entity", "nil"): (ANY, "an event about no entity"),
    ("mica_event_propagate", "data", "nothing"): (ANY, "an event without data"),
    ("mica_command_emit", "component", "none"): (ANY, "an event without a component"),
    ("mica_command_emit", "entity", "nil"): (ANY, "an event about no entity"),
    ("mica_command_emit", "data", "nothing"): (ANY, "an event without data"),
    ("mica_command_propagate", "component", "none"): (ANY, "an event without a component"),
    ("mica_command_propagate", "entity", "nil"): (ANY, "an event about no entity"),
    ("mica_command_propagate", "data", "nothing"): (ANY, "an event without data"),
    ("mica_stats_get_system", "system", "removed"): (ANY, "what it did in the frames that are kept is known"),
    ("mica_stats_get_system_total", "system", "removed"): (ANY, "what it did in the frames that are kept is known"),
    ("mica_world_report", "world", "NULL"): (ANY, "the report is printed to stderr"),
    ("mica_saver_begin", "path", "empty"): (ANY, "mica_saver_wait tells that the file can't be written"),
    ("mica_saver_begin", "path", "long"): (ANY, "mica_saver_wait tells that the file can't be written"),
    ("mica_trace_stop", "path", "NULL"): (ANY, "drops the trace"),
    ("mica_stream_push_many_id", "count", "0"): (ANY, "no messages need no room"),
    ("mica_matrix_from_local", "parent", "NULL"): (ANY, "no parent"),
    ("mica_compile_fail", "field", "NULL"): (ANY, "all of the value"),
    ("mica_type_problem", "type", "NULL"): (ANY, "the result is the report"),
    ("mica_hook_set_id", "fn", "NULL"): (ANY, "takes the hook away"),
    ("mica_text_get", "text", "NULL"): (ANY, "the empty text"),
    ("mica_text_length", "text", "NULL"): (ANY, "the empty text"),
    ("mica_text_compare", "a", "NULL"): (ANY, "the empty text"),
    ("mica_text_compare", "b", "NULL"): (ANY, "the empty text"),
    ("mica_text_is", "text", "NULL"): (ANY, "the empty text"),
    ("mica_text_is", "characters", "*"): (ANY, "the empty text, or another"),
    ("mica_text_of", "characters", "*"): (ANY, "every text is valid; NULL is the empty one"),
    ("mica_text_set", "characters", "empty"): (ANY, "every text is valid"),
    ("mica_list_count", "list", "NULL"): (ANY, "the empty list"),
    ("mica_list_clear_type", "list", "NULL"): (ANY, "NULL is a no-op, so that what could not be created can be destroyed"),
    ("mica_member_of", "value", "NULL"): (QUIET, "a value that was not found is no member"),
    ("mica_member_of_type", "value", "NULL"): (QUIET, "a value that was not found is no member"),
    ("mica_member_of_type", "type", "NULL"): (QUIET, "a type that was not found has no members"),
    ("mica_member_of", "component", "a singleton"): (ANY, "it has a value too"),
    ("mica_index_refresh", "entity", "*"): (ANY, "an entity that is dead is taken out of the index"),
    ("mica_random_of_entity", "entity", "*"): (ANY, "every handle has its numbers"),
    ("mica_resume_begin", "entities", "NULL"): (ANY, "a state without entities needs none"),
}

# The same for a label of any parameter: (function, label): (expectation, reason).
FUNCTIONS = {
    ("mica_query_begin", "NULL"): WAS_REPORTED,
    ("mica_query_begin_since", "NULL"): WAS_REPORTED,
    ("mica_query_count", "NULL"): WAS_REPORTED,
    ("mica_query_first", "NULL"): WAS_REPORTED,
    ("mica_query_matches", "NULL"): WAS_REPORTED,
    ("mica_view_next", "zero"): WAS_REPORTED,
    ("mica_world_destroy", "NULL"): IS_FINE,
    ("mica_query_destroy", "NULL"): IS_FINE,
    ("mica_commands_destroy", "NULL"): IS_FINE,
    ("mica_removals_destroy", "NULL"): IS_FINE,
    ("mica_stream_destroy", "NULL"): IS_FINE,
    ("mica_index_destroy", "NULL"): IS_FINE,
    ("mica_requests_destroy", "NULL"): IS_FINE,
    ("mica_hash_tree_free", "NULL"): IS_FINE,
    ("mica_history_destroy", "NULL"): IS_FINE,
    ("mica_sender_destroy", "NULL"): IS_FINE,
    ("mica_replica_destroy", "NULL"): IS_FINE,
    ("mica_recording_free", "NULL"): IS_FINE,
    ("mica_resource_free", "NULL"): IS_FINE,
    ("mica_blob_free", "NULL"): IS_FINE,
    ("mica_compiled_free", "NULL"): IS_FINE,
    ("mica_spawned_free", "NULL"): IS_FINE,
    ("mica_watch_destroy", "NULL"): IS_FINE,
    ("mica_library_destroy", "NULL"): IS_FINE,
    ("mica_draft_destroy", "NULL"): IS_FINE,
    ("mica_saver_destroy", "NULL"): IS_FINE,
    ("mica_schema_destroy", "NULL"): IS_FINE,
    ("mica_text_clear", "NULL"): IS_FINE,
    ("mica_state_free", "NULL"): IS_FINE,
    ("mica_resume_cancel", "NULL"): IS_FINE,
}

# The entity that a question is about may die before the answer, which is dropped then.
FUNCTIONS.update({("mica_request_post_id", bad.label): (ANY, "") for bad in TYPES["mica_entity"].bad})

# Results of calls that did nothing, where they are not nil, NULL, 0 or false.
HARMLESS = {
    "mica_result_text": "true",
    "mica_type_problem": "result != NULL",
    "mica_phase_add": "result == MICA_PHASE_NONE",
    "mica_targets_id": "!result.private_.row",
    "mica_sources_id": "!result.private_.row",
    "mica_phase_find": "result == MICA_PHASE_NONE",
    "mica_phase_next": "result == MICA_PHASE_NONE",
    "mica_draft_component": "result == MICA_DRAFT_NONE",
    "mica_draft_entity": "result == MICA_DRAFT_NONE",
    "mica_resource_parent": "result == MICA_NO_PARENT",
    "mica_query_begin": "result.private_.query == NULL",
    "mica_query_begin_since": "result.private_.query == NULL",
}

# Calls with valid arguments that don't succeed, or report: (expectation, or None for no such case; reason).
VALID_CALLS = {
    "mica_result_text": ("NO_REPORT", "returns a text for every result"),
    "mica_compile_fail": (ANY, "reports, which is what it is for"),
    "mica_world_report": (ANY, "reports, which is what it is for"),
    "mica_is_nil": (ANY, "the valid entity is not nil"),
    "mica_instance_is_nil": (ANY, "the valid instance is not nil"),
    "mica_is_observed_id": (ANY, "the valid component has no hook"),
    "mica_recording_diff": (ANY, "the recordings are the same"),
    "mica_entity_is_disabled": (ANY, "the valid entity is not disabled"),
    "mica_watch_changed": (ANY, "no file changed"),
    "mica_saver_is_busy": (ANY, "no save is under way"),
    "mica_resource_is_repeated": (ANY, "no component of the resource is"),
    "mica_resource_is_disabled": (ANY, "no component of the resource is"),
    "mica_view_next": (ANY, "there is one run of rows"),
    "mica_value_write": (ANY, "the result is a length"),
    "mica_entity_write_json": (ANY, "the result is a length"),
    "mica_query_write_text": (ANY, "the result is a length"),
    "mica_query_explain": (ANY, "the result is a length"),
    "mica_text_is": (ANY, "the texts differ"),
    "mica_replica_state": (ANY, "no delta with a state was applied"),
    "mica_detach_children": (REPORT, "the name of a child is taken at the top"),
}

# Where a call is made from, if not from the program itself.
STAGES = {
    "mica_view_commands": "run_in_system",
    "mica_frame_commands": "run_in_system",
    "mica_random_of": "run_in_system",
    "mica_random_of_frame": "run_in_system",
    "mica_random_of_entity": "run_in_system",
    "mica_event_stop": "run_in_observer",
    "mica_compile_fail": "run_in_compile",
}
