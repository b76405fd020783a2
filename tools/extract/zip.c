#include "tools/extract/zip.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "tools/extract/extract.h"

enum { BLOCK_BYTES = 1 << 16 };

static void note(struct zip *zip)
{
    const char *why = zip->archive ? archive_error_string(zip->archive) : NULL;
    zip->damaged = true;
    if (why && !*zip->why)
        snprintf(zip->why, sizeof(zip->why), "%s", why);
}

static bool open_archive(struct zip *zip)
{
    const bool is_at_beginning = !zip->opened || lseek(STDIN_FILENO, 0, SEEK_SET) == 0;
    zip->opened = true;
    zip->archive = archive_read_new();
    if (zip->archive && is_at_beginning &&
        archive_read_support_format_zip(zip->archive) == ARCHIVE_OK &&
        archive_read_open_fd(zip->archive, STDIN_FILENO, BLOCK_BYTES) == ARCHIVE_OK)
        return true;
    note(zip);
    return false;
}

static void close_archive(struct zip *zip)
{
    zip->encrypted |= zip->archive && archive_read_has_encrypted_entries(zip->archive) > 0;
    archive_read_free(zip->archive);
    zip->archive = NULL;
}

/* The name of the next member, NULL: there is none, or zip cannot be read on. */
static const char *next(struct zip *zip)
{
    struct archive_entry *entry;
    zip->cut |= extract_clock_is_over(&zip->clock);
    while (!zip->cut && !zip->damaged) {
        int r = archive_read_next_header(zip->archive, &entry);
        if (r == ARCHIVE_EOF)
            return NULL;
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
            note(zip);
            return NULL;
        }
        const char *name = archive_entry_pathname(entry);
        if (name)
            return name;
    }
    return NULL;
}

void zip_begin(struct zip *zip)
{
    *zip = (struct zip){.clock = extract_clock_start()};
}

bool zip_names(struct zip *zip, void (*take)(void *user, const char *name), void *user)
{
    const char *name;
    if (open_archive(zip))
        while ((name = next(zip)))
            take(user, name);
    close_archive(zip);
    return !zip->cut && !zip->damaged;
}

/* From a wanted member on, those that the archive has behind each other in this order too. Returns
 * how many. */
static size_t run_through(struct zip *zip, char *const *names, size_t n,
                          void (*take)(void *user, const char *name), void *user)
{
    size_t n_taken = 0;
    const char *name;
    while (n_taken < n && (name = next(zip)))
        if (strcmp(name, names[n_taken]) == 0)
            take(user, names[n_taken++]);
    return n_taken;
}

void zip_members(struct zip *zip, char *const *names, size_t n,
                 void (*take)(void *user, const char *name), void *user)
{
    for (size_t at = 0, n_taken; at < n && !zip->cut && !zip->damaged; at += n_taken) {
        n_taken = open_archive(zip) ? run_through(zip, names + at, n - at, take, user) : 0;
        close_archive(zip);
        if (n_taken == 0)
            n_taken = 1; /* it is not there */
    }
}

int zip_read(void *user, char *buffer, int size_bytes)
{
    struct zip *zip = user;
    la_ssize_t n = archive_read_data(zip->archive, buffer, (size_t)size_bytes);
    if (n < 0)
        note(zip);
    return n < 0 ? -1 : (int)n;
}

int zip_complain(const char *what)
{
    fprintf(stderr, "\n%s\n", what);
    return 1;
}

int zip_end(struct zip *zip, const char *xml)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return zip_complain("standard output cannot be written");
    if (zip->cut)
        return EXTRACT_CUT;
    if (zip->encrypted)
        return zip_complain("encrypted");
    if (!zip->damaged)
        return 0;
    const char *why = xml ? xml : *zip->why ? zip->why : NULL;
    fprintf(stderr, "\ndamaged%s%s\n", why ? ": " : "", why ? why : "");
    return 1;
}
