/* The loop over the views of a query, for the Python module: types of Python in C, because the same in Python takes as long as adding
 * some thousand numbers. mica/query.py loads them from the file of mica._native, and derives View. */
#ifndef MICA_PYTHON_VIEWS_H
#define MICA_PYTHON_VIEWS_H

#include "mica/world.h"

#include <stdbool.h>
#include <stdint.h>

/* What decides whether columns of a world may be used, next to its structure. Part of a World of Python. */
typedef struct mica_python_life {
    mica_world *world;
    uint64_t epoch; /* increased by everything besides structural changes that makes columns invalid */
    bool is_open;
} mica_python_life;

#endif
