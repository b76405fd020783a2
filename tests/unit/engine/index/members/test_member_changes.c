/* The changes of who is in which cluster, for whoever watches: told whole, by numbers, and bounded.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/index/members/member_changes.h"

static unsigned n_paths;

static char *path_of(void *user, const struct file_key *file, struct file_key *ret_above)
{
    char text[64];
    assert_ptr_equal(user, &n_paths);
    n_paths++;
    *ret_above = *file;
    ret_above->bytes[1] = 77;
    snprintf(text, sizeof(text), "path of %u bytes, %u", file->size_bytes, file->bytes[0]);
    return file->bytes[0] == 255 ? NULL : strdup(text);
}

static struct member member_of(uint64_t sid, uint8_t first_byte)
{
    struct member member = {.sid = sid,
                            .rank_bytes = 8 + FINGERPRINT_BYTES + 1 + FILE_KEY_MIN_BYTES};
    member.rank[8 + FINGERPRINT_BYTES] = FILE_KEY_MIN_BYTES;
    member.rank[8 + FINGERPRINT_BYTES + 1] = first_byte;
    return member;
}

static struct member_changes *new_changes(void)
{
    struct member_changes *changes;
    n_paths = 0;
    assert_int_equal(member_changes_new(path_of, &n_paths, &changes), 0);
    return changes;
}

static uint64_t begin(struct member_changes *changes)
{
    struct member_change_list list;
    assert_int_equal(member_changes_since(changes, 0, &list), 0);
    assert_int_equal(list.n_changes, 0);
    assert_int_equal(list.n_missing, 0);
    const uint64_t next = list.next;
    member_change_list_done(&list);
    return next;
}

static void test_member_changes__are_told_in_order_once_a_step_is_over(void **state)
{
    struct member_changes *changes = new_changes();
    const struct member a = member_of(3, 7), b = member_of(4, 255);
    struct member_change_list list;
    (void)state;

    const uint64_t since = begin(changes);
    member_changes_note(changes, MEMBER_CAME, 5, &a);
    member_changes_note(changes, MEMBER_REMOVED, 6, &a);
    assert_int_equal(member_changes_since(changes, since, &list), 0);
    assert_int_equal(list.n_changes, 0);
    assert_int_equal(list.next, since);
    member_change_list_done(&list);
    member_changes_note(changes, MEMBER_REMOVED, 6, &b);
    member_changes_note_merge(changes, 5, 6);
    member_changes_publish(changes, true);
    assert_int_equal(member_changes_since(changes, since, &list), 0);
    assert_int_equal(list.n_changes, 4);
    assert_int_equal(list.n_missing, 0);
    assert_int_equal(list.next, since + 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(list.changes[i]->number, since + i);
    assert_int_equal(list.changes[0]->kind, MEMBER_CAME);
    assert_int_equal(list.changes[0]->cluster, 5);
    assert_int_equal(list.changes[0]->sid, 3);
    assert_int_equal(list.changes[0]->file.size_bytes, FILE_KEY_MIN_BYTES);
    assert_int_equal(list.changes[0]->file.bytes[0], 7);
    assert_string_equal(list.changes[0]->path, "");
    assert_string_equal(list.changes[1]->path, "path of 12 bytes, 7");
    assert_int_equal(list.changes[1]->above.bytes[1], 77);
    assert_string_equal(list.changes[2]->path, "");
    assert_int_equal(list.changes[3]->kind, MEMBERS_MERGED);
    assert_int_equal(list.changes[3]->cluster, 5);
    assert_int_equal(list.changes[3]->to, 6);
    assert_int_equal(n_paths, 2);
    const uint64_t next = list.next;
    member_change_list_done(&list);
    assert_int_equal(member_changes_since(changes, next, &list), 0);
    assert_int_equal(list.n_changes, 0);
    member_change_list_done(&list);
    /* Those before can be asked for by another, who has come less far. */
    assert_int_equal(member_changes_since(changes, since + 3, &list), 0);
    assert_int_equal(list.n_changes, 1);
    member_change_list_done(&list);
    member_changes_free(changes);
}

/* Nothing is kept, and no path made, when nobody has asked. */
static void test_member_changes__that_nobody_asked_for_are_counted(void **state)
{
    struct member_changes *changes = new_changes();
    const struct member a = member_of(3, 7);
    struct member_change_list list;
    (void)state;

    for (unsigned i = 0; i < 10; i++)
        member_changes_note(changes, MEMBER_REMOVED, 5, &a);
    member_changes_publish(changes, true);
    assert_int_equal(n_paths, 0);
    assert_int_equal(member_changes_since(changes, 1, &list), 0);
    assert_int_equal(list.n_changes, 0);
    assert_int_equal(list.n_missing, 10);
    assert_int_equal(list.next, 11);
    member_change_list_done(&list);
    member_changes_free(changes);
}

static void test_member_changes__one_is_missing_after_a_failure_of_the_store(void **state)
{
    struct member_changes *changes = new_changes();
    const struct member a = member_of(3, 7);
    struct member_change_list list;
    (void)state;

    const uint64_t since = begin(changes);
    member_changes_note(changes, MEMBER_CAME, 5, &a);
    member_changes_publish(changes, false);
    assert_int_equal(member_changes_since(changes, since, &list), 0);
    assert_int_equal(list.n_changes, 1);
    assert_int_equal(list.n_missing, 1);
    member_change_list_done(&list);
    member_changes_free(changes);
}

static void test_member_changes__the_oldest_go_beyond_the_bound(void **state)
{
    enum { N = 100000 };
    struct member_changes *changes = new_changes();
    struct member_change_list list;
    size_t n_bytes = 0;
    (void)state;

    const uint64_t since = begin(changes);
    for (unsigned i = 0; i < N; i++) {
        const struct member a = member_of(1 + i, 7);
        member_changes_note(changes, MEMBER_REMOVED, 5, &a);
    }
    member_changes_publish(changes, true);
    assert_int_equal(member_changes_since(changes, since, &list), 0);
    assert_in_range(list.n_changes, 1000, N - 1);
    assert_int_equal(list.n_changes + list.n_missing, N);
    for (size_t i = 0; i < list.n_changes; i++) {
        n_bytes += sizeof(*list.changes[i]) + strlen(list.changes[i]->path) + 1;
        assert_int_equal(list.changes[i]->sid, N - list.n_changes + 1 + i);
    }
    assert_in_range(n_bytes, MEMBER_CHANGES_BYTES / 2, MEMBER_CHANGES_BYTES);
    member_change_list_done(&list);
    member_changes_free(changes);
}

/* Whole steps, each change once; those that are missing are told of in their place. */
static void test_member_changes__come_some_at_a_time(void **state)
{
    enum {
        IN_STEP = 100,
        STEPS = 7,
        FIRST_STEPS = (MEMBER_CHANGES_AT_ONCE + IN_STEP - 1) / IN_STEP
    };
    struct member_changes *changes = new_changes();
    struct member_change_list list;
    const size_t n_steps[] = {FIRST_STEPS, FIRST_STEPS, STEPS - 2 * FIRST_STEPS};
    uint64_t sid = 1;
    (void)state;

    uint64_t since = begin(changes);
    for (unsigned i = 0; i < STEPS * IN_STEP; i++) {
        const struct member a = member_of(1 + i, 7);
        member_changes_note(changes, MEMBER_CAME, 5, &a);
        if (i % IN_STEP == IN_STEP - 1)
            member_changes_publish(changes, true);
    }
    member_changes_publish(changes, false);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(member_changes_since(changes, since, &list), 0);
        assert_int_equal(list.n_changes, n_steps[round] * IN_STEP);
        assert_int_equal(list.more, round < 2);
        assert_int_equal(list.n_missing, round == 2);
        for (size_t i = 0; i < list.n_changes; i++)
            assert_int_equal(list.changes[i]->sid, sid++);
        since = list.next;
        member_change_list_done(&list);
    }
    assert_int_equal(sid, STEPS * IN_STEP + 1);
    member_changes_free(changes);
}

static void test_member_changes__of_another_instance_are_told_apart(void **state)
{
    struct member_changes *a = new_changes(), *b = new_changes();
    (void)state;
    assert_int_not_equal(member_changes_instance(a), 0);
    assert_true(member_changes_instance(a) < UINT64_C(1) << 53);
    assert_int_not_equal(member_changes_instance(a), member_changes_instance(b));
    member_changes_free(a);
    member_changes_free(b);
    member_changes_free(NULL);
    member_changes_publish(NULL, true);
    member_changes_note_merge(NULL, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_member_changes__are_told_in_order_once_a_step_is_over),
        cmocka_unit_test(test_member_changes__that_nobody_asked_for_are_counted),
        cmocka_unit_test(test_member_changes__one_is_missing_after_a_failure_of_the_store),
        cmocka_unit_test(test_member_changes__the_oldest_go_beyond_the_bound),
        cmocka_unit_test(test_member_changes__come_some_at_a_time),
        cmocka_unit_test(test_member_changes__of_another_instance_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
