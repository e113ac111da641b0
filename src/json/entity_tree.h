/* The tree of entities of a file, with prefabs expanded. */
#ifndef MICAP_JSON_ENTITY_TREE_H
#define MICAP_JSON_ENTITY_TREE_H

#include "json/compiler.h"

/* Builds the tree of a file below compiler->top. Reports all errors. */
void micap_tree_build(mica_compiler *compiler, micap_source_file *source);
/* Finds the child of a node by name. Returns NULL if there is none. */
micap_node *micap_tree_find(const mica_compiler *compiler, const micap_node *parent, const char *name, size_t length);

/* Returns the next node in the order of the file, parents before children; NULL after the last. */
micap_node *micap_tree_next(micap_node *node);

#endif
