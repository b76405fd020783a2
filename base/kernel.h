/* Kernels: the same hot loops written for several instruction sets, all with the same results to
 * the bit. One kernel is chosen once, for all loops together. */
#ifndef KINFS_BASE_KERNEL_H
#define KINFS_BASE_KERNEL_H

enum kernel {
    KERNEL_SCALAR, /* portable C */
    KERNEL_AVX2,   /* x86-64: AVX2, BMI, BMI2, PCLMULQDQ (Haswell, Zen) */
    KERNEL_AVX512, /* x86-64: AVX-512 F BW DQ VL VBMI VBMI2 VPOPCNTDQ, VPCLMULQDQ (Ice Lake, Zen 4)
                    */
    KERNEL_NEON,   /* AArch64: with PMULL */
    KERNEL_N,
};

const char *kernel_name(enum kernel kernel); /* "scalar", "avx2", "avx512", "neon" */

/* True when this processor, and this program, have the kernel. Any thread. */
int kernel_is_there(enum kernel kernel);

/* The kernel in use: the one that the environment variable KINFS_KERNEL names, else the best there
 * is. A name of no kernel, or of one that is not there, is ignored here; a program tells the user
 * by kernel_refused(). The environment is read once. Any thread.
 */
enum kernel kernel_in_use(void);

/* The value of KINFS_KERNEL when it names no kernel that this processor has, else NULL. */
const char *kernel_refused(void);

#endif
