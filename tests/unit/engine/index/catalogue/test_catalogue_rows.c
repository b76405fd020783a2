/* Rows of the catalogue, and what is refused as one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "tests/lib/fixtures/catalogue_fixture.h"

static void test_catalogue__a_file_row_comes_back_as_it_was_put(void **state)
{
    struct file_key key = key_of(3);
    struct kv_batch *batch = kv_batch_new();
    struct file_row row = {.sid = 0x123456789abcdefu,
                           .size_bytes = 1u << 31,
                           .mtime = {-5, 999999999},
                           .ctime = {1700000000, 1},
                           .racy = true,
                           .extractors_id = 0xfedcba98,
                           .read_by = 7,
                           .reason = "cannot be read: Permission denied"},
                    found;
    struct stat st = {.st_size = 1u << 31, .st_mtim = row.mtime, .st_ctim = row.ctime};
    assert_int_equal(catalogue_get_file(*state, &key, &found), -ENOENT);
    catalogue_put_file(batch, &key, &row);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &found), 0);
    assert_int_equal(found.sid, row.sid);
    assert_true(found.racy);
    assert_int_equal(found.extractors_id, row.extractors_id);
    assert_int_equal(found.read_by, row.read_by);
    assert_string_equal(found.reason, row.reason);
    assert_true(file_row_matches(&found, &st));
    st.st_ctim.tv_nsec++;
    assert_false(file_row_matches(&found, &st));
    row.extractors_id = row.read_by = 0; /* of a store of before there were any */
    kv_batch_clear(batch);
    catalogue_put_file(batch, &key, &row);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &found), 0);
    assert_int_equal(found.extractors_id, 0);
    assert_string_equal(found.reason, row.reason);
    kv_batch_clear(batch);
    catalogue_delete_file(batch, &key);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &found), -ENOENT);
    kv_batch_free(batch);
}

static void test_catalogue__damaged_rows_are_refused(void **state)
{
    struct file_key key = key_of(3), child;
    enum entry_type type;
    struct file_row row;
    uint8_t row_key[1 + FILE_KEY_MAX_BYTES + 1];
    size_t size = 1u + key.size_bytes;
    struct kv_batch *batch = kv_batch_new();
    row_key[0] = key.size_bytes;
    memcpy(row_key + 1, key.bytes, key.size_bytes);
    row_key[size] = 'x';
    kv_batch_put(batch, TABLE_FILES, (struct kv_slice){row_key, size}, (struct kv_slice){"?", 1});
    kv_batch_put(batch, TABLE_NAMES, (struct kv_slice){row_key, size + 1},
                 (struct kv_slice){"f\x20too short", 11});
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &row), -EUCLEAN);
    assert_int_equal(catalogue_get(*state, &key, "x", &child, &type), -EUCLEAN);
    kv_batch_free(batch);
}

/* A row of names and one of links whose name has been forged. */
static int read_forged_name(struct kv *kv, const char *name, size_t size_bytes, bool link)
{
    const struct file_key parent = key_of(1), child = key_of(2);
    uint8_t key[2 * (1 + FILE_KEY_MAX_BYTES) + 512], value[2 + FILE_KEY_MAX_BYTES] = "f";
    struct catalogue_list list = {0};
    struct kv_batch *batch = kv_batch_new();
    size_t n = 0;
    for (int i = !link; i < 2; i++) {
        const struct file_key *part = i ? &parent : &child;
        key[n] = part->size_bytes;
        memcpy(key + n + 1, part->bytes, part->size_bytes);
        n += 1u + part->size_bytes;
    }
    memcpy(key + n, name, size_bytes);
    value[1] = child.size_bytes;
    memcpy(value + 2, child.bytes, child.size_bytes);
    const struct kv_slice row = {key, n + size_bytes};
    kv_batch_put(batch, link ? TABLE_LINKS : TABLE_NAMES, row,
                 (struct kv_slice){value, link ? 0 : 2u + child.size_bytes});
    assert_int_equal(kv_apply(kv, batch), 0);
    int r = link ? catalogue_links(kv, &child, 10, &list)
                 : catalogue_children(kv, &parent, NULL, 10, &list);
    if (r == 0) {
        assert_int_equal(list.n_entries, 1);
        assert_int_equal(strlen(list.entries[0].name), size_bytes);
    }
    catalogue_list_done(&list);
    kv_batch_clear(batch);
    kv_batch_delete(batch, link ? TABLE_LINKS : TABLE_NAMES, row);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    return r;
}

static void test_catalogue__what_no_entry_can_be_called_is_damage(void **state)
{
    char longest[NAME_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    const struct {
        const char *name;
        size_t size_bytes;
        int expected;
    } names[] = {
        {"", 0, -EUCLEAN},
        {".", 1, -EUCLEAN},
        {"..", 2, -EUCLEAN},
        {"/", 1, -EUCLEAN},
        {"../../etc/shadow", 16, -EUCLEAN},
        {"a/", 2, -EUCLEAN},
        {"\0", 1, -EUCLEAN},
        {".\0", 2, -EUCLEAN},
        {"a\0b", 3, -EUCLEAN},
        {longest, NAME_MAX + 1, -EUCLEAN},
        {longest, NAME_MAX, 0},
        {"...", 3, 0},
        {".a", 2, 0},
        {"\n\033[2J", 5, 0},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (int link = 0; link < 2; link++)
            if (read_forged_name(*state, names[i].name, names[i].size_bytes, link) !=
                names[i].expected)
                fail_msg("name %zu, link %d", i, link);
}

static void test_catalogue__bytes_behind_the_key_of_a_file_are_damage(void **state)
{
    const struct file_key file = key_of(5);
    const struct file_row row = {.sid = 1};
    struct file_list list = {0};
    uint8_t key[2 + FILE_KEY_MAX_BYTES] = {file.size_bytes};
    struct kv_batch *batch = kv_batch_new();
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    memcpy(key + 1, file.bytes, file.size_bytes);
    const struct kv_slice good = {key, 1u + file.size_bytes}, forged = {key, 2u + file.size_bytes};
    catalogue_put_file(batch, &file, &row);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(kv_get(*state, TABLE_FILES, good, &value), 0);
    kv_batch_clear(batch);
    kv_batch_put(batch, TABLE_FILES, forged, kv_buf_slice(&value));
    assert_int_equal(kv_apply(*state, batch), 0);
    kv_batch_free(batch);
    assert_int_equal(catalogue_files(*state, NULL, 10, &list), -EUCLEAN);
    assert_int_equal(catalogue_files(*state, NULL, 1, &list), 0); /* the other is as it was */
    assert_int_equal(list.n_files, 1);
    file_list_done(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(test_catalogue__a_file_row_comes_back_as_it_was_put),
        WITH_STORE(test_catalogue__damaged_rows_are_refused),
        WITH_STORE(test_catalogue__what_no_entry_can_be_called_is_damage),
        WITH_STORE(test_catalogue__bytes_behind_the_key_of_a_file_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
