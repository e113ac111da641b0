/* The metadata of Arrow files: flatbuffers that describe the schema, each batch and the end of the file, as in Message.fbs, Schema.fbs and
 * File.fbs of the Arrow format. */
#ifndef MICAP_ARROW_ARROW_METADATA_H
#define MICAP_ARROW_ARROW_METADATA_H

#include "base/byte_stream.h"
#include "mica/arrow.h"

/* A buffer of a batch, and where it is in the body. */
typedef struct micap_arrow_piece {
    const void *data;
    int64_t offset;
    int64_t byte_count;
} micap_arrow_piece;

/* The number of values and nulls of a column. */
typedef struct micap_arrow_node {
    int64_t length;
    int64_t null_count;
} micap_arrow_node;

/* All columns of a batch, parents before children. */
typedef struct micap_arrow_body {
    micap_memory *memory;
    micap_arrow_piece *pieces;
    micap_arrow_node *nodes;
    uint32_t piece_count, piece_capacity;
    uint32_t node_count, node_capacity;
    int64_t row_count;
    int64_t byte_count; /* with padding: a multiple of 8 */
} micap_arrow_body;

/* A batch in the file. */
typedef struct micap_arrow_block {
    int64_t offset;
    int64_t metadata_bytes;
    int64_t body_bytes;
} micap_arrow_block;

/* Each writes one flatbuffer instead of what is there. The bytes have failed if memory is short. */
void micap_arrow_put_schema(micap_bytes *bytes, const struct ArrowSchema *schema);
void micap_arrow_put_batch(micap_bytes *bytes, const micap_arrow_body *body);
void micap_arrow_put_footer(micap_bytes *bytes, const struct ArrowSchema *schema, const micap_arrow_block *blocks,
                            uint32_t block_count);

#endif
