/* The operations of tests/bench/fs, timed where they happen: 10,000 opens take a native file system
 * 60 ms, which an interpreter's own loop would double.
 *
 *     bench_fs_ops OPERATION DIRECTORY [PASSES]
 *
 * Prints the seconds of each pass on a line of its own; preparing (text to write, names) is not
 * counted. What is read must be there: fill makes the one large file, dirs and create the small
 * ones; names are relative to the directory, so that its own path costs nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/clock.h"

enum {
    MIB = 1 << 20,
    LARGE_MIB = 1024,
    PAGE_BYTES = 4096,
    N_RANDOM = 262144, /* as many pages as the large file has */
    N_DIRECTORIES = 100,
    N_FILES = 10000,
    SMALL_BYTES = 5000,
    /* A tree to copy: of many small files and few large ones, 141 MB together. */
    N_TREE_DIRECTORIES = 200,
    N_TREE_FILES = 5064,
    TREE_BYTES = 141000000,
};

static const char *program;

static void end(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, strerror(errno));
    exit(3);
}

static int check(int r, const char *what)
{
    if (r < 0)
        end(what);
    return r;
}

/* xorshift64*: the same text and the same order in every run. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1DULL;
}

static void *allocate(size_t n_bytes)
{
    void *memory = malloc(n_bytes);
    if (!memory)
        end("malloc");
    return memory;
}

/* Words of three to nine letters: documents that have something to be sketched, and nothing in
 * common. */
static char *make_text(size_t n_bytes, uint64_t seed)
{
    char *text = allocate(n_bytes);
    uint64_t state = seed | 1;
    for (size_t i = 0; i < n_bytes;) {
        uint64_t bits = next_random(&state);
        size_t n_letters = 3 + bits % 7;
        for (size_t letter = 0; letter < n_letters && i < n_bytes; letter++) {
            bits /= 26;
            text[i++] = (char)('a' + bits % 26);
        }
        if (i < n_bytes)
            text[i++] = bits % 11 ? ' ' : '\n';
    }
    return text;
}

static void write_whole(int fd, const char *bytes, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t written = write(fd, bytes, n_bytes);
        if (written < 0)
            end("write");
        bytes += written;
        n_bytes -= (size_t)written;
    }
}

static double started;

static void start(void)
{
    started = clock_wall_s();
}

static void stop(void)
{
    printf("%.6f\n", clock_wall_s() - started);
}

/* -- the large file -- */

static void write_large(const char *name, int with_fsync)
{
    uint64_t state = 7;
    uint64_t *block = allocate(MIB); /* random bits: no document */
    for (size_t i = 0; i < MIB / sizeof(*block); i++)
        block[i] = next_random(&state);
    start();
    int fd = check(open(name, O_WRONLY | O_CREAT | O_EXCL, 0644), name);
    for (int i = 0; i < LARGE_MIB; i++)
        write_whole(fd, (const char *)block, MIB);
    if (with_fsync)
        check(fsync(fd), "fsync");
    check(close(fd), "close");
    stop();
    free(block);
}

static void op_fill(void)
{
    write_large("large", 0);
}

static void op_write(void)
{
    write_large("written", 0);
}

static void op_fsync(void)
{
    write_large("written", 1);
}

static void op_read(void)
{
    char *block = allocate(MIB);
    memset(block, 1, MIB);
    start();
    int fd = check(open("large", O_RDONLY), "large");
    size_t total = 0;
    for (ssize_t got; (got = read(fd, block, MIB)) != 0; total += (size_t)got)
        if (got < 0)
            end("read");
    close(fd);
    stop();
    if (total != (size_t)LARGE_MIB * MIB)
        end("the large file is short");
    free(block);
}

static volatile uint64_t large_sum; /* keeps the reading from being left out */

static void op_mmap(void)
{
    start();
    int fd = check(open("large", O_RDONLY), "large");
    size_t n_bytes = (size_t)LARGE_MIB * MIB;
    const uint64_t *map = mmap(NULL, n_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        end("mmap");
    uint64_t sum = 0;
    for (size_t i = 0; i < n_bytes / sizeof(*map); i++)
        sum += map[i];
    large_sum = sum;
    munmap((void *)map, n_bytes);
    close(fd);
    stop();
}

static void op_random(void)
{
    char page[PAGE_BYTES];
    uint64_t state = 11;
    int fd = check(open("large", O_RDONLY), "large");
    /* Some forget at open(2) what they have cached: what is hot is hot on this descriptor. */
    for (off_t offset = 0; pread(fd, page, PAGE_BYTES, offset) > 0; offset += PAGE_BYTES)
        ;
    start();
    for (int i = 0; i < N_RANDOM; i++) {
        off_t offset = (off_t)(next_random(&state) % N_RANDOM) * PAGE_BYTES;
        if (pread(fd, page, PAGE_BYTES, offset) != PAGE_BYTES)
            end("pread");
    }
    stop();
    close(fd);
}

/* -- many small files -- */

struct name {
    char text[16];
};

/* d17/42 */
static struct name *make_names(void)
{
    struct name *names = allocate(N_FILES * sizeof(*names));
    for (unsigned i = 0; i < N_FILES; i++)
        snprintf(names[i].text, sizeof(names[i].text), "d%u/%u", i / (N_FILES / N_DIRECTORIES),
                 i % (N_FILES / N_DIRECTORIES));
    return names;
}

static void op_dirs(void)
{
    char name[16];
    start();
    for (int i = 0; i < N_DIRECTORIES; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        check(mkdir(name, 0755), name);
    }
    stop();
}

static void op_create(void)
{
    struct name *names = make_names();
    char *text = make_text((size_t)N_FILES * SMALL_BYTES, 1);
    start();
    for (size_t i = 0; i < N_FILES; i++) {
        int fd = check(open(names[i].text, O_WRONLY | O_CREAT | O_EXCL, 0644), names[i].text);
        if (write(fd, text + i * SMALL_BYTES, SMALL_BYTES) != SMALL_BYTES)
            end("write");
        check(close(fd), "close");
    }
    stop();
    free(text);
    free(names);
}

static void op_open(void)
{
    struct name *names = make_names();
    static char bytes[64 << 10];
    start();
    for (size_t i = 0; i < N_FILES; i++) {
        int fd = check(open(names[i].text, O_RDONLY), names[i].text);
        if (read(fd, bytes, sizeof(bytes)) != SMALL_BYTES)
            end("read");
        close(fd);
    }
    stop();
    free(names);
}

static size_t walk_directory(int parent, const char *name)
{
    int fd = check(openat(parent, name, O_RDONLY | O_DIRECTORY), name);
    DIR *directory = fdopendir(fd);
    if (!directory)
        end(name);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        check(fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW), entry->d_name);
        n += S_ISDIR(st.st_mode) ? walk_directory(fd, entry->d_name) : 1;
    }
    closedir(directory);
    return n;
}

static void op_walk(void)
{
    start();
    size_t n = walk_directory(AT_FDCWD, ".");
    stop();
    if (n != N_FILES) {
        fprintf(stderr, "%s: %zu files where %d were made\n", program, n, N_FILES);
        exit(3);
    }
}

static void op_unlink(void)
{
    struct name *names = make_names();
    start();
    for (size_t i = 0; i < N_FILES; i++)
        check(unlink(names[i].text), names[i].text);
    stop();
    free(names);
}

/* A tree as a source for copying. Sizes are the cubes of random numbers: half the files are below
 * half of the mean. */
static void op_tree(void)
{
    uint64_t state = 3;
    double *weights = allocate(N_TREE_FILES * sizeof(*weights)), total = 0;
    for (size_t i = 0; i < N_TREE_FILES; i++) {
        double unit = (double)(next_random(&state) >> 11) / (double)(1ULL << 53);
        weights[i] = unit * unit * unit;
        total += weights[i];
    }
    start();
    for (size_t i = 0; i < N_TREE_FILES; i++) {
        char directory[16], name[48];
        size_t n_bytes = (size_t)(TREE_BYTES * (weights[i] / total)) + 1;
        snprintf(directory, sizeof(directory), "t%zu", i % N_TREE_DIRECTORIES);
        if (mkdir(directory, 0755) < 0 && errno != EEXIST)
            end(directory);
        snprintf(name, sizeof(name), "%s/%zu.txt", directory, i);
        char *text = make_text(n_bytes, i * 2 + 1000001);
        int fd = check(open(name, O_WRONLY | O_CREAT | O_EXCL, 0644), name);
        write_whole(fd, text, n_bytes);
        close(fd);
        free(text);
    }
    stop();
    free(weights);
}

static const struct operation {
    const char *name;
    void (*run)(void);
} operations[] = {
    {"fill", op_fill}, {"write", op_write},   {"fsync", op_fsync},   {"read", op_read},
    {"mmap", op_mmap}, {"random", op_random}, {"dirs", op_dirs},     {"create", op_create},
    {"open", op_open}, {"walk", op_walk},     {"unlink", op_unlink}, {"tree", op_tree},
};

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc < 3) {
        fprintf(stderr, "Usage: %s OPERATION DIRECTORY [PASSES]\n", program);
        return 2;
    }
    if (chdir(argv[2]) < 0)
        end(argv[2]);
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (strcmp(operations[i].name, argv[1]) == 0) {
            for (int pass = argc > 3 ? atoi(argv[3]) : 1; pass > 0; pass--)
                operations[i].run();
            return 0;
        }
    fprintf(stderr, "%s: no operation %s\n", program, argv[1]);
    return 2;
}
