#include "base/number_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 17,
    EXPONENT_MIN = -5, /* of plain notation */
    EXPONENT_MAX = 14, /* integers below 10^15 are exact as double and as 64-bit integer */
};

/* Writes the fewest significant digits that read back as the same number, and returns the exponent of the first. */
static int shortest_digits(double value, bool is_f32, char digits[DIGITS_MAX + 1])
{
    char text[MICAP_NUMBER_TEXT_BYTES];
    for (int precision = 0; precision < DIGITS_MAX; ++precision) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        double again = strtod(text, NULL);
        if (is_f32 ? (float)again == (float)value : again == value)
            break;
    }
    const char *at = text;
    int count = 0;
    for (; *at != 'e'; ++at) /* skips the decimal point, which depends on the locale */
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    digits[count] = 0;
    return atoi(at + 1);
}

static void write_plain(const char *digits, int exponent, char *to)
{
    int count = (int)strlen(digits);
    if (exponent < 0)
        to += sprintf(to, "0.%.*s", -exponent - 1, "0000");
    for (int i = 0; i < count || i <= exponent; ++i) {
        *to++ = (char)(i < count ? digits[i] : '0');
        if (i == exponent && i + 1 < count)
            *to++ = '.';
    }
    *to = 0;
}

void micap_number_text(double value, bool is_f32, char text[MICAP_NUMBER_TEXT_BYTES])
{
    char digits[DIGITS_MAX + 1] = "";
    if (value == 0) {
        const char *zero = 1 / value < 0 ? "-0.0" : "0"; /* -0 would read as the integer 0 */
        memcpy(text, zero, strlen(zero) + 1);
        return;
    }
    int exponent = shortest_digits(value < 0 ? -value : value, is_f32, digits);
    if (value < 0)
        *text++ = '-';
    if (exponent >= EXPONENT_MIN && exponent <= EXPONENT_MAX)
        write_plain(digits, exponent, text);
    else
        sprintf(text, "%c%s%se%d", digits[0], digits[1] ? "." : "", digits + 1, exponent);
}
