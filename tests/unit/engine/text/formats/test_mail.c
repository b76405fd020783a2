/* A1: the text of mail, however it is encoded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/text/formats/mail.h"
#include "tests/unit/engine/text/canonical.h"

#define FROM "From: A <a@x.org>\nDate: Thu, 1 May 2024 10:00:00 +0200\n"
#define MULTIPART(kind) "Content-Type: multipart/" kind "; boundary=\"b\"\n\n"

/* Also with the ends of lines that mail has on its way. */
static void expect(const char *mail, const char *tokens)
{
    static char crlf[200000];
    size_t n = 0;
    for (const char *p = mail; *p; p++) {
        if (*p == '\n')
            crlf[n++] = '\r';
        crlf[n++] = *p;
    }
    assert_true(canonical_is(TEXT_MAIL, mail, strlen(mail), tokens));
    assert_true(canonical_is(TEXT_MAIL, crlf, n, tokens));
}

/* -- messages -- */

static void test_mail__the_subject_and_the_text_are_kept(void **state)
{
    (void)state;
    expect("", "");
    expect(FROM "Subject: A rose\nX-Spam: no\n\nis a\n> rose\n\n-- \nSig\n",
           "a rose is a rose sig ");
    expect(FROM "Subject : A\n rose\n\tis\nTo: x\n\n", "a rose is ");
    expect("Subject: only", "only ");
    expect("not a header\nSubject: a\n\nb\n\nSubject: c\n", "a b subject c ");
    expect("\ntext", "text ");
}

static void test_mail__encoded_words_are_what_they_stand_for(void **state)
{
    (void)state;
    expect("Subject: =?UTF-8?Q?Caf=C3=A9_rose?= x\n", "café rose x ");
    expect("Subject: =?iso-8859-1?q?Caf=e9?=\n =?utf-8*en?B?IHJvc2U=?= =?koi8-r?B?0NLJ18XU?=\n",
           "café roseпривет ");
    expect("Subject: =?utf-8?q?a?= =?utf-8?q?b?= c =?utf-8?q?d?=\n", "ab c d ");
    expect("Subject: =?utf-8?q?a?=b =?x-none?q?caf=e9?=\n", "ab café ");
    expect("Subject: =? =?a =?a? =?a?b =?a?x?b?= =?a?q?b =?a?q?=zz?=\n", "a a a b a x b a q b zz ");
    expect("Subject: =?utf-8?b?!?= =?utf-8?q?=\nX: y\n", "utf 8 q ");
    expect("Subject: caf\xe9\n\n", "café ");
    /* More charsets than a document is given: what is behind them is as if it declared none. */
    static const char *const charsets[] = {"koi8-r",     "cp1251",     "iso-8859-7", "iso-8859-8",
                                           "iso-8859-5", "iso-8859-6", "iso-8859-4", "cp866",
                                           "cp437",      "cp874",      "koi8-r"};
    char subjects[512] = "Subject: x";
    for (size_t i = 0; i < sizeof(charsets) / sizeof(charsets[0]); i++)
        sprintf(subjects + strlen(subjects), " =?%s?q?=e1?= .", charsets[i]);
    expect(strcat(subjects, "\n\n"), "x а б α ב с ف á с á á а ");
}

static void test_mail__mailboxes_are_their_messages(void **state)
{
    (void)state;
    expect("From a@x Thu May  1 10:00:00 2024\n" FROM "Subject: a\n\nb\nFrom c\n\n>From d\n\n"
           "From a@x Thu May  1 10:00:00 2024\n" FROM "Subject: e\n" MULTIPART(
               "mixed") "--b\n\nf\n\n"
                        "From a@x Thu May  1 10:00:00 2024\nSubject: g\n\n--b\n\nh\n",
           "a b from c from d e f g b h ");
    expect(FROM "\na\n\nFrom b\n", "a from b "); /* no mailbox */
}

/* -- parts -- */

static void test_mail__parts_are_decoded(void **state)
{
    (void)state;
    expect(FROM "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: "
                "Quoted-Printable\n\n"
                "Caf=E9 ro=\nse =  \n is=20a =zz =e\n=",
           "café rose is a zz e ");
    expect(FROM "Content-Type: text/plain; charset=\"utf-8\"\nContent-Transfer-Encoding: base64\n\n"
                "Q2Fmw6kgcm9z\nZ!SB p\n\ncw==\nIGE=\n",
           "café rose is a ");
    expect(FROM "Content-Type: text/html; charset=windows-1252\nContent-Transfer-Encoding: 8bit\n\n"
                "<html><style>x</style><p>Caf\xe9 <b>ro</b>se&eacute;",
           "café roseé ");
    expect(FROM "Content-Type: TEXT/Plain; format=flowed; charset = koi8-r "
                "(comment)\n\n\xd0\xd2\xc9\xd7\xc5\xd4",
           "привет ");
    expect(FROM "\ncaf\xe9", "café ");
    expect(FROM "Content-Type: text/plain; charset=utf-8\n\ncaf\xc3\xa9 \xff x", "café x ");
    expect(FROM "Content-Type: text/plain; charset=utf-16\n\ncaf\xe9", "café ");
    expect(FROM "Content-Transfer-Encoding: x-uuencode\n\nbegin 644", "");
    expect(FROM "Content-Type: application/pdf\n\nx", "");
}

static void test_mail__multiparts_are_walked(void **state)
{
    (void)state;
    expect(FROM MULTIPART("mixed") "preamble\n--b\n\na\n--b  \nContent-Type: text/html\n\n<p>b\n"
                                   "--b\nContent-Type: image/png\n\nno\n--b\nContent-Disposition: "
                                   "attachment; filename=x\n\nno\n"
                                   "--bb\nno\n--b\n\n--bb\nc\n--b--\nepilogue\n--b\nno\n",
           "a b bb c ");
    expect(FROM MULTIPART("mixed") "--b\n\na", "a ");
    expect(FROM MULTIPART("mixed") "--b\nContent-Type: text/plain\n--b\n\na", "a ");
    expect(FROM "Content-Type: multipart/mixed\n\n--b\ntext\n", "b text "); /* it has no boundary */
    expect(FROM "Content-Type: MULTIPART/Mixed;\n boundary=b; x\n\n--b\n\na\n--b--", "a ");
    /* one in another, ended by the outer one's boundary */
    expect(FROM MULTIPART("mixed") "--b\nContent-Type: multipart/related; "
                                   "boundary=c\n\n--c\n\na\n--b\n\nb\n--c\nb\n",
           "a b c b ");
    expect(FROM MULTIPART(
               "digest") "--b\n\nFrom: x\nSubject: a\n\nb\n--b\nContent-Type: text/plain\n\nc\n",
           "a b c ");
    expect(FROM MULTIPART("mixed") "--b\nContent-Type: message/rfc822\n\nSubject: a\nContent-Type: "
                                   "text/html\n\n<i>b</i>\n--b--\n",
           "a b ");
}

static void test_mail__of_alternatives_the_first_is_read(void **state)
{
    (void)state;
    expect(FROM MULTIPART("alternative") "--b\n\na\n--b\nContent-Type: text/html\n\n<p>a\n--b--\n",
           "a ");
    expect(
        FROM MULTIPART("alternative") "--b\nContent-Type: text/calendar\n\nx\n--b\nContent-Type: "
                                      "text/html\n\n<p>a\n--b\n\nb\n",
        "a ");
    expect(FROM MULTIPART("alternative") "--b\nContent-Type: multipart/related; "
                                         "boundary=c\n\n--c\n\na\n--c\n\nb\n--c--\n"
                                         "--b\nContent-Type: multipart/mixed; "
                                         "boundary=d\n\n--d\n\nno\n--d\nContent-Type: "
                                         "multipart/mixed; boundary=e\n\n"
                                         "--e\n\nno\n--e--\n--d--\n--b--\n",
           "a b ");
    expect(FROM MULTIPART("mixed") "--b\nContent-Type: multipart/alternative; "
                                   "boundary=c\n\n--c\n\na\n--c\n\nno\n--c--\n"
                                   "--b\n\nb\n--b--\n",
           "a b ");
}

static void test_mail__what_is_nested_too_deep_is_dropped(void **state)
{
    (void)state;
    char mail[4096] = FROM;
    for (int i = 0; i <= MAIL_DEPTH_MAX; i++)
        sprintf(mail + strlen(mail),
                "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n\nt%d\n--b%d\n", i, i, i, i);
    strcat(mail, "\nno\n--b0\n\nend\n");
    expect(mail, "t0 t1 t2 t3 t4 t5 t6 t7 end ");
}

/* -- lines and fields of any length -- */

static void test_mail__long_lines_are_lines(void **state)
{
    (void)state;
    static char mail[100000], wanted[100000];
    static const char *const encodings[] = {"7bit", "quoted-printable"};
    for (size_t e = 0; e < 2; e++) {
        for (size_t shift = 0; shift < 4; shift++) {
            int n = sprintf(
                mail,
                FROM
                "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: %s\n\n%.*s",
                encodings[e], (int)shift, "....");
            wanted[0] = '\0';
            for (int i = 0; i < 2000; i++) {
                n += sprintf(mail + n, e ? "caf=C3=A9%d " : "caf\xc3\xa9%d ", i);
                sprintf(wanted + strlen(wanted), "café%d ", i);
            }
            strcpy(mail + n, "\nend\n");
            strcat(wanted, "end ");
            expect(mail, wanted);
        }
    }
    int n = sprintf(mail, FROM "Subject: a\nTo: ");
    memset(mail + n, 'x', 20000);
    strcpy(mail + n + 20000, "\n\nb\n");
    expect(mail, "a b ");
    n = sprintf(mail, "Content-Type: multipart/mixed; boundary=");
    memset(mail + n, 'x', MAIL_BOUNDARY_MAX_BYTES + 1);
    strcpy(mail + n + MAIL_BOUNDARY_MAX_BYTES + 1, "\n\nb\n");
    expect(mail, "b "); /* as one without */
}

/* -- what is mail -- */

static void expect_type(const char *head, enum text_type type)
{
    assert_int_equal(text_type_sniff(head, strlen(head)), type);
}

static void test_mail__is_known_by_its_header(void **state)
{
    (void)state;
    expect_type(FROM "Subject: x\n\nx", TEXT_MAIL);
    expect_type(FROM "To: x\r\n\r\nx", TEXT_MAIL);
    expect_type("Received: from x\n\tby y; Thu\nfrom: a\n\nx", TEXT_MAIL);
    expect_type("Return-Path: <x>\nSubject: y\n", TEXT_MAIL);
    expect_type("From a@x Thu May  1 10:00:00 2024\nFrom: x\n\n", TEXT_MAIL);
    expect_type("From 0123abc Mon Sep 17 00:00:00 2001\r\nSubject: [PATCH] x\r\n", TEXT_MAIL);

    expect_type("From: a\nTo: b\n\nx", TEXT_PLAIN);
    expect_type("Subject: x\nDate: y\n\nx", TEXT_PLAIN);
    expect_type(FROM "\nx", TEXT_PLAIN);
    expect_type(FROM "Subject: x\nis no header\n\nx", TEXT_PLAIN);
    expect_type("\n" FROM "Subject: x\n\nx", TEXT_PLAIN);
    expect_type("From here to there at 10 o'clock\nSubject: x\n\n", TEXT_PLAIN);
    expect_type("From a@x Thu May  1 10:00:00 2024\n\nx\n", TEXT_PLAIN);
    expect_type("Package: x\nVersion: 1\nMaintainer: y\n", TEXT_PLAIN);
    expect_type("HTTP/1.1 200 OK\nDate: x\nFrom: y\nTo: z\n", TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_MAIL), "mail");

    /* The charsets are its parts' own. */
    static const char two[] = FROM "To: x\n" MULTIPART(
        "mixed") "--b\nContent-Type: text/plain; charset=utf-8\n\ncaf\xc3\xa9\n--b\nContent-Type: "
                 "text/plain; charset=latin1\n\ncaf\xe9\n";
    for (size_t piece_bytes = 0; piece_bytes < 8; piece_bytes++) {
        struct canonical found = canonical_of(two, strlen(two), piece_bytes);
        assert_int_equal(found.form.type, TEXT_MAIL);
        assert_string_equal(found.text, "café café ");
        canonical_done(&found);
    }
}

/* -- A1, and any bytes whatever -- */

static void test_mail__form_and_markup_make_no_difference(void **state)
{
    (void)state;
    static const char expected[] = "a rose is a rose is a rose a café 1913 gertrude stein s ";
    expect(FROM "Subject: A ROSE\n\nis a rose is\n> a rose.\n\n(A café, 1913; Gertrude Stein's.)\n",
           expected);
    expect(
        FROM
        "Subject: =?utf-8?B?QSByb3Nl?=\nContent-Type: multipart/alternative; boundary=\"=_x\"\n\n"
        "--=_x\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: "
        "quoted-printable\n\n"
        "is a=20rose is a ro=\nse. (A caf=E9,\n1913; Gertrude Stein's.)\n"
        "--=_x\nContent-Type: text/html\n\n<p>is a rose\n--=_x--\n",
        expected);
    expect(FROM "Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
                "PHA+QSA8Yj5ybzwvYj5zZSBpcyBhIHJvc2UgaXMgYSByb3NlPGJyPihBIGNhZiZlYWN1dGU7LCAx\n"
                "OTEzOyBHZXJ0cnVkZSBTdGVpbidzLik=\n",
           expected);
}

static void test_mail__pieces_make_no_difference(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "Subject: ",
        "=?utf-8?q?",
        "=?utf-8?b?",
        "?=",
        "=",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "rose",
        "Content-Type: ",
        "multipart/",
        "mixed",
        "alternative",
        "text/html",
        "text/plain",
        "; boundary=b\n",
        "; boundary=\"c\"\n",
        "--b\n",
        "--c\n",
        "--b--\n",
        "--c--\n",
        "; charset=iso-2022-jp\n",
        "; charset=utf-8\n",
        "Content-Transfer-Encoding: ",
        "base64\n",
        "quoted-printable\n",
        "=E9",
        "=C3=A9",
        "\n\nFrom x\n",
        "From a 10:00\n",
        "<p>",
        "<a b=\"",
        "message/rfc822\n",
        "\x1b$B",
        "\xe9",
        "Zm9v",
        ";",
    };
    unsigned seed = 11;
    for (unsigned round = 0; round < 1500; round++) {
        char soup[3000];
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_MAIL, soup, size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mail__the_subject_and_the_text_are_kept),
        cmocka_unit_test(test_mail__encoded_words_are_what_they_stand_for),
        cmocka_unit_test(test_mail__mailboxes_are_their_messages),
        cmocka_unit_test(test_mail__parts_are_decoded),
        cmocka_unit_test(test_mail__multiparts_are_walked),
        cmocka_unit_test(test_mail__of_alternatives_the_first_is_read),
        cmocka_unit_test(test_mail__what_is_nested_too_deep_is_dropped),
        cmocka_unit_test(test_mail__long_lines_are_lines),
        cmocka_unit_test(test_mail__is_known_by_its_header),
        cmocka_unit_test(test_mail__form_and_markup_make_no_difference),
        cmocka_unit_test(test_mail__pieces_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
