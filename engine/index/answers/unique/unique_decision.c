/* A text stays, unless one of those that come before it, and stay, resembles it.
 *
 * Those that come before are decided first, and their own before them. The order is strict, so that
 * this ends; what is on the way is on a stack, since chains of versions are as long as somebody
 * makes them. A text is searched for once, compared with UNIQUE_ATTEMPTS others at most, and
 * decided once in a state of the index, whoever needs it: what an answer costs is linear in the
 * texts on the ways down, and so is what all answers cost together.
 *
 * A text that cannot be told of now is in doubt, and so is each that depends on it. That is
 * remembered with the text where the doubt began, and each answer tries that one comparison anew,
 * so that a file which changes all the time costs a walk of a thousand names a thousand
 * comparisons, and not a thousand times a thousand. What is said otherwise depends on the state of
 * the index alone, not on what was asked before, nor on what is remembered: in a tree at rest a
 * walk is of one mind, however long it takes. So what is in doubt counts as compared, too: without
 * that, a text could be found here that would not be once there is no doubt any more.
 *
 * Example: of the versions 1, 2, ..., 9 each resembles the two before it. 9 needs 7, which needs 5,
 * which needs 3, which needs 1, which stays, and 3 is left out for it. 5 needs 4 besides, which
 * needs 2, which is left out for 1: so 4 stays, and 5 is left out for it. And so on up.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/room.h"
#include "engine/index/answers/unique/unique_exact.h"
#include "engine/index/answers/unique/unique_private.h"
#include "engine/index/tables/distinct.h"

enum { UNIQUE_ATTEMPTS = 16 }; /* texts that one is compared with in full */

/* A text that is being decided. */
struct deciding {
    struct unique_text *text;
    const struct unique_better *better;
    struct unique_better *found; /* the same, if it was found just now; else the memory has it */
    size_t at;
    unsigned n_compared;
    struct unique_text *origin, *about; /* of a doubt */
};

struct way {
    struct deciding *texts;
    size_t n, room;
};

/* -- comparing -- */

/* Tells whether one text may stand in for another. Returns 1, 0, -EAGAIN: it cannot be told now; or
 * an error. */
static int stands_in(struct unique_asking *asking, const struct unique_text *text,
                     const struct unique_text *other, double *ret_resemblance)
{
    struct index *index = asking->index;
    const uint64_t sids[2] = {text->sid, other->sid};
    const struct record *records[2];
    if (answer_is_stopped(&asking->query))
        return -EINTR;
    int r = records_borrow(index->records, sids, 2, records);
    if (r < 0)
        return r;
    if (!records[0] || !records[1]) {
        r = -EBUSY;
    } else {
        r = distinct_has(index->kv, &records[0]->key, &records[1]->key);
        const struct document a = {index->records, sids[0], records[0]},
                              b = {index->records, sids[1], records[1]};
        if (r == 0)
            r = unique_exact_compare(index, asking->owner, &a, &b, &asking->query, ret_resemblance);
        r = r == 0 ? *ret_resemblance >= asking->unique->options.near : r > 0 ? 0 : r;
    }
    records_return(index->records, records, 2);
    asking->stale |= r == -EAGAIN;
    return r;
}

/* The doubt that began with a text is tried anew: it lasts or not. Returns 1, 0 or an error. */
static int lasts(struct unique_asking *asking, struct unique_text *origin)
{
    double resemblance;
    struct unique_text *about = unique_memory_doubt(asking->memory, origin, asking->number);
    if (!about)
        return 1;
    int r = stands_in(asking, origin, about, &resemblance);
    if (r < 0 && r != -EAGAIN)
        return r;
    if (r == -EAGAIN)
        unique_memory_put_in_doubt(asking->memory, origin, origin, about);
    else
        unique_memory_end_doubt(asking->memory, origin);
    return r == -EAGAIN;
}

/* The memory says what is known of a text already. */
static int look_up(struct unique_asking *asking, const struct unique_text *text,
                   enum unique_verdict *ret_verdict, struct unique_text **ret_origin)
{
    *ret_verdict = unique_memory_verdict(asking->memory, text, ret_origin);
    if (*ret_verdict != UNIQUE_IN_DOUBT)
        return 0;
    int r = lasts(asking, *ret_origin);
    if (r == 0)
        *ret_verdict = UNIQUE_UNKNOWN;
    return r < 0 ? r : 0;
}

/* -- the way down and up -- */

static size_t bytes_of(const struct deciding *deciding)
{
    return sizeof(*deciding) + (deciding->found ? unique_better_bytes(deciding->found->n) : 0);
}

static int push(struct unique_asking *asking, struct way *way, struct unique_text *text)
{
    struct deciding deciding = {.text = text};
    if (text->rank.kept || !unique_is_text(text)) {
        unique_memory_decide(asking->memory, text, UNIQUE_STAYS, 0, 0);
        return 0;
    }
    if (answer_is_stopped(&asking->query))
        return -EINTR;
    if (!unique_memory_has_room(asking->memory, asking->decision_bytes, asking->memory_bytes))
        return -ENOBUFS;
    if (!MAKE_ROOM(way->texts, way->room, way->n + 1))
        return -ENOMEM;
    deciding.better = unique_memory_better(asking->memory, text);
    if (!deciding.better) {
        int r = unique_find_better(asking, text, &deciding.found);
        if (r < 0)
            return r;
        deciding.better = deciding.found;
    }
    asking->decision_bytes += bytes_of(&deciding);
    way->texts[way->n++] = deciding;
    return 0;
}

/* The neighbours that were found of a text that is not decided are kept. */
static void pop(struct unique_asking *asking, struct way *way)
{
    struct deciding *deciding = &way->texts[--way->n];
    asking->decision_bytes -= bytes_of(deciding);
    if (deciding->found)
        unique_memory_keep_better(asking->memory, deciding->text, deciding->found);
}

static void decide_last(struct unique_asking *asking, struct way *way, enum unique_verdict verdict,
                        uint64_t stand_in, double resemblance)
{
    unique_memory_decide(asking->memory, way->texts[way->n - 1].text, verdict, stand_in,
                         resemblance);
    pop(asking, way);
}

/* Goes on with the last text on the way: decides it, or adds one that it needs. */
static int step(struct unique_asking *asking, struct way *way)
{
    struct deciding *deciding = &way->texts[way->n - 1];
    const struct unique_better *better = deciding->better;
    while (deciding->at < better->n && deciding->n_compared < UNIQUE_ATTEMPTS) {
        struct unique_text *other = better->texts[deciding->at], *origin;
        enum unique_verdict verdict;
        double resemblance = 0;
        int r = look_up(asking, other, &verdict, &origin);
        if (r < 0)
            return r;
        if (verdict == UNIQUE_UNKNOWN)
            return push(asking, way, other);
        deciding->at++;
        if (verdict == UNIQUE_LEFT_OUT)
            continue;
        deciding->n_compared++;
        if (verdict == UNIQUE_IN_DOUBT) {
            deciding->origin = origin;
            continue;
        }
        r = stands_in(asking, deciding->text, other, &resemblance);
        if (r < 0 && r != -EAGAIN)
            return r;
        if (r > 0) {
            decide_last(asking, way, UNIQUE_LEFT_OUT, other->sid, resemblance);
            return 0;
        }
        if (r == -EAGAIN) {
            deciding->origin = deciding->text;
            deciding->about = other;
        }
    }
    if (!deciding->origin) {
        decide_last(asking, way, UNIQUE_STAYS, 0, 0);
        return 0;
    }
    unique_memory_put_in_doubt(asking->memory, deciding->text, deciding->origin, deciding->about);
    pop(asking, way);
    return 0;
}

int unique_decide(struct unique_asking *asking, struct unique_text *text,
                  enum unique_verdict *ret_verdict)
{
    struct unique_text *origin;
    struct way way = {0};
    int r = look_up(asking, text, ret_verdict, &origin);
    while (r == 0 && *ret_verdict == UNIQUE_UNKNOWN) {
        r = push(asking, &way, text);
        while (r == 0 && way.n)
            r = step(asking, &way);
        if (r == 0)
            r = look_up(asking, text, ret_verdict, &origin);
    }
    while (way.n)
        pop(asking, &way);
    free(way.texts);
    return r;
}
