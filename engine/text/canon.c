/* The way of a document through its filters:
 *
 *   bytes -> head -> decoder -> head -> decoder -> head -> charset -> filter -> words -> tokens
 *            `- level 0 -------'`- level 1 -------'`- level 2 `-> table -> features
 *                                                        `-> chunks -> features
 *
 * Text that a program has extracted comes as text, or as lines -> features (canon_begin_as).
 *
 * Each level keeps the first 8 KiB until their type can be told; the decoder of a compressed level
 * feeds the next one. Bytes that are compressed more than twice are binary.
 *
 * Example: page.html.gz. Level 0 sees the magic number of gzip; level 1 gets "<!DOCTYPE html>..."
 * and is HTML, in the charset that it declares; the HTML filter hands "Title" to the words, and
 * these hand out the token "title".
 *
 * Cost: linear, one pass, no allocation but in libraries. Left out: archives. A tar file is binary,
 * as its members are documents of their own, which would need names.
 */
#include "engine/text/canon.h"

#include <errno.h>
#include <string.h>

#include "engine/text/encoding/charset.h"
#include "engine/text/features/chunks.h"
#include "engine/text/encoding/decoder.h"
#include "engine/text/html/html.h"
#include "engine/text/formats/json.h"
#include "engine/text/formats/latex.h"
#include "engine/text/features/lines.h"
#include "engine/text/formats/mail.h"
#include "engine/text/formats/markdown.h"
#include "engine/text/formats/roff.h"
#include "engine/text/formats/rtf.h"
#include "engine/text/features/table.h"
#include "engine/text/formats/wiki.h"
#include "engine/text/words/words.h"

enum { N_LEVELS = 3 };

struct level {
    struct canon *canon;
    unsigned number;
    bool typed;
    enum text_codec codec;
    struct decoder *decoder; /* of a level that was compressed once; never of the last */
    size_t head_bytes;
    uint8_t head[TEXT_SNIFF_BYTES];
};

struct canon {
    struct text_form form;
    struct level levels[N_LEVELS];
    struct charset charset;
    struct html html;
    struct json json;
    struct latex latex;
    struct mail mail;
    struct markdown markdown;
    struct roff roff;
    struct rtf rtf;
    struct wiki wiki;
    struct words words;
    struct table table;
    struct chunks chunks;
    struct lines lines;
    struct feature_list features, order;
    struct canon_sink sink;
    uint64_t n_tokens; /* handed out */
    uint64_t n_unpacked, ask_at;
    bool stopped;
    bool (*goes_on)(void *user, uint64_t n_bytes);
    void *goes_on_user;
};

static bool has_text(const struct canon *canon)
{
    return canon->form.type != TEXT_BINARY && canon->form.type != TEXT_EXTRACTED;
}

/* A document that only a library can read is binary when its text is not given. */
static enum text_type type_of(const uint8_t *head, size_t head_bytes)
{
    enum text_type type = text_type_sniff(head, head_bytes);
    return type == TEXT_PDF || type == TEXT_OFFICE || type == TEXT_EPUB ? TEXT_BINARY : type;
}

/* -- the filter: UTF-8 to words, by type -- */

/* Tokens are counted on their way where links are wanted, whose places are numbers of tokens. */
static void count_tokens(void *user, const struct token_block *block)
{
    struct canon *canon = user;
    canon->n_tokens += block->n_tokens;
    canon->sink.tokens(canon->sink.user, block);
}

static void filter_begin(struct canon *canon, char separator)
{
    words_begin(&canon->words);
    canon->n_tokens = 0;
    switch (canon->form.type) {
    case TEXT_HTML:
        html_begin(&canon->html, &canon->words, kernel_in_use());
        if (canon->sink.links)
            html_want_links(&canon->html, &canon->sink, &canon->n_tokens);
        if (canon->sink.tags)
            html_want_tags(&canon->html);
        break;
    case TEXT_XML:
        html_begin_xml(&canon->html, &canon->words, kernel_in_use());
        if (canon->sink.tags)
            html_want_tags(&canon->html);
        break;
    case TEXT_JSON: json_begin(&canon->json, false, &canon->words); break;
    case TEXT_NOTEBOOK: json_begin(&canon->json, true, &canon->words); break;
    case TEXT_LATEX: latex_begin(&canon->latex, &canon->words); break;
    case TEXT_WIKI: wiki_begin(&canon->wiki, &canon->words); break;
    case TEXT_MAIL: mail_begin(&canon->mail, &canon->html, &canon->words, canon->sink.tags); break;
    case TEXT_MARKDOWN: markdown_begin(&canon->markdown, &canon->words); break;
    case TEXT_ROFF: roff_begin(&canon->roff, &canon->words); break;
    case TEXT_RTF: rtf_begin(&canon->rtf, &canon->words); break;
    case TEXT_TABLE:
        table_begin(&canon->table, separator, &canon->features,
                    canon->sink.order ? &canon->order : NULL);
        break;
    default: break;
    }
}

static void filter_take(struct canon *canon, const uint8_t *bytes, size_t size_bytes)
{
    switch (canon->form.type) {
    case TEXT_HTML:
    case TEXT_XML: html_feed(&canon->html, bytes, size_bytes); break;
    case TEXT_JSON:
    case TEXT_NOTEBOOK: json_feed(&canon->json, bytes, size_bytes); break;
    case TEXT_LATEX: latex_feed(&canon->latex, bytes, size_bytes); break;
    case TEXT_WIKI: wiki_feed(&canon->wiki, bytes, size_bytes); break;
    case TEXT_MAIL: mail_feed(&canon->mail, bytes, size_bytes); break;
    case TEXT_MARKDOWN: markdown_feed(&canon->markdown, bytes, size_bytes); break;
    case TEXT_ROFF: roff_feed(&canon->roff, bytes, size_bytes); break;
    case TEXT_RTF: rtf_feed(&canon->rtf, bytes, size_bytes); break;
    case TEXT_TABLE: table_feed(&canon->table, bytes, size_bytes); break;
    default: words_feed(&canon->words, bytes, size_bytes); break;
    }
}

/* The words take all that was gathered. */
static void filter_flush(struct canon *canon)
{
    switch (canon->form.type) {
    case TEXT_HTML:
    case TEXT_XML: gather_flush(&canon->html.gather); break;
    case TEXT_JSON:
    case TEXT_NOTEBOOK: gather_flush(&canon->json.gather); break;
    case TEXT_LATEX: gather_flush(&canon->latex.gather); break;
    case TEXT_WIKI: gather_flush(&canon->wiki.gather); break;
    case TEXT_MAIL:
        if (canon->mail.is_html)
            gather_flush(&canon->html.gather);
        break;
    case TEXT_MARKDOWN: gather_flush(&canon->markdown.gather); break;
    case TEXT_ROFF: gather_flush(&canon->roff.gather); break;
    case TEXT_RTF: gather_flush(&canon->rtf.gather); break;
    default: break;
    }
}

static void filter_feed(void *user, const uint8_t *bytes, size_t size_bytes)
{
    struct canon *canon = user;
    while (canon->sink.line && size_bytes > 0) {
        const uint8_t *end = memchr(bytes, '\n', size_bytes);
        const size_t n = end ? (size_t)(end - bytes) + 1 : size_bytes;
        filter_take(canon, bytes, n);
        filter_flush(canon);
        if (end)
            canon->sink.line(canon->sink.user, words_begun(&canon->words));
        bytes += n;
        size_bytes -= n;
    }
    if (size_bytes > 0)
        filter_take(canon, bytes, size_bytes);
}

static void filter_finish(struct canon *canon)
{
    switch (canon->form.type) {
    case TEXT_HTML:
    case TEXT_XML: html_finish(&canon->html); break;
    case TEXT_JSON:
    case TEXT_NOTEBOOK: json_finish(&canon->json); break;
    case TEXT_LATEX: latex_finish(&canon->latex); break;
    case TEXT_WIKI: wiki_finish(&canon->wiki); break;
    case TEXT_MAIL: mail_finish(&canon->mail); break;
    case TEXT_MARKDOWN: markdown_finish(&canon->markdown); break;
    case TEXT_ROFF: roff_finish(&canon->roff); break;
    case TEXT_RTF: rtf_finish(&canon->rtf); break;
    case TEXT_TABLE: table_finish(&canon->table); break;
    default: break;
    }
    words_finish(&canon->words);
}

/* -- the unpacked document -- */

static void text_begin(struct canon *canon, const uint8_t *head, size_t head_bytes,
                       const char *charset)
{
    enum text_type type = canon->form.type;
    char name[CHARSET_NAME_MAX + 1];
    if (!charset && (type == TEXT_HTML || type == TEXT_XML) &&
        charset_declared(head, head_bytes, name))
        charset = name;
    if (type == TEXT_MAIL || type == TEXT_RTF)
        charset = "utf-8"; /* bytes pass unchanged: each part, or font, has its own charset */
    charset_document(&canon->charset);
    charset_begin(&canon->charset, head, head_bytes, charset);
    filter_begin(canon, type == TEXT_TABLE ? text_type_separator(head, head_bytes) : 0);
}

static void inside_begin(struct canon *canon, enum text_type type, const uint8_t *head,
                         size_t head_bytes, const char *charset)
{
    canon->form.type = type;
    canon->features.n = canon->order.n = 0;
    if (has_text(canon))
        text_begin(canon, head, head_bytes, charset);
    else if (type == TEXT_EXTRACTED)
        lines_begin(&canon->lines, &canon->features);
    else
        chunks_begin(&canon->chunks, &canon->features);
}

static void inside_feed(struct canon *canon, const uint8_t *bytes, size_t size_bytes)
{
    if (has_text(canon))
        charset_feed(&canon->charset, bytes, size_bytes);
    else if (canon->form.type == TEXT_EXTRACTED)
        lines_feed(&canon->lines, bytes, size_bytes);
    else
        chunks_feed(&canon->chunks, bytes, size_bytes);
}

static void inside_finish(struct canon *canon)
{
    if (has_text(canon)) {
        canon->form.charset = charset_finish(&canon->charset);
        filter_finish(canon);
    } else if (canon->form.type == TEXT_EXTRACTED) {
        lines_finish(&canon->lines);
    } else {
        chunks_finish(&canon->chunks);
    }
    feature_list_flush(&canon->features);
    feature_list_flush(&canon->order);
}

/* -- levels -- */

static void level_begin(struct level *level)
{
    level->typed = false;
    level->head_bytes = 0;
}

static void level_type(struct level *level, const uint8_t *head, size_t head_bytes)
{
    struct canon *canon = level->canon;
    level->typed = true;
    level->codec = level->number < N_LEVELS - 1 ? decoder_sniff(head, head_bytes) : TEXT_CODEC_NONE;
    if (level->codec == TEXT_CODEC_NONE) {
        inside_begin(canon, type_of(head, head_bytes), head, head_bytes, NULL);
        return;
    }
    if (level->number == 0)
        canon->form.codec = level->codec;
    level_begin(level + 1);
    decoder_begin(level->decoder, level->codec);
}

static void level_pass(struct level *level, const uint8_t *bytes, size_t size_bytes)
{
    if (level->codec == TEXT_CODEC_NONE)
        inside_feed(level->canon, bytes, size_bytes);
    else
        decoder_feed(level->decoder, bytes, size_bytes);
}

static void level_feed(struct level *level, const uint8_t *bytes, size_t size_bytes)
{
    if (!level->typed && level->head_bytes == 0 && size_bytes >= TEXT_SNIFF_BYTES) {
        level_type(level, bytes, TEXT_SNIFF_BYTES);
    } else if (!level->typed) {
        size_t n = TEXT_SNIFF_BYTES - level->head_bytes;
        if (n > size_bytes)
            n = size_bytes;
        memcpy(level->head + level->head_bytes, bytes, n);
        level->head_bytes += n;
        if (level->head_bytes < TEXT_SNIFF_BYTES)
            return;
        level_type(level, level->head, level->head_bytes);
        level_pass(level, level->head, level->head_bytes);
        bytes += n;
        size_bytes -= n;
    }
    if (size_bytes > 0)
        level_pass(level, bytes, size_bytes);
}

static void stop_unpacking(struct canon *canon)
{
    canon->stopped = true;
    for (unsigned i = 0; i < N_LEVELS - 1; i++)
        decoder_stop(canon->levels[i].decoder);
}

static void level_count(void *user, uint64_t n_bytes)
{
    struct canon *canon = ((struct level *)user)->canon;
    canon->n_unpacked += n_bytes;
    if (canon->goes_on && !canon->stopped && canon->n_unpacked >= canon->ask_at) {
        canon->ask_at = canon->n_unpacked + CANON_UNPACKED_STEP_BYTES;
        if (!canon->goes_on(canon->goes_on_user, canon->n_unpacked))
            stop_unpacking(canon);
    }
}

/* Takes bytes that the level before has unpacked. */
static void level_take(void *user, const uint8_t *bytes, size_t size_bytes)
{
    struct level *level = user;
    level_count(level, size_bytes);
    if (!level->canon->stopped)
        level_feed(level, bytes, size_bytes);
}

static void level_finish(struct level *level)
{
    struct text_form *form = &level->canon->form;
    if (!level->typed) {
        level_type(level, level->head, level->head_bytes);
        level_pass(level, level->head, level->head_bytes);
    }
    if (level->codec == TEXT_CODEC_NONE) {
        inside_finish(level->canon);
        return;
    }
    bool damaged, cut;
    decoder_finish(level->decoder, &damaged, &cut);
    form->damaged |= damaged;
    form->cut |= cut;
    if (!level->canon->stopped)
        level_finish(level + 1);
}

/* -- documents -- */

int canon_want_links(struct canon *canon, void (*links)(void *user, const struct canon_link *link))
{
    if (canon->sink.tags || canon->sink.text || canon->sink.line)
        return -EINVAL;
    canon->sink.links = links;
    words_init(&canon->words, &(struct canon_sink){.tokens = count_tokens, .user = canon});
    return 0;
}

int canon_new(const struct canon_sink *sink, struct canon **ret_canon)
{
    if ((sink->links && (sink->tags || sink->text || sink->line)) || (sink->features && !sink->key))
        return -EINVAL;
    _cleanup_(canon_free_p) struct canon *canon = calloc(1, sizeof(*canon));
    if (!canon)
        return -ENOMEM;
    canon->sink = *sink;
    words_init(&canon->words, sink);
    if (sink->links)
        canon_want_links(canon, sink->links);
    canon->features.sink = *sink;
    canon->order.sink = (struct canon_sink){.features = sink->order, .user = sink->user};
    charset_init(&canon->charset, &(struct byte_sink){filter_feed, canon});
    mail_init(&canon->mail);
    for (unsigned i = 0; i < N_LEVELS; i++) {
        canon->levels[i].canon = canon;
        canon->levels[i].number = i;
    }
    for (unsigned i = 0; i < N_LEVELS - 1; i++) {
        canon->levels[i].decoder =
            decoder_new(&(struct byte_sink){level_take, &canon->levels[i + 1], level_count});
        if (!canon->levels[i].decoder)
            return -ENOMEM;
    }
    *ret_canon = TAKE_PTR(canon);
    return 0;
}

void canon_free(struct canon *canon)
{
    if (!canon)
        return;
    for (unsigned i = 0; i < N_LEVELS - 1; i++)
        decoder_free(canon->levels[i].decoder);
    charset_done(&canon->charset);
    mail_done(&canon->mail);
    rtf_done(&canon->rtf);
    free(canon);
}

bool canon_is_packed(const void *head, size_t head_bytes)
{
    return decoder_sniff(head, head_bytes) != TEXT_CODEC_NONE;
}

void canon_on_unpacking(struct canon *canon, bool (*goes_on)(void *user, uint64_t n_bytes),
                        void *user)
{
    canon->goes_on = goes_on;
    canon->goes_on_user = user;
}

static void rest(struct canon *canon)
{
    for (unsigned i = 0; i < N_LEVELS - 1; i++)
        decoder_rest(canon->levels[i].decoder);
}

void canon_begin(struct canon *canon)
{
    rest(canon);
    canon->form = (struct text_form){0};
    canon->n_unpacked = 0;
    canon->ask_at = CANON_UNPACKED_STEP_BYTES;
    canon->stopped = false;
    level_begin(&canon->levels[0]);
}

void canon_begin_as(struct canon *canon, enum text_type type)
{
    canon_begin(canon);
    canon->levels[0].typed = true;
    canon->levels[0].codec = TEXT_CODEC_NONE;
    inside_begin(canon, type == TEXT_EPUB ? TEXT_HTML : type, NULL, 0, "utf-8");
}

void canon_feed(struct canon *canon, const void *bytes, size_t size_bytes)
{
    level_feed(&canon->levels[0], bytes, size_bytes);
}

void canon_finish(struct canon *canon, struct text_form *ret_form)
{
    level_finish(&canon->levels[0]);
    rest(canon);
    *ret_form = canon->form;
}
