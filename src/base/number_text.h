/* Numbers as text. */
#ifndef MICAP_BASE_NUMBER_TEXT_H
#define MICAP_BASE_NUMBER_TEXT_H

#include <stdbool.h>

enum { MICAP_NUMBER_TEXT_BYTES = 40 };

/* Writes the shortest text that reads back as the same finite number: of type float if `is_f32`, else of type double. Plain
 * notation from 0.00001 up to 15 digits before the point, an exponent otherwise; 10 is "10". The text does not depend on the
 * locale. */
void micap_number_text(double value, bool is_f32, char text[MICAP_NUMBER_TEXT_BYTES]);

#endif
