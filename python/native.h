/* What the Python module needs besides the public headers: loops that would be slow in Python, and calls that cffi can't make.
 * native_build.py passes the declarations after the includes to cffi. */
#ifndef MICA_PYTHON_NATIVE_H
#define MICA_PYTHON_NATIVE_H

#include "mica/arrow.h"
#include "mica/flow.h"
#include "mica/index.h"

/* The neighbours of every entity of a grid: those of entities[i] are from offsets[i] up to offsets[i + 1]. */
typedef struct mica_python_neighbours {
    uint64_t entity_count;
    uint64_t neighbour_count;
    mica_entity *entities;
    uint64_t *offsets;
    mica_neighbour *neighbours;
    uint64_t entity_capacity;
    uint64_t neighbour_capacity;
    bool failed;
} mica_python_neighbours;

/* Finds all neighbours within a radius, of entities that match the query, or of all. Returns MICA_ERROR_MEMORY if memory runs out. */
mica_result mica_python_neighbours_find(const mica_index *grid, double radius, mica_query *query,
                                        mica_python_neighbours *out);
void mica_python_neighbours_free(mica_python_neighbours *found);

/* Copies a component of many entities into an array with one element per entity. Elements of entities without it stay as they are.
 * Returns how many have it, and which: 1 or 0 in out_found. */
uint64_t mica_python_gather(const mica_world *world, const mica_entity *entities, uint64_t count,
                            mica_component component, void *out_values, uint8_t *out_found);

/* Writes an array with one element per entity to components of many entities. Returns how many have it. */
uint64_t mica_python_scatter(mica_world *world, const mica_entity *entities, uint64_t count, mica_component component,
                             const void *values);

/* Copies all rows of a query into a stream that refers neither to the query nor to the world. Returns what mica_arrow_stream returns,
 * MICA_ERROR_MEMORY and MICA_ERROR_REFUSED. */
mica_result mica_python_arrow(mica_query *query, const mica_arrow_def *def, struct ArrowArrayStream **out_stream);

/* The destructor of a capsule with such a stream: releases it, unless its consumer did. */
void mica_python_capsule_free(void *capsule);

/* Calls the entry point of a module. The address is that of mica_module_main. */
mica_result mica_python_module_main(uintptr_t address, mica_world *world);

#endif
