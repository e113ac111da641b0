/* What the examples of a cluster share: pictures of where entities are, and options of the command line. */
#ifndef CLUSTER_PICTURE_H
#define CLUSTER_PICTURE_H

#include "mica/cluster.h"

/* Writes a PNG file: a map with a dot for each entity that has the component, which begins with two floats from 0 to `size`, in the colour of the
 * rank that owns it. All ranks call it, and rank 0 writes the file. Returns whether it could; a NULL path draws nothing. */
bool picture_write(mica_cluster *cluster, mica_world *world, mica_component position, float size, const char *path);

/* The argument after a word; NULL if the word is not there. */
const char *option(int argument_count, char **arguments, const char *word);

#endif
