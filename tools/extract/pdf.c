/* kinfs-extract-pdf: the text of the PDF document on standard input, page by page, in UTF-8. */
#include <stdio.h>
#include <unistd.h>

#include <poppler.h>

#include "tools/extract/alone.h"
#include "tools/extract/clock.h"
#include "tools/extract/extract.h"

static int complain(const char *what)
{
    fprintf(stderr, "\n%s\n", what);
    return 1;
}

static int explain(const GError *error)
{
    if (g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED))
        return complain("encrypted");
    return complain(error ? error->message : "cannot be read");
}

int main(void)
{
    const struct extract_clock clock = extract_clock_start();
    GError *error = NULL;
    extract_alone();
    /* Another descriptor: standard input would be taken for a pipe and copied into memory. */
    int fd = dup(STDIN_FILENO);
    PopplerDocument *document = fd < 0 ? NULL : poppler_document_new_from_fd(fd, NULL, &error);
    if (!document)
        return explain(error);
    int n_pages = poppler_document_get_n_pages(document);
    if (n_pages < 1)
        return complain("no pages");
    for (int i = 0; i < n_pages; i++) {
        PopplerPage *page = poppler_document_get_page(document, i);
        char *text = page ? poppler_page_get_text(page) : NULL;
        if (text && (fputs(text, stdout) < 0 || putchar('\n') < 0))
            return complain("standard output cannot be written");
        g_free(text);
        if (page)
            g_object_unref(page);
        if (i + 1 < n_pages && extract_clock_is_over(&clock)) {
            fflush(stdout);
            return EXTRACT_CUT;
        }
    }
    g_object_unref(document);
    return fflush(stdout) == 0 ? 0 : complain("standard output cannot be written");
}
