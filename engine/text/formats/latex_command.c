/* The commands that LaTeX itself and widespread packages define, and accents. A command that is not
 * in the table drops its name and an option, and shows all its arguments.
 *
 * Example: {"includegraphics", 1} drops the file name; {"textbf", 0, LATEX_INLINE} shows its
 * argument as a part of the word around it; \'e is found in the list of letters with an acute.
 * Cost: a binary search of some 200 names. Left out: packages that few documents load.
 */
#include "engine/text/formats/latex.h"

#include <stdlib.h>
#include <string.h>

#include "engine/text/encoding/utf8.h"

/* The commands, sorted by strcmp(3). */
static const struct latex_command commands[] = {
    {"AA", 0, LATEX_INLINE, "Å"},
    {"AE", 0, LATEX_INLINE, "Æ"},
    {"Big", 0, LATEX_KEEPS_OPTION},
    {"Bigg", 0, LATEX_KEEPS_OPTION},
    {"Bigl", 0, LATEX_KEEPS_OPTION},
    {"Bigr", 0, LATEX_KEEPS_OPTION},
    {"Cref", 1},
    {"DH", 0, LATEX_INLINE, "Ð"},
    {"DJ", 0, LATEX_INLINE, "Đ"},
    {"DeclareMathOperator", LATEX_DROP_ALL},
    {"DeclareUnicodeCharacter", 2},
    {"Delta", 0, LATEX_INLINE, "Δ"},
    {"Gamma", 0, LATEX_INLINE, "Γ"},
    {"H", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"L", 0, LATEX_INLINE, "Ł"},
    {"LaTeX", 0, LATEX_INLINE, "LaTeX"},
    {"Lambda", 0, LATEX_INLINE, "Λ"},
    {"O", 0, LATEX_INLINE, "Ø"},
    {"OE", 0, LATEX_INLINE, "Œ"},
    {"Omega", 0, LATEX_INLINE, "Ω"},
    {"PassOptionsToClass", 1},
    {"PassOptionsToPackage", 1},
    {"Phi", 0, LATEX_INLINE, "Φ"},
    {"Pi", 0, LATEX_INLINE, "Π"},
    {"Psi", 0, LATEX_INLINE, "Ψ"},
    {"RequirePackage", 1},
    {"Sigma", 0, LATEX_INLINE, "Σ"},
    {"TH", 0, LATEX_INLINE, "Þ"},
    {"TeX", 0, LATEX_INLINE, "TeX"},
    {"Theta", 0, LATEX_INLINE, "Θ"},
    {"Xi", 0, LATEX_INLINE, "Ξ"},
    {"aa", 0, LATEX_INLINE, "å"},
    {"addbibresource", 1},
    {"addcontentsline", 3},
    {"addtocounter", 2},
    {"addtolength", 2},
    {"ae", 0, LATEX_INLINE, "æ"},
    {"alpha", 0, LATEX_INLINE, "α"},
    {"author", 0, LATEX_SHOWN_IN_PREAMBLE},
    {"autocite", 1, LATEX_INLINE},
    {"autoref", 1},
    {"b", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"beta", 0, LATEX_INLINE, "β"},
    {"bf", 0, LATEX_INLINE},
    {"bfseries", 0, LATEX_INLINE},
    {"bibitem", 1},
    {"bibliography", 1},
    {"bibliographystyle", 1},
    {"big", 0, LATEX_KEEPS_OPTION},
    {"bigg", 0, LATEX_KEEPS_OPTION},
    {"bigl", 0, LATEX_KEEPS_OPTION},
    {"bigr", 0, LATEX_KEEPS_OPTION},
    {"boldsymbol", 0, LATEX_INLINE},
    {"c", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"captionsetup", 1},
    {"chi", 0, LATEX_INLINE, "χ"},
    {"cite", 1, LATEX_INLINE},
    {"citealp", 1, LATEX_INLINE},
    {"citealt", 1, LATEX_INLINE},
    {"citeauthor", 1, LATEX_INLINE},
    {"citep", 1, LATEX_INLINE},
    {"citet", 1, LATEX_INLINE},
    {"citeyear", 1, LATEX_INLINE},
    {"cline", 1},
    {"cmidrule", 1},
    {"color", 1, LATEX_INLINE},
    {"colorbox", 1},
    {"cref", 1},
    {"d", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"date", 0, LATEX_SHOWN_IN_PREAMBLE},
    {"definecolor", 3},
    {"delta", 0, LATEX_INLINE, "δ"},
    {"dh", 0, LATEX_INLINE, "ð"},
    {"dj", 0, LATEX_INLINE, "đ"},
    {"documentclass", 1},
    {"documentstyle", 1},
    {"ell", 0, LATEX_INLINE, "ℓ"},
    {"em", 0, LATEX_INLINE},
    {"emph", 0, LATEX_INLINE},
    {"ensuremath", 0, LATEX_INLINE},
    {"epsilon", 0, LATEX_INLINE, "ε"},
    {"eqref", 1},
    {"eta", 0, LATEX_INLINE, "η"},
    {"fcolorbox", 2},
    {"fontsize", 2},
    {"footcite", 1, LATEX_INLINE},
    {"foreignlanguage", 1},
    {"framebox", 1},
    {"gamma", 0, LATEX_INLINE, "γ"},
    {"geometry", 1},
    {"glossary", 1},
    {"graphicspath", 1},
    {"hbox", 0, LATEX_INLINE},
    {"hphantom", 1},
    {"href", 1},
    {"hspace", 1},
    {"hyperlink", 1},
    {"hypersetup", 1},
    {"hypertarget", 1},
    {"hyphenation", 1},
    {"i", 0, LATEX_INLINE, "i"},
    {"include", 1},
    {"includegraphics", 1},
    {"includeonly", 1},
    {"index", 1, LATEX_INLINE},
    {"input", 1},
    {"iota", 0, LATEX_INLINE, "ι"},
    {"it", 0, LATEX_INLINE},
    {"item", 0, LATEX_KEEPS_OPTION},
    {"itshape", 0, LATEX_INLINE},
    {"j", 0, LATEX_INLINE, "j"},
    {"k", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"kappa", 0, LATEX_INLINE, "κ"},
    {"l", 0, LATEX_INLINE, "ł"},
    {"label", 1, LATEX_INLINE},
    {"lambda", 0, LATEX_INLINE, "λ"},
    {"left", 0, LATEX_KEEPS_OPTION},
    {"lstset", 1},
    {"makebox", 1},
    {"mathbb", 0, LATEX_INLINE},
    {"mathbf", 0, LATEX_INLINE},
    {"mathcal", 0, LATEX_INLINE},
    {"mathfrak", 0, LATEX_INLINE},
    {"mathit", 0, LATEX_INLINE},
    {"mathrm", 0, LATEX_INLINE},
    {"mathsf", 0, LATEX_INLINE},
    {"mathtt", 0, LATEX_INLINE},
    {"mbox", 0, LATEX_INLINE},
    {"mdseries", 0, LATEX_INLINE},
    {"mu", 0, LATEX_INLINE, "μ"},
    {"multicolumn", 2},
    {"multirow", 2},
    {"nameref", 1},
    {"newcommand", LATEX_DROP_ALL},
    {"newcounter", 1},
    {"newenvironment", LATEX_DROP_ALL},
    {"newlength", 1},
    {"newtheorem", LATEX_DROP_ALL},
    {"nocite", 1, LATEX_INLINE},
    {"normalfont", 0, LATEX_INLINE},
    {"nu", 0, LATEX_INLINE, "ν"},
    {"o", 0, LATEX_INLINE, "ø"},
    {"oe", 0, LATEX_INLINE, "œ"},
    {"omega", 0, LATEX_INLINE, "ω"},
    {"pagenumbering", 1},
    {"pageref", 1},
    {"pagestyle", 1},
    {"parbox", 1},
    {"parencite", 1, LATEX_INLINE},
    {"phantom", 1},
    {"phi", 0, LATEX_INLINE, "φ"},
    {"pi", 0, LATEX_INLINE, "π"},
    {"protect", 0, LATEX_INLINE},
    {"providecommand", LATEX_DROP_ALL},
    {"psi", 0, LATEX_INLINE, "ψ"},
    {"r", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"raisebox", 1},
    {"ref", 1},
    {"renewcommand", LATEX_DROP_ALL},
    {"renewenvironment", LATEX_DROP_ALL},
    {"resizebox", 2},
    {"rho", 0, LATEX_INLINE, "ρ"},
    {"right", 0, LATEX_KEEPS_OPTION},
    {"rm", 0, LATEX_INLINE},
    {"rmfamily", 0, LATEX_INLINE},
    {"rotatebox", 1},
    {"rule", 2},
    {"sc", 0, LATEX_INLINE},
    {"scalebox", 1},
    {"scshape", 0, LATEX_INLINE},
    {"selectlanguage", 0, LATEX_INLINE},
    {"setcounter", 2},
    {"setlength", 2},
    {"sf", 0, LATEX_INLINE},
    {"sffamily", 0, LATEX_INLINE},
    {"sigma", 0, LATEX_INLINE, "σ"},
    {"sl", 0, LATEX_INLINE},
    {"slshape", 0, LATEX_INLINE},
    {"ss", 0, LATEX_INLINE, "ß"},
    {"subtitle", 0, LATEX_SHOWN_IN_PREAMBLE},
    {"t", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"tag", 1},
    {"tau", 0, LATEX_INLINE, "τ"},
    {"text", 0, LATEX_INLINE},
    {"textbf", 0, LATEX_INLINE},
    {"textcite", 1, LATEX_INLINE},
    {"textcolor", 1, LATEX_INLINE},
    {"textit", 0, LATEX_INLINE},
    {"textmd", 0, LATEX_INLINE},
    {"textnormal", 0, LATEX_INLINE},
    {"textrm", 0, LATEX_INLINE},
    {"textsc", 0, LATEX_INLINE},
    {"textsf", 0, LATEX_INLINE},
    {"textsl", 0, LATEX_INLINE},
    {"texttt", 0, LATEX_INLINE},
    {"textup", 0, LATEX_INLINE},
    {"th", 0, LATEX_INLINE, "þ"},
    {"theoremstyle", 1},
    {"theta", 0, LATEX_INLINE, "θ"},
    {"thispagestyle", 1},
    {"tikzset", 1},
    {"title", 0, LATEX_SHOWN_IN_PREAMBLE},
    {"tt", 0, LATEX_INLINE},
    {"ttfamily", 0, LATEX_INLINE},
    {"u", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"uline", 0, LATEX_INLINE},
    {"underline", 0, LATEX_INLINE},
    {"upshape", 0, LATEX_INLINE},
    {"upsilon", 0, LATEX_INLINE, "υ"},
    {"usepackage", 1},
    {"usetheme", 1},
    {"usetikzlibrary", 1},
    {"v", 0, LATEX_INLINE | LATEX_IS_ACCENT},
    {"varepsilon", 0, LATEX_INLINE, "ε"},
    {"varphi", 0, LATEX_INLINE, "φ"},
    {"vphantom", 1},
    {"vspace", 1},
    {"xi", 0, LATEX_INLINE, "ξ"},
    {"zeta", 0, LATEX_INLINE, "ζ"},
};

static int compare(const void *name, const void *command)
{
    return strcmp(name, ((const struct latex_command *)command)->name);
}

const struct latex_command *latex_command(const char *name)
{
    static const struct latex_command other = {0};
    const struct latex_command *found = bsearch(
        name, commands, sizeof(commands) / sizeof(commands[0]), sizeof(commands[0]), compare);
    return found ? found : &other;
}

/* Letters that Unicode has with the accent, in one order; to any other a combining mark is added.
 */
static const struct {
    uint8_t accent;
    uint16_t mark;
    const char *letters, *accented;
} accents[] = {
    {'\'', 0x301, "ACEGIKLMNOPRSUWYZacegiklmnoprsuwyz", "ÁĆÉǴÍḰĹḾŃÓṔŔŚÚẂÝŹáćéǵíḱĺḿńóṕŕśúẃýź"},
    {'`', 0x300, "AEINOUWYaeinouwy", "ÀÈÌǸÒÙẀỲàèìǹòùẁỳ"},
    {'^', 0x302, "ACEGHIJOSUWYZaceghijosuwyz", "ÂĈÊĜĤÎĴÔŜÛŴŶẐâĉêĝĥîĵôŝûŵŷẑ"},
    {'"', 0x308, "AEHIOUWXYaehiotuwxy", "ÄËḦÏÖÜẄẌŸäëḧïöẗüẅẍÿ"},
    {'~', 0x303, "AEINOUVYaeinouvy", "ÃẼĨÑÕŨṼỸãẽĩñõũṽỹ"},
    {'=', 0x304, "AEGIOUYaegiouy", "ĀĒḠĪŌŪȲāēḡīōūȳ"},
    {'.', 0x307, "ABCDEFGHIMNOPRSTWXYZabcdefghmnoprstwxyz",
     "ȦḂĊḊĖḞĠḢİṀṄȮṖṘṠṪẆẊẎŻȧḃċḋėḟġḣṁṅȯṗṙṡṫẇẋẏż"},
    {'u', 0x306, "AEGIOUaegiou", "ĂĔĞĬŎŬăĕğĭŏŭ"},
    {'v', 0x30c, "ACDEGHIKLNORSTUZacdeghijklnorstuz", "ǍČĎĚǦȞǏǨĽŇǑŘŠŤǓŽǎčďěǧȟǐǰǩľňǒřšťǔž"},
    {'H', 0x30b, "OUou", "ŐŰőű"},
    {'r', 0x30a, "AUauwy", "ÅŮåůẘẙ"},
    {'c', 0x327, "CDEGHKLNRSTcdeghklnrst", "ÇḐȨĢḨĶĻŅŖŞŢçḑȩģḩķļņŗşţ"},
    {'k', 0x328, "AEIOUaeiou", "ĄĘĮǪŲąęįǫų"},
    {'d', 0x323, "ABDEHIKLMNORSTUVWYZabdehiklmnorstuvwyz",
     "ẠḄḌẸḤỊḲḶṂṆỌṚṢṬỤṾẈỴẒạḅḍẹḥịḳḷṃṇọṛṣṭụṿẉỵẓ"},
    {'b', 0x331, "BDKLNRTZbdhklnrtz", "ḆḎḴḺṈṞṮẔḇḏẖḵḻṉṟṯẕ"},
};

size_t latex_accent(uint8_t accent, uint8_t letter, uint8_t to[LATEX_LETTER_BYTES])
{
    size_t i = 0, n = sizeof(accents) / sizeof(accents[0]);
    while (i < n && accents[i].accent != accent)
        i++;
    to[0] = letter;
    if (i == n)
        return 1;
    const char *place = strchr(accents[i].letters, letter);
    if (!letter || !place)
        return 1 + utf8_put(to + 1, accents[i].mark);
    const char *p = accents[i].accented;
    for (long skipped = place - accents[i].letters; skipped > 0; skipped--)
        for (p++; ((uint8_t)*p & 0xc0) == 0x80; p++)
            ;
    size_t n_bytes = 1;
    while (((uint8_t)p[n_bytes] & 0xc0) == 0x80)
        n_bytes++;
    memcpy(to, p, n_bytes);
    return n_bytes;
}
