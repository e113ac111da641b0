/* Error messages of the compiler: location and text. */
#ifndef MICAP_JSON_COMPILE_ERROR_H
#define MICAP_JSON_COMPILE_ERROR_H

#include "base/assert.h"
#include "json/compiler.h"

/* Reports an error. Returns false. */
bool micap_json_error(mica_compiler *compiler, micap_context context, const char *format, ...) MICAP_FORMAT(3, 4);
bool micap_json_error_memory(mica_compiler *compiler);
/* Prints an error to stderr: the default error handler. */
void micap_json_print_error(const mica_compile_error *error, void *context);

/* Finds the line and column, from 1, of a value in a text of JSON; false if there is none at the path. */
bool micap_json_locate(const char *text, size_t text_bytes, const char *path, int *out_line, int *out_column);

#endif
