/* The sections of a file, laid out before a byte is written, and where the bytes go: into memory, or a buffer at a time into a file. */
#ifndef MICAP_RESOURCE_SAVE_FILE_OUTPUT_H
#define MICAP_RESOURCE_SAVE_FILE_OUTPUT_H

#include "os/file.h"
#include "resource/save/file_instances.h"

/* Where a file goes. */
typedef struct micap_sink {
    micap_replacement *file; /* NULL: the buffer takes all of it */
    char *buffer;
    size_t capacity;
    size_t filled;
    uint64_t offset; /* in the file, where the buffer begins */
    int problem;     /* an errno of the file */
} micap_sink;

/* Sections in the making. */
typedef struct micap_output {
    struct micap_output_section {
        micap_section record;
        char *data;                    /* or */
        micap_instance_source *source; /* or neither: MICAP_NONE, again and again */
        size_t allocated;              /* of data */
    } * sections;
    uint32_t count;
    uint32_t capacity;
    micap_header header;
    bool is_foreign;
} micap_output;

/* A new section of zeroed records to be filled in, and its number; NULL when memory is short. */
void *micap_output_add(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count,
                       uint32_t stride);
/* A new section of instances; false when memory is short. */
bool micap_output_add_source(micap_output *output, micap_instance_source *source);
/* A new section of numbers that are all MICAP_NONE. */
bool micap_output_add_nones(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count);
void micap_output_free(micap_output *output, mica_draft *draft);

/* Converts the byte order, compresses sections and assigns offsets: the header is complete except for its checksum. */
bool micap_output_lay_out(micap_output *output, mica_draft *draft, const mica_draft_finish_def *def);

/* How large the buffer of a sink must be at least. */
size_t micap_output_buffer_bytes(const micap_output *output);

/* Writes all of it; false with a reason, or with a problem of the file. */
bool micap_output_write(micap_output *output, micap_sink *sink);

#endif
