/* Writes the table of unicode.h as C to standard output; run while kinfs is built.
 *
 * The class of a character by its general category, and by its script where words are not set
 * apart:
 *
 *   L* N* and U+005F                  word
 *   L* N* of Han, Hiragana, Katakana  solo
 *   L* of Thai, Lao, Khmer, Burmese   solo; but a mark where grapheme clusters take it for one (the
 *                                     vowels U+0E33 and U+0EB3, which are letters by category)
 *   M*                                mark; ordered, of a combining class; second or composing,
 * where it is the second of two that compose vowels and last consonants of Hangul composing word
 *   Cf, Default_Ignorable_Code_Point  ignored: soft hyphens, joiners, direction marks, variation
 *                                     selectors, fillers and spaces of no width are layout
 *   U+002D, U+00AD, U+2010            hyphen
 *   all else                          separator
 *
 * The folding is canonical decomposition (The Unicode Standard, 3.7), compatibility's for the forms
 * of is_form(), full case folding (CaseFolding.txt, C and F), and canonical composition.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/words/unicode.h"

enum { MAX_CODES = 18, N_BLOCKS = UNICODE_END / UNICODE_BLOCK, MAX = 256, MAX_EXPANSIONS = 8192 };
enum { HANGUL_MARKS = 0x1160, HANGUL_END = 0x1200, HANGUL_FIRST = 0xac00, HANGUL_LAST = 0xd7a3 };

static struct unicode_property properties[MAX];
static struct unicode_expansion expansions[MAX_EXPANSIONS];
static struct unicode_composition compositions[UNICODE_COMPOSITIONS];
static bool is_first[UNICODE_END], is_second[UNICODE_END]; /* in a pair that composes */
static bool joins_letters[UNICODE_END];                    /* second in a pair with a letter */
static uint8_t indexes[MAX][UNICODE_BLOCK], blocks[N_BLOCKS];
static size_t n_properties, n_expansions, n_compositions, n_blocks;

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
    case UTF8PROC_CATEGORY_CF: return UNICODE_IGNORED;
    default: return code == '_' ? UNICODE_WORD : UNICODE_SEPARATOR;
    }
}

static utf8proc_category_t category_of(uint32_t code)
{
    return utf8proc_category((utf8proc_int32_t)code);
}

static bool is_letter_mark_or_digit(uint32_t code)
{
    utf8proc_category_t category = category_of(code);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO) || code == '_';
}

static utf8proc_ssize_t decompose(uint32_t code, int options, utf8proc_int32_t *codes)
{
    int bound_class = UTF8PROC_BOUNDCLASS_START;
    return utf8proc_decompose_char((utf8proc_int32_t)code, codes, MAX_CODES,
                                   (utf8proc_option_t)(UTF8PROC_DECOMPOSE | options), &bound_class);
}

/* True for a compatibility form that only looks different, of letters, digits and marks: full and
 * half width, ligatures and digraphs, presentation forms of Arabic and Hebrew, letters of
 * mathematics, Roman numerals, radicals of Han. Left out are characters above, below or in a
 * circle, fractions and units in a square, which mean something else; letters of Hangul by
 * themselves, which would join their neighbours; and forms that would become several tokens, as the
 * vowels "am" of Thai and Lao. */
static bool is_form(uint32_t code)
{
    utf8proc_int32_t codes[MAX_CODES];
    utf8proc_propval_t type = utf8proc_get_property((utf8proc_int32_t)code)->decomp_type;
    bool wide = type == UTF8PROC_DECOMP_TYPE_WIDE || type == UTF8PROC_DECOMP_TYPE_NARROW;
    bool radical = code >= 0x2e80 && code <= 0x2fd5;
    if (!wide && type != UTF8PROC_DECOMP_TYPE_FONT && type != UTF8PROC_DECOMP_TYPE_INITIAL &&
        type != UTF8PROC_DECOMP_TYPE_MEDIAL && type != UTF8PROC_DECOMP_TYPE_FINAL &&
        type != UTF8PROC_DECOMP_TYPE_ISOLATED && type != UTF8PROC_DECOMP_TYPE_COMPAT)
        return false;
    if (!wide && !radical && !is_letter_mark_or_digit(code))
        return false;
    if (is_thai_lao_khmer_or_burmese(code))
        return false;
    utf8proc_ssize_t n = decompose(code, UTF8PROC_COMPAT, codes);
    for (utf8proc_ssize_t i = 0; i < n; i++)
        if (!is_letter_mark_or_digit((uint32_t)codes[i]) ||
            (codes[i] >= 0x1100 && codes[i] < HANGUL_END) ||
            (n > 1 && is_han_or_kana((uint32_t)codes[i])))
            return false;
    return n > 0;
}

/* The folding of a character, also of one that is composed with a compatibility form. Returns the
 * number of codes. */
static utf8proc_ssize_t map(uint32_t code, utf8proc_int32_t *codes)
{
    int options = UTF8PROC_CASEFOLD | (is_form(code) ? UTF8PROC_COMPAT : 0);
    utf8proc_ssize_t n = decompose(code, 0, codes);
    for (utf8proc_ssize_t i = 0; i < n; i++)
        options |= is_form((uint32_t)codes[i]) ? UTF8PROC_COMPAT : 0;
    n = decompose(code, options, codes);
    if (n < 1)
        return n;
    return utf8proc_normalize_utf32(codes, n,
                                    (utf8proc_option_t)(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
}

static bool is_case_or_width(uint32_t code)
{
    utf8proc_int32_t codes[MAX_CODES];
    utf8proc_propval_t type = utf8proc_get_property((utf8proc_int32_t)code)->decomp_type;
    return type == UTF8PROC_DECOMP_TYPE_WIDE || type == UTF8PROC_DECOMP_TYPE_NARROW ||
           (!is_form(code) && decompose(code, 0, codes) == 1 && codes[0] == (int32_t)code);
}

/* Returns false when there is no room. */
static bool fold(uint32_t code, const utf8proc_int32_t *codes, utf8proc_ssize_t n,
                 struct unicode_property *property)
{
    if (n == 1 && (codes[0] == (int32_t)code || is_case_or_width(code))) {
        property->fold = codes[0] - (utf8proc_int32_t)code;
        return true;
    }
    if (n < 1 || n_expansions == MAX_EXPANSIONS)
        return false;
    struct unicode_expansion *expansion = &expansions[n_expansions++];
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

static uint8_t class_of(uint32_t code, uint32_t folded)
{
    enum unicode_class class = classify(is_form(code) ? folded : code);
    const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)folded);
    if (code == '-' || code == 0xad || code == 0x2010)
        return UNICODE_HYPHEN;
    if (utf8proc_get_property((utf8proc_int32_t)code)->ignorable)
        return UNICODE_IGNORED;
    if (class == UNICODE_MARK && joins_letters[folded])
        return UNICODE_COMPOSING;
    if (class == UNICODE_MARK && property->combining_class)
        return UNICODE_ORDERED;
    if (class == UNICODE_MARK && is_second[folded])
        return UNICODE_SECOND;
    if (class == UNICODE_MARK && is_first[folded])
        return UNICODE_FIRST;
    return class == UNICODE_WORD && is_second[folded] ? UNICODE_COMPOSING_WORD : (uint8_t) class;
}

/* Returns the property's number, or MAX. */
static size_t property_of(uint32_t code)
{
    utf8proc_int32_t codes[MAX_CODES] = {(utf8proc_int32_t)code};
    utf8proc_ssize_t n = map(code, codes);
    struct unicode_property property = {.class = class_of(code, n < 1 ? code : (uint32_t)codes[0])};
    bool kept = property.class != UNICODE_SEPARATOR && property.class != UNICODE_IGNORED &&
                property.class != UNICODE_HYPHEN;
    if (kept && !fold(code, codes, n, &property))
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

/* Finds the characters that are the second of two that compose: each is the last of a decomposition
 * that composes again. Hangul composes by rule. Returns false when there is no room. */
static bool find_compositions(void)
{
    const utf8proc_option_t compose = (utf8proc_option_t)(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    for (uint32_t code = HANGUL_MARKS; code < HANGUL_END; code++)
        is_second[code] = (code >= 0x1161 && code <= 0x1175) || (code >= 0x11a8 && code <= 0x11c2);
    for (uint32_t code = 0; code < UNICODE_END; code++) {
        utf8proc_int32_t codes[MAX_CODES];
        utf8proc_ssize_t n = decompose(code, 0, codes);
        if (n < 2 || (code >= HANGUL_FIRST && code <= HANGUL_LAST))
            continue;
        utf8proc_int32_t second = codes[n - 1];
        if (utf8proc_normalize_utf32(codes, n - 1, compose) != 1)
            continue;
        utf8proc_int32_t first = codes[0];
        codes[1] = second;
        if (utf8proc_normalize_utf32(codes, 2, compose) != 1 || codes[0] != (int32_t)code)
            continue;
        is_first[first] = is_second[second] = true;
        joins_letters[second] |= classify((uint32_t)first) != UNICODE_MARK;
        uint32_t slot = unicode_composition_slot((uint32_t)first, (uint32_t)second);
        while (compositions[slot].second)
            slot = (slot + 1) % UNICODE_COMPOSITIONS;
        compositions[slot] = (struct unicode_composition){(uint32_t)first, (uint32_t)second, code};
        if (++n_compositions > UNICODE_COMPOSITIONS / 4)
            return false;
    }
    return true;
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

/* The two bytes of a pair are in the order of the machine that compiles the table: as {first byte,
 * second byte} would lie. */
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
    bool there_is_room = find_compositions();
    for (size_t block = 0; block < N_BLOCKS; block++) {
        if (!there_is_room || !make_block(block)) {
            fprintf(stderr, "unicode_generate: the table of unicode.h is too small\n");
            return 1;
        }
    }
    printf("/* Made by unicode_generate.c, of Unicode %s. */\n#include "
           "\"engine/text/words/unicode.h\"\n\n"
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
    printf("};\nconst uint16_t unicode_expansion_blocks[] = {\n");
    for (size_t block = 0, i = 0; block <= N_BLOCKS; block++) {
        while (i < n_expansions && expansions[i].code < block * UNICODE_BLOCK)
            i++;
        printf("%zu,\n", i);
    }
    printf("};\nconst struct unicode_composition unicode_compositions[UNICODE_COMPOSITIONS] = {\n");
    for (size_t i = 0; i < UNICODE_COMPOSITIONS; i++)
        printf("{0x%x, 0x%x, 0x%x},\n", (unsigned)compositions[i].first,
               (unsigned)compositions[i].second, (unsigned)compositions[i].composed);
    printf("};\n");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
