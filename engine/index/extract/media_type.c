#include "engine/index/extract/media_type.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef KINFS_HAVE_MAGIC
#include <magic.h>
#endif

/* The head of a file has the marks of nearly all types; more of it only takes libmagic longer. */
enum { HEAD_BYTES = 4096 };

/* A type of this list is never that of a text, so no rule for texts tells it. A type that is
 * missing here costs a question about texts that is asked in vain. */
bool media_type_is_of_bytes(const char *type)
{
    static const char *const beginnings[] = {
        "audio/",
        "font/",
        "video/",
        "image/bmp",
        "image/gif",
        "image/heic",
        "image/jp",
        "image/png",
        "image/tiff",
        "image/vnd.",
        "image/webp",
        "application/gzip",
        "application/msword",
        "application/pdf",
        "application/postscript",
        "application/vnd.ms-",
        "application/vnd.oasis.",
        "application/vnd.openxmlformats-",
        "application/x-7z-compressed",
        "application/x-bzip2",
        "application/x-dvi",
        "application/x-ole-storage",
        "application/x-rar",
        "application/x-sqlite3",
        "application/x-xz",
        "application/zip",
        "application/zstd",
    };
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncasecmp(type, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

#ifdef KINFS_HAVE_MAGIC
/* By its bytes alone: nothing is unpacked, and charsets are told by engine/text. The reader of OLE
 * documents, a parser of sectors and properties, is not let at hostile bytes; the rules for bytes
 * tell these by the class of their root. */
enum {
    ASK_ALL = MAGIC_MIME_TYPE | MAGIC_ERROR | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_ELF |
              MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_ENCODING,
    ASK_BYTES = ASK_ALL | MAGIC_NO_CHECK_TEXT,
};

/* Not what the environment names, or lies in somebody's home: the library maps it, and who owns it
 * may change it while it is read. */
#define SYSTEM_DATABASE "/etc/magic:/usr/share/misc/magic"

struct media_teller {
    magic_t magic;
};

int media_teller_new(struct media_teller **ret_teller)
{
    struct media_teller *teller = calloc(1, sizeof(*teller));
    if (!teller)
        return -ENOMEM;
    teller->magic = magic_open(ASK_ALL);
    if (!teller->magic || magic_load(teller->magic, SYSTEM_DATABASE) < 0) {
        media_teller_free(teller);
        return -ENOMEM;
    }
    *ret_teller = teller;
    return 0;
}

void media_teller_free(struct media_teller *teller)
{
    if (teller && teller->magic)
        magic_close(teller->magic);
    free(teller);
}

static const char *ask(struct media_teller *teller, int flags, const void *head, size_t size_bytes)
{
    magic_setflags(teller->magic, flags);
    return magic_buffer(teller->magic, head, size_bytes < HEAD_BYTES ? size_bytes : HEAD_BYTES);
}

const char *media_teller_bytes(struct media_teller *teller, const void *head, size_t size_bytes)
{
    static const uint8_t ole[] = {0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1};
    const char *found = ask(teller, ASK_BYTES, head, size_bytes);
    if (found && strcmp(found, "application/octet-stream") != 0)
        return found;
    /* Its root is often further on. */
    return size_bytes >= sizeof(ole) && memcmp(head, ole, sizeof(ole)) == 0
               ? "application/x-ole-storage"
               : NULL;
}

const char *media_teller_text(struct media_teller *teller, const void *head, size_t size_bytes)
{
    return ask(teller, ASK_ALL, head, size_bytes);
}

#else

int media_teller_new(struct media_teller **ret_teller)
{
    (void)ret_teller;
    return -EOPNOTSUPP;
}

void media_teller_free(struct media_teller *teller)
{
    (void)teller;
}

const char *media_teller_bytes(struct media_teller *teller, const void *head, size_t size_bytes)
{
    (void)teller;
    (void)head;
    (void)size_bytes;
    return NULL;
}

const char *media_teller_text(struct media_teller *teller, const void *head, size_t size_bytes)
{
    return media_teller_bytes(teller, head, size_bytes);
}
#endif
