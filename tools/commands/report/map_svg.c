#include "tools/commands/report/map_svg.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counted.h"
#include "base/escape.h"
#include "base/ratio.h"

enum {
    GRAPH = 640, /* pixels, in both directions */
    MARGIN = 40,
    TOP = 56,
    LIST_AT = GRAPH + 2 * MARGIN,
    LIST_WIDTH = 560,
    LINE_HEIGHT = 18,
    SHOWN_CHARACTERS = 62, /* of a path in the list */
    N_SHADES = 5,          /* of resemblance, from the threshold to 1 */
    RADIUS_LEAST = 9,
    RADIUS_MOST = 16,
};

static const char style[] =
    "<style>\n"
    "svg { font: 13px system-ui, sans-serif; background: #ffffff }\n"
    "text { fill: #1c2024 } .quiet { fill: #5a626b } .number { font-size: 10px; text-anchor: "
    "middle }\n"
    ".tail { text-anchor: end } circle { fill: #d6e4f5; stroke: #1f4f86; stroke-width: 1.5 }\n"
    ".first circle { fill: #f7d774; stroke: #7a5a00; stroke-width: 2.5 }\n"
    "line { stroke-linecap: round }\n"
    ".s0 { stroke: #c3ccd6 } .s1 { stroke: #9fb3c9 } .s2 { stroke: #6d93bb }\n"
    ".s3 { stroke: #3b70a8 } .s4 { stroke: #123f75 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #14181d } text { fill: #e6e9ed } .quiet { fill: #a3adb8 }\n"
    "circle { fill: #22405f; stroke: #9cc4ee } .first circle { fill: #5c4a10; stroke: #f3cf5b }\n"
    ".s0 { stroke: #39434e } .s1 { stroke: #48607a } .s2 { stroke: #5a85b0 }\n"
    ".s3 { stroke: #7fb0e0 } .s4 { stroke: #c4e0ff }\n"
    "}\n</style>\n";

/* Bytes that XML cannot have are escaped as `ls -b` does; U+FFFE and U+FFFF, ef bf be and ef bf bf,
 * are what is left of them. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '\xef':
            if (text[1] == '\xbf' && ((unsigned char)text[2] & 0xfe) == 0xbe) {
                putc('?', out);
                text += 2;
                break;
            }
            /* fall through */
        default: putc(*text, out);
        }
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* The end of a path says more than its beginning. */
static void put_short_path(FILE *out, const char *path)
{
    size_t n = 0;
    for (const char *c = path; *c; c++)
        n += begins_character(*c);
    if (n > SHOWN_CHARACTERS)
        fputs("\xe2\x80\xa6", out); /* an ellipsis */
    while (n > SHOWN_CHARACTERS) {
        path++;
        n -= begins_character(*path);
    }
    put_text(out, path);
}

static unsigned shade_of(double resemblance, double threshold)
{
    const double share = threshold < 1 ? (resemblance - threshold) / (1 - threshold) : 1;
    const int shade = (int)(share * N_SHADES);
    return shade < 0 ? 0 : shade >= N_SHADES ? N_SHADES - 1 : (unsigned)shade;
}

static double x_of(const struct cluster_picture *picture, size_t i)
{
    return MARGIN + GRAPH * picture->places[i].x;
}

static double y_of(const struct cluster_picture *picture, size_t i)
{
    return TOP + MARGIN + GRAPH * picture->places[i].y;
}

static void put_lines(FILE *out, const struct cluster_picture *picture, double threshold,
                      unsigned shade)
{
    for (size_t i = 0; i < picture->n; i++)
        for (size_t j = i + 1; j < picture->n; j++) {
            const double resemblance = picture->resemblances[i * picture->n + j];
            if (!(resemblance >= threshold) || shade_of(resemblance, threshold) != shade)
                continue;
            fprintf(out,
                    "<line class=\"s%u\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                    "stroke-width=\"%.1f\"><title>%zu \xe2\x80\x93 %zu: %s</title></line>\n",
                    shade, x_of(picture, i), y_of(picture, i), x_of(picture, j), y_of(picture, j),
                    0.6 + 0.7 * shade, i + 1, j + 1, ratio_text(resemblance).text);
        }
}

static double radius_of(const struct cluster_picture *picture, size_t i)
{
    uint64_t most = 1;
    for (size_t j = 0; j < picture->n; j++)
        if (picture->members[j].size_bytes > most)
            most = picture->members[j].size_bytes;
    return RADIUS_LEAST + (RADIUS_MOST - RADIUS_LEAST) *
                              sqrt((double)picture->members[i].size_bytes / (double)most);
}

static void put_title(FILE *out, const struct picture_member *member, const char *escaped)
{
    fputs("<title>", out);
    put_text(out, escaped);
    fprintf(out, "\n%s of the representative, %s</title>", ratio_text(member->resemblance).text,
            counted(member->size_bytes, "byte").text);
}

static int put_member(FILE *out, const struct cluster_picture *picture, size_t i)
{
    const struct picture_member *member = &picture->members[i];
    const double line = TOP + MARGIN + LINE_HEIGHT * (2.5 + (double)i);
    _cleanup_free_ char *escaped = NULL;
    if (escape_name(member->path, &escaped) < 0)
        return -ENOMEM;
    fprintf(out, "<g%s>", i ? "" : " class=\"first\"");
    put_title(out, member, escaped);
    fprintf(out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/><text class=\"number\" x=\"%.1f\" "
            "y=\"%.1f\">%zu</text></g>\n",
            x_of(picture, i), y_of(picture, i), radius_of(picture, i), x_of(picture, i),
            y_of(picture, i) + 3.5, i + 1);
    fputs("<g>", out);
    put_title(out, member, escaped);
    fprintf(out,
            "<text class=\"tail\" x=\"%d\" y=\"%.1f\">%zu</text><text class=\"quiet\" x=\"%d\" "
            "y=\"%.1f\">%s</text><text x=\"%d\" y=\"%.1f\">",
            LIST_AT + 24, line, i + 1, LIST_AT + 34, line, ratio_text(member->resemblance).text,
            LIST_AT + 88, line);
    put_short_path(out, escaped);
    fputs("</text></g>\n", out);
    return 0;
}

static void put_legend(FILE *out, double threshold, int y)
{
    for (unsigned shade = 0; shade < N_SHADES; shade++) {
        const int x = MARGIN + 110 * (int)shade;
        fprintf(
            out,
            "<line class=\"s%u\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke-width=\"%.1f\"/>"
            "<text class=\"quiet\" x=\"%d\" y=\"%d\">%s%.2f</text>\n",
            shade, x, y, x + 30, y, 0.6 + 0.7 * shade, x + 36, y + 4, "\xe2\x89\xa5 ",
            threshold + (1 - threshold) * shade / N_SHADES);
    }
    fprintf(
        out,
        "<text class=\"quiet\" x=\"%d\" y=\"%d\">Resemblance, estimated by sketches. Marked: the "
        "representative. Larger: more bytes.</text>\n",
        MARGIN, y + 24);
}

int map_svg_print(FILE *out, const struct cluster_picture *picture, double threshold)
{
    const int list = TOP + MARGIN + LINE_HEIGHT * ((int)picture->n + 3),
              graph = TOP + 2 * MARGIN + GRAPH;
    const int legend = graph + 16, height = (list > legend + 40 ? list : legend + 40) + 8;
    fprintf(out,
            MAP_SVG_MARK
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n<title>Cluster %llu</title>\n%s",
            LIST_AT + LIST_WIDTH, height, LIST_AT + LIST_WIDTH, height,
            (unsigned long long)picture->id, style);
    fprintf(out, "<text x=\"%d\" y=\"34\" font-size=\"20\">Cluster %llu: %s", MARGIN,
            (unsigned long long)picture->id, counted(picture->size, "document").text);
    if (picture->n < picture->size)
        fprintf(out, ", of which %zu are shown", picture->n);
    fputs("</text>\n", out);
    fprintf(out,
            "<text class=\"quiet\" x=\"%d\" y=\"%d\">resemblance to the representative</text>\n",
            LIST_AT + 34, TOP + MARGIN + LINE_HEIGHT);
    for (unsigned shade = 0; shade < N_SHADES; shade++)
        put_lines(out, picture, threshold, shade);
    int r = 0;
    for (size_t i = picture->n; r == 0 && i-- > 0;) /* the representative lies on top */
        r = put_member(out, picture, i);
    put_legend(out, threshold, legend);
    fputs("</svg>\n", out);
    return r;
}
