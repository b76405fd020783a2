/* RocksDB cannot return an error when there is no memory or no thread left for it: operator new
 * throws, also in RocksDB's own threads, and an exception that nobody catches ends the process. The
 * handler here tells why, in one line, in place of the C++ runtime's. That runtime came with
 * RocksDB; its functions are looked up by their linker names, because its headers are not C.
 *
 * Example: for std::bad_alloc the line says that there is no memory, and the exit code is
 * KV_TERMINATED. Left out: going on. The database may be in the middle of a write. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/kv.h"
#include "store/kv_rocksdb.h"

/* std::set_terminate() and abi::__cxa_current_exception_type(): Itanium C++ ABI. */
typedef void (*terminate_fn)(void);
typedef terminate_fn (*set_terminate_fn)(terminate_fn handler);
struct type_info {
    const void *virtual_functions;
    const char *name;
};
typedef const struct type_info *(*exception_type_fn)(void);

static struct {
    void (*say)(void *user, const char *line);
    void *user;
} last_words;

static const char *cause(void)
{
    exception_type_fn exception_type =
        (exception_type_fn)dlsym(RTLD_DEFAULT, "__cxa_current_exception_type");
    const struct type_info *type = exception_type ? exception_type() : NULL;
    if (type && strstr(type->name, "bad_alloc"))
        return "there is no memory left for the store; raise the limit (ulimit -v, MemoryMax=)";
    if (type && strstr(type->name, "system_error"))
        return "there is no thread, or no memory for one, left for the store; raise the limit "
               "(ulimit -u, ulimit -v, TasksMax=)";
    return "the store cannot go on";
}

_Noreturn static void say_and_end(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    char line[256];
    if (!atomic_flag_test_and_set(&begun) && last_words.say) {
        snprintf(line, sizeof(line), "%s; this process ends, and nothing that was written is lost",
                 cause());
        last_words.say(last_words.user, line);
    }
    _exit(KV_TERMINATED);
}

void kv_set_last_words(void (*say)(void *user, const char *line), void *user)
{
    last_words.say = say;
    last_words.user = user;
    set_terminate_fn set_terminate =
        (set_terminate_fn)dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE");
    if (set_terminate)
        set_terminate(say_and_end);
}
