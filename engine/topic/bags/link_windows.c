/* A document's words pass through a ring that has the last of them, each with the number of its
 * token. A link is known when its text has ended: its window is then an interval of token numbers,
 * [first - before, end + after), which waits in a queue until the last of these tokens has come (a
 * block of tokens comes when it is full, and links before it); then its words are still in the
 * ring. As links come in the order of their ends, so do the ends of windows, and the queue is first
 * in, first out. The title waits beside it, as its window ends with its text.
 *
 * Example with windows of one token: in "0 1 <a href=x>2</a> <a href=y>3</a> 4" x has the tokens
 * [1, 4) and y [2, 5). When token 4 has come x is complete, and y when the document ends. Were both
 * links to x, the second window would be [4, 5).
 *
 * Cost: for each word a place in the ring; for each window two binary searches. Left out: anchors
 * within anchors, which HTML has none of.
 */
#include "engine/topic/bags/link_windows.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/text/canon.h"

/* Tokens [begin, end) of the document; begin == end: none. */
struct window {
    uint64_t target, begin, end;
};

struct placed_word {
    uint64_t token, word;
};

struct link_windows {
    uint32_t before, after;
    link_window_fn take;
    void *user;
    struct window title;
    bool title_open; /* not all of its tokens have come */

    /* Windows added and handed out so far; the last BAG_LINKS_AT_ONCE are at their number modulo
     * that, as are words in the ring. */
    uint64_t n_tokens, n_added, n_done, n_ring;
    struct window windows[BAG_LINKS_AT_ONCE];
    struct placed_word ring[BAG_WINDOW_MOST_WORDS];
    uint64_t fragment[BAG_WINDOW_MOST_WORDS];
};

int link_windows_new(uint32_t before, uint32_t after, link_window_fn take, void *user,
                     struct link_windows **ret_windows)
{
    struct link_windows *windows = calloc(1, sizeof(*windows));
    if (!windows)
        return -ENOMEM;
    windows->before = before;
    windows->after = after;
    windows->take = take;
    windows->user = user;
    *ret_windows = windows;
    return 0;
}

void link_windows_free(struct link_windows *windows)
{
    free(windows);
}

void link_windows_begin(struct link_windows *windows)
{
    windows->title_open = false;
    windows->n_tokens = windows->n_added = windows->n_done = windows->n_ring = 0;
}

/* The number of the first word in the ring, from `from` on, whose token is not before this one. */
static uint64_t find_word(const struct link_windows *windows, uint64_t from, uint64_t token)
{
    uint64_t to = windows->n_ring;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (windows->ring[middle % BAG_WINDOW_MOST_WORDS].token < token)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* All tokens of the window have come. */
static void hand_out(struct link_windows *windows, const struct window *window)
{
    const uint64_t n = windows->n_ring;
    const uint64_t oldest = n > BAG_WINDOW_MOST_WORDS ? n - BAG_WINDOW_MOST_WORDS : 0;
    const uint64_t first = find_word(windows, oldest, window->begin);
    const uint64_t end = find_word(windows, first, window->end);
    size_t n_words = 0;
    for (uint64_t i = first; i < end; i++)
        windows->fragment[n_words++] = windows->ring[i % BAG_WINDOW_MOST_WORDS].word;
    if (n_words)
        windows->take(windows->user, window->target, windows->fragment, n_words);
}

/* Hands out what is complete when the tokens before this one have come. */
static void complete(struct link_windows *windows, uint64_t token)
{
    if (windows->title_open && windows->title.end <= token) {
        windows->title_open = false;
        hand_out(windows, &windows->title);
    }
    for (; windows->n_done < windows->n_added; windows->n_done++) {
        const struct window *window = &windows->windows[windows->n_done % BAG_LINKS_AT_ONCE];
        if (window->end > token)
            break;
        hand_out(windows, window);
    }
}

void link_windows_word(struct link_windows *windows, uint64_t word)
{
    windows->ring[windows->n_ring++ % BAG_WINDOW_MOST_WORDS] =
        (struct placed_word){windows->n_tokens, word};
}

void link_windows_token(struct link_windows *windows)
{
    complete(windows, ++windows->n_tokens);
}

/* Where a window begins: behind the last one to the same target, if that reaches into it. The ends
 * of windows ascend, so those before one that does not reach into it do not either. */
static uint64_t begin_behind(const struct link_windows *windows, uint64_t target, uint64_t begin)
{
    uint64_t oldest =
        windows->n_added > BAG_LINKS_AT_ONCE ? windows->n_added - BAG_LINKS_AT_ONCE : 0;
    for (uint64_t i = windows->n_added; i-- > oldest;) {
        const struct window *window = &windows->windows[i % BAG_LINKS_AT_ONCE];
        if (window->end <= begin)
            break;
        if (window->target == target)
            return window->end;
    }
    return begin;
}

/* Whether there is a place for one more window. That it is not asked which windows were handed out,
 * but which must have been, makes no difference between blocks: a block has so many tokens at most,
 * and one is open. */
static bool has_place(const struct link_windows *windows, uint64_t end)
{
    if (windows->n_added < BAG_LINKS_AT_ONCE)
        return true;
    if (windows->n_added - windows->n_done == BAG_LINKS_AT_ONCE)
        return false;
    const struct window *oldest = &windows->windows[windows->n_added % BAG_LINKS_AT_ONCE];
    return oldest->end + TOKEN_BLOCK_MAX + 1 <= end;
}

bool link_windows_link(struct link_windows *windows, uint64_t target, uint64_t first, uint64_t end)
{
    complete(windows, windows->n_tokens);
    if (!has_place(windows, end))
        return false;
    const uint64_t begin = first > windows->before ? first - windows->before : 0;
    windows->windows[windows->n_added % BAG_LINKS_AT_ONCE] =
        (struct window){target, begin_behind(windows, target, begin), end + windows->after};
    windows->n_added++;
    return true;
}

void link_windows_title(struct link_windows *windows, uint64_t first, uint64_t end)
{
    complete(windows, windows->n_tokens);
    windows->title = (struct window){BAG_NO_TARGET, first, end};
    windows->title_open = true;
}

void link_windows_end(struct link_windows *windows)
{
    complete(windows, UINT64_MAX);
}
