/* Writes the table of unicode.h as C to standard output; run while kinfs is built.
 *
 * The class of a character by its general category, and by its script where words are not set
 * apart:
 *
 *   L* N* and U+005F                  word
 *   L* N* of Han, Hiragana, Katakana  solo
 *   L* of Thai, Lao, Khmer, Burmese   solo; but a mark where grapheme clusters take it for one (the
 *                                     vowels U+0E33 and U+0EB3, which are letters by category)
 *   M*                                mark
 *   Cf but U+200B                     ignored: soft hyphens, joiners and direction marks are layout
 *   all else                          separator (U+200B says that a line may be broken here)
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/unicode.h"

enum { MAX_CODES = 4, N_BLOCKS = UNICODE_END / UNICODE_BLOCK, MAX = 256 };

static struct unicode_property properties[MAX];
static struct unicode_expansion expansions[MAX];
static uint8_t indexes[MAX][UNICODE_BLOCK], blocks[N_BLOCKS];
static size_t n_properties, n_expansions, n_blocks;

static bool within(uint32_t code, const uint32_t (*ranges)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* Katakana includes the sound marks (U+30FC and others), which Unicode gives no script. */
static bool is_han_or_kana(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x3005, 0x3007}, {0x3021, 0x3029},   {0x3038, 0x303b},   {0x3041, 0x30ff},
        {0x31f0, 0x31ff}, {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
        {0xff66, 0xff9f}, {0x1aff0, 0x1b16f}, {0x20000, 0x3ffff},
    };
    return within(code, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

static bool is_thai_lao_khmer_or_burmese(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x0e00, 0x0e7f}, {0x0e80, 0x0eff}, {0x1000, 0x109f},   {0x1780, 0x17ff},
        {0xa9e0, 0xa9ff}, {0xaa60, 0xaa7f}, {0x116d0, 0x116ff},
    };
    return within(code, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

static enum unicode_class classify_letter(uint32_t code)
{
    if (is_han_or_kana(code))
        return UNICODE_SOLO;
    if (!is_thai_lao_khmer_or_burmese(code))
        return UNICODE_WORD;
    unsigned bound = utf8proc_get_property((utf8proc_int32_t)code)->boundclass;
    return bound == UTF8PROC_BOUNDCLASS_SPACINGMARK || bound == UTF8PROC_BOUNDCLASS_EXTEND
               ? UNICODE_MARK
               : UNICODE_SOLO;
}

static enum unicode_class classify(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return classify_letter(code);
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return is_han_or_kana(code) ? UNICODE_SOLO : UNICODE_WORD;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return UNICODE_MARK;
    case UTF8PROC_CATEGORY_CF: return code == 0x200b ? UNICODE_SEPARATOR : UNICODE_IGNORED;
    default: return code == '_' ? UNICODE_WORD : UNICODE_SEPARATOR;
    }
}

/* Full case folding: CaseFolding.txt, C and F. Returns false when there is no room. */
static bool fold(uint32_t code, struct unicode_property *property)
{
    utf8proc_int32_t codes[MAX_CODES];
    int bound_class = UTF8PROC_BOUNDCLASS_START;
    utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)code, codes, MAX_CODES,
                                                 UTF8PROC_CASEFOLD, &bound_class);
    if (n == 1) {
        property->fold = codes[0] - (utf8proc_int32_t)code;
        return true;
    }
    struct unicode_expansion *expansion = &expansions[n_expansions++];
    if (n < 1 || n > 3 || n_expansions == MAX)
        return false;
    property->expands = 1;
    expansion->code = code;
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        uint8_t bytes[4];
        utf8proc_ssize_t size = utf8proc_encode_char(codes[i], bytes);
        if (expansion->n_bytes + size > UNICODE_EXPANSION_MAX_BYTES)
            return false;
        memcpy(expansion->bytes + expansion->n_bytes, bytes, (size_t)size);
        expansion->n_bytes += (uint8_t)size;
    }
    return true;
}

/* Returns the property's number, or MAX. */
static size_t property_of(uint32_t code)
{
    struct unicode_property property = {.class = (uint8_t)classify(code)};
    bool kept = property.class != UNICODE_SEPARATOR && property.class != UNICODE_IGNORED;
    if (kept && !fold(code, &property))
        return MAX;
    for (size_t i = 0; i < n_properties; i++)
        if (properties[i].fold == property.fold && properties[i].class == property.class &&
            properties[i].expands == property.expands)
            return i;
    if (n_properties == MAX)
        return MAX;
    properties[n_properties] = property;
    return n_properties++;
}

static bool make_block(size_t block)
{
    uint8_t *made = indexes[n_blocks];
    for (size_t i = 0; i < UNICODE_BLOCK; i++) {
        size_t property = property_of((uint32_t)(block * UNICODE_BLOCK + i));
        if (property == MAX)
            return false;
        made[i] = (uint8_t)property;
    }
    size_t same = 0;
    while (memcmp(indexes[same], made, UNICODE_BLOCK) != 0)
        same++;
    blocks[block] = (uint8_t)same;
    if (same == n_blocks && ++n_blocks == MAX)
        return false;
    return true;
}

/* In the order of the machine that compiles the table: as {first byte, second byte} would lie. */
static void print_pairs(void)
{
    for (uint32_t code = 0; code < 0x800; code++) {
        const struct unicode_property *property =
            &properties[indexes[blocks[code / UNICODE_BLOCK]][code % UNICODE_BLOCK]];
        uint32_t folded = code + (uint32_t)property->fold;
        bool pair = code >= 0x80 && property->class == UNICODE_WORD && !property->expands &&
                    folded >= 0x80 && folded < 0x800;
        if (pair)
            printf("PAIR(0x%x, 0x%x),\n", 0xc0 | folded >> 6, 0x80 | (folded & 0x3f));
        else
            printf("0,\n");
    }
}

static void print_bytes(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%u,%s", bytes[i], i % 32 == 31 ? "\n" : "");
}

int main(void)
{
    for (; n_properties < UNICODE_N_CLASSES; n_properties++)
        properties[n_properties].class = (uint8_t)n_properties;
    for (size_t block = 0; block < N_BLOCKS; block++) {
        if (!make_block(block)) {
            fprintf(stderr, "unicode_generate: the table of unicode.h is too small\n");
            return 1;
        }
    }
    printf(
        "/* Made by unicode_generate.c, of Unicode %s. */\n#include \"engine/text/unicode.h\"\n\n"
        "const struct unicode_property unicode_properties[] = {\n",
        utf8proc_unicode_version());
    for (size_t i = 0; i < n_properties; i++)
        printf("{%d, %u, %u},\n", (int)properties[i].fold, properties[i].class,
               properties[i].expands);
    printf("};\n#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__\n#define PAIR(a, b) (a | b << 8)\n"
           "#else\n#define PAIR(a, b) (a << 8 | b)\n#endif\n"
           "const uint16_t unicode_pairs[0x800 + 1] = {\n");
    print_pairs();
    printf("};\nconst uint8_t unicode_blocks[] = {\n");
    print_bytes(blocks, N_BLOCKS);
    printf("};\nconst uint8_t unicode_indexes[][UNICODE_BLOCK] = {\n");
    for (size_t i = 0; i < n_blocks; i++) {
        printf("{\n");
        print_bytes(indexes[i], UNICODE_BLOCK);
        printf("},\n");
    }
    printf("};\nconst struct unicode_expansion unicode_expansions[] = {\n");
    for (size_t i = 0; i < n_expansions; i++) {
        printf("{0x%x, %u, {", (unsigned)expansions[i].code, expansions[i].n_bytes);
        print_bytes(expansions[i].bytes, expansions[i].n_bytes);
        printf("}},\n");
    }
    printf("};\nconst size_t unicode_n_expansions = %zu;\n", n_expansions);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
