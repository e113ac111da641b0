#include "inspect/traffic_log.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "mica/component.h"
#include "mica/value.h"

/* Whether one more of this stream, or of this type of message, is listed. */
static bool takes(micap_traffic_log *log, const mica_traffic *traffic)
{
    uint32_t at = 0;
    uint64_t hash = micap_hash_text(traffic->name);
    while (at < log->source_count && (log->sources[at].kind != traffic->kind || log->sources[at].name_hash != hash))
        ++at;
    if (at == MICAP_TRAFFIC_KINDS_MAX || log->count == MICAP_TRAFFIC_FRAME_MAX)
        return false;
    if (at == log->source_count)
        log->sources[log->source_count++] = (micap_traffic_source){.kind = traffic->kind, .name_hash = hash};
    return log->sources[at].count++ < MICAP_TRAFFIC_SAME_MAX;
}

/* The text of the first value, perhaps cut. */
static void put_value(micap_bytes *bytes, const mica_traffic *traffic)
{
    char text[MICAP_TRAFFIC_VALUE_MAX + 1] = "";
    if (traffic->values && traffic->type)
        mica_value_write(mica_member_of_type(traffic->type, (void *)traffic->values), text, sizeof text);
    size_t length = strlen(text), end = 0, character;
    while (end < length && (character = micap_character_bytes((const unsigned char *)text + end, length - end)))
        end += character;
    text[end] = 0; /* not within a character */
    micap_bytes_put_text(bytes, text);
}

/* False if there is no more room for it. */
static bool add(micap_traffic_log *log, const mica_traffic *traffic)
{
    if (!takes(log, traffic)) {
        log->left_out += traffic->count ? traffic->count : 1;
        return false;
    }
    const mica_type *component = traffic->component ? mica_component_type(traffic->component) : NULL;
    micap_bytes *bytes = &log->bytes;
    ++log->count;
    micap_bytes_put_number(bytes, (uint64_t)traffic->kind);
    micap_bytes_put_text(bytes, traffic->name);
    micap_bytes_put_number(bytes, traffic->event);
    micap_bytes_put_text(bytes, component ? component->name : "");
    micap_bytes_put32(bytes, traffic->entity.index);
    micap_bytes_put32(bytes, traffic->entity.generation);
    micap_bytes_put64(bytes, traffic->key);
    micap_bytes_put_number(bytes, traffic->count);
    put_value(bytes, traffic);
    return true;
}

/* Each message of a stream is listed. */
void micap_traffic_log_add(const mica_traffic *traffic, void *context)
{
    micap_traffic_log *log = context;
    if (log->is_ignoring)
        return;
    if (traffic->kind != MICA_TRAFFIC_STREAM) {
        add(log, traffic);
        return;
    }
    mica_traffic one = *traffic;
    one.count = 1;
    for (uint32_t i = 0; i < traffic->count; ++i) {
        one.values = (const char *)traffic->values + (size_t)i * traffic->value_bytes;
        if (!add(log, &one)) {
            log->left_out += traffic->count - i - 1;
            return;
        }
    }
}

void micap_traffic_log_clear(micap_traffic_log *log)
{
    log->bytes.count = 0;
    log->bytes.failed = false;
    log->count = log->source_count = 0;
    log->left_out = 0;
}
