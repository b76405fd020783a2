#include "engine/index/intake/ignored/ignored_places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/ignore/ignore_file.h"
#include "engine/index/tables/sid_tally.h"

enum {
    BUCKETS = IGNORED_PLACES_BUCKETS,
    PLACES_MAX = 4096,
    FILES_MAX = 1024, /* of some 30 KB; more than there can be on one way */
    FEW = 256,        /* to be freed by looking through all */
};

void ignored_places_let_go(struct ignored_places *places, struct ignore_file *file)
{
    while (file && --file->n_users == 0) {
        struct ignore_file *above = (struct ignore_file *)file->level.above;
        ignore_rules_free(file->level.rules);
        free(file);
        places->n_files--;
        file = above;
    }
}

void ignored_place_free(struct ignored_places *places, struct ignored_place *place)
{
    ignored_places_let_go(places, place->file);
    free(place->path);
    free(place);
}

void ignored_places_forget_below(struct ignored_places *places, const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct ignored_place **link = &places->buckets[i], *place; (place = *link);) {
            if (!place->is_far && strncmp(place->path, path, n) != 0) {
                link = &place->next;
                continue;
            }
            *link = place->next;
            ignored_place_free(places, place);
            places->n--;
        }
}

bool ignored_place_has_file(const struct ignored_place *place)
{
    return !place->is_far && place->file && place->file->level.from == strlen(place->path);
}

/* Returns 0, or -ENOMEM. */
static int find_most(const struct ignored_places *places, bool by_files, uid_t *ret_owner)
{
    struct sid_tally tally = {0};
    uint32_t most = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < BUCKETS; i++)
        for (const struct ignored_place *place = places->buckets[i]; place; place = place->next) {
            if (by_files && !ignored_place_has_file(place))
                continue;
            uint32_t *n = sid_tally_of(&tally, (uint64_t)place->owner + 1);
            if (!n)
                r = -ENOMEM;
            if (n && ++*n > most) {
                most = *n;
                *ret_owner = place->owner;
            }
        }
    sid_tally_done(&tally);
    return r;
}

static void keep(struct ignored_place *place)
{
    for (; place && !place->stays; place = place->above)
        place->stays = true;
}

/* Forgets the directories of who has most, or most with ignore files, but for those above what
 * another has, and above one that is to come. Returns how many. */
static size_t forget_of_most(struct ignored_places *places, const struct ignored_place *coming,
                             bool by_files)
{
    const size_t n_before = places->n;
    uid_t owner = IGNORED_NOBODYS;
    if (find_most(places, by_files, &owner) < 0)
        return 0;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct ignored_place *place = places->buckets[i]; place; place = place->next)
            if (place->owner != owner)
                keep(place);
    keep(coming->above);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct ignored_place **link = &places->buckets[i], *place; (place = *link);) {
            if (place->stays) {
                place->stays = false;
                link = &place->next;
                continue;
            }
            *link = place->next;
            ignored_place_free(places, place);
            places->n--;
        }
    return n_before - places->n;
}

static struct ignored_place **link_to(struct ignored_places *places,
                                      const struct file_key *directory)
{
    struct ignored_place **link = &places->buckets[file_key_hash(directory) & (BUCKETS - 1)];
    while (*link && !file_key_equal(&(*link)->directory, directory))
        link = &(*link)->next;
    return link;
}

struct ignored_place *ignored_places_find(const struct ignored_places *places,
                                          const struct file_key *directory)
{
    return *link_to((struct ignored_places *)places, directory);
}

void ignored_places_put(struct ignored_places *places, struct ignored_place *place)
{
    const bool has_most_files = places->n_files > FILES_MAX;
    bool is_taken = *link_to(places, &place->directory) != NULL; /* somebody else was faster */
    if (!is_taken && (places->n == PLACES_MAX || has_most_files) &&
        (forget_of_most(places, place, has_most_files) < FEW || places->n_files > FILES_MAX)) {
        ignored_places_forget_below(places, "");
        is_taken = true;
    }
    if (is_taken) {
        ignored_place_free(places, place);
        return;
    }
    struct ignored_place **link = link_to(places, &place->directory);
    *link = place;
    places->n++;
}

/* Takes the rules. */
static int hold(struct ignored_places *places, struct ignored_place *place,
                struct ignore_rules **rules)
{
    struct ignore_file *file = calloc(1, sizeof(*file));
    if (!file)
        return -ENOMEM;
    file->level = (struct ignore_level){.above = place->file ? &place->file->level : NULL,
                                        .rules = TAKE_PTR(*rules),
                                        .from = strlen(place->path)};
    file->n_users = 1;
    place->file = file;
    places->n_files++;
    places->has_files = true;
    return 0;
}

int ignored_place_fill(struct ignored_places *places, struct ignored_place *place,
                       struct ignored_place *above, const char *name, struct ignore_rules **rules)
{
    place->above = above;
    place->depth = above ? above->depth + 1 : 0;
    place->is_far = above && (above->is_far || place->depth > IGNORE_DEPTH_MAX ||
                              strlen(above->path) + strlen(name) + 1 > IGNORE_PATH_MAX);
    if (place->is_far)
        return 0;
    if (!above)
        place->path = strdup("");
    else if (asprintf(&place->path, "%s%s/", above->path, name) < 0)
        place->path = NULL;
    if (!place->path)
        return -ENOMEM;
    place->file = above ? above->file : NULL;
    if (place->file)
        place->file->n_users++;
    return *rules ? hold(places, place, rules) : 0;
}
