/* The closest of several names to a misspelt one, for error messages. */
#ifndef MICAP_BASE_CLOSEST_NAME_H
#define MICAP_BASE_CLOSEST_NAME_H

#include <stddef.h>
#include <stdint.h>

typedef struct micap_guess {
    const char *wrong;
    const char *best; /* NULL if no name is close */
    uint32_t distance;
} micap_guess;

void micap_guess_try(micap_guess *guess, const char *candidate);

/* " (did you mean \"x\"?)", or "" if no name is close. */
const char *micap_guess_text(const micap_guess *guess, char *buffer, size_t bytes);

#endif
