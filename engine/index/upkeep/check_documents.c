/* Files, records and classes: each sketched file has one record, each record one file, and a row in
 * its class. What hangs on records besides is fed from the same walk. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/left_out.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/tables/classes.h"
#include "engine/index/tables/sid.h"

/* Sids of which it is known at once who is not the first of its class: 32 MiB. Of others it is
 * looked up, one by one: as many as there are records, whatever the store says that it has given
 * out. */
enum { KNOWN_SIDS = 1 << 28 };

enum { CLASS_KEY_BYTES = CLASS_BYTES + 8 };

/* -- all documents, and whether they are the first of their class -- */

struct walk {
    struct check *check;
    uint64_t n_sids; /* the first ones, so many */
    uint8_t *later;  /* a bit each: not the first */
    uint8_t class_id[CLASS_BYTES];
    bool some, telling; /* of rows that do not decode */
    check_document_fn visit;
    void *user;
};

static int mark_later(void *user, const struct kv_entry *row)
{
    struct walk *walk = user;
    const uint8_t *p = row->key.data;
    if (row->key.size_bytes != CLASS_KEY_BYTES)
        return 0;
    bool first = !walk->some || memcmp(walk->class_id, p, CLASS_BYTES) != 0;
    uint64_t sid = get_be64(p + CLASS_BYTES);
    walk->some = true;
    memcpy(walk->class_id, p, CLASS_BYTES);
    if (!first && sid < walk->n_sids)
        walk->later[sid / 8] |= (uint8_t)(1 << sid % 8);
    return 0;
}

static int is_first(const struct walk *walk, uint64_t sid, const struct record *record)
{
    if (sid >= walk->check->state.sid_end) /* never given out, which is told of */
        return 1;
    if (sid >= walk->n_sids)
        return check_is_first(walk->check, sid, record);
    return !(walk->later[sid / 8] >> sid % 8 & 1);
}

static int visit_record(void *user, const struct kv_entry *row)
{
    struct walk *walk = user;
    _cleanup_(record_done) struct record record = {0};
    uint64_t sid;
    int r = record_decode_key(row->key, &sid);
    if (r == 0)
        r = record_decode(row->value.data, row->value.size_bytes, &record);
    if (r == -EUCLEAN)
        return walk->telling ? check_bad_row(walk->check, TABLE_RECORDS, row) : 0;
    if (r < 0)
        return r;
    r = is_first(walk, sid, &record);
    if (r < 0)
        return r;
    const struct check_document document = {.sid = sid, .record = &record, .is_first = r > 0};
    return walk->visit(walk->user, &document);
}

static int each_document(struct check *check, bool telling, check_document_fn visit, void *user)
{
    uint64_t n_sids = check->state.sid_end < KNOWN_SIDS ? check->state.sid_end : KNOWN_SIDS;
    _cleanup_free_ uint8_t *later = calloc(1, n_sids / 8 + 1);
    if (!later)
        return -ENOMEM;
    struct walk walk = {.check = check,
                        .n_sids = n_sids,
                        .later = later,
                        .telling = telling,
                        .visit = visit,
                        .user = user};
    int r = check_each_row(check, TABLE_CLASSES, (struct kv_slice){0}, mark_later, &walk);
    if (r == 0)
        r = check_each_row(check, TABLE_RECORDS, (struct kv_slice){0}, visit_record, &walk);
    return r;
}

int check_each_document(struct check *check, check_document_fn visit, void *user)
{
    return each_document(check, false, visit, user);
}

int check_is_first(struct check *check, uint64_t sid, const struct record *record)
{
    _cleanup_(number_vector_done) struct number_vector first = {0};
    uint8_t class_id[CLASS_BYTES];
    record_class(record, class_id);
    int r = classes_list(check->kv, class_id, 0, 1, &first);
    if (r == -EUCLEAN || r == -EIO)
        return check_read_failed(check, TABLE_CLASSES, r);
    return r < 0 ? r : first.n_numbers > 0 && first.numbers[0] == sid;
}

/* -- the three tables -- */

struct documents {
    struct check *check;
    struct check_tally *owners;  /* sid and key: of files, less those of records */
    struct check_tally *classes; /* rows: that there are to be, less those that are */
    struct check_postings *postings[POSTINGS_N_TIERS];
    struct check_members *members;
};

struct owner {
    uint8_t bytes[8 + 1 + FILE_KEY_MAX_BYTES];
    size_t size_bytes;
};

static struct owner owner_of(uint64_t sid, const struct file_key *key)
{
    struct owner owner = {.size_bytes = 9u + key->size_bytes};
    put_be64(owner.bytes, sid);
    owner.bytes[8] = key->size_bytes;
    memcpy(owner.bytes + 9, key->bytes, key->size_bytes);
    return owner;
}

static int take_file(void *user, const struct kv_entry *row)
{
    struct documents *documents = user;
    struct check *check = documents->check;
    struct file_key key;
    struct file_row file;
    if (catalogue_decode_file(row, &key, &file) < 0)
        return check_bad_row(check, TABLE_FILES, row);
    if (!file.sid) {
        check->counts->skipped += !is_left_out(file.reason);
        return 0;
    }
    check->counts->documents++;
    struct owner owner = owner_of(file.sid, &key);
    check_tally_add(documents->owners, file.sid, owner.bytes, owner.size_bytes);
    return 0;
}

/* The rules that a record keeps by itself. */
static int check_sketch(struct check *check, const struct check_document *document)
{
    const struct record *record = document->record;
    uint8_t fingerprint[FINGERPRINT_BYTES];
    if (check->state.has_policy && record->sketch.policy_id != check->state.policy_id)
        return check_found(check, CHECK_RECORDS, TABLE_RECORDS, &record->key,
                           "its sketch was made under another policy");
    if (record->sketch.n_values) {
        min_sketch_fingerprint(&record->sketch, fingerprint);
        if (memcmp(fingerprint, record->shingle_fingerprint, FINGERPRINT_BYTES) != 0)
            return check_found(check, CHECK_RECORDS, TABLE_RECORDS, &record->key,
                               "its sketch is not the one that its fingerprint was made of");
    }
    if (document->sid == 0 || document->sid >= check->state.sid_end)
        return check_found(check, CHECK_RECORDS, TABLE_RECORDS, &record->key,
                           "its number %llu was never given out",
                           (unsigned long long)document->sid);
    return 0;
}

static void class_key(uint8_t key[CLASS_KEY_BYTES], uint64_t sid, const struct record *record)
{
    record_class(record, key);
    put_be64(key + CLASS_BYTES, sid);
}

static int take_document(void *user, const struct check_document *document)
{
    struct documents *documents = user;
    struct owner owner = owner_of(document->sid, &document->record->key);
    uint8_t key[CLASS_KEY_BYTES];
    documents->check->counts->records++;
    int r = check_sketch(documents->check, document);
    if (r < 0)
        return r;
    class_key(key, document->sid, document->record);
    check_tally_take(documents->owners, document->sid, owner.bytes, owner.size_bytes);
    check_tally_add(documents->classes, document->sid, key, sizeof(key));
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++)
        check_postings_expect(documents->postings[tier], document);
    return check_members_expect(documents->members, document);
}

static int take_class(void *user, const struct kv_entry *row)
{
    struct documents *documents = user;
    const uint8_t *p = row->key.data;
    uint64_t sid;
    if (row->key.size_bytes != CLASS_KEY_BYTES || (p[0] != 'T' && p[0] != 'C') ||
        row->value.size_bytes || sid_decode(p + CLASS_BYTES, &sid) < 0)
        return check_bad_row(documents->check, TABLE_CLASSES, row);
    documents->check->counts->classes++;
    check_tally_take(documents->classes, sid, p, CLASS_KEY_BYTES);
    return 0;
}

/* -- one by one, where they differ -- */

/* A file whose row names a record that is not there, or another's. */
static int look_up_record(void *user, const struct kv_entry *row)
{
    struct documents *documents = user;
    struct check *check = documents->check;
    _cleanup_(record_done) struct record record = {0};
    struct file_key key;
    struct file_row file;
    if (catalogue_decode_file(row, &key, &file) < 0 || !file.sid ||
        check_tally_is_even(documents->owners, file.sid))
        return 0;
    int r = check_record(check, file.sid, &record);
    if (r < 0 || (r > 0 && file_key_equal(&record.key, &key)))
        return r < 0 ? r : 0;
    struct owner owner = owner_of(file.sid, &key);
    check_tally_take(documents->owners, file.sid, owner.bytes, owner.size_bytes);
    if (r == 0 && file.racy) { /* a removal was begun; the next scan reads it again */
        check->counts->unread++;
        return 0;
    }
    return check_found(check, CHECK_FILES, TABLE_FILES, &key,
                       r == 0 ? "its record (%llu) is lost"
                              : "the record (%llu) it is said to have is of another file",
                       (unsigned long long)file.sid);
}

static int look_up_file(struct documents *documents, const struct check_document *document)
{
    struct check *check = documents->check;
    const struct file_key *key = &document->record->key;
    struct file_row file;
    int r = catalogue_get_file(check->kv, key, &file);
    if (r == 0 && file.sid == document->sid)
        return 0;
    if (r == -EUCLEAN || r == -EIO)
        return check_read_failed(check, TABLE_FILES, r);
    if (r < 0 && r != -ENOENT)
        return r;
    if (check_is_underived(check, document->sid))
        return 0;
    return check_found(check, CHECK_RECORDS, TABLE_RECORDS, key,
                       r == 0 ? "has a record (%llu) besides the one its file's row names"
                              : "has a record (%llu), and no row among the files",
                       (unsigned long long)document->sid);
}

static int look_up_class(struct documents *documents, const struct check_document *document)
{
    struct check *check = documents->check;
    uint8_t bytes[CLASS_KEY_BYTES];
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct kv_slice key = {bytes, sizeof(bytes)};
    class_key(bytes, document->sid, document->record);
    int r = check_look_up(check, TABLE_CLASSES, &key, 1, &value);
    if (r != 0 || value.data)
        return r < 0 ? r : 0;
    check_tally_take(documents->classes, document->sid, bytes, sizeof(bytes));
    if (check_is_underived(check, document->sid))
        return 0;
    return check_found(check, CHECK_CLASSES, TABLE_CLASSES, &document->record->key,
                       "is not in its class (document %llu)", (unsigned long long)document->sid);
}

static int look_up_document(void *user, const struct check_document *document)
{
    struct documents *documents = user;
    const struct check *check = documents->check;
    int r = 0;
    if (!check->unreadable[TABLE_FILES] && !check_tally_is_even(documents->owners, document->sid))
        r = look_up_file(documents, document);
    if (r == 0 && !check->unreadable[TABLE_CLASSES] &&
        !check_tally_is_even(documents->classes, document->sid))
        r = look_up_class(documents, document);
    return r;
}

static int look_up_classed(void *user, const struct kv_entry *row)
{
    struct documents *documents = user;
    struct check *check = documents->check;
    _cleanup_(record_done) struct record record = {0};
    uint8_t key[CLASS_KEY_BYTES];
    uint64_t sid;
    if (row->key.size_bytes != CLASS_KEY_BYTES ||
        sid_decode((const uint8_t *)row->key.data + CLASS_BYTES, &sid) < 0)
        return 0;
    if (check_tally_is_even(documents->classes, sid))
        return 0;
    int r = check_record(check, sid, &record);
    if (r < 0)
        return r;
    if (r > 0)
        class_key(key, sid, &record);
    if (r > 0 && memcmp(key, row->key.data, sizeof(key)) == 0)
        return 0;
    return check_found(check, CHECK_CLASSES, TABLE_CLASSES, r > 0 ? &record.key : NULL,
                       r > 0 ? "document %llu is in a class that is not its own"
                             : "document %llu is in a class and does not exist",
                       (unsigned long long)sid);
}

static int compare_documents(struct documents *documents)
{
    struct check *check = documents->check;
    bool owners = check_tally_all_even(documents->owners) || check->unreadable[TABLE_FILES];
    bool classes = check_tally_all_even(documents->classes) || check->unreadable[TABLE_CLASSES];
    int r = 0;
    if (check->unreadable[TABLE_RECORDS])
        return 0;
    if (!owners)
        r = check_each_row(check, TABLE_FILES, (struct kv_slice){0}, look_up_record, documents);
    owners = owners || check_tally_all_even(documents->owners);
    if (r == 0 && (!owners || !classes))
        r = check_each_document(check, look_up_document, documents);
    if (r == 0 && !classes && !check_tally_all_even(documents->classes))
        r = check_each_row(check, TABLE_CLASSES, (struct kv_slice){0}, look_up_classed, documents);
    return r;
}

static void documents_done(struct documents *documents)
{
    check_tally_free(documents->owners);
    check_tally_free(documents->classes);
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++)
        check_postings_free(documents->postings[tier]);
    check_members_free(documents->members);
}

static int documents_init(struct documents *documents, struct check *check)
{
    *documents = (struct documents){.check = check};
    documents->owners = check_tally_new();
    documents->classes = check_tally_new();
    if (!documents->owners || !documents->classes)
        return -ENOMEM;
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++) {
        int r = check_postings_new(check, tier, &documents->postings[tier]);
        if (r < 0)
            return r;
    }
    return check_members_new(check, &documents->members);
}

int check_documents(struct check *check)
{
    _cleanup_(documents_done) struct documents documents;
    int r = documents_init(&documents, check);
    if (r == 0)
        r = check_each_row(check, TABLE_FILES, (struct kv_slice){0}, take_file, &documents);
    if (r == 0)
        r = check_each_row(check, TABLE_CLASSES, (struct kv_slice){0}, take_class, &documents);
    if (r == 0)
        r = each_document(check, true, take_document, &documents);
    if (r == 0)
        r = compare_documents(&documents);
    for (unsigned tier = 0; r == 0 && tier < POSTINGS_N_TIERS; tier++)
        r = check_postings_compare(documents.postings[tier]);
    return r < 0 ? r : check_members_compare(documents.members);
}
