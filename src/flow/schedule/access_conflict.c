#include "flow/schedule/access_conflict.h"

#include "core/query/pattern.h"
#include "core/query/view.h"
#include "flow/schedule/index_use.h"
#include "flow/schedule/system.h"

static bool is_read(mica_access access)
{
    return micap_access_reads(access) || access == MICA_ACCESS_CHANGED || access == MICA_ACCESS_ADDED;
}

static bool is_singleton(mica_component component)
{
    return micap_type_of(component)->type.storage == MICA_STORAGE_SINGLETON;
}

/* What the system reads and writes itself. An index is made current before the system starts, and has copies. */
uint32_t micap_system_own_accesses(const micap_system *system, mica_system_access *out)
{
    const mica_system_def *def = &system->def;
    uint32_t count = 0;
    for (uint32_t i = 0; i < def->term_count; ++i)
        if (is_read(def->terms[i].access) || def->terms[i].field)
            out[count++] = (mica_system_access){.component = def->terms[i].component,
                                                .write = micap_access_writes(def->terms[i].access),
                                                .own_rows = !def->once && !micap_term_is_pattern(&def->terms[i]) &&
                                                            !is_singleton(def->terms[i].component)};
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (!def->uses[i].index)
            out[count++] = (mica_system_access){
                .component = def->uses[i].component, .stream = def->uses[i].stream, .write = def->uses[i].write};
    return count;
}

uint32_t micap_system_accesses(const micap_system *system, mica_system_access *out)
{
    const mica_system_def *def = &system->def;
    uint32_t count = micap_system_own_accesses(system, out);
    for (uint32_t i = 0; i < def->use_count; ++i)
        if (def->uses[i].index)
            out[count++] = (mica_system_access){.component = micap_index_head_of(def->uses[i].index)->component};
    return count;
}

/* Many systems may write a stream at once, and many may read it, but not both. */
bool micap_accesses_conflict(const mica_system_access *a, const mica_system_access *b)
{
    if (a->component != b->component || a->stream != b->stream)
        return false;
    return a->stream ? a->write != b->write : a->write || b->write;
}

bool micap_system_conflicts_with_itself(const micap_system *system)
{
    mica_system_access accesses[MICAP_ACCESSES_MAX];
    uint32_t count = micap_system_own_accesses(system, accesses);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = i; j < count; ++j)
            if ((!accesses[i].own_rows || !accesses[j].own_rows) && micap_accesses_conflict(&accesses[i], &accesses[j]))
                return true;
    return false;
}
