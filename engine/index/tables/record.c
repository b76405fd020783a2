/* Layout of a stored record (big endian):
 *
 *   0   version        1    RECORD_VERSION
 *   1   type           1    enum text_type
 *   2   charset        1    enum text_charset
 *   3   codec          1    enum text_codec
 *   4   flags          1    FLAG_CUT, FLAG_DAMAGED
 *   5   key size       1    FILE_KEY_MIN_BYTES..FILE_KEY_MAX_BYTES
 *   6   file key       n
 *   +0  size           8
 *   +8  mtime          8+4  seconds, nanoseconds
 *   +20 ctime          8+4
 *   +32 fingerprints   3*16 content, text, shingles
 *   +80 sketch         the rest, min_sketch_encode()
 */
#include "engine/index/tables/record.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/ratio.h"
#include "engine/index/tables/sid.h"

enum { RECORD_VERSION = 2, HEAD_BYTES = 6, BODY_BYTES = 32 + 3 * FINGERPRINT_BYTES };
enum { FLAG_CUT = 1, FLAG_DAMAGED = 2 };

static bool same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, FINGERPRINT_BYTES) == 0;
}

int record_take_sketch(struct record *record, const struct document_sketch *sketch)
{
    record->form = sketch->form;
    memcpy(record->content_fingerprint, sketch->content_fingerprint, FINGERPRINT_BYTES);
    memcpy(record->text_fingerprint, sketch->text_fingerprint, FINGERPRINT_BYTES);
    memcpy(record->shingle_fingerprint, sketch->shingle_fingerprint, FINGERPRINT_BYTES);
    return min_sketch_copy(&sketch->sketch, &record->sketch);
}

static bool knows_text(const struct record *record)
{
    return document_text_is_known(&record->form, &record->sketch);
}

void record_class(const struct record *record, uint8_t ret_class[CLASS_BYTES])
{
    bool text = knows_text(record);
    ret_class[0] = text ? 'T' : 'C';
    memcpy(ret_class + 1, text ? record->text_fingerprint : record->content_fingerprint,
           FINGERPRINT_BYTES);
}

uint64_t record_class_number(const uint8_t class_id[CLASS_BYTES])
{
    const uint64_t number = get_be64(class_id + 1) ^ class_id[0];
    return number ? number : 1;
}

bool record_same_text(const struct record *a, const struct record *b)
{
    return knows_text(a) && knows_text(b) && same(a->text_fingerprint, b->text_fingerprint);
}

static bool are_equal(const struct record *a, const struct record *b)
{
    return same(a->content_fingerprint, b->content_fingerprint) || record_same_text(a, b);
}

typedef int (*estimate_fn)(const struct min_sketch *a, const struct min_sketch *b,
                           struct estimate *ret_estimate);

/* Returns 1 where the two are equal, 0, or -EPROTO. */
static int estimate_equal(const struct record *a, const struct record *b,
                          struct estimate *ret_estimate)
{
    if (a->sketch.policy_id != b->sketch.policy_id)
        return -EPROTO;
    if (!are_equal(a, b))
        return 0;
    *ret_estimate = (struct estimate){.value = 1.0, .exact = true};
    return 1;
}

/* An estimate of documents that are not equal stays below one. */
static int below_one(int r, struct estimate *estimate)
{
    if (r == 0 && estimate->value > RATIO_BELOW_ONE)
        estimate->value = RATIO_BELOW_ONE;
    return r;
}

static int estimate_by(estimate_fn function, const struct record *a, const struct record *b,
                       struct estimate *ret_estimate)
{
    int r = estimate_equal(a, b, ret_estimate);
    if (r != 0)
        return r < 0 ? r : 0;
    r = a->sketch.n_values ? function(&a->sketch, &b->sketch, ret_estimate) : -ENODATA;
    return below_one(r, ret_estimate);
}

int record_resemblance(const struct record *a, const struct record *b,
                       struct estimate *ret_estimate)
{
    /* The empty one first: nothing resembles it but what is equal. */
    bool b_empty = b->sketch.n_values == 0;
    int r = estimate_by(min_sketch_resemblance, b_empty ? b : a, b_empty ? a : b, ret_estimate);
    if (r != -ENODATA)
        return r;
    *ret_estimate = (struct estimate){.value = 0.0, .exact = true};
    return 0;
}

int record_containment(const struct record *a, const struct record *b,
                       struct estimate *ret_estimate)
{
    return estimate_by(min_sketch_containment, a, b, ret_estimate);
}

int record_containment_in(const struct record *a, const struct record *b, const uint64_t *all,
                          size_t n_all, struct estimate *ret_estimate)
{
    int r = estimate_equal(a, b, ret_estimate);
    if (r != 0)
        return r < 0 ? r : 0;
    return below_one(min_sketch_containment_in(&a->sketch, all, n_all, ret_estimate), ret_estimate);
}

static void put_time(uint8_t *p, const struct timespec *time)
{
    put_be64(p, (uint64_t)time->tv_sec);
    put_be32(p + 8, (uint32_t)time->tv_nsec);
}

static int get_time(const uint8_t *p, struct timespec *ret_time)
{
    uint32_t nsec = get_be32(p + 8);
    if (nsec >= 1000000000)
        return -EUCLEAN;
    *ret_time = (struct timespec){.tv_sec = (time_t)get_be64(p), .tv_nsec = (long)nsec};
    return 0;
}

struct kv_slice record_key(struct record_key *key, uint64_t sid)
{
    put_be64(key->bytes, sid);
    return (struct kv_slice){key->bytes, sizeof(key->bytes)};
}

int record_decode_key(struct kv_slice key, uint64_t *ret_sid)
{
    return key.size_bytes == sizeof(uint64_t) ? sid_decode(key.data, ret_sid) : -EUCLEAN;
}

int record_encode(const struct record *record, struct kv_buf *ret_value)
{
    size_t key_bytes = record->key.size_bytes;
    size_t size = HEAD_BYTES + key_bytes + BODY_BYTES + min_sketch_encoded_bytes(&record->sketch);
    uint8_t *data = malloc(size), *p = data;
    if (!data)
        return -ENOMEM;

    *p++ = RECORD_VERSION;
    *p++ = (uint8_t)record->form.type;
    *p++ = (uint8_t)record->form.charset;
    *p++ = (uint8_t)record->form.codec;
    *p++ = (uint8_t)((record->form.cut ? FLAG_CUT : 0) | (record->form.damaged ? FLAG_DAMAGED : 0));
    *p++ = (uint8_t)key_bytes;
    memcpy(p, record->key.bytes, key_bytes);
    p += key_bytes;
    put_be64(p, record->size_bytes);
    put_time(p + 8, &record->mtime);
    put_time(p + 20, &record->ctime);
    memcpy(p + 32, record->content_fingerprint, FINGERPRINT_BYTES);
    memcpy(p + 48, record->text_fingerprint, FINGERPRINT_BYTES);
    memcpy(p + 64, record->shingle_fingerprint, FINGERPRINT_BYTES);
    min_sketch_encode(&record->sketch, p + BODY_BYTES);
    *ret_value = (struct kv_buf){data, size};
    return 0;
}

int record_decode(const void *data, size_t size_bytes, struct record *ret_record)
{
    const uint8_t *p = data;
    struct record record = {0};

    if (size_bytes < HEAD_BYTES || p[0] != RECORD_VERSION || p[1] >= TEXT_N_TYPES ||
        p[2] >= TEXT_N_CHARSETS || p[3] >= TEXT_N_CODECS || p[4] > (FLAG_CUT | FLAG_DAMAGED) ||
        p[5] < FILE_KEY_MIN_BYTES || p[5] > FILE_KEY_MAX_BYTES)
        return -EUCLEAN;
    size_t before_sketch = HEAD_BYTES + p[5] + BODY_BYTES;
    if (size_bytes < before_sketch)
        return -EUCLEAN;

    record.form = (struct text_form){.type = p[1],
                                     .charset = p[2],
                                     .codec = p[3],
                                     .cut = p[4] & FLAG_CUT,
                                     .damaged = p[4] & FLAG_DAMAGED};
    record.key.size_bytes = p[5];
    memcpy(record.key.bytes, p + HEAD_BYTES, p[5]);
    p += HEAD_BYTES + p[5];
    record.size_bytes = get_be64(p);
    if (get_time(p + 8, &record.mtime) < 0 || get_time(p + 20, &record.ctime) < 0)
        return -EUCLEAN;
    memcpy(record.content_fingerprint, p + 32, FINGERPRINT_BYTES);
    memcpy(record.text_fingerprint, p + 48, FINGERPRINT_BYTES);
    memcpy(record.shingle_fingerprint, p + 64, FINGERPRINT_BYTES);
    int r = min_sketch_decode(p + BODY_BYTES, size_bytes - before_sketch, &record.sketch);
    if (r < 0)
        return r;
    *ret_record = record;
    return 0;
}

void record_done(struct record *record)
{
    min_sketch_done(&record->sketch);
    *record = (struct record){0};
}
