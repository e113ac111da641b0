#include "components.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int texts_alive = 0;
int texts_allowed = INT_MAX;

static bool text_fill(Text *text, const char *characters)
{
    if (texts_allowed == 0)
        return false;
    --texts_allowed;
    size_t bytes = strlen(characters) + 1;
    text->characters = malloc(bytes);
    assert(text->characters && "a test machine has a few bytes left");
    memcpy(text->characters, characters, bytes);
    text->length = (uint32_t)(bytes - 1);
    ++texts_alive;
    return true;
}

Text text_make(const char *characters)
{
    Text text = {NULL, 0};
    text_fill(&text, characters);
    return text;
}

void text_drop(Text *text)
{
    assert(text->characters && "a Text is dropped once, and never raw memory");
    free(text->characters);
    *text = (Text){NULL, 0};
    --texts_alive;
}

bool text_construct(void *values, uint32_t count, void *context)
{
    (void)context;
    Text *texts = values;
    for (uint32_t i = 0; i < count; ++i)
        if (!text_fill(&texts[i], "")) {
            text_destruct(texts, i, context);
            return false;
        }
    return true;
}

void text_destruct(void *values, uint32_t count, void *context)
{
    (void)context;
    Text *texts = values;
    for (uint32_t i = 0; i < count; ++i)
        text_drop(&texts[i]);
}

bool text_copy(void *to, const void *from, uint32_t count, void *context)
{
    const Text *source = from;
    Text *texts = to;
    for (uint32_t i = 0; i < count; ++i) {
        if (!text_fill(&texts[i], source[i].characters)) {
            text_destruct(texts, i, context);
            return false;
        }
        texts[i].length = source[i].length; /* which a file may have changed */
    }
    return true;
}

/* What is moved from is poisoned, so that a core that reads or drops it again is caught. */
void text_move(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    Text *source = from;
    Text *texts = to;
    for (uint32_t i = 0; i < count; ++i) {
        texts[i] = source[i];
        source[i] = (Text){NULL, 0xdeadu};
    }
}

mica_component monster_id_elsewhere(void)
{
    return MICA_ID(Monster);
}
