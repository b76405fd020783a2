/* Any bytes, as a line of JSON Lines: never a crash, and what is found is of the line. (Whether it
 * is what is there, tests/unit/tools/documents/test_json_text.c asks another parser.)
 *
 * Input: the line.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/documents/json_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_text_reader *reader = json_text_reader_new("text", "meta.id");
    uint8_t *line = malloc(size + JSON_TEXT_PADDING);
    struct json_text found;
    FUZZ_CHECK(reader && line);
    memcpy(line, data, size);
    memset(line + size, '"', JSON_TEXT_PADDING);
    int fault = json_text_read(reader, line, size, &found);
    FUZZ_CHECK(fault >= 0 && fault < JSON_TEXT_TOO_LONG);
    FUZZ_CHECK(fault != JSON_TEXT_GOOD || (found.text && found.text_bytes <= size));
    if (found.id_bytes > 0) {
        const uint8_t *id = (const uint8_t *)found.id;
        FUZZ_CHECK(id > line && id + found.id_bytes < line + size);
    }
    /* Bytes of the text are there to be read. */
    uint8_t sum = 0;
    for (size_t i = 0; fault == JSON_TEXT_GOOD && i < found.text_bytes; i++)
        sum ^= (uint8_t)found.text[i];
    __asm__ volatile("" : : "r"(sum));
    json_text_reader_free(reader);
    free(line);
    return 0;
}
