/* Documents whose text, or features, another program has to make: which program, and a run of it.
 * Each runs apart from the daemon, confined and for a bounded time, by kinfs-extract
 * (tools/extract); nothing of it is left when extractor_run() has returned, or the daemon is dead,
 * but what no signal ends. */
#ifndef KINFS_ENGINE_INDEX_EXTRACT_EXTRACTOR_H
#define KINFS_ENGINE_INDEX_EXTRACT_EXTRACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/index/index.h"
#include "engine/text/type.h"

struct extractor {
    uint32_t id;      /* of what it is: another program, or one run otherwise, has another */
    char *name;       /* in reasons: "pdf", or the media type */
    char *media_type; /* that it is for, "audio/" for all that begin so; NULL: by text_type */
    enum text_type
        type;    /* TEXT_PDF, _OFFICE, _EPUB; TEXT_EXTRACTED of what the configuration names */
    bool lines;  /* makes features, one a line; else text in UTF-8 */
    char **argv; /* of kinfs-extract; ends with NULL */
    unsigned seconds, output_mb;
};

/* All there are, in the order in which they are asked; read-only, any thread. */
struct extractors;

/* The built-in ones that are installed, behind those of the configuration.
 *
 * left_out  types of documents that are not to be read, 1 << of each
 *
 * Returns 0, -ENOENT (there are some in the configuration, and no kinfs-extract), -EOPNOTSUPP (this
 * program was built without), -ENOMEM, with a line in *ret_error. */
int extractors_new(const struct index_extractor *configured, size_t n_configured, unsigned left_out,
                   struct extractors **ret_extractors, char **ret_error);
void extractors_free(struct extractors *extractors);
bool extractors_are_none(const struct extractors *extractors);
/* The names of the built-in ones that are not installed, static, and NULL. */
void extractors_unread(const struct extractors *extractors,
                       const char *ret_names[INDEX_UNREAD_MAX + 1]);
unsigned extractors_left_out(const struct extractors *extractors);
/* A digest of all their ids in order, and of what is left out; 0: there are none. */
uint32_t extractors_id(const struct extractors *extractors);

/* A choice of extractors, one per thread: libmagic, which is asked for the media type, has a state.
 *
 * takes_slow  whether it tells what takes long to tell; else refuses it
 *
 * Returns 0, -ENOMEM. */
struct extractor_choice;
int extractor_choice_new(const struct extractors *extractors, bool takes_slow,
                         struct extractor_choice **ret_choice);
void extractor_choice_free(struct extractor_choice *choice);

enum { EXTRACTOR_SLOW = 1 };

/* The document that is open as fd and begins with these bytes is of a type that is left out; not of
 * one that is packed, whose type is not known before it is unpacked. */
bool extractors_leave_out(const struct extractors *extractors, int fd, const void *head,
                          size_t size_bytes, enum text_type *ret_type);

/* The extractor of the document that is open as fd and begins with these bytes
 * (the first 8 KiB at least, or all), or NULL.
 *
 * Returns 0, or EXTRACTOR_SLOW: it may be a text, the configuration names extractors of types that
 * texts have, and this one does not take what is slow. Less than a microsecond; of a ZIP archive
 * some, in which its directory is read; up to 0.5 ms where the configuration names extractors, and
 * 0.2 s of a hostile text, where EXTRACTOR_SLOW is not returned. */
int extractor_choose(struct extractor_choice *choice, int fd, const void *head, size_t size_bytes,
                     const struct extractor **ret_extractor);

enum { EXTRACTOR_REASON_BYTES = 80 };

struct extractor_run {
    const struct extractor *extractor;
    int document; /* open for reading; its offset may be moved */
    void (*output)(void *user, const void *bytes, size_t size_bytes);
    bool (*stop)(void *user); /* asked about ten times a second */
    void *user;
};

/* Waits for it, for its `seconds` and little more. What cannot be ended by then is left: it goes on
 * to be ended, and once there are INDEX_EXTRACTORS_LEFT_MAX of them none is run.
 *
 * Returns 0; 1: there was more than output_mb, or it said so itself: what was put out counts; or
 * -EBADMSG with the reason, "took longer than 60 s"; -ESHUTDOWN: stopped; -ENOMEM, -EMFILE,
 * -ENFILE: no process is to be had for now. */
int extractor_run(const struct extractor_run *run, char ret_reason[EXTRACTOR_REASON_BYTES]);

/* The number of extractors of this process that no signal ended, and that have not ended since. */
unsigned extractors_left(void);

#endif
