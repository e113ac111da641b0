#include "base/call_location.h"

#ifdef MICA_CHECKED

static _Thread_local mica_location noted;

void mica_note_location(const char *file, int line)
{
    noted = (mica_location){file, line};
}

mica_location micap_noted_place(void)
{
    return noted;
}

void micap_note_again(mica_location location)
{
    noted = location;
}

#else

void mica_note_location(const char *file, int line)
{
    (void)file, (void)line;
}

#endif
