#include "tools/commands/report/report_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/show/json_line.h"

/* report.html up to the data and from there on, as tools/commands/report/embed makes them. */
extern const char report_page_head[], report_page_tail[];
extern const size_t report_page_head_bytes, report_page_tail_bytes;

/* These stand in strings alone, where JSON has another way to say them; neither "</script>" nor
 * "<!--" is left. */
static void put_json(FILE *out, const char *text)
{
    for (size_t n; *text; text += n) {
        n = strcspn(text, "<>&");
        fwrite(text, 1, n, out);
        if (text[n])
            fprintf(out, "\\u%04x", (unsigned char)text[n++]);
    }
}

int report_page_print(FILE *out, struct json_object *data)
{
    _cleanup_free_ char *text = NULL;
    size_t n_bytes;
    FILE *memory = open_memstream(&text, &n_bytes);
    if (!memory)
        return -ENOMEM;
    json_line_print(memory, data);
    const bool failed = ferror(memory);
    if (fclose(memory) != 0 || failed)
        return -ENOMEM;
    fwrite(report_page_head, 1, report_page_head_bytes, out);
    put_json(out, text);
    fwrite(report_page_tail, 1, report_page_tail_bytes, out);
    return 0;
}
