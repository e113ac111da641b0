#include "json/compiler.h"

#include "json/compile_error.h"

#include <string.h>

enum { SLAB_BYTES = 64 << 10 };

typedef struct micap_slab {
    struct micap_slab *next;
    size_t bytes;
    size_t used;
} slab;

void *micap_json_allocate(mica_compiler *compiler, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    slab *current = compiler->slabs;
    if (!current || bytes > current->bytes - current->used) {
        size_t header = (sizeof *current + 15) & ~(size_t)15;
        size_t wanted = header + bytes > SLAB_BYTES ? header + bytes : SLAB_BYTES;
        slab *fresh = micap_allocate(&compiler->memory, wanted, MICAP_ARRAY_ALIGNMENT);
        if (!fresh)
            return micap_json_error_memory(compiler), NULL;
        *fresh = (slab){current, wanted, header};
        compiler->slabs = current = fresh;
    }
    void *memory = (char *)current + current->used;
    current->used += bytes;
    return memset(memory, 0, bytes);
}

const char *micap_json_copy(mica_compiler *compiler, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = micap_json_allocate(compiler, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void micap_json_free_all(mica_compiler *compiler)
{
    for (slab *slab = compiler->slabs, *next; slab; slab = next) {
        next = slab->next;
        micap_release(&compiler->memory, slab, slab->bytes, MICAP_ARRAY_ALIGNMENT);
    }
    compiler->slabs = NULL;
}
