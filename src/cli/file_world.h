/* A world with what a resource contains: its components are those that the file describes. */
#ifndef MICAP_CLI_FILE_WORLD_H
#define MICAP_CLI_FILE_WORLD_H

#include "cli/cli.h"

typedef struct file_world {
    const char *command; /* for messages */
    mica_resource *resource;
    mica_world *world;
    mica_resource_rule *rules; /* of all components, for saving */
    uint32_t rule_count;
    bool is_quiet; /* reports are not printed */
} file_world;

/* Loads the first input. Returns false with a message on failure; close it in either case. */
bool file_world_open(file_world *file, const options *options);
void file_world_close(file_world *file);

#endif
