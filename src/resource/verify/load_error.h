/* Why a file is not accepted. */
#ifndef MICAP_RESOURCE_VERIFY_LOAD_ERROR_H
#define MICAP_RESOURCE_VERIFY_LOAD_ERROR_H

#include "base/assert.h"
#include "resource/verify/resource.h"

/* Notes what is wrong and where. Returns false. */
bool micap_load_fail(mica_resource *resource, uint64_t offset, const char *format, ...) MICAP_FORMAT(3, 4);
bool micap_load_fail_memory(mica_resource *resource);

#endif
