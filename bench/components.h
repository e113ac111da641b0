/* The data of the benchmark as Mica's components. */
#ifndef BENCH_COMPONENTS_H
#define BENCH_COMPONENTS_H

#include "data.h"

#include "mica/mica.h"

MICA_COMPONENT(Position, x, y, z)
MICA_COMPONENT(Velocity, x, y, z)
MICA_COMPONENT(Mass, value)
MICA_COMPONENT(Data, value)

#endif
