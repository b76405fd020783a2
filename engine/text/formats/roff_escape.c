/* Escapes of roff (groff(7), "Escape sequences"; groff_char(7) for the names of characters): text,
 * a space, a string, nothing at all, or the beginning of a comment.
 *
 * Example: "\(oq" and "\[oq]" are a quote, which separates words; "\[u00E9]" and "\['e]" are
 * U+00E9;
 * "\fB" changes the font and is nothing. Only names of letters are in the table, as any other
 * character separates words. Cost: one look at the bytes of the escape. */
#include "engine/text/formats/roff.h"

#include <string.h>

#include "engine/text/encoding/utf8.h"

/* Characters that words are made of; all others separate them anyway. */
static const struct special {
    char name[3];
    uint16_t code;
} specials[] = {
    {"'A", 0xc1},   {"'C", 0x106},  {"'E", 0xc9},   {"'I", 0xcd},   {"'O", 0xd3},  {"'U", 0xda},
    {"'Y", 0xdd},   {"'a", 0xe1},   {"'c", 0x107},  {"'e", 0xe9},   {"'i", 0xed},  {"'o", 0xf3},
    {"'u", 0xfa},   {"'y", 0xfd},   {":A", 0xc4},   {":E", 0xcb},   {":I", 0xcf},  {":O", 0xd6},
    {":U", 0xdc},   {":Y", 0x178},  {":a", 0xe4},   {":e", 0xeb},   {":i", 0xef},  {":o", 0xf6},
    {":u", 0xfc},   {":y", 0xff},   {"^A", 0xc2},   {"^E", 0xca},   {"^I", 0xce},  {"^O", 0xd4},
    {"^U", 0xdb},   {"^a", 0xe2},   {"^e", 0xea},   {"^i", 0xee},   {"^o", 0xf4},  {"^u", 0xfb},
    {"`A", 0xc0},   {"`E", 0xc8},   {"`I", 0xcc},   {"`O", 0xd2},   {"`U", 0xd9},  {"`a", 0xe0},
    {"`e", 0xe8},   {"`i", 0xec},   {"`o", 0xf2},   {"`u", 0xf9},   {"~A", 0xc3},  {"~N", 0xd1},
    {"~O", 0xd5},   {"~a", 0xe3},   {"~n", 0xf1},   {"~o", 0xf5},   {"vS", 0x160}, {"vs", 0x161},
    {"vZ", 0x17d},  {"vz", 0x17e},  {",C", 0xc7},   {",c", 0xe7},   {"/L", 0x141}, {"/l", 0x142},
    {"/O", 0xd8},   {"/o", 0xf8},   {"oA", 0xc5},   {"oa", 0xe5},   {"AE", 0xc6},  {"ae", 0xe6},
    {"OE", 0x152},  {"oe", 0x153},  {"IJ", 0x132},  {"ij", 0x133},  {"ss", 0xdf},  {"-D", 0xd0},
    {"Sd", 0xf0},   {"TP", 0xde},   {"Tp", 0xfe},   {".i", 0x131},  {".j", 0x237}, {"ff", 0xfb00},
    {"fi", 0xfb01}, {"fl", 0xfb02}, {"Fi", 0xfb03}, {"Fl", 0xfb04}, {"Of", 0xaa},  {"Om", 0xba},
    {"S1", 0xb9},   {"S2", 0xb2},   {"S3", 0xb3},   {"12", 0xbd},   {"14", 0xbc},  {"34", 0xbe},
    {"18", 0x215b}, {"38", 0x215c}, {"58", 0x215d}, {"78", 0x215e}, {"mc", 0xb5},  {"Fn", 0x192},
    {"Ah", 0x2135}, {"Im", 0x2111}, {"Re", 0x211c}, {"-h", 0x210f}, {"ul", '_'},   {"ru", '_'},
    {"*A", 0x391},  {"*B", 0x392},  {"*G", 0x393},  {"*D", 0x394},  {"*E", 0x395}, {"*Z", 0x396},
    {"*Y", 0x397},  {"*H", 0x398},  {"*I", 0x399},  {"*K", 0x39a},  {"*L", 0x39b}, {"*M", 0x39c},
    {"*N", 0x39d},  {"*C", 0x39e},  {"*O", 0x39f},  {"*P", 0x3a0},  {"*R", 0x3a1}, {"*S", 0x3a3},
    {"*T", 0x3a4},  {"*U", 0x3a5},  {"*F", 0x3a6},  {"*X", 0x3a7},  {"*Q", 0x3a8}, {"*W", 0x3a9},
    {"*a", 0x3b1},  {"*b", 0x3b2},  {"*g", 0x3b3},  {"*d", 0x3b4},  {"*e", 0x3b5}, {"*z", 0x3b6},
    {"*y", 0x3b7},  {"*h", 0x3b8},  {"*i", 0x3b9},  {"*k", 0x3ba},  {"*l", 0x3bb}, {"*m", 0x3bc},
    {"*n", 0x3bd},  {"*c", 0x3be},  {"*o", 0x3bf},  {"*p", 0x3c0},  {"*r", 0x3c1}, {"ts", 0x3c2},
    {"*s", 0x3c3},  {"*t", 0x3c4},  {"*u", 0x3c5},  {"*f", 0x3d5},  {"*x", 0x3c7}, {"*q", 0x3c8},
    {"*w", 0x3c9},  {"+h", 0x3d1},  {"+f", 0x3c6},  {"+p", 0x3d6},  {"+e", 0x3f5},
};

static int peek(const struct rest *rest)
{
    return rest->p < rest->end ? *rest->p : -1;
}

/* Takes bytes up to this one, which is passed, or to the end of the line. */
static struct rest take_until(struct rest *rest, uint8_t byte)
{
    struct rest taken = *rest;
    const uint8_t *found = memchr(rest->p, byte, (size_t)(rest->end - rest->p));
    taken.end = found ? found : rest->end;
    rest->p = found ? found + 1 : rest->end;
    return taken;
}

static struct rest take(struct rest *rest, size_t n)
{
    struct rest taken = *rest;
    if (n < (size_t)(rest->end - rest->p))
        taken.end = rest->p + n;
    rest->p = taken.end;
    return taken;
}

/* Takes a name: x, (xx or [...]. */
static struct rest take_name(struct rest *rest)
{
    if (peek(rest) == '(') {
        rest->p++;
        return take(rest, 2);
    }
    if (peek(rest) == '[') {
        rest->p++;
        return take_until(rest, ']');
    }
    return take(rest, 1);
}

/* Takes 'text' between two of any byte. Escapes within it may have that byte; only the simplest of
 * these are known here: \w, and others, with quotes of their own. */
static struct rest take_quoted(struct rest *rest)
{
    int quote = peek(rest);
    if (quote < 0)
        return *rest;
    struct rest taken = {rest->p + 1, rest->end};
    bool inner = false;
    for (rest->p++; rest->p < rest->end; rest->p++) {
        if (*rest->p == '\\' && rest->end - rest->p > 2) {
            bool quoted = rest->p[2] == quote && memchr("whvAB", rest->p[1], 5);
            inner |= quoted;
            rest->p += quoted ? 2 : 1;
        } else if (*rest->p == quote && inner) {
            inner = false;
        } else if (*rest->p == quote) {
            break;
        }
    }
    taken.end = rest->p;
    rest->p += rest->p < rest->end;
    return taken;
}

/* Takes a number: N, +N, (NN, +(NN, [N] or 'N'. N has two digits when the first is 1, 2 or 3. */
static void skip_size(struct rest *rest)
{
    bool has_sign = peek(rest) == '+' || peek(rest) == '-';
    rest->p += has_sign;
    if (peek(rest) == '\'') {
        take_quoted(rest);
    } else if (peek(rest) >= '1' && peek(rest) <= '3' && !has_sign) {
        rest->p++;
        if (peek(rest) >= '0' && peek(rest) <= '9')
            rest->p++;
    } else {
        bool outside = peek(rest) == '(';
        rest->p += outside;
        if (outside && (peek(rest) == '+' || peek(rest) == '-'))
            rest->p++;
        if (outside)
            take(rest, 2);
        else
            take_name(rest);
    }
}

static void put(struct roff_escape *escape, uint32_t code)
{
    uint8_t utf8[UTF8_MAX_BYTES];
    size_t n = utf8_put(utf8, code);
    escape->is = ROFF_ESCAPE_TEXT;
    if (escape->n_text + n > ROFF_ESCAPE_TEXT_MAX)
        return;
    memcpy(escape->text + escape->n_text, utf8, n);
    escape->n_text = (uint8_t)(escape->n_text + n);
}

/* Reads digits as the number of a character. Returns false when there are none, or anything else.
 */
static bool read_code(struct rest *digits, unsigned base, uint32_t *ret_code)
{
    uint32_t code = 0;
    const uint8_t *begin = digits->p;
    for (; digits->p < digits->end; digits->p++) {
        uint32_t c = *digits->p, digit = c - '0';
        if (c >= 'A' && c <= 'F' && base == 16)
            digit = c - 'A' + 10;
        if (digit >= base)
            break;
        code = code * base + digit;
        if (code > 0x10ffff)
            return false;
    }
    *ret_code = code;
    return digits->p > begin && code > 0 && !(code >= 0xd800 && code <= 0xdfff);
}

/* The text of a character by its name: xx, u1F3D, u0065_0301, char233, or a single one. */
static void read_special(struct roff_escape *escape, struct rest name)
{
    size_t n = (size_t)(name.end - name.p);
    uint32_t code;
    escape->is = ROFF_ESCAPE_SPACE;
    if (n == 1) {
        escape->is = ROFF_ESCAPE_TEXT;
        escape->text[escape->n_text++] = *name.p;
        return;
    }
    for (size_t i = 0; n == 2 && i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (memcmp(specials[i].name, name.p, 2) == 0) {
            put(escape, specials[i].code);
            return;
        }
    }
    if (n > 4 && memcmp(name.p, "char", 4) == 0) {
        name.p += 4;
        if (read_code(&name, 10, &code) && name.p == name.end && code < 256)
            put(escape, code);
    } else if (n > 4 && *name.p == 'u') {
        do {
            name.p++;
            if (!read_code(&name, 16, &code))
                return;
            put(escape, code);
        } while (peek(&name) == '_');
    }
}

struct roff_escape roff_escape_read(const uint8_t *p, size_t n_bytes)
{
    struct roff_escape escape = {.is = ROFF_ESCAPE_NOTHING};
    struct rest rest = {p + 1, p + n_bytes}, quoted;
    uint32_t code;
    int c = peek(&rest);
    while (c == 'E') {
        rest.p++;
        c = peek(&rest);
    }
    rest.p += c >= 0;
    switch (c) {
    case -1:
    case '&':
    case ')':
    case '%':
    case '/':
    case ',':
    case ':':
    case '|':
    case '^':
    case '!':
    case '{':
    case '}':
    case 'd':
    case 'u':
    case 'r':
    case 'z': break;
    case 'c': escape.is = ROFF_ESCAPE_JOIN; break;
    case '"':
    case '#': escape.is = ROFF_ESCAPE_COMMENT; break;
    case 'f':
    case 'F':
    case 'g':
    case 'k':
    case 'm':
    case 'M':
    case 'O':
    case 'V':
    case 'Y': take_name(&rest); break;
    case 'n':
        if (peek(&rest) == '+' || peek(&rest) == '-')
            rest.p++;
        take_name(&rest);
        break;
    case '*':
        escape.is = ROFF_ESCAPE_STRING;
        escape.name = take_name(&rest);
        break;
    case '$':
        take_name(&rest);
        escape.is = ROFF_ESCAPE_SPACE;
        break;
    case 's': skip_size(&rest); break;
    case '(':
    case '[':
        rest.p--;
        read_special(&escape, take_name(&rest));
        break;
    case 'C': read_special(&escape, take_quoted(&rest)); break;
    case 'N':
        quoted = take_quoted(&rest);
        escape.is = ROFF_ESCAPE_SPACE;
        if (read_code(&quoted, 10, &code) && quoted.p == quoted.end)
            put(&escape, code);
        break;
    case 'A':
    case 'B':
    case 'b':
    case 'D':
    case 'h':
    case 'H':
    case 'l':
    case 'L':
    case 'o':
    case 'R':
    case 'S':
    case 'v':
    case 'w':
    case 'x':
    case 'X':
    case 'Z': take_quoted(&rest); break;
    case '_': put(&escape, '_'); break;
    case '0':
    case 'a':
    case 'e':
    case 'p':
    case 't': escape.is = ROFF_ESCAPE_SPACE; break;
    default: /* the character itself; one that is not alphanumeric separates */
        escape.is = ROFF_ESCAPE_TEXT;
        escape.text[escape.n_text++] = (uint8_t)c;
        break;
    }
    escape.n_bytes = (size_t)(rest.p - p);
    return escape;
}
