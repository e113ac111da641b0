/* What every part of the conformance program needs: expectations that are counted, and hashes that are printed.
 *
 * The program needs nothing but Mica and libc, so that it runs wherever a compiler comes from. It calls every public function of the
 * libraries (tools/conformance.py checks that), and what it prints is the same on every machine, for every compiler, level
 * of optimisation and number of workers. */
#ifndef MICA_TESTS_CONFORMANCE_H
#define MICA_TESTS_CONFORMANCE_H

#include "mica/flow.h"

#define COUNT_OF(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)
bool expect(bool holds, const char *what, const char *file, int line);

/* A hash by its name and number, one line. */
void print_hash(const char *name, uint32_t number, uint64_t hash);

/* FNV-1a over the bytes of integers, lowest first. */
uint64_t hash_more(uint64_t hash, uint64_t value, uint32_t bytes);
#define HASH_BASIS 14695981039346656037u

/* A world that counts what it reports, and its end: so many reports were expected, and every invariant holds. */
mica_world *open_world(void);
void close_world(mica_world *world, uint32_t reports);

void check_entities(void);
void check_components_of_worlds(void);
void check_values(void);
void check_queries(void);
void check_recording(void);
void check_crowds(void);
void check_pools(void);
void check_systems(uint32_t worker_count);
void check_communication(uint32_t worker_count);
void check_hierarchy(void);
void check_indexes(uint32_t worker_count);
void check_relations(void);
void check_history(void);
void check_math(void);
#ifdef CONFORMANCE_RESOURCE
void check_resources(void);
#endif

/* Plays the scene and prints the hash of the world after each tick. */
void play_scene(uint32_t worker_count, uint32_t tick_count);

#endif
