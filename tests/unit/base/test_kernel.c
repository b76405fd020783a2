#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kernel.h"

/* The environment is read once in a process: each case has its own. The child's exit code is the
 * kernel in use, and 16 when the wanted one was refused. */
static int with(const char *wanted)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (wanted)
            setenv("KINFS_KERNEL", wanted, 1);
        else
            unsetenv("KINFS_KERNEL");
        int code = (int)kernel_in_use();
        _exit(kernel_refused() ? code | 16 : code);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_kernel__best_one_is_used_unless_another_is_forced(void **state)
{
    (void)state;
    int best = with(NULL);
    assert_in_range(best, 0, KERNEL_N - 1);
    assert_int_equal(with(""), best);
    for (int i = 0; i < KERNEL_N; i++) {
        if (kernel_is_there((enum kernel)i)) {
            assert_true(i <= best);
            assert_int_equal(with(kernel_name((enum kernel)i)), i);
        } else {
            assert_int_equal(with(kernel_name((enum kernel)i)), best | 16);
        }
    }
    assert_int_equal(with("abacus"), best | 16);
}

/* The other route: what the system says of the processor. */
static void test_kernel__there_is_what_the_system_lists(void **state)
{
    (void)state;
    assert_true(kernel_is_there(KERNEL_SCALAR));
#if defined(__x86_64__)
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (file && getline(&line, &room, file) >= 0) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        found = true;
        line[strcspn(line, "\n")] = ' ';
        assert_int_equal(kernel_is_there(KERNEL_AVX2) != 0,
                         strstr(line, " avx2 ") && strstr(line, " bmi2 ") &&
                             strstr(line, " bmi1 ") && strstr(line, " pclmulqdq "));
        assert_int_equal(kernel_is_there(KERNEL_AVX512) != 0,
                         strstr(line, " avx512vbmi ") && strstr(line, " avx512_vbmi2 ") &&
                             strstr(line, " vpclmulqdq ") && strstr(line, " avx512dq "));
        break;
    }
    free(line);
    if (file)
        fclose(file);
    if (!found)
        skip();
    assert_false(kernel_is_there(KERNEL_NEON));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel__best_one_is_used_unless_another_is_forced),
        cmocka_unit_test(test_kernel__there_is_what_the_system_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
