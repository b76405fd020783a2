/* The questions of kinfs report and kinfs map to an index (work_report()), by the member "what" of
 * the request:
 *
 *   REPORT_DOCUMENTS  a row {"about"}, then one for each document: "path", "size", "type"
 *   REPORT_MEMBERS    the rows of `kinfs clusters --members`
 *   REPORT_PICTURES   of clusters "ids", at most "most" members of each: a row for each left
 *                     {"cluster", "size", "members": [as above], "pairs"}, then {"generation"}
 *
 * "pairs" are the resemblances of the members, the first with each behind it, then the second, and
 * so on, in REPORT_RATIO_UNITS, which only equal documents have; -1: one of the two has gone.
 */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_REPORT_WORK_H
#define KINFS_TOOLS_COMMANDS_REPORT_REPORT_WORK_H

enum { REPORT_RATIO_UNITS = 10000 };

#define REPORT_DOCUMENTS "documents"
#define REPORT_MEMBERS "members"
#define REPORT_PICTURES "pictures"

#endif
