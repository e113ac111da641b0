#include "resource/verify/load_error.h"

#include <stdarg.h>
#include <stdio.h>

bool micap_load_fail(mica_resource *resource, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(resource->error.text, sizeof resource->error.text, format, arguments);
    va_end(arguments);
    resource->error.result = MICA_ERROR_DATA;
    resource->error.offset = offset;
    return false;
}

bool micap_load_fail_memory(mica_resource *resource)
{
    micap_load_fail(resource, 0, "out of memory");
    resource->error.result = MICA_ERROR_MEMORY;
    return false;
}
