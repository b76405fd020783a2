/* A cluster as a picture that stands by itself: SVG, without a program in it. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_MAP_SVG_H
#define KINFS_TOOLS_COMMANDS_REPORT_MAP_SVG_H

#include <stdio.h>

#include "tools/commands/report/cluster_picture.h"

/* The beginning of every picture. */
#define MAP_SVG_MARK "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- kinfs map -->\n"

/* threshold  resemblances of less are no lines
 * Returns 0 or -ENOMEM; the stream knows what could not be written. */
int map_svg_print(FILE *out, const struct cluster_picture *picture, double threshold);

#endif
