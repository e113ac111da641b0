#include "base/closest_name.h"

#include <stdio.h>
#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
}

/* The edit distance of Damerau and Levenshtein: a swap of neighbours counts once. Ignores case. */
static uint32_t distance_of(const char *a, const char *b)
{
    enum { LENGTH_MAX = 63 };
    uint32_t rows[3][LENGTH_MAX + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LENGTH_MAX || b_length > LENGTH_MAX)
        return UINT32_MAX;
    for (uint32_t j = 0; j <= b_length; ++j)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_length; ++i) {
        uint32_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= b_length; ++j) {
            uint32_t cost = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = least(least(before[j] + 1, now[j - 1] + 1), before[j - 1] + cost);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = least(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void micap_guess_try(micap_guess *guess, const char *candidate)
{
    uint32_t distance = distance_of(guess->wrong, candidate);
    if (distance <= strlen(guess->wrong) / 3 + 1 && distance < strlen(candidate) &&
        (!guess->best || distance < guess->distance)) {
        guess->best = candidate;
        guess->distance = distance;
    }
}

const char *micap_guess_text(const micap_guess *guess, char *buffer, size_t bytes)
{
    if (!guess->best)
        return "";
    snprintf(buffer, bytes, " (did you mean \"%.60s\"?)", guess->best);
    return buffer;
}
