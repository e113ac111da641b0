/* Shared libraries of the operating system. The contract of this seam: a library that is opened as a copy can be overwritten and opened
 * again while it is in use, and a file that is not complete, since a compiler writes it, is an error. Windows and WebAssembly have none. */
#ifndef MICAP_OS_DYNAMIC_LIBRARY_H
#define MICAP_OS_DYNAMIC_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL with a reason, which is cut at `reason_bytes`. */
void *micap_dynamic_library_open(const char *path, bool as_copy, char *out_reason, size_t reason_bytes);
void micap_dynamic_library_close(void *library);

/* Returns the address of a symbol of a library or of those that it depends on, and for NULL of the program; or NULL. */
void *micap_dynamic_library_find(void *library, const char *name);

/* Returns the address at which the library is mapped that an address is in, or NULL. */
const void *micap_dynamic_library_base(const void *address);

#endif
