#include "core/query/key_text.h"

#include "base/number_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const digits = "0123456789";

/* How many bytes a number has, and whether it is written as an integer; 0: it is none. */
static size_t number_length(const char *text, bool *out_is_integer)
{
    const char *at = text + (*text == '-');
    size_t whole = strspn(at, digits), fraction = 0;
    at += whole;
    *out_is_integer = *at != '.';
    if (*at == '.') {
        fraction = strspn(at + 1, digits);
        at += fraction + 1;
    }
    if (!whole && !fraction)
        return 0;
    size_t sign = (*at == 'e' || *at == 'E') && (at[1] == '-' || at[1] == '+');
    size_t exponent = *at == 'e' || *at == 'E' ? strspn(at + 1 + sign, digits) : 0;
    if (exponent) {
        *out_is_integer = false;
        at += 1 + sign + exponent;
    }
    return (size_t)(at - text);
}

/* The C library reads numbers with the decimal point of the locale, which it also writes. */
static double real_of(char *number)
{
    char *point = strchr(number, '.'), sample[8];
    if (point) {
        snprintf(sample, sizeof sample, "%.1f", 0.5);
        *point = sample[1];
    }
    return strtod(number, NULL);
}

const char *micap_number_key(const char *text, mica_key *out)
{
    bool is_integer, is_negative = *text == '-';
    const char *word = text + is_negative;
    if (strncmp(word, "inf", 3) == 0 || strncmp(word, "nan", 3) == 0) {
        *out = mica_key_real(*word == 'n' ? NAN : is_negative ? -INFINITY : INFINITY);
        return word + 3;
    }
    size_t length = number_length(text, &is_integer);
    char number[400];
    if (!length || length >= sizeof number)
        return NULL;
    memcpy(number, text, length);
    number[length] = 0;
    errno = 0;
    *out = is_negative ? mica_key_integer(strtoll(number, NULL, 10)) : mica_key_natural(strtoull(number, NULL, 10));
    if (!is_integer || errno == ERANGE)
        *out = mica_key_real(real_of(number));
    else if (!is_negative && out->as.natural <= INT64_MAX)
        *out = mica_key_integer((int64_t)out->as.natural);
    return text + length;
}

void micap_key_write(mica_key key, char text[MICAP_KEY_TEXT_BYTES])
{
    double value = key.as.real;
    if (key.kind == MICA_KIND_I64)
        snprintf(text, MICAP_KEY_TEXT_BYTES, "%" PRId64, key.as.integer);
    else if (key.kind == MICA_KIND_U64)
        snprintf(text, MICAP_KEY_TEXT_BYTES, "%" PRIu64, key.as.natural);
    else if (value != value || value - value != 0)
        snprintf(text, MICAP_KEY_TEXT_BYTES, "%s", value != value ? "nan" : value < 0 ? "-inf" : "inf");
    else {
        micap_number_text(value, false, text);
        if (!strpbrk(text, ".e"))
            memcpy(text + strlen(text), ".0", sizeof ".0"); /* else it would be an integer */
    }
}
