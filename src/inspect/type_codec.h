/* Descriptions of components as bytes, so that an inspector can define them. Functions of components and what they require are not
 * part of it. */
#ifndef MICAP_INSPECT_TYPE_CODEC_H
#define MICAP_INSPECT_TYPE_CODEC_H

#include "base/byte_stream.h"
#include "mica/component.h"

/* Writes the components of a world. */
void micap_types_write(const mica_world *world, micap_bytes *bytes);

/* Defines components in a world. Bytes may be anything: returns MICA_ERROR_DATA if they are not descriptions, MICA_ERROR_LAYOUT if a
 * component can't be defined (the world reports why), and MICA_ERROR_MEMORY. */
mica_result micap_types_read(mica_world *world, micap_reader *reader);

#endif
