/* Mistakes that a compiler must catch: each program in compile_fail compiles, and with -DMISTAKE it does not. */
#define _POSIX_C_SOURCE 200809L
#include "../support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct compilation {
    bool works;
    char said[8192];
} compilation;

/* Tests run in the project's root. */
static compilation compile(const char *program, const char *options)
{
    compilation result = {false, ""};
    const char *compiler = getenv("CC");
    char said_path[] = "/tmp/mica_compile_fail_XXXXXX", command[2048];
    int said = mkstemp(said_path);
    ck_assert_msg(said >= 0, "a file for what the compiler says is made");
    int length = snprintf(command, sizeof command,
                          "LC_ALL=C %s -std=c17 -Wall -Wextra -Werror -fsyntax-only %s -Iinclude "
                          "'tests/core/compile_fail/%s.c' > '%s' 2>&1",
                          compiler && *compiler ? compiler : "cc", options, program, said_path);
    ck_assert_msg(length > 0 && length < (int)sizeof command, "the command fits");
    result.works = system(command) == 0;
    ssize_t count = read(said, result.said, sizeof result.said - 1);
    result.said[count > 0 ? count : 0] = 0;
    close(said);
    unlink(said_path);
    return result;
}

/* What the compiler must say is a fragment that gcc and clang share. */
static const struct {
    const char *program;
    const char *says;
} mistakes[] = {
    {"undescribed_component", "mica_type_of_Undescribed"},
    {"pointer_field", "Mica cannot describe "},
    {"text_pointer_field", "Mica cannot describe "},
    {"void_pointer_field", "Mica cannot describe "},
    {"constant_pointer_field", "Mica cannot describe "},
    {"function_field", "Mica cannot describe "},
    {"list_without_its_type", "Mica needs the type of the elements of "},
    {"nested_struct_without_its_type", "Mica cannot describe "},
    {"misspelt_field", "why"},
    {"value_for_a_tag", "incomplete"},
    {"value_of_a_tag", "Frozen"},
    {"change_what_is_only_read", "x"},
    {"change_a_read_column", "x"},
    {"column_of_another_type", "incompatible"},
    {"component_of_another_type", "incompatible"},
};

START_TEST(mistakes_do_not_compile)
{
    for (uint32_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i) {
        compilation right = compile(mistakes[i].program, "");
        ck_assert_msg(right.works, "%s without its mistake compiles:\n%s", mistakes[i].program, right.said);
        compilation wrong = compile(mistakes[i].program, "-DMISTAKE");
        ck_assert_msg(!wrong.works, "%s compiles", mistakes[i].program);
        ck_assert_msg(strstr(wrong.said, mistakes[i].says) != NULL, "%s: the compiler does not say '%s':\n%s",
                      mistakes[i].program, mistakes[i].says, wrong.said);
    }
}
END_TEST

TEST_SUITE(compile_fail, mistakes_do_not_compile)
