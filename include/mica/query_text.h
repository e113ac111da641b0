/* Mica, query text: queries as text, for consoles, tools and scripts. They are the same queries as those of mica/query.h.
 *
 *     mica_value_error error;
 *     mica_query *query = mica_query_text(world, "Position, write Velocity, !Frozen", &error);
 *     if (!query)
 *         printf("at %u: %s\n", error.position, error.text);     at 0: there is no component "Positon" (did you mean "Position"?)
 *
 * Terms are separated by commas; an entity must meet all of them. An empty text matches every entity.
 *
 *     Position               has it; provides a column to read, unless it is a tag
 *     write Position         has it; provides a column to write
 *     has Position           has it; no column
 *     !Position              does not have it
 *     ?Position              optional, to read; ?write Position to write
 *     Dog | Cat | Bird       has at least one of them; each provides a column to read, or none
 *     changed Position       has it, and it changed since the previous iteration began
 *     added Position         has it, and it was added since then; needs .track_added
 *     disabled Position      has it, disabled
 *
 *     Planet($planet)                 tests a variable; an entity is $this, $variable, a name or path, #index:generation, * (each) or _ (any)
 *     DockedTo($this, $planet)        an edge of a relation; provides its fields to read, if it has some
 *     Position(up PartOf)             of the nearest ancestor; also down, cascade, self up, and $planet up PartOf
 *     Position(up mica_child_of)      of the nearest ancestor in the hierarchy (mica/hierarchy.h) that has one
 *     Health.points < 10              has it, and the field has such a value; also <=, >, >=, = and !=, with a number, true, false or an entity
 *     Title.words = "old \"Bob\""     the same for text, in which a backslash stands before quotation marks and backslashes
 *     Health.points($planet) < 10     the field of a variable
 *
 * A name with other characters than letters, digits, '_', '.' and ':', or one that is the same as a word above, is put in double quotes.
 */
#ifndef MICA_QUERY_TEXT_H
#define MICA_QUERY_TEXT_H

#include "mica/query.h"
#include "mica/value.h"

MICA_BEGIN

/* The limit of a query from text: about a second. Variables that few terms connect have more results than anyone can look at. */
enum { MICA_QUERY_TEXT_STEPS = 100000000 };

/* Creates a query, with the limit MICA_QUERY_TEXT_STEPS (mica_query_limit). If the text is wrong or memory runs out, returns NULL and says
 * in `out_error` where and why; if `out_error` is NULL, the world reports it. Threads: owner. */
MICA_API mica_query *mica_query_text(mica_world *world, const char *text, mica_value_error *out_error);

/* Writes the terms of a query as text, from which mica_query_text creates a query with the same terms. Capacity and result are as for
 * mica_value_write. Threads: reader. */
MICA_API size_t mica_query_write_text(const mica_query *query, char *text, size_t capacity);

/* Writes what an iteration visits, one line each: archetypes with their rows, then the pools that rows are looked up in. Capacity and
 * result are as for mica_value_write. Threads: reader. */
MICA_API size_t mica_query_explain(const mica_query *query, char *text, size_t capacity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_query_text(world, ...) mica_query_text(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_write_text(...) MICA_AT_(mica_query_write_text(__VA_ARGS__))
#    define mica_query_explain(...) MICA_AT_(mica_query_explain(__VA_ARGS__))
#endif
#endif
