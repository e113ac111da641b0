/* References from values to resources. */
#ifndef MICAP_JSON_ASSET_REFERENCE_H
#define MICAP_JSON_ASSET_REFERENCE_H

#include "json/compiler.h"

/* Finds the resource at a path, for a value of the file in `context`. Returns false with a report if the path is invalid. */
bool micap_asset_compile(mica_compiler *compiler, const char *text, micap_context context, mica_asset *out);

#endif
