/* A program that reads documents for kinfs ends in one of these ways. */
#ifndef KINFS_TOOLS_EXTRACT_EXTRACT_H
#define KINFS_TOOLS_EXTRACT_EXTRACT_H

enum {
    EXTRACT_CUT = 3,      /* what it wrote is not all there is, and counts */
    EXTRACT_CANNOT = 127, /* it could not be run, as of a shell */
};

#endif
