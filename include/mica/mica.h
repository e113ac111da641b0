/* Mica: a data-oriented Entity Component System. This header includes the core.
 *
 * A world holds entities. A component is a plain C struct, described once. A query iterates the entities that have certain
 * components, as plain arrays. During iteration, changes are recorded and applied at the flush.
 * Start with examples/hello.c; then read describe.h, entity.h, query.h and command.h. Systems are in mica/flow.h. */
#ifndef MICA_H
#define MICA_H

#include "mica/base.h"
#include "mica/batch.h"
#include "mica/bulk.h"
#include "mica/command.h"
#include "mica/component.h"
#include "mica/describe.h"
#include "mica/disable.h"
#include "mica/entity.h"
#include "mica/event.h"
#include "mica/handle.h"
#include "mica/hook.h"
#include "mica/list.h"
#include "mica/name.h"
#include "mica/pool.h"
#include "mica/query.h"
#include "mica/query_text.h"
#include "mica/ref.h"
#include "mica/removal.h"
#include "mica/singleton.h"
#include "mica/split.h"
#include "mica/state.h"
#include "mica/text.h"
#include "mica/view.h"
#include "mica/world.h"

#endif
