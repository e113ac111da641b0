/* The entities of a part of a save go to another world in the same way in which entities go to another rank. */
#ifndef MICAP_CLUSTER_PART_TRANSFER_H
#define MICAP_CLUSTER_PART_TRANSFER_H

#include "cluster/value_codec.h"
#include "mica/resource.h"

enum { MICAP_TRANSFER_TEXT_BYTES = 300 };

/* Creates the entities of a part that have identities in the world of the codec, which has their components. False with a text. */
bool micap_part_transfer(micap_codec *codec, const mica_resource *resource, char out_text[MICAP_TRANSFER_TEXT_BYTES]);

#endif
