#include "inspect/json_bytes.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

void micap_json_put(micap_bytes *bytes, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        micap_bytes_put(bytes, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void micap_json_put_string(micap_bytes *bytes, const char *text)
{
    micap_bytes_put(bytes, "\"", 1);
    for (size_t left = text ? strlen(text) : 0, count; left; text += count, left -= count) {
        uint32_t character = micap_character_bytes((const unsigned char *)text, left);
        count = character ? character : 1;
        if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20)
            micap_json_put(bytes, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            micap_bytes_put(bytes, character ? text : "?", count);
    }
    micap_bytes_put(bytes, "\"", 1);
}
