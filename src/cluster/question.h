/* Questions to keys, which one rank answers in groups. A question goes to the rank of its key in the first round of the exchange, the answer in the
 * second to the rank where the entity is that asked. */
#ifndef MICAP_CLUSTER_QUESTION_H
#define MICAP_CLUSTER_QUESTION_H

#include "cluster/cluster_state.h"

/* Copies the requests of a def. NULL, or what is wrong with them. */
const char *micap_questions_copy(mica_cluster *cluster, const mica_cluster_def *def);
void micap_questions_free(mica_cluster *cluster);

/* Puts questions into parcels, once it is known which entities leave. */
void micap_questions_send(mica_cluster *cluster);

/* Verifies a record and moves the reader to its end: NULL, or what is wrong. Then keeps it. */
const char *micap_questions_check(mica_cluster *cluster, micap_reader *reader);
void micap_questions_receive(mica_cluster *cluster, micap_reader *reader);
const char *micap_questions_check_answer(mica_cluster *cluster, micap_reader *reader);
void micap_questions_receive_answer(mica_cluster *cluster, micap_reader *reader);

/* Calls the handlers, and puts answers into parcels. Between the rounds. */
void micap_questions_answer(mica_cluster *cluster);

/* Sets the answers at the entities of this rank. After the second round. */
void micap_questions_deliver(mica_cluster *cluster);

#endif
