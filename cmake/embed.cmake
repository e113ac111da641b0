# Writes the bytes of INPUT as the array inspector_page to OUTPUT.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <stddef.h>
extern const unsigned char inspector_page[];
extern const size_t inspector_page_bytes;
const size_t inspector_page_bytes = ${count};
const unsigned char inspector_page[] = {${bytes}};
")
