/* The kernel is chosen at the first question, once for the process: the last one in the order of
 * enum kernel that this processor has, or the one that KINFS_KERNEL names.
 *
 * Example: KINFS_KERNEL=scalar has all hot loops run in portable C, to compare the results with
 * those of vectors. KINFS_KERNEL=neon on x86-64 is refused, and the best one is used.
 */
#include "base/kernel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static const char *const names[KERNEL_N] = {"scalar", "avx2", "avx512", "neon"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum kernel in_use;
static const char *refused;

const char *kernel_name(enum kernel kernel)
{
    return names[kernel];
}

int kernel_is_there(enum kernel kernel)
{
    switch (kernel) {
    case KERNEL_SCALAR: return 1;
#if defined(__x86_64__)
    case KERNEL_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
    case KERNEL_AVX512:
        return kernel_is_there(KERNEL_AVX2) && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq") &&
               __builtin_cpu_supports("vpclmulqdq");
#elif defined(__aarch64__)
    case KERNEL_NEON: return (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
#endif
    default: return 0;
    }
}

static void settle(void)
{
    for (int i = 0; i < KERNEL_N; i++)
        if (kernel_is_there((enum kernel)i))
            in_use = (enum kernel)i;

    const char *wanted = getenv("KINFS_KERNEL");
    if (!wanted || !*wanted)
        return;
    for (int i = 0; i < KERNEL_N; i++) {
        if (strcmp(wanted, names[i]) == 0 && kernel_is_there((enum kernel)i)) {
            in_use = (enum kernel)i;
            return;
        }
    }
    refused = wanted;
}

enum kernel kernel_in_use(void)
{
    pthread_once(&once, settle);
    return in_use;
}

const char *kernel_refused(void)
{
    pthread_once(&once, settle);
    return refused;
}
