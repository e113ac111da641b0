/* The source location of the call that this thread makes, which reports name. Known in checked builds: see MICA_AT_ in mica/base.h. In
 * other builds these functions do nothing. */
#ifndef MICAP_BASE_CALL_LOCATION_H
#define MICAP_BASE_CALL_LOCATION_H

#include "mica/base.h"

#ifdef MICA_CHECKED

/* The location that this thread noted last. After functions of the program have run in the middle of a call, micap_note_again sets it
 * back. */
mica_location micap_noted_place(void);
void micap_note_again(mica_location location);

#else

static inline mica_location micap_noted_place(void)
{
    return (mica_location){0};
}

static inline void micap_note_again(mica_location location)
{
    (void)location;
}

#endif

/* The location of the call; if it is not known, that of something the call is about. */
static inline mica_location micap_place_of_call(mica_location otherwise)
{
    mica_location noted = micap_noted_place();
    return noted.file ? noted : otherwise;
}

#endif
