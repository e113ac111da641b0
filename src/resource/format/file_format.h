/* The records of a resource file, in the byte order of the target machine. docs/format.md is the specification.
 * Fixed-size fields first, offsets never pointers, payloads aligned to 64. */
#ifndef MICAP_RESOURCE_FORMAT_FORMAT_H
#define MICAP_RESOURCE_FORMAT_FORMAT_H

#include <stdint.h>

#define MICAP_MAGIC "MICA\r\n\x1a\n"

enum {
    MICAP_VERSION_MAJOR = 1,
    MICAP_VERSION_MINOR = 0,        /* as long as nothing in the file is newer: */
    MICAP_VERSION_MINOR_ASSETS = 1, /* of files with assets */
    MICAP_VERSION_MINOR_STATE = 2,  /* of files with the state of a world, or with text or lists */
    MICAP_MARK = 0x0A0B0C0D,
    MICAP_MARK_FOREIGN = 0x0D0C0B0A,
    MICAP_ALIGNMENT = 64,
    MICAP_SECTIONS_MAX = 1 << 18,
    MICAP_TYPES_MAX = 1 << 16,
};

#define MICAP_NONE UINT32_MAX

typedef struct micap_header {
    char magic[8];
    uint32_t mark; /* MICAP_MARK in the order of the file */
    uint16_t version_major;
    uint16_t version_minor;
    uint64_t file_bytes;
    uint32_t header_bytes;
    uint32_t section_count;
    uint32_t section_bytes; /* of an entry of the section table */
    uint32_t entity_count;
    uint64_t reserved[2];
    uint64_t hash; /* of header and section table, this field being zero */
} micap_header;

typedef enum micap_section_kind {
    MICAP_SECTION_STRINGS = 1,
    MICAP_SECTION_TYPES,
    MICAP_SECTION_FIELDS,
    MICAP_SECTION_CONSTANTS,
    MICAP_SECTION_COMPONENTS,
    MICAP_SECTION_GROUPS,
    MICAP_SECTION_COLUMNS,
    MICAP_SECTION_PARENTS,
    MICAP_SECTION_ORDER,
    MICAP_SECTION_NAMES,
    MICAP_SECTION_INSTANCES, /* any number, as of the next two */
    MICAP_SECTION_OWNERS,
    MICAP_SECTION_DISABLED,
    MICAP_SECTION_ASSETS,
    MICAP_SECTION_HANDLES,
    MICAP_SECTION_STATE,
    MICAP_SECTION_CONTENTS,
    MICAP_SECTION_KINDS,
} micap_section_kind;

enum {
    MICAP_SECTION_ZSTD = 1,   /* the stored bytes are a zstd frame */
    MICAP_SECTION_NEEDED = 2, /* a reader that does not know the kind must refuse the file */
};

typedef struct micap_section {
    uint32_t kind;
    uint32_t flags;
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t bytes;
    uint64_t hash; /* of the stored bytes */
    uint32_t count;
    uint32_t stride;
} micap_section;

typedef struct micap_type_record {
    uint32_t name;
    uint32_t kind;
    uint32_t size_bytes;
    uint32_t alignment;
    uint32_t field_count;
    uint32_t constant_count;
} micap_type_record;

typedef struct micap_field_record {
    uint32_t name;
    uint32_t kind;
    uint32_t offset;
    uint32_t element_bytes;
    uint32_t count;
    uint32_t type; /* lower than the type's own number, or MICAP_NONE */
} micap_field_record;

typedef struct micap_constant_record {
    uint64_t value; /* two's complement */
    uint32_t name;
    uint32_t reserved;
} micap_constant_record;

enum {
    MICAP_ROLE_DATA = 0,
    MICAP_ROLE_TAG,
    MICAP_ROLE_SINGLETON,
};

typedef struct micap_component_record {
    uint64_t name_hash;
    uint64_t layout_hash;
    uint32_t name;
    uint32_t type;
    uint32_t role;
    uint32_t spawn_order; /* two's complement */
    uint32_t instance_count;
    uint32_t instances; /* sections, or MICAP_NONE */
    uint32_t owners;
    uint32_t disabled;
} micap_component_record;

typedef struct micap_group_record {
    uint32_t first_entity;
    uint32_t entity_count;
    uint32_t first_column;
    uint32_t column_count;
} micap_group_record;

typedef struct micap_column_record {
    uint32_t component;
    uint32_t first_instance;
} micap_column_record;

typedef struct micap_name_record {
    uint32_t entity;
    uint32_t text;
} micap_name_record;

typedef struct micap_asset_record {
    uint64_t path_hash;
    uint32_t path;
    uint32_t reserved;
} micap_asset_record;

/* Entities that follow each other in the file, and whose indices did so in the world. */
typedef struct micap_handles_record {
    uint32_t index; /* of the first */
    uint32_t generation;
    uint32_t count;
} micap_handles_record;

_Static_assert(sizeof(micap_header) == 64 && sizeof(micap_section) == 48 && sizeof(micap_type_record) == 24 &&
                   sizeof(micap_field_record) == 24 && sizeof(micap_constant_record) == 16 &&
                   sizeof(micap_component_record) == 48 && sizeof(micap_group_record) == 16 &&
                   sizeof(micap_column_record) == 8 && sizeof(micap_name_record) == 8 &&
                   sizeof(micap_asset_record) == 16 && sizeof(micap_handles_record) == 12,
               "records have no padding");

#endif
