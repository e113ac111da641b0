/* Reading values from text: see mica/value.h. Functions that return bool return false with an error. */
#ifndef MICAP_TYPE_VALUE_PARSE_H
#define MICAP_TYPE_VALUE_PARSE_H

#include "mica/value.h"

/* Finds an entity by its path. Nil if there is none. */
typedef mica_entity (*micap_find_fn)(const char *path, const void *context);

typedef struct micap_parser {
    const char *text;
    const char *at;
    mica_value_error *error;
    const char *field;  /* the innermost one that has a name */
    micap_find_fn find; /* NULL: references are handles only */
    const void *context;
    bool writes; /* otherwise the text is only checked */
} micap_parser;

enum { MICAP_WORD_BYTES = 128 };

/* Reports that something else was expected where the parser is. Returns false. */
bool micap_parser_expected(const micap_parser *parser, const char *what);

/* Passes over blanks and a token, if it is there. */
bool micap_parser_take(micap_parser *parser, const char *token);

/* Reads a string that is short and has no zero byte: a name. */
bool micap_parser_word(micap_parser *parser, char word[MICAP_WORD_BYTES]);

/* Reads a value, as far as it goes. If it is written, parts of it may have changed on failure. */
bool micap_parser_value(micap_parser *parser, mica_member member);

#endif
