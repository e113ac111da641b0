/* Memory that runs out at every point of compiling: an error, nothing lost. jansson's memory fails too. */
#include "../support/faulty_allocator.h"
#include "../support/level.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/compile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static faulty_allocator faulty;
static uint64_t json_countdown;
static uint64_t json_failures;
static int64_t json_live;

static void *json_malloc_or_fail(size_t bytes)
{
    if (json_countdown && --json_countdown == 0) {
        ++json_failures;
        return NULL;
    }
    ++json_live;
    return malloc(bytes);
}

static void json_free_counted(void *memory)
{
    json_live -= memory != NULL;
    free(memory);
}

static void ignore(const mica_compile_error *error, void *context)
{
    ++*(uint32_t *)context;
    (void)error;
}

static const char text[] =
    "{\"entities\": [{\"name\": \"a\", \"components\": {\"Position\": [1, 2, 3], \"Frozen\": {}, \"Shape\": "
    "{\"outline\": \"rock.mica\"}, \"Monster\": "
    "{\"target\": \"b\"}},"
    " \"children\": [{\"name\": \"b\", \"components\": {\"Health\": {\"current\": 1}}, \"disabled\": [\"Health\"]}]},"
    " {\"name\": \"c\", \"prefab\": \"p.json\", \"children\": [{\"name\": \"x\"}]}], \"singletons\": {\"Clock\": "
    "{\"ticks\": 1}}}";
static const char prefab[] = "{\"entities\": [{\"name\": \"p\", \"components\": {\"Number\": {\"value\": 3}}}]}";

static bool compile(const mica_schema *schema, mica_result *out_result)
{
    uint32_t errors = 0;
    mica_compile_def def = {.schema = schema,
                            .allocator = faulty_allocator_interface(&faulty),
                            .error = ignore,
                            .error_context = &errors,
                            .byte_order = MICA_BYTE_ORDER_BIG,
                            .compression = 3};
    mica_compiled compiled;
    *out_result = mica_compile_text(scratch("a.json"), text, sizeof text - 1, &def, &compiled);
    REQUIRE((*out_result == MICA_OK) == (errors == 0) && (compiled.blob.bytes != NULL) == (errors == 0));
    mica_compiled_free(&compiled);
    return errors == 0;
}

START_TEST(compiling_fails_cleanly_at_every_allocation)
{
    json_set_alloc_funcs(json_malloc_or_fail, json_free_counted);
    REQUIRE(mica_write_file(scratch("p.json"), prefab, sizeof prefab - 1, NULL) == MICA_OK);
    mica_world *world = mica_world_create(NULL);
    level_define(world);
    mica_schema *schema = mica_schema_create();
    mica_schema_add_world(schema, world);
    mica_world_destroy(world);
    for (int which = 0; which < 2; ++which) {
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            mica_result result;
            faulty_allocator_init(&faulty);
            json_failures = 0;
            if (which)
                json_countdown = k;
            else
                faulty_allocator_fail_at(&faulty, k, k % 2);
            bool fine = compile(schema, &result);
            reached = json_failures > 0 || faulty.failures > 0;
            json_countdown = 0;
            /* jansson takes some shortages for a mistake in the text. */
            bool is_said = result == MICA_ERROR_MEMORY || (which && result == MICA_ERROR_DATA);
            REQUIRE_SAYING(fine || (reached && is_said), "allocation %llu: %s", (unsigned long long)k,
                           mica_result_text(result));
            REQUIRE_SAYING(json_live == 0, "%lld left by jansson", (long long)json_live);
            faulty_allocator_free(&faulty);
        }
        ck_assert_uint_gt(k, 20);
    }
    mica_schema_destroy(schema);
}
END_TEST

TEST_SUITE(memory_failure, compiling_fails_cleanly_at_every_allocation)
