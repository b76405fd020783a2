/* The page of a report: one file of HTML with its style, its program and its data, which asks
 * nobody for anything. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_REPORT_PAGE_H
#define KINFS_TOOLS_COMMANDS_REPORT_REPORT_PAGE_H

#include <json-c/json.h>
#include <stdio.h>

/* The beginning of every page. */
#define REPORT_PAGE_MARK "<!DOCTYPE html>\n<!-- kinfs report -->\n"

/* Print the page with its data. Names that are in it cannot end the element that it is in. The data
 * does not change. Returns 0 or -ENOMEM; the stream knows what could not be written. */
int report_page_print(FILE *out, struct json_object *data);

#endif
