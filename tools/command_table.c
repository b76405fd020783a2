#include "tools/command_table.h"

#include <string.h>

#include "tools/commands/command.h"

const struct command commands[] = {
    {"mount", "mount a tree of documents with its views", cmd_mount, NULL},
    {"umount", "unmount it and wait for the daemon to end", cmd_umount, NULL},
    {"scan", "index a tree without a mount, or again", cmd_scan, work_scan},
    {"settle", "wait until every document is sketched", cmd_settle, work_settle},
    {"status", "what an index holds and does", cmd_status, work_status},
    {"similar", "which documents resemble one", cmd_similar, work_similar},
    {"passages", "which documents have passages of one", cmd_passages, work_passages},
    {"related", "which documents are about the same as one", cmd_related, work_related},
    {"topics", "what documents are about, and which about the same", cmd_topics, work_topics},
    {"copies", "who holds a good part of a document", cmd_copies, NULL},
    {"basis", "of files the documents to send differences to", cmd_basis, NULL},
    {"clusters", "which clusters there are, or who is in one", cmd_clusters, work_clusters},
    {"watch", "what joins and leaves clusters, as it happens", cmd_watch, work_watch},
    {"report", "a page of what near-duplicates cost", cmd_report, work_report},
    {"map", "a cluster as a picture", cmd_map, NULL},
    {"group", "of the paths of a search, one of each cluster", cmd_group, work_group},
    {"pairs", "all pairs of documents that resemble each other", cmd_pairs, work_pairs},
    {"mirrors", "directories that mirror each other", cmd_mirrors, work_mirrors},
    {"cluster", "which documents resemble each other, without an index", cmd_cluster, NULL},
    {"links", "what documents link to, and what of it is missing", cmd_links, NULL},
    {"lost", "what resembles a document that is gone", cmd_lost, work_lost},
    {"history", "what a document was, and when", cmd_history, work_history},
    {"changes", "births, deaths and changes in a directory", cmd_changes, work_changes},
    {"shingles", "what most documents have in common", cmd_shingles, work_shingles},
    {"compare", "how alike two documents are", cmd_compare, work_compare},
    {"explain", "which passages two documents share", cmd_explain, NULL},
    {"bag", "which words a document is about", cmd_bag, NULL},
    {"stopwords", "which words most documents have", cmd_stopwords, NULL},
    {"classify", "which classes a document is of, by its words", cmd_classify, NULL},
    {"distinct", "two documents that are no duplicates", cmd_distinct, work_distinct},
    {"skip", "what unique/ leaves out, for backup tools", cmd_skip, work_skip},
    {"restore-list", "make again what unique/ left out of a copy", cmd_restore_list, NULL},
    {"tidy", "move near-duplicates away, link equal ones", cmd_tidy, NULL},
    {"check", "whether what is stored is whole", cmd_check, work_check},
    {"rebuild", "make everything derived anew", cmd_rebuild, NULL},
    {"stores", "which stores there are, and of which trees", cmd_stores, NULL},
    {"forget", "remove a store", cmd_forget, NULL},
    {0},
};

work_fn command_work(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command->work;
    return NULL;
}
