/* A small level with something of everything: parents, names, references, every kind of field, tags, switches, a
 * singleton. For tests of resources. */
#ifndef MICA_TESTS_SUPPORT_LEVEL_H
#define MICA_TESTS_SUPPORT_LEVEL_H

#include "components.h"

#include "mica/resource.h"

/* Makes every component that occurs in it known to a world. */
void level_define(mica_world *world);

/* Creates it in a world. */
void level_create(mica_world *world);

/* The same as bytes. */
mica_blob level_blob(const mica_save_def *def);

/* Asserts that the world holds it, once, with names under `scope`. */
void level_expect(const mica_world *world, mica_entity scope);

/* A path for a file of this test alone, in a folder that goes when the test ends. */
const char *scratch(const char *name);

/* Loads bytes that must be fine. */
mica_resource *level_open(const mica_blob *blob);

#endif
