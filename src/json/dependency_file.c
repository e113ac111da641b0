/* Dependency files of make and ninja. */
#include "base/argument.h"
#include "json/json_writer.h"
#include "mica/compile.h"

/* Escapes blanks, # and $. */
static void write_path(micap_json_writer *writer, const char *path)
{
    for (; *path; ++path) {
        if (*path == ' ' || *path == '#')
            micap_write(writer, "\\");
        if (*path == '$')
            micap_write(writer, "$");
        micap_write(writer, "%c", *path);
    }
}

mica_result mica_write_depfile(const char *path, const char *target, const char *const *files, uint32_t file_count,
                               mica_resource_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, path) || MICAP_MISSING_INTO(out_error, target) ||
        (file_count && MICAP_MISSING_INTO(out_error, files)))
        return MICA_ERROR_INVALID;
    micap_json_writer writer;
    mica_blob text;
    micap_writer_init(&writer);
    write_path(&writer, target);
    micap_write(&writer, ":");
    for (uint32_t i = 0; i < file_count; ++i) {
        micap_write(&writer, " \\\n  ");
        write_path(&writer, files[i]);
    }
    /* An empty rule for each dependency, so that make does not fail if a prefab was deleted. */
    for (uint32_t i = 1; i < file_count; ++i) {
        micap_write(&writer, "\n\n");
        write_path(&writer, files[i]);
        micap_write(&writer, ":");
    }
    mica_result result = micap_writer_finish(&writer, &text);
    if (result == MICA_OK)
        result = mica_write_file(path, text.bytes, text.byte_count, out_error);
    else if (out_error)
        *out_error = (mica_resource_error){.result = result, .text = "out of memory"};
    mica_blob_free(&text);
    return result;
}
