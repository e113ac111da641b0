/* Text fields: see mica/text.h. */
#ifndef MICAP_TYPE_TEXT_H
#define MICAP_TYPE_TEXT_H

#include "type/block.h"

static inline uint8_t micap_text_form(const mica_text *text)
{
    return (uint8_t)text->private_.bytes[15];
}

/* Whether the text lies in a block. */
static inline bool micap_text_has_block(const mica_text *text)
{
    return micap_text_form(text) == MICA_PRIVATE_TEXT_BLOCK;
}

/* Gives up the block of a text, which is uninitialized afterwards. */
void micap_text_release(mica_text *text);

/* Makes a text, which has the bytes of another, a copy of it. False if memory is short: then it owns nothing. */
bool micap_text_retain(mica_text *text);

/* What is wrong with a text of a world, or NULL. */
const char *micap_text_problem(const mica_text *text);

#endif
