/* JSON files, read once each. */
#ifndef MICAP_JSON_SOURCE_FILE_H
#define MICAP_JSON_SOURCE_FILE_H

#include "json/compiler.h"

/* Returns the source at a path, and reads the file the first time. If `text` is not NULL, it replaces the content of the file.
 * `asked` is the position of the reference to the file. */
micap_source_file *micap_source_get(mica_compiler *compiler, const char *path, const char *text, size_t text_bytes,
                                    micap_context asked);
void micap_sources_free(mica_compiler *compiler);

#endif
