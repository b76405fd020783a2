/* Made by html_names.py: the 2125 named character references of WHATWG HTML 13.5. */
#include "engine/text/html/html_reference.h"

/* clang-format off */
const char html_names[] =
    "AElig\0" "AMP\0" "Aacute\0" "Abreve\0" "Acirc\0" "Acy\0" "Afr\0" "Agrave\0" "Alpha\0"
    "Amacr\0" "And\0" "Aogon\0" "Aopf\0" "ApplyFunction\0" "Aring\0" "Ascr\0" "Assign\0" "Atilde\0"
    "Auml\0" "Backslash\0" "Barv\0" "Barwed\0" "Bcy\0" "Because\0" "Bernoullis\0" "Beta\0" "Bfr\0"
    "Bopf\0" "Breve\0" "Bscr\0" "Bumpeq\0" "CHcy\0" "COPY\0" "Cacute\0" "Cap\0"
    "CapitalDifferentialD\0" "Cayleys\0" "Ccaron\0" "Ccedil\0" "Ccirc\0" "Cconint\0" "Cdot\0"
    "Cedilla\0" "CenterDot\0" "Cfr\0" "Chi\0" "CircleDot\0" "CircleMinus\0" "CirclePlus\0"
    "CircleTimes\0" "ClockwiseContourIntegral\0" "CloseCurlyDoubleQuote\0" "CloseCurlyQuote\0"
    "Colon\0" "Colone\0" "Congruent\0" "Conint\0" "ContourIntegral\0" "Copf\0" "Coproduct\0"
    "CounterClockwiseContourIntegral\0" "Cross\0" "Cscr\0" "Cup\0" "CupCap\0" "DD\0" "DDotrahd\0"
    "DJcy\0" "DScy\0" "DZcy\0" "Dagger\0" "Darr\0" "Dashv\0" "Dcaron\0" "Dcy\0" "Del\0" "Delta\0"
    "Dfr\0" "DiacriticalAcute\0" "DiacriticalDot\0" "DiacriticalDoubleAcute\0" "DiacriticalGrave\0"
    "DiacriticalTilde\0" "Diamond\0" "DifferentialD\0" "Dopf\0" "Dot\0" "DotDot\0" "DotEqual\0"
    "DoubleContourIntegral\0" "DoubleDot\0" "DoubleDownArrow\0" "DoubleLeftArrow\0"
    "DoubleLeftRightArrow\0" "DoubleLeftTee\0" "DoubleLongLeftArrow\0" "DoubleLongLeftRightArrow\0"
    "DoubleLongRightArrow\0" "DoubleRightArrow\0" "DoubleRightTee\0" "DoubleUpArrow\0"
    "DoubleUpDownArrow\0" "DoubleVerticalBar\0" "DownArrow\0" "DownArrowBar\0" "DownArrowUpArrow\0"
    "DownBreve\0" "DownLeftRightVector\0" "DownLeftTeeVector\0" "DownLeftVector\0"
    "DownLeftVectorBar\0" "DownRightTeeVector\0" "DownRightVector\0" "DownRightVectorBar\0"
    "DownTee\0" "DownTeeArrow\0" "Downarrow\0" "Dscr\0" "Dstrok\0" "ENG\0" "ETH\0" "Eacute\0"
    "Ecaron\0" "Ecirc\0" "Ecy\0" "Edot\0" "Efr\0" "Egrave\0" "Element\0" "Emacr\0"
    "EmptySmallSquare\0" "EmptyVerySmallSquare\0" "Eogon\0" "Eopf\0" "Epsilon\0" "Equal\0"
    "EqualTilde\0" "Equilibrium\0" "Escr\0" "Esim\0" "Eta\0" "Euml\0" "Exists\0" "ExponentialE\0"
    "Fcy\0" "Ffr\0" "FilledSmallSquare\0" "FilledVerySmallSquare\0" "Fopf\0" "ForAll\0"
    "Fouriertrf\0" "Fscr\0" "GJcy\0" "GT\0" "Gamma\0" "Gammad\0" "Gbreve\0" "Gcedil\0" "Gcirc\0"
    "Gcy\0" "Gdot\0" "Gfr\0" "Gg\0" "Gopf\0" "GreaterEqual\0" "GreaterEqualLess\0"
    "GreaterFullEqual\0" "GreaterGreater\0" "GreaterLess\0" "GreaterSlantEqual\0" "GreaterTilde\0"
    "Gscr\0" "Gt\0" "HARDcy\0" "Hacek\0" "Hat\0" "Hcirc\0" "Hfr\0" "HilbertSpace\0" "Hopf\0"
    "HorizontalLine\0" "Hscr\0" "Hstrok\0" "HumpDownHump\0" "HumpEqual\0" "IEcy\0" "IJlig\0"
    "IOcy\0" "Iacute\0" "Icirc\0" "Icy\0" "Idot\0" "Ifr\0" "Igrave\0" "Im\0" "Imacr\0"
    "ImaginaryI\0" "Implies\0" "Int\0" "Integral\0" "Intersection\0" "InvisibleComma\0"
    "InvisibleTimes\0" "Iogon\0" "Iopf\0" "Iota\0" "Iscr\0" "Itilde\0" "Iukcy\0" "Iuml\0" "Jcirc\0"
    "Jcy\0" "Jfr\0" "Jopf\0" "Jscr\0" "Jsercy\0" "Jukcy\0" "KHcy\0" "KJcy\0" "Kappa\0" "Kcedil\0"
    "Kcy\0" "Kfr\0" "Kopf\0" "Kscr\0" "LJcy\0" "LT\0" "Lacute\0" "Lambda\0" "Lang\0" "Laplacetrf\0"
    "Larr\0" "Lcaron\0" "Lcedil\0" "Lcy\0" "LeftAngleBracket\0" "LeftArrow\0" "LeftArrowBar\0"
    "LeftArrowRightArrow\0" "LeftCeiling\0" "LeftDoubleBracket\0" "LeftDownTeeVector\0"
    "LeftDownVector\0" "LeftDownVectorBar\0" "LeftFloor\0" "LeftRightArrow\0" "LeftRightVector\0"
    "LeftTee\0" "LeftTeeArrow\0" "LeftTeeVector\0" "LeftTriangle\0" "LeftTriangleBar\0"
    "LeftTriangleEqual\0" "LeftUpDownVector\0" "LeftUpTeeVector\0" "LeftUpVector\0"
    "LeftUpVectorBar\0" "LeftVector\0" "LeftVectorBar\0" "Leftarrow\0" "Leftrightarrow\0"
    "LessEqualGreater\0" "LessFullEqual\0" "LessGreater\0" "LessLess\0" "LessSlantEqual\0"
    "LessTilde\0" "Lfr\0" "Ll\0" "Lleftarrow\0" "Lmidot\0" "LongLeftArrow\0" "LongLeftRightArrow\0"
    "LongRightArrow\0" "Longleftarrow\0" "Longleftrightarrow\0" "Longrightarrow\0" "Lopf\0"
    "LowerLeftArrow\0" "LowerRightArrow\0" "Lscr\0" "Lsh\0" "Lstrok\0" "Lt\0" "Map\0" "Mcy\0"
    "MediumSpace\0" "Mellintrf\0" "Mfr\0" "MinusPlus\0" "Mopf\0" "Mscr\0" "Mu\0" "NJcy\0"
    "Nacute\0" "Ncaron\0" "Ncedil\0" "Ncy\0" "NegativeMediumSpace\0" "NegativeThickSpace\0"
    "NegativeThinSpace\0" "NegativeVeryThinSpace\0" "NestedGreaterGreater\0" "NestedLessLess\0"
    "NewLine\0" "Nfr\0" "NoBreak\0" "NonBreakingSpace\0" "Nopf\0" "Not\0" "NotCongruent\0"
    "NotCupCap\0" "NotDoubleVerticalBar\0" "NotElement\0" "NotEqual\0" "NotEqualTilde\0"
    "NotExists\0" "NotGreater\0" "NotGreaterEqual\0" "NotGreaterFullEqual\0" "NotGreaterGreater\0"
    "NotGreaterLess\0" "NotGreaterSlantEqual\0" "NotGreaterTilde\0" "NotHumpDownHump\0"
    "NotHumpEqual\0" "NotLeftTriangle\0" "NotLeftTriangleBar\0" "NotLeftTriangleEqual\0"
    "NotLess\0" "NotLessEqual\0" "NotLessGreater\0" "NotLessLess\0" "NotLessSlantEqual\0"
    "NotLessTilde\0" "NotNestedGreaterGreater\0" "NotNestedLessLess\0" "NotPrecedes\0"
    "NotPrecedesEqual\0" "NotPrecedesSlantEqual\0" "NotReverseElement\0" "NotRightTriangle\0"
    "NotRightTriangleBar\0" "NotRightTriangleEqual\0" "NotSquareSubset\0" "NotSquareSubsetEqual\0"
    "NotSquareSuperset\0" "NotSquareSupersetEqual\0" "NotSubset\0" "NotSubsetEqual\0"
    "NotSucceeds\0" "NotSucceedsEqual\0" "NotSucceedsSlantEqual\0" "NotSucceedsTilde\0"
    "NotSuperset\0" "NotSupersetEqual\0" "NotTilde\0" "NotTildeEqual\0" "NotTildeFullEqual\0"
    "NotTildeTilde\0" "NotVerticalBar\0" "Nscr\0" "Ntilde\0" "Nu\0" "OElig\0" "Oacute\0" "Ocirc\0"
    "Ocy\0" "Odblac\0" "Ofr\0" "Ograve\0" "Omacr\0" "Omega\0" "Omicron\0" "Oopf\0"
    "OpenCurlyDoubleQuote\0" "OpenCurlyQuote\0" "Or\0" "Oscr\0" "Oslash\0" "Otilde\0" "Otimes\0"
    "Ouml\0" "OverBar\0" "OverBrace\0" "OverBracket\0" "OverParenthesis\0" "PartialD\0" "Pcy\0"
    "Pfr\0" "Phi\0" "Pi\0" "PlusMinus\0" "Poincareplane\0" "Popf\0" "Pr\0" "Precedes\0"
    "PrecedesEqual\0" "PrecedesSlantEqual\0" "PrecedesTilde\0" "Prime\0" "Product\0" "Proportion\0"
    "Proportional\0" "Pscr\0" "Psi\0" "QUOT\0" "Qfr\0" "Qopf\0" "Qscr\0" "RBarr\0" "REG\0"
    "Racute\0" "Rang\0" "Rarr\0" "Rarrtl\0" "Rcaron\0" "Rcedil\0" "Rcy\0" "Re\0" "ReverseElement\0"
    "ReverseEquilibrium\0" "ReverseUpEquilibrium\0" "Rfr\0" "Rho\0" "RightAngleBracket\0"
    "RightArrow\0" "RightArrowBar\0" "RightArrowLeftArrow\0" "RightCeiling\0"
    "RightDoubleBracket\0" "RightDownTeeVector\0" "RightDownVector\0" "RightDownVectorBar\0"
    "RightFloor\0" "RightTee\0" "RightTeeArrow\0" "RightTeeVector\0" "RightTriangle\0"
    "RightTriangleBar\0" "RightTriangleEqual\0" "RightUpDownVector\0" "RightUpTeeVector\0"
    "RightUpVector\0" "RightUpVectorBar\0" "RightVector\0" "RightVectorBar\0" "Rightarrow\0"
    "Ropf\0" "RoundImplies\0" "Rrightarrow\0" "Rscr\0" "Rsh\0" "RuleDelayed\0" "SHCHcy\0" "SHcy\0"
    "SOFTcy\0" "Sacute\0" "Sc\0" "Scaron\0" "Scedil\0" "Scirc\0" "Scy\0" "Sfr\0" "ShortDownArrow\0"
    "ShortLeftArrow\0" "ShortRightArrow\0" "ShortUpArrow\0" "Sigma\0" "SmallCircle\0" "Sopf\0"
    "Sqrt\0" "Square\0" "SquareIntersection\0" "SquareSubset\0" "SquareSubsetEqual\0"
    "SquareSuperset\0" "SquareSupersetEqual\0" "SquareUnion\0" "Sscr\0" "Star\0" "Sub\0" "Subset\0"
    "SubsetEqual\0" "Succeeds\0" "SucceedsEqual\0" "SucceedsSlantEqual\0" "SucceedsTilde\0"
    "SuchThat\0" "Sum\0" "Sup\0" "Superset\0" "SupersetEqual\0" "Supset\0" "THORN\0" "TRADE\0"
    "TSHcy\0" "TScy\0" "Tab\0" "Tau\0" "Tcaron\0" "Tcedil\0" "Tcy\0" "Tfr\0" "Therefore\0"
    "Theta\0" "ThickSpace\0" "ThinSpace\0" "Tilde\0" "TildeEqual\0" "TildeFullEqual\0"
    "TildeTilde\0" "Topf\0" "TripleDot\0" "Tscr\0" "Tstrok\0" "Uacute\0" "Uarr\0" "Uarrocir\0"
    "Ubrcy\0" "Ubreve\0" "Ucirc\0" "Ucy\0" "Udblac\0" "Ufr\0" "Ugrave\0" "Umacr\0" "UnderBar\0"
    "UnderBrace\0" "UnderBracket\0" "UnderParenthesis\0" "Union\0" "UnionPlus\0" "Uogon\0" "Uopf\0"
    "UpArrow\0" "UpArrowBar\0" "UpArrowDownArrow\0" "UpDownArrow\0" "UpEquilibrium\0" "UpTee\0"
    "UpTeeArrow\0" "Uparrow\0" "Updownarrow\0" "UpperLeftArrow\0" "UpperRightArrow\0" "Upsi\0"
    "Upsilon\0" "Uring\0" "Uscr\0" "Utilde\0" "Uuml\0" "VDash\0" "Vbar\0" "Vcy\0" "Vdash\0"
    "Vdashl\0" "Vee\0" "Verbar\0" "Vert\0" "VerticalBar\0" "VerticalLine\0" "VerticalSeparator\0"
    "VerticalTilde\0" "VeryThinSpace\0" "Vfr\0" "Vopf\0" "Vscr\0" "Vvdash\0" "Wcirc\0" "Wedge\0"
    "Wfr\0" "Wopf\0" "Wscr\0" "Xfr\0" "Xi\0" "Xopf\0" "Xscr\0" "YAcy\0" "YIcy\0" "YUcy\0"
    "Yacute\0" "Ycirc\0" "Ycy\0" "Yfr\0" "Yopf\0" "Yscr\0" "Yuml\0" "ZHcy\0" "Zacute\0" "Zcaron\0"
    "Zcy\0" "Zdot\0" "ZeroWidthSpace\0" "Zeta\0" "Zfr\0" "Zopf\0" "Zscr\0" "aacute\0" "abreve\0"
    "ac\0" "acE\0" "acd\0" "acirc\0" "acute\0" "acy\0" "aelig\0" "af\0" "afr\0" "agrave\0"
    "alefsym\0" "aleph\0" "alpha\0" "amacr\0" "amalg\0" "amp\0" "and\0" "andand\0" "andd\0"
    "andslope\0" "andv\0" "ang\0" "ange\0" "angle\0" "angmsd\0" "angmsdaa\0" "angmsdab\0"
    "angmsdac\0" "angmsdad\0" "angmsdae\0" "angmsdaf\0" "angmsdag\0" "angmsdah\0" "angrt\0"
    "angrtvb\0" "angrtvbd\0" "angsph\0" "angst\0" "angzarr\0" "aogon\0" "aopf\0" "ap\0" "apE\0"
    "apacir\0" "ape\0" "apid\0" "apos\0" "approx\0" "approxeq\0" "aring\0" "ascr\0" "ast\0"
    "asymp\0" "asympeq\0" "atilde\0" "auml\0" "awconint\0" "awint\0" "bNot\0" "backcong\0"
    "backepsilon\0" "backprime\0" "backsim\0" "backsimeq\0" "barvee\0" "barwed\0" "barwedge\0"
    "bbrk\0" "bbrktbrk\0" "bcong\0" "bcy\0" "bdquo\0" "becaus\0" "because\0" "bemptyv\0" "bepsi\0"
    "bernou\0" "beta\0" "beth\0" "between\0" "bfr\0" "bigcap\0" "bigcirc\0" "bigcup\0" "bigodot\0"
    "bigoplus\0" "bigotimes\0" "bigsqcup\0" "bigstar\0" "bigtriangledown\0" "bigtriangleup\0"
    "biguplus\0" "bigvee\0" "bigwedge\0" "bkarow\0" "blacklozenge\0" "blacksquare\0"
    "blacktriangle\0" "blacktriangledown\0" "blacktriangleleft\0" "blacktriangleright\0" "blank\0"
    "blk12\0" "blk14\0" "blk34\0" "block\0" "bne\0" "bnequiv\0" "bnot\0" "bopf\0" "bot\0"
    "bottom\0" "bowtie\0" "boxDL\0" "boxDR\0" "boxDl\0" "boxDr\0" "boxH\0" "boxHD\0" "boxHU\0"
    "boxHd\0" "boxHu\0" "boxUL\0" "boxUR\0" "boxUl\0" "boxUr\0" "boxV\0" "boxVH\0" "boxVL\0"
    "boxVR\0" "boxVh\0" "boxVl\0" "boxVr\0" "boxbox\0" "boxdL\0" "boxdR\0" "boxdl\0" "boxdr\0"
    "boxh\0" "boxhD\0" "boxhU\0" "boxhd\0" "boxhu\0" "boxminus\0" "boxplus\0" "boxtimes\0"
    "boxuL\0" "boxuR\0" "boxul\0" "boxur\0" "boxv\0" "boxvH\0" "boxvL\0" "boxvR\0" "boxvh\0"
    "boxvl\0" "boxvr\0" "bprime\0" "breve\0" "brvbar\0" "bscr\0" "bsemi\0" "bsim\0" "bsime\0"
    "bsol\0" "bsolb\0" "bsolhsub\0" "bull\0" "bullet\0" "bump\0" "bumpE\0" "bumpe\0" "bumpeq\0"
    "cacute\0" "cap\0" "capand\0" "capbrcup\0" "capcap\0" "capcup\0" "capdot\0" "caps\0" "caret\0"
    "caron\0" "ccaps\0" "ccaron\0" "ccedil\0" "ccirc\0" "ccups\0" "ccupssm\0" "cdot\0" "cedil\0"
    "cemptyv\0" "cent\0" "centerdot\0" "cfr\0" "chcy\0" "check\0" "checkmark\0" "chi\0" "cir\0"
    "cirE\0" "circ\0" "circeq\0" "circlearrowleft\0" "circlearrowright\0" "circledR\0" "circledS\0"
    "circledast\0" "circledcirc\0" "circleddash\0" "cire\0" "cirfnint\0" "cirmid\0" "cirscir\0"
    "clubs\0" "clubsuit\0" "colon\0" "colone\0" "coloneq\0" "comma\0" "commat\0" "comp\0"
    "compfn\0" "complement\0" "complexes\0" "cong\0" "congdot\0" "conint\0" "copf\0" "coprod\0"
    "copy\0" "copysr\0" "crarr\0" "cross\0" "cscr\0" "csub\0" "csube\0" "csup\0" "csupe\0"
    "ctdot\0" "cudarrl\0" "cudarrr\0" "cuepr\0" "cuesc\0" "cularr\0" "cularrp\0" "cup\0"
    "cupbrcap\0" "cupcap\0" "cupcup\0" "cupdot\0" "cupor\0" "cups\0" "curarr\0" "curarrm\0"
    "curlyeqprec\0" "curlyeqsucc\0" "curlyvee\0" "curlywedge\0" "curren\0" "curvearrowleft\0"
    "curvearrowright\0" "cuvee\0" "cuwed\0" "cwconint\0" "cwint\0" "cylcty\0" "dArr\0" "dHar\0"
    "dagger\0" "daleth\0" "darr\0" "dash\0" "dashv\0" "dbkarow\0" "dblac\0" "dcaron\0" "dcy\0"
    "dd\0" "ddagger\0" "ddarr\0" "ddotseq\0" "deg\0" "delta\0" "demptyv\0" "dfisht\0" "dfr\0"
    "dharl\0" "dharr\0" "diam\0" "diamond\0" "diamondsuit\0" "diams\0" "die\0" "digamma\0"
    "disin\0" "div\0" "divide\0" "divideontimes\0" "divonx\0" "djcy\0" "dlcorn\0" "dlcrop\0"
    "dollar\0" "dopf\0" "dot\0" "doteq\0" "doteqdot\0" "dotminus\0" "dotplus\0" "dotsquare\0"
    "doublebarwedge\0" "downarrow\0" "downdownarrows\0" "downharpoonleft\0" "downharpoonright\0"
    "drbkarow\0" "drcorn\0" "drcrop\0" "dscr\0" "dscy\0" "dsol\0" "dstrok\0" "dtdot\0" "dtri\0"
    "dtrif\0" "duarr\0" "duhar\0" "dwangle\0" "dzcy\0" "dzigrarr\0" "eDDot\0" "eDot\0" "eacute\0"
    "easter\0" "ecaron\0" "ecir\0" "ecirc\0" "ecolon\0" "ecy\0" "edot\0" "ee\0" "efDot\0" "efr\0"
    "eg\0" "egrave\0" "egs\0" "egsdot\0" "el\0" "elinters\0" "ell\0" "els\0" "elsdot\0" "emacr\0"
    "empty\0" "emptyset\0" "emptyv\0" "emsp\0" "emsp13\0" "emsp14\0" "eng\0" "ensp\0" "eogon\0"
    "eopf\0" "epar\0" "eparsl\0" "eplus\0" "epsi\0" "epsilon\0" "epsiv\0" "eqcirc\0" "eqcolon\0"
    "eqsim\0" "eqslantgtr\0" "eqslantless\0" "equals\0" "equest\0" "equiv\0" "equivDD\0"
    "eqvparsl\0" "erDot\0" "erarr\0" "escr\0" "esdot\0" "esim\0" "eta\0" "eth\0" "euml\0" "euro\0"
    "excl\0" "exist\0" "expectation\0" "exponentiale\0" "fallingdotseq\0" "fcy\0" "female\0"
    "ffilig\0" "fflig\0" "ffllig\0" "ffr\0" "filig\0" "fjlig\0" "flat\0" "fllig\0" "fltns\0"
    "fnof\0" "fopf\0" "forall\0" "fork\0" "forkv\0" "fpartint\0" "frac12\0" "frac13\0" "frac14\0"
    "frac15\0" "frac16\0" "frac18\0" "frac23\0" "frac25\0" "frac34\0" "frac35\0" "frac38\0"
    "frac45\0" "frac56\0" "frac58\0" "frac78\0" "frasl\0" "frown\0" "fscr\0" "gE\0" "gEl\0"
    "gacute\0" "gamma\0" "gammad\0" "gap\0" "gbreve\0" "gcirc\0" "gcy\0" "gdot\0" "ge\0" "gel\0"
    "geq\0" "geqq\0" "geqslant\0" "ges\0" "gescc\0" "gesdot\0" "gesdoto\0" "gesdotol\0" "gesl\0"
    "gesles\0" "gfr\0" "gg\0" "ggg\0" "gimel\0" "gjcy\0" "gl\0" "glE\0" "gla\0" "glj\0" "gnE\0"
    "gnap\0" "gnapprox\0" "gne\0" "gneq\0" "gneqq\0" "gnsim\0" "gopf\0" "grave\0" "gscr\0" "gsim\0"
    "gsime\0" "gsiml\0" "gt\0" "gtcc\0" "gtcir\0" "gtdot\0" "gtlPar\0" "gtquest\0" "gtrapprox\0"
    "gtrarr\0" "gtrdot\0" "gtreqless\0" "gtreqqless\0" "gtrless\0" "gtrsim\0" "gvertneqq\0"
    "gvnE\0" "hArr\0" "hairsp\0" "half\0" "hamilt\0" "hardcy\0" "harr\0" "harrcir\0" "harrw\0"
    "hbar\0" "hcirc\0" "hearts\0" "heartsuit\0" "hellip\0" "hercon\0" "hfr\0" "hksearow\0"
    "hkswarow\0" "hoarr\0" "homtht\0" "hookleftarrow\0" "hookrightarrow\0" "hopf\0" "horbar\0"
    "hscr\0" "hslash\0" "hstrok\0" "hybull\0" "hyphen\0" "iacute\0" "ic\0" "icirc\0" "icy\0"
    "iecy\0" "iexcl\0" "iff\0" "ifr\0" "igrave\0" "ii\0" "iiiint\0" "iiint\0" "iinfin\0" "iiota\0"
    "ijlig\0" "imacr\0" "image\0" "imagline\0" "imagpart\0" "imath\0" "imof\0" "imped\0" "in\0"
    "incare\0" "infin\0" "infintie\0" "inodot\0" "int\0" "intcal\0" "integers\0" "intercal\0"
    "intlarhk\0" "intprod\0" "iocy\0" "iogon\0" "iopf\0" "iota\0" "iprod\0" "iquest\0" "iscr\0"
    "isin\0" "isinE\0" "isindot\0" "isins\0" "isinsv\0" "isinv\0" "it\0" "itilde\0" "iukcy\0"
    "iuml\0" "jcirc\0" "jcy\0" "jfr\0" "jmath\0" "jopf\0" "jscr\0" "jsercy\0" "jukcy\0" "kappa\0"
    "kappav\0" "kcedil\0" "kcy\0" "kfr\0" "kgreen\0" "khcy\0" "kjcy\0" "kopf\0" "kscr\0" "lAarr\0"
    "lArr\0" "lAtail\0" "lBarr\0" "lE\0" "lEg\0" "lHar\0" "lacute\0" "laemptyv\0" "lagran\0"
    "lambda\0" "lang\0" "langd\0" "langle\0" "lap\0" "laquo\0" "larr\0" "larrb\0" "larrbfs\0"
    "larrfs\0" "larrhk\0" "larrlp\0" "larrpl\0" "larrsim\0" "larrtl\0" "lat\0" "latail\0" "late\0"
    "lates\0" "lbarr\0" "lbbrk\0" "lbrace\0" "lbrack\0" "lbrke\0" "lbrksld\0" "lbrkslu\0"
    "lcaron\0" "lcedil\0" "lceil\0" "lcub\0" "lcy\0" "ldca\0" "ldquo\0" "ldquor\0" "ldrdhar\0"
    "ldrushar\0" "ldsh\0" "le\0" "leftarrow\0" "leftarrowtail\0" "leftharpoondown\0"
    "leftharpoonup\0" "leftleftarrows\0" "leftrightarrow\0" "leftrightarrows\0"
    "leftrightharpoons\0" "leftrightsquigarrow\0" "leftthreetimes\0" "leg\0" "leq\0" "leqq\0"
    "leqslant\0" "les\0" "lescc\0" "lesdot\0" "lesdoto\0" "lesdotor\0" "lesg\0" "lesges\0"
    "lessapprox\0" "lessdot\0" "lesseqgtr\0" "lesseqqgtr\0" "lessgtr\0" "lesssim\0" "lfisht\0"
    "lfloor\0" "lfr\0" "lg\0" "lgE\0" "lhard\0" "lharu\0" "lharul\0" "lhblk\0" "ljcy\0" "ll\0"
    "llarr\0" "llcorner\0" "llhard\0" "lltri\0" "lmidot\0" "lmoust\0" "lmoustache\0" "lnE\0"
    "lnap\0" "lnapprox\0" "lne\0" "lneq\0" "lneqq\0" "lnsim\0" "loang\0" "loarr\0" "lobrk\0"
    "longleftarrow\0" "longleftrightarrow\0" "longmapsto\0" "longrightarrow\0" "looparrowleft\0"
    "looparrowright\0" "lopar\0" "lopf\0" "loplus\0" "lotimes\0" "lowast\0" "lowbar\0" "loz\0"
    "lozenge\0" "lozf\0" "lpar\0" "lparlt\0" "lrarr\0" "lrcorner\0" "lrhar\0" "lrhard\0" "lrm\0"
    "lrtri\0" "lsaquo\0" "lscr\0" "lsh\0" "lsim\0" "lsime\0" "lsimg\0" "lsqb\0" "lsquo\0"
    "lsquor\0" "lstrok\0" "lt\0" "ltcc\0" "ltcir\0" "ltdot\0" "lthree\0" "ltimes\0" "ltlarr\0"
    "ltquest\0" "ltrPar\0" "ltri\0" "ltrie\0" "ltrif\0" "lurdshar\0" "luruhar\0" "lvertneqq\0"
    "lvnE\0" "mDDot\0" "macr\0" "male\0" "malt\0" "maltese\0" "map\0" "mapsto\0" "mapstodown\0"
    "mapstoleft\0" "mapstoup\0" "marker\0" "mcomma\0" "mcy\0" "mdash\0" "measuredangle\0" "mfr\0"
    "mho\0" "micro\0" "mid\0" "midast\0" "midcir\0" "middot\0" "minus\0" "minusb\0" "minusd\0"
    "minusdu\0" "mlcp\0" "mldr\0" "mnplus\0" "models\0" "mopf\0" "mp\0" "mscr\0" "mstpos\0" "mu\0"
    "multimap\0" "mumap\0" "nGg\0" "nGt\0" "nGtv\0" "nLeftarrow\0" "nLeftrightarrow\0" "nLl\0"
    "nLt\0" "nLtv\0" "nRightarrow\0" "nVDash\0" "nVdash\0" "nabla\0" "nacute\0" "nang\0" "nap\0"
    "napE\0" "napid\0" "napos\0" "napprox\0" "natur\0" "natural\0" "naturals\0" "nbsp\0" "nbump\0"
    "nbumpe\0" "ncap\0" "ncaron\0" "ncedil\0" "ncong\0" "ncongdot\0" "ncup\0" "ncy\0" "ndash\0"
    "ne\0" "neArr\0" "nearhk\0" "nearr\0" "nearrow\0" "nedot\0" "nequiv\0" "nesear\0" "nesim\0"
    "nexist\0" "nexists\0" "nfr\0" "ngE\0" "nge\0" "ngeq\0" "ngeqq\0" "ngeqslant\0" "nges\0"
    "ngsim\0" "ngt\0" "ngtr\0" "nhArr\0" "nharr\0" "nhpar\0" "ni\0" "nis\0" "nisd\0" "niv\0"
    "njcy\0" "nlArr\0" "nlE\0" "nlarr\0" "nldr\0" "nle\0" "nleftarrow\0" "nleftrightarrow\0"
    "nleq\0" "nleqq\0" "nleqslant\0" "nles\0" "nless\0" "nlsim\0" "nlt\0" "nltri\0" "nltrie\0"
    "nmid\0" "nopf\0" "not\0" "notin\0" "notinE\0" "notindot\0" "notinva\0" "notinvb\0" "notinvc\0"
    "notni\0" "notniva\0" "notnivb\0" "notnivc\0" "npar\0" "nparallel\0" "nparsl\0" "npart\0"
    "npolint\0" "npr\0" "nprcue\0" "npre\0" "nprec\0" "npreceq\0" "nrArr\0" "nrarr\0" "nrarrc\0"
    "nrarrw\0" "nrightarrow\0" "nrtri\0" "nrtrie\0" "nsc\0" "nsccue\0" "nsce\0" "nscr\0"
    "nshortmid\0" "nshortparallel\0" "nsim\0" "nsime\0" "nsimeq\0" "nsmid\0" "nspar\0" "nsqsube\0"
    "nsqsupe\0" "nsub\0" "nsubE\0" "nsube\0" "nsubset\0" "nsubseteq\0" "nsubseteqq\0" "nsucc\0"
    "nsucceq\0" "nsup\0" "nsupE\0" "nsupe\0" "nsupset\0" "nsupseteq\0" "nsupseteqq\0" "ntgl\0"
    "ntilde\0" "ntlg\0" "ntriangleleft\0" "ntrianglelefteq\0" "ntriangleright\0"
    "ntrianglerighteq\0" "nu\0" "num\0" "numero\0" "numsp\0" "nvDash\0" "nvHarr\0" "nvap\0"
    "nvdash\0" "nvge\0" "nvgt\0" "nvinfin\0" "nvlArr\0" "nvle\0" "nvlt\0" "nvltrie\0" "nvrArr\0"
    "nvrtrie\0" "nvsim\0" "nwArr\0" "nwarhk\0" "nwarr\0" "nwarrow\0" "nwnear\0" "oS\0" "oacute\0"
    "oast\0" "ocir\0" "ocirc\0" "ocy\0" "odash\0" "odblac\0" "odiv\0" "odot\0" "odsold\0" "oelig\0"
    "ofcir\0" "ofr\0" "ogon\0" "ograve\0" "ogt\0" "ohbar\0" "ohm\0" "oint\0" "olarr\0" "olcir\0"
    "olcross\0" "oline\0" "olt\0" "omacr\0" "omega\0" "omicron\0" "omid\0" "ominus\0" "oopf\0"
    "opar\0" "operp\0" "oplus\0" "or\0" "orarr\0" "ord\0" "order\0" "orderof\0" "ordf\0" "ordm\0"
    "origof\0" "oror\0" "orslope\0" "orv\0" "oscr\0" "oslash\0" "osol\0" "otilde\0" "otimes\0"
    "otimesas\0" "ouml\0" "ovbar\0" "par\0" "para\0" "parallel\0" "parsim\0" "parsl\0" "part\0"
    "pcy\0" "percnt\0" "period\0" "permil\0" "perp\0" "pertenk\0" "pfr\0" "phi\0" "phiv\0"
    "phmmat\0" "phone\0" "pi\0" "pitchfork\0" "piv\0" "planck\0" "planckh\0" "plankv\0" "plus\0"
    "plusacir\0" "plusb\0" "pluscir\0" "plusdo\0" "plusdu\0" "pluse\0" "plusmn\0" "plussim\0"
    "plustwo\0" "pm\0" "pointint\0" "popf\0" "pound\0" "pr\0" "prE\0" "prap\0" "prcue\0" "pre\0"
    "prec\0" "precapprox\0" "preccurlyeq\0" "preceq\0" "precnapprox\0" "precneqq\0" "precnsim\0"
    "precsim\0" "prime\0" "primes\0" "prnE\0" "prnap\0" "prnsim\0" "prod\0" "profalar\0"
    "profline\0" "profsurf\0" "prop\0" "propto\0" "prsim\0" "prurel\0" "pscr\0" "psi\0" "puncsp\0"
    "qfr\0" "qint\0" "qopf\0" "qprime\0" "qscr\0" "quaternions\0" "quatint\0" "quest\0" "questeq\0"
    "quot\0" "rAarr\0" "rArr\0" "rAtail\0" "rBarr\0" "rHar\0" "race\0" "racute\0" "radic\0"
    "raemptyv\0" "rang\0" "rangd\0" "range\0" "rangle\0" "raquo\0" "rarr\0" "rarrap\0" "rarrb\0"
    "rarrbfs\0" "rarrc\0" "rarrfs\0" "rarrhk\0" "rarrlp\0" "rarrpl\0" "rarrsim\0" "rarrtl\0"
    "rarrw\0" "ratail\0" "ratio\0" "rationals\0" "rbarr\0" "rbbrk\0" "rbrace\0" "rbrack\0"
    "rbrke\0" "rbrksld\0" "rbrkslu\0" "rcaron\0" "rcedil\0" "rceil\0" "rcub\0" "rcy\0" "rdca\0"
    "rdldhar\0" "rdquo\0" "rdquor\0" "rdsh\0" "real\0" "realine\0" "realpart\0" "reals\0" "rect\0"
    "reg\0" "rfisht\0" "rfloor\0" "rfr\0" "rhard\0" "rharu\0" "rharul\0" "rho\0" "rhov\0"
    "rightarrow\0" "rightarrowtail\0" "rightharpoondown\0" "rightharpoonup\0" "rightleftarrows\0"
    "rightleftharpoons\0" "rightrightarrows\0" "rightsquigarrow\0" "rightthreetimes\0" "ring\0"
    "risingdotseq\0" "rlarr\0" "rlhar\0" "rlm\0" "rmoust\0" "rmoustache\0" "rnmid\0" "roang\0"
    "roarr\0" "robrk\0" "ropar\0" "ropf\0" "roplus\0" "rotimes\0" "rpar\0" "rpargt\0" "rppolint\0"
    "rrarr\0" "rsaquo\0" "rscr\0" "rsh\0" "rsqb\0" "rsquo\0" "rsquor\0" "rthree\0" "rtimes\0"
    "rtri\0" "rtrie\0" "rtrif\0" "rtriltri\0" "ruluhar\0" "rx\0" "sacute\0" "sbquo\0" "sc\0"
    "scE\0" "scap\0" "scaron\0" "sccue\0" "sce\0" "scedil\0" "scirc\0" "scnE\0" "scnap\0"
    "scnsim\0" "scpolint\0" "scsim\0" "scy\0" "sdot\0" "sdotb\0" "sdote\0" "seArr\0" "searhk\0"
    "searr\0" "searrow\0" "sect\0" "semi\0" "seswar\0" "setminus\0" "setmn\0" "sext\0" "sfr\0"
    "sfrown\0" "sharp\0" "shchcy\0" "shcy\0" "shortmid\0" "shortparallel\0" "shy\0" "sigma\0"
    "sigmaf\0" "sigmav\0" "sim\0" "simdot\0" "sime\0" "simeq\0" "simg\0" "simgE\0" "siml\0"
    "simlE\0" "simne\0" "simplus\0" "simrarr\0" "slarr\0" "smallsetminus\0" "smashp\0" "smeparsl\0"
    "smid\0" "smile\0" "smt\0" "smte\0" "smtes\0" "softcy\0" "sol\0" "solb\0" "solbar\0" "sopf\0"
    "spades\0" "spadesuit\0" "spar\0" "sqcap\0" "sqcaps\0" "sqcup\0" "sqcups\0" "sqsub\0"
    "sqsube\0" "sqsubset\0" "sqsubseteq\0" "sqsup\0" "sqsupe\0" "sqsupset\0" "sqsupseteq\0" "squ\0"
    "square\0" "squarf\0" "squf\0" "srarr\0" "sscr\0" "ssetmn\0" "ssmile\0" "sstarf\0" "star\0"
    "starf\0" "straightepsilon\0" "straightphi\0" "strns\0" "sub\0" "subE\0" "subdot\0" "sube\0"
    "subedot\0" "submult\0" "subnE\0" "subne\0" "subplus\0" "subrarr\0" "subset\0" "subseteq\0"
    "subseteqq\0" "subsetneq\0" "subsetneqq\0" "subsim\0" "subsub\0" "subsup\0" "succ\0"
    "succapprox\0" "succcurlyeq\0" "succeq\0" "succnapprox\0" "succneqq\0" "succnsim\0" "succsim\0"
    "sum\0" "sung\0" "sup\0" "sup1\0" "sup2\0" "sup3\0" "supE\0" "supdot\0" "supdsub\0" "supe\0"
    "supedot\0" "suphsol\0" "suphsub\0" "suplarr\0" "supmult\0" "supnE\0" "supne\0" "supplus\0"
    "supset\0" "supseteq\0" "supseteqq\0" "supsetneq\0" "supsetneqq\0" "supsim\0" "supsub\0"
    "supsup\0" "swArr\0" "swarhk\0" "swarr\0" "swarrow\0" "swnwar\0" "szlig\0" "target\0" "tau\0"
    "tbrk\0" "tcaron\0" "tcedil\0" "tcy\0" "tdot\0" "telrec\0" "tfr\0" "there4\0" "therefore\0"
    "theta\0" "thetasym\0" "thetav\0" "thickapprox\0" "thicksim\0" "thinsp\0" "thkap\0" "thksim\0"
    "thorn\0" "tilde\0" "times\0" "timesb\0" "timesbar\0" "timesd\0" "tint\0" "toea\0" "top\0"
    "topbot\0" "topcir\0" "topf\0" "topfork\0" "tosa\0" "tprime\0" "trade\0" "triangle\0"
    "triangledown\0" "triangleleft\0" "trianglelefteq\0" "triangleq\0" "triangleright\0"
    "trianglerighteq\0" "tridot\0" "trie\0" "triminus\0" "triplus\0" "trisb\0" "tritime\0"
    "trpezium\0" "tscr\0" "tscy\0" "tshcy\0" "tstrok\0" "twixt\0" "twoheadleftarrow\0"
    "twoheadrightarrow\0" "uArr\0" "uHar\0" "uacute\0" "uarr\0" "ubrcy\0" "ubreve\0" "ucirc\0"
    "ucy\0" "udarr\0" "udblac\0" "udhar\0" "ufisht\0" "ufr\0" "ugrave\0" "uharl\0" "uharr\0"
    "uhblk\0" "ulcorn\0" "ulcorner\0" "ulcrop\0" "ultri\0" "umacr\0" "uml\0" "uogon\0" "uopf\0"
    "uparrow\0" "updownarrow\0" "upharpoonleft\0" "upharpoonright\0" "uplus\0" "upsi\0" "upsih\0"
    "upsilon\0" "upuparrows\0" "urcorn\0" "urcorner\0" "urcrop\0" "uring\0" "urtri\0" "uscr\0"
    "utdot\0" "utilde\0" "utri\0" "utrif\0" "uuarr\0" "uuml\0" "uwangle\0" "vArr\0" "vBar\0"
    "vBarv\0" "vDash\0" "vangrt\0" "varepsilon\0" "varkappa\0" "varnothing\0" "varphi\0" "varpi\0"
    "varpropto\0" "varr\0" "varrho\0" "varsigma\0" "varsubsetneq\0" "varsubsetneqq\0"
    "varsupsetneq\0" "varsupsetneqq\0" "vartheta\0" "vartriangleleft\0" "vartriangleright\0"
    "vcy\0" "vdash\0" "vee\0" "veebar\0" "veeeq\0" "vellip\0" "verbar\0" "vert\0" "vfr\0" "vltri\0"
    "vnsub\0" "vnsup\0" "vopf\0" "vprop\0" "vrtri\0" "vscr\0" "vsubnE\0" "vsubne\0" "vsupnE\0"
    "vsupne\0" "vzigzag\0" "wcirc\0" "wedbar\0" "wedge\0" "wedgeq\0" "weierp\0" "wfr\0" "wopf\0"
    "wp\0" "wr\0" "wreath\0" "wscr\0" "xcap\0" "xcirc\0" "xcup\0" "xdtri\0" "xfr\0" "xhArr\0"
    "xharr\0" "xi\0" "xlArr\0" "xlarr\0" "xmap\0" "xnis\0" "xodot\0" "xopf\0" "xoplus\0" "xotime\0"
    "xrArr\0" "xrarr\0" "xscr\0" "xsqcup\0" "xuplus\0" "xutri\0" "xvee\0" "xwedge\0" "yacute\0"
    "yacy\0" "ycirc\0" "ycy\0" "yen\0" "yfr\0" "yicy\0" "yopf\0" "yscr\0" "yucy\0" "yuml\0"
    "zacute\0" "zcaron\0" "zcy\0" "zdot\0" "zeetrf\0" "zeta\0" "zfr\0" "zhcy\0" "zigrarr\0"
    "zopf\0" "zscr\0" "zwj\0" "zwnj\0";

const struct html_reference_name html_reference_names[] = {
    {0, 1, "\303\206"}, {6, 1, "\046"}, {10, 1, "\303\201"}, {17, 0, "\304\202"},
    {24, 1, "\303\202"}, {30, 0, "\320\220"}, {34, 0, "\360\235\224\204"}, {38, 1, "\303\200"},
    {45, 0, "\316\221"}, {51, 0, "\304\200"}, {57, 0, "\342\251\223"}, {61, 0, "\304\204"},
    {67, 0, "\360\235\224\270"}, {72, 0, "\342\201\241"}, {86, 1, "\303\205"},
    {92, 0, "\360\235\222\234"}, {97, 0, "\342\211\224"}, {104, 1, "\303\203"},
    {111, 1, "\303\204"}, {116, 0, "\342\210\226"}, {126, 0, "\342\253\247"},
    {131, 0, "\342\214\206"}, {138, 0, "\320\221"}, {142, 0, "\342\210\265"},
    {150, 0, "\342\204\254"}, {161, 0, "\316\222"}, {166, 0, "\360\235\224\205"},
    {170, 0, "\360\235\224\271"}, {175, 0, "\313\230"}, {181, 0, "\342\204\254"},
    {186, 0, "\342\211\216"}, {193, 0, "\320\247"}, {198, 1, "\302\251"}, {203, 0, "\304\206"},
    {210, 0, "\342\213\222"}, {214, 0, "\342\205\205"}, {235, 0, "\342\204\255"},
    {243, 0, "\304\214"}, {250, 1, "\303\207"}, {257, 0, "\304\210"}, {263, 0, "\342\210\260"},
    {271, 0, "\304\212"}, {276, 0, "\302\270"}, {284, 0, "\302\267"}, {294, 0, "\342\204\255"},
    {298, 0, "\316\247"}, {302, 0, "\342\212\231"}, {312, 0, "\342\212\226"},
    {324, 0, "\342\212\225"}, {335, 0, "\342\212\227"}, {347, 0, "\342\210\262"},
    {372, 0, "\342\200\235"}, {394, 0, "\342\200\231"}, {410, 0, "\342\210\267"},
    {416, 0, "\342\251\264"}, {423, 0, "\342\211\241"}, {433, 0, "\342\210\257"},
    {440, 0, "\342\210\256"}, {456, 0, "\342\204\202"}, {461, 0, "\342\210\220"},
    {471, 0, "\342\210\263"}, {503, 0, "\342\250\257"}, {509, 0, "\360\235\222\236"},
    {514, 0, "\342\213\223"}, {518, 0, "\342\211\215"}, {525, 0, "\342\205\205"},
    {528, 0, "\342\244\221"}, {537, 0, "\320\202"}, {542, 0, "\320\205"}, {547, 0, "\320\217"},
    {552, 0, "\342\200\241"}, {559, 0, "\342\206\241"}, {564, 0, "\342\253\244"},
    {570, 0, "\304\216"}, {577, 0, "\320\224"}, {581, 0, "\342\210\207"}, {585, 0, "\316\224"},
    {591, 0, "\360\235\224\207"}, {595, 0, "\302\264"}, {612, 0, "\313\231"}, {627, 0, "\313\235"},
    {650, 0, "\140"}, {667, 0, "\313\234"}, {684, 0, "\342\213\204"}, {692, 0, "\342\205\206"},
    {706, 0, "\360\235\224\273"}, {711, 0, "\302\250"}, {715, 0, "\342\203\234"},
    {722, 0, "\342\211\220"}, {731, 0, "\342\210\257"}, {753, 0, "\302\250"},
    {763, 0, "\342\207\223"}, {779, 0, "\342\207\220"}, {795, 0, "\342\207\224"},
    {816, 0, "\342\253\244"}, {830, 0, "\342\237\270"}, {850, 0, "\342\237\272"},
    {875, 0, "\342\237\271"}, {896, 0, "\342\207\222"}, {913, 0, "\342\212\250"},
    {928, 0, "\342\207\221"}, {942, 0, "\342\207\225"}, {960, 0, "\342\210\245"},
    {978, 0, "\342\206\223"}, {988, 0, "\342\244\223"}, {1001, 0, "\342\207\265"},
    {1018, 0, "\314\221"}, {1028, 0, "\342\245\220"}, {1048, 0, "\342\245\236"},
    {1066, 0, "\342\206\275"}, {1081, 0, "\342\245\226"}, {1099, 0, "\342\245\237"},
    {1118, 0, "\342\207\201"}, {1134, 0, "\342\245\227"}, {1153, 0, "\342\212\244"},
    {1161, 0, "\342\206\247"}, {1174, 0, "\342\207\223"}, {1184, 0, "\360\235\222\237"},
    {1189, 0, "\304\220"}, {1196, 0, "\305\212"}, {1200, 1, "\303\220"}, {1204, 1, "\303\211"},
    {1211, 0, "\304\232"}, {1218, 1, "\303\212"}, {1224, 0, "\320\255"}, {1228, 0, "\304\226"},
    {1233, 0, "\360\235\224\210"}, {1237, 1, "\303\210"}, {1244, 0, "\342\210\210"},
    {1252, 0, "\304\222"}, {1258, 0, "\342\227\273"}, {1275, 0, "\342\226\253"},
    {1296, 0, "\304\230"}, {1302, 0, "\360\235\224\274"}, {1307, 0, "\316\225"},
    {1315, 0, "\342\251\265"}, {1321, 0, "\342\211\202"}, {1332, 0, "\342\207\214"},
    {1344, 0, "\342\204\260"}, {1349, 0, "\342\251\263"}, {1354, 0, "\316\227"},
    {1358, 1, "\303\213"}, {1363, 0, "\342\210\203"}, {1370, 0, "\342\205\207"},
    {1383, 0, "\320\244"}, {1387, 0, "\360\235\224\211"}, {1391, 0, "\342\227\274"},
    {1409, 0, "\342\226\252"}, {1431, 0, "\360\235\224\275"}, {1436, 0, "\342\210\200"},
    {1443, 0, "\342\204\261"}, {1454, 0, "\342\204\261"}, {1459, 0, "\320\203"}, {1464, 1, "\076"},
    {1467, 0, "\316\223"}, {1473, 0, "\317\234"}, {1480, 0, "\304\236"}, {1487, 0, "\304\242"},
    {1494, 0, "\304\234"}, {1500, 0, "\320\223"}, {1504, 0, "\304\240"},
    {1509, 0, "\360\235\224\212"}, {1513, 0, "\342\213\231"}, {1516, 0, "\360\235\224\276"},
    {1521, 0, "\342\211\245"}, {1534, 0, "\342\213\233"}, {1551, 0, "\342\211\247"},
    {1568, 0, "\342\252\242"}, {1583, 0, "\342\211\267"}, {1595, 0, "\342\251\276"},
    {1613, 0, "\342\211\263"}, {1626, 0, "\360\235\222\242"}, {1631, 0, "\342\211\253"},
    {1634, 0, "\320\252"}, {1641, 0, "\313\207"}, {1647, 0, "\136"}, {1651, 0, "\304\244"},
    {1657, 0, "\342\204\214"}, {1661, 0, "\342\204\213"}, {1674, 0, "\342\204\215"},
    {1679, 0, "\342\224\200"}, {1694, 0, "\342\204\213"}, {1699, 0, "\304\246"},
    {1706, 0, "\342\211\216"}, {1719, 0, "\342\211\217"}, {1729, 0, "\320\225"},
    {1734, 0, "\304\262"}, {1740, 0, "\320\201"}, {1745, 1, "\303\215"}, {1752, 1, "\303\216"},
    {1758, 0, "\320\230"}, {1762, 0, "\304\260"}, {1767, 0, "\342\204\221"}, {1771, 1, "\303\214"},
    {1778, 0, "\342\204\221"}, {1781, 0, "\304\252"}, {1787, 0, "\342\205\210"},
    {1798, 0, "\342\207\222"}, {1806, 0, "\342\210\254"}, {1810, 0, "\342\210\253"},
    {1819, 0, "\342\213\202"}, {1832, 0, "\342\201\243"}, {1847, 0, "\342\201\242"},
    {1862, 0, "\304\256"}, {1868, 0, "\360\235\225\200"}, {1873, 0, "\316\231"},
    {1878, 0, "\342\204\220"}, {1883, 0, "\304\250"}, {1890, 0, "\320\206"}, {1896, 1, "\303\217"},
    {1901, 0, "\304\264"}, {1907, 0, "\320\231"}, {1911, 0, "\360\235\224\215"},
    {1915, 0, "\360\235\225\201"}, {1920, 0, "\360\235\222\245"}, {1925, 0, "\320\210"},
    {1932, 0, "\320\204"}, {1938, 0, "\320\245"}, {1943, 0, "\320\214"}, {1948, 0, "\316\232"},
    {1954, 0, "\304\266"}, {1961, 0, "\320\232"}, {1965, 0, "\360\235\224\216"},
    {1969, 0, "\360\235\225\202"}, {1974, 0, "\360\235\222\246"}, {1979, 0, "\320\211"},
    {1984, 1, "\074"}, {1987, 0, "\304\271"}, {1994, 0, "\316\233"}, {2001, 0, "\342\237\252"},
    {2006, 0, "\342\204\222"}, {2017, 0, "\342\206\236"}, {2022, 0, "\304\275"},
    {2029, 0, "\304\273"}, {2036, 0, "\320\233"}, {2040, 0, "\342\237\250"},
    {2057, 0, "\342\206\220"}, {2067, 0, "\342\207\244"}, {2080, 0, "\342\207\206"},
    {2100, 0, "\342\214\210"}, {2112, 0, "\342\237\246"}, {2130, 0, "\342\245\241"},
    {2148, 0, "\342\207\203"}, {2163, 0, "\342\245\231"}, {2181, 0, "\342\214\212"},
    {2191, 0, "\342\206\224"}, {2206, 0, "\342\245\216"}, {2222, 0, "\342\212\243"},
    {2230, 0, "\342\206\244"}, {2243, 0, "\342\245\232"}, {2257, 0, "\342\212\262"},
    {2270, 0, "\342\247\217"}, {2286, 0, "\342\212\264"}, {2304, 0, "\342\245\221"},
    {2321, 0, "\342\245\240"}, {2337, 0, "\342\206\277"}, {2350, 0, "\342\245\230"},
    {2366, 0, "\342\206\274"}, {2377, 0, "\342\245\222"}, {2391, 0, "\342\207\220"},
    {2401, 0, "\342\207\224"}, {2416, 0, "\342\213\232"}, {2433, 0, "\342\211\246"},
    {2447, 0, "\342\211\266"}, {2459, 0, "\342\252\241"}, {2468, 0, "\342\251\275"},
    {2483, 0, "\342\211\262"}, {2493, 0, "\360\235\224\217"}, {2497, 0, "\342\213\230"},
    {2500, 0, "\342\207\232"}, {2511, 0, "\304\277"}, {2518, 0, "\342\237\265"},
    {2532, 0, "\342\237\267"}, {2551, 0, "\342\237\266"}, {2566, 0, "\342\237\270"},
    {2580, 0, "\342\237\272"}, {2599, 0, "\342\237\271"}, {2614, 0, "\360\235\225\203"},
    {2619, 0, "\342\206\231"}, {2634, 0, "\342\206\230"}, {2650, 0, "\342\204\222"},
    {2655, 0, "\342\206\260"}, {2659, 0, "\305\201"}, {2666, 0, "\342\211\252"},
    {2669, 0, "\342\244\205"}, {2673, 0, "\320\234"}, {2677, 0, "\342\201\237"},
    {2689, 0, "\342\204\263"}, {2699, 0, "\360\235\224\220"}, {2703, 0, "\342\210\223"},
    {2713, 0, "\360\235\225\204"}, {2718, 0, "\342\204\263"}, {2723, 0, "\316\234"},
    {2726, 0, "\320\212"}, {2731, 0, "\305\203"}, {2738, 0, "\305\207"}, {2745, 0, "\305\205"},
    {2752, 0, "\320\235"}, {2756, 0, "\342\200\213"}, {2776, 0, "\342\200\213"},
    {2795, 0, "\342\200\213"}, {2813, 0, "\342\200\213"}, {2835, 0, "\342\211\253"},
    {2856, 0, "\342\211\252"}, {2871, 0, "\012"}, {2879, 0, "\360\235\224\221"},
    {2883, 0, "\342\201\240"}, {2891, 0, "\302\240"}, {2908, 0, "\342\204\225"},
    {2913, 0, "\342\253\254"}, {2917, 0, "\342\211\242"}, {2930, 0, "\342\211\255"},
    {2940, 0, "\342\210\246"}, {2961, 0, "\342\210\211"}, {2972, 0, "\342\211\240"},
    {2981, 0, "\342\211\202\314\270"}, {2995, 0, "\342\210\204"}, {3005, 0, "\342\211\257"},
    {3016, 0, "\342\211\261"}, {3032, 0, "\342\211\247\314\270"}, {3052, 0, "\342\211\253\314\270"},
    {3070, 0, "\342\211\271"}, {3085, 0, "\342\251\276\314\270"}, {3106, 0, "\342\211\265"},
    {3122, 0, "\342\211\216\314\270"}, {3138, 0, "\342\211\217\314\270"}, {3151, 0, "\342\213\252"},
    {3167, 0, "\342\247\217\314\270"}, {3186, 0, "\342\213\254"}, {3207, 0, "\342\211\256"},
    {3215, 0, "\342\211\260"}, {3228, 0, "\342\211\270"}, {3243, 0, "\342\211\252\314\270"},
    {3255, 0, "\342\251\275\314\270"}, {3273, 0, "\342\211\264"}, {3286, 0, "\342\252\242\314\270"},
    {3310, 0, "\342\252\241\314\270"}, {3328, 0, "\342\212\200"}, {3340, 0, "\342\252\257\314\270"},
    {3357, 0, "\342\213\240"}, {3379, 0, "\342\210\214"}, {3397, 0, "\342\213\253"},
    {3414, 0, "\342\247\220\314\270"}, {3434, 0, "\342\213\255"}, {3456, 0, "\342\212\217\314\270"},
    {3472, 0, "\342\213\242"}, {3493, 0, "\342\212\220\314\270"}, {3511, 0, "\342\213\243"},
    {3534, 0, "\342\212\202\342\203\222"}, {3544, 0, "\342\212\210"}, {3559, 0, "\342\212\201"},
    {3571, 0, "\342\252\260\314\270"}, {3588, 0, "\342\213\241"}, {3610, 0, "\342\211\277\314\270"},
    {3627, 0, "\342\212\203\342\203\222"}, {3639, 0, "\342\212\211"}, {3656, 0, "\342\211\201"},
    {3665, 0, "\342\211\204"}, {3679, 0, "\342\211\207"}, {3697, 0, "\342\211\211"},
    {3711, 0, "\342\210\244"}, {3726, 0, "\360\235\222\251"}, {3731, 1, "\303\221"},
    {3738, 0, "\316\235"}, {3741, 0, "\305\222"}, {3747, 1, "\303\223"}, {3754, 1, "\303\224"},
    {3760, 0, "\320\236"}, {3764, 0, "\305\220"}, {3771, 0, "\360\235\224\222"},
    {3775, 1, "\303\222"}, {3782, 0, "\305\214"}, {3788, 0, "\316\251"}, {3794, 0, "\316\237"},
    {3802, 0, "\360\235\225\206"}, {3807, 0, "\342\200\234"}, {3828, 0, "\342\200\230"},
    {3843, 0, "\342\251\224"}, {3846, 0, "\360\235\222\252"}, {3851, 1, "\303\230"},
    {3858, 1, "\303\225"}, {3865, 0, "\342\250\267"}, {3872, 1, "\303\226"},
    {3877, 0, "\342\200\276"}, {3885, 0, "\342\217\236"}, {3895, 0, "\342\216\264"},
    {3907, 0, "\342\217\234"}, {3923, 0, "\342\210\202"}, {3932, 0, "\320\237"},
    {3936, 0, "\360\235\224\223"}, {3940, 0, "\316\246"}, {3944, 0, "\316\240"},
    {3947, 0, "\302\261"}, {3957, 0, "\342\204\214"}, {3971, 0, "\342\204\231"},
    {3976, 0, "\342\252\273"}, {3979, 0, "\342\211\272"}, {3988, 0, "\342\252\257"},
    {4002, 0, "\342\211\274"}, {4021, 0, "\342\211\276"}, {4035, 0, "\342\200\263"},
    {4041, 0, "\342\210\217"}, {4049, 0, "\342\210\267"}, {4060, 0, "\342\210\235"},
    {4073, 0, "\360\235\222\253"}, {4078, 0, "\316\250"}, {4082, 1, "\042"},
    {4087, 0, "\360\235\224\224"}, {4091, 0, "\342\204\232"}, {4096, 0, "\360\235\222\254"},
    {4101, 0, "\342\244\220"}, {4107, 1, "\302\256"}, {4111, 0, "\305\224"},
    {4118, 0, "\342\237\253"}, {4123, 0, "\342\206\240"}, {4128, 0, "\342\244\226"},
    {4135, 0, "\305\230"}, {4142, 0, "\305\226"}, {4149, 0, "\320\240"}, {4153, 0, "\342\204\234"},
    {4156, 0, "\342\210\213"}, {4171, 0, "\342\207\213"}, {4190, 0, "\342\245\257"},
    {4211, 0, "\342\204\234"}, {4215, 0, "\316\241"}, {4219, 0, "\342\237\251"},
    {4237, 0, "\342\206\222"}, {4248, 0, "\342\207\245"}, {4262, 0, "\342\207\204"},
    {4282, 0, "\342\214\211"}, {4295, 0, "\342\237\247"}, {4314, 0, "\342\245\235"},
    {4333, 0, "\342\207\202"}, {4349, 0, "\342\245\225"}, {4368, 0, "\342\214\213"},
    {4379, 0, "\342\212\242"}, {4388, 0, "\342\206\246"}, {4402, 0, "\342\245\233"},
    {4417, 0, "\342\212\263"}, {4431, 0, "\342\247\220"}, {4448, 0, "\342\212\265"},
    {4467, 0, "\342\245\217"}, {4485, 0, "\342\245\234"}, {4502, 0, "\342\206\276"},
    {4516, 0, "\342\245\224"}, {4533, 0, "\342\207\200"}, {4545, 0, "\342\245\223"},
    {4560, 0, "\342\207\222"}, {4571, 0, "\342\204\235"}, {4576, 0, "\342\245\260"},
    {4589, 0, "\342\207\233"}, {4601, 0, "\342\204\233"}, {4606, 0, "\342\206\261"},
    {4610, 0, "\342\247\264"}, {4622, 0, "\320\251"}, {4629, 0, "\320\250"}, {4634, 0, "\320\254"},
    {4641, 0, "\305\232"}, {4648, 0, "\342\252\274"}, {4651, 0, "\305\240"}, {4658, 0, "\305\236"},
    {4665, 0, "\305\234"}, {4671, 0, "\320\241"}, {4675, 0, "\360\235\224\226"},
    {4679, 0, "\342\206\223"}, {4694, 0, "\342\206\220"}, {4709, 0, "\342\206\222"},
    {4725, 0, "\342\206\221"}, {4738, 0, "\316\243"}, {4744, 0, "\342\210\230"},
    {4756, 0, "\360\235\225\212"}, {4761, 0, "\342\210\232"}, {4766, 0, "\342\226\241"},
    {4773, 0, "\342\212\223"}, {4792, 0, "\342\212\217"}, {4805, 0, "\342\212\221"},
    {4823, 0, "\342\212\220"}, {4838, 0, "\342\212\222"}, {4858, 0, "\342\212\224"},
    {4870, 0, "\360\235\222\256"}, {4875, 0, "\342\213\206"}, {4880, 0, "\342\213\220"},
    {4884, 0, "\342\213\220"}, {4891, 0, "\342\212\206"}, {4903, 0, "\342\211\273"},
    {4912, 0, "\342\252\260"}, {4926, 0, "\342\211\275"}, {4945, 0, "\342\211\277"},
    {4959, 0, "\342\210\213"}, {4968, 0, "\342\210\221"}, {4972, 0, "\342\213\221"},
    {4976, 0, "\342\212\203"}, {4985, 0, "\342\212\207"}, {4999, 0, "\342\213\221"},
    {5006, 1, "\303\236"}, {5012, 0, "\342\204\242"}, {5018, 0, "\320\213"}, {5024, 0, "\320\246"},
    {5029, 0, "\011"}, {5033, 0, "\316\244"}, {5037, 0, "\305\244"}, {5044, 0, "\305\242"},
    {5051, 0, "\320\242"}, {5055, 0, "\360\235\224\227"}, {5059, 0, "\342\210\264"},
    {5069, 0, "\316\230"}, {5075, 0, "\342\201\237\342\200\212"}, {5086, 0, "\342\200\211"},
    {5096, 0, "\342\210\274"}, {5102, 0, "\342\211\203"}, {5113, 0, "\342\211\205"},
    {5128, 0, "\342\211\210"}, {5139, 0, "\360\235\225\213"}, {5144, 0, "\342\203\233"},
    {5154, 0, "\360\235\222\257"}, {5159, 0, "\305\246"}, {5166, 1, "\303\232"},
    {5173, 0, "\342\206\237"}, {5178, 0, "\342\245\211"}, {5187, 0, "\320\216"},
    {5193, 0, "\305\254"}, {5200, 1, "\303\233"}, {5206, 0, "\320\243"}, {5210, 0, "\305\260"},
    {5217, 0, "\360\235\224\230"}, {5221, 1, "\303\231"}, {5228, 0, "\305\252"}, {5234, 0, "\137"},
    {5243, 0, "\342\217\237"}, {5254, 0, "\342\216\265"}, {5267, 0, "\342\217\235"},
    {5284, 0, "\342\213\203"}, {5290, 0, "\342\212\216"}, {5300, 0, "\305\262"},
    {5306, 0, "\360\235\225\214"}, {5311, 0, "\342\206\221"}, {5319, 0, "\342\244\222"},
    {5330, 0, "\342\207\205"}, {5347, 0, "\342\206\225"}, {5359, 0, "\342\245\256"},
    {5373, 0, "\342\212\245"}, {5379, 0, "\342\206\245"}, {5390, 0, "\342\207\221"},
    {5398, 0, "\342\207\225"}, {5410, 0, "\342\206\226"}, {5425, 0, "\342\206\227"},
    {5441, 0, "\317\222"}, {5446, 0, "\316\245"}, {5454, 0, "\305\256"},
    {5460, 0, "\360\235\222\260"}, {5465, 0, "\305\250"}, {5472, 1, "\303\234"},
    {5477, 0, "\342\212\253"}, {5483, 0, "\342\253\253"}, {5488, 0, "\320\222"},
    {5492, 0, "\342\212\251"}, {5498, 0, "\342\253\246"}, {5505, 0, "\342\213\201"},
    {5509, 0, "\342\200\226"}, {5516, 0, "\342\200\226"}, {5521, 0, "\342\210\243"},
    {5533, 0, "\174"}, {5546, 0, "\342\235\230"}, {5564, 0, "\342\211\200"},
    {5578, 0, "\342\200\212"}, {5592, 0, "\360\235\224\231"}, {5596, 0, "\360\235\225\215"},
    {5601, 0, "\360\235\222\261"}, {5606, 0, "\342\212\252"}, {5613, 0, "\305\264"},
    {5619, 0, "\342\213\200"}, {5625, 0, "\360\235\224\232"}, {5629, 0, "\360\235\225\216"},
    {5634, 0, "\360\235\222\262"}, {5639, 0, "\360\235\224\233"}, {5643, 0, "\316\236"},
    {5646, 0, "\360\235\225\217"}, {5651, 0, "\360\235\222\263"}, {5656, 0, "\320\257"},
    {5661, 0, "\320\207"}, {5666, 0, "\320\256"}, {5671, 1, "\303\235"}, {5678, 0, "\305\266"},
    {5684, 0, "\320\253"}, {5688, 0, "\360\235\224\234"}, {5692, 0, "\360\235\225\220"},
    {5697, 0, "\360\235\222\264"}, {5702, 0, "\305\270"}, {5707, 0, "\320\226"},
    {5712, 0, "\305\271"}, {5719, 0, "\305\275"}, {5726, 0, "\320\227"}, {5730, 0, "\305\273"},
    {5735, 0, "\342\200\213"}, {5750, 0, "\316\226"}, {5755, 0, "\342\204\250"},
    {5759, 0, "\342\204\244"}, {5764, 0, "\360\235\222\265"}, {5769, 1, "\303\241"},
    {5776, 0, "\304\203"}, {5783, 0, "\342\210\276"}, {5786, 0, "\342\210\276\314\263"},
    {5790, 0, "\342\210\277"}, {5794, 1, "\303\242"}, {5800, 1, "\302\264"}, {5806, 0, "\320\260"},
    {5810, 1, "\303\246"}, {5816, 0, "\342\201\241"}, {5819, 0, "\360\235\224\236"},
    {5823, 1, "\303\240"}, {5830, 0, "\342\204\265"}, {5838, 0, "\342\204\265"},
    {5844, 0, "\316\261"}, {5850, 0, "\304\201"}, {5856, 0, "\342\250\277"}, {5862, 1, "\046"},
    {5866, 0, "\342\210\247"}, {5870, 0, "\342\251\225"}, {5877, 0, "\342\251\234"},
    {5882, 0, "\342\251\230"}, {5891, 0, "\342\251\232"}, {5896, 0, "\342\210\240"},
    {5900, 0, "\342\246\244"}, {5905, 0, "\342\210\240"}, {5911, 0, "\342\210\241"},
    {5918, 0, "\342\246\250"}, {5927, 0, "\342\246\251"}, {5936, 0, "\342\246\252"},
    {5945, 0, "\342\246\253"}, {5954, 0, "\342\246\254"}, {5963, 0, "\342\246\255"},
    {5972, 0, "\342\246\256"}, {5981, 0, "\342\246\257"}, {5990, 0, "\342\210\237"},
    {5996, 0, "\342\212\276"}, {6004, 0, "\342\246\235"}, {6013, 0, "\342\210\242"},
    {6020, 0, "\303\205"}, {6026, 0, "\342\215\274"}, {6034, 0, "\304\205"},
    {6040, 0, "\360\235\225\222"}, {6045, 0, "\342\211\210"}, {6048, 0, "\342\251\260"},
    {6052, 0, "\342\251\257"}, {6059, 0, "\342\211\212"}, {6063, 0, "\342\211\213"},
    {6068, 0, "\047"}, {6073, 0, "\342\211\210"}, {6080, 0, "\342\211\212"}, {6089, 1, "\303\245"},
    {6095, 0, "\360\235\222\266"}, {6100, 0, "\052"}, {6104, 0, "\342\211\210"},
    {6110, 0, "\342\211\215"}, {6118, 1, "\303\243"}, {6125, 1, "\303\244"},
    {6130, 0, "\342\210\263"}, {6139, 0, "\342\250\221"}, {6145, 0, "\342\253\255"},
    {6150, 0, "\342\211\214"}, {6159, 0, "\317\266"}, {6171, 0, "\342\200\265"},
    {6181, 0, "\342\210\275"}, {6189, 0, "\342\213\215"}, {6199, 0, "\342\212\275"},
    {6206, 0, "\342\214\205"}, {6213, 0, "\342\214\205"}, {6222, 0, "\342\216\265"},
    {6227, 0, "\342\216\266"}, {6236, 0, "\342\211\214"}, {6242, 0, "\320\261"},
    {6246, 0, "\342\200\236"}, {6252, 0, "\342\210\265"}, {6259, 0, "\342\210\265"},
    {6267, 0, "\342\246\260"}, {6275, 0, "\317\266"}, {6281, 0, "\342\204\254"},
    {6288, 0, "\316\262"}, {6293, 0, "\342\204\266"}, {6298, 0, "\342\211\254"},
    {6306, 0, "\360\235\224\237"}, {6310, 0, "\342\213\202"}, {6317, 0, "\342\227\257"},
    {6325, 0, "\342\213\203"}, {6332, 0, "\342\250\200"}, {6340, 0, "\342\250\201"},
    {6349, 0, "\342\250\202"}, {6359, 0, "\342\250\206"}, {6368, 0, "\342\230\205"},
    {6376, 0, "\342\226\275"}, {6392, 0, "\342\226\263"}, {6406, 0, "\342\250\204"},
    {6415, 0, "\342\213\201"}, {6422, 0, "\342\213\200"}, {6431, 0, "\342\244\215"},
    {6438, 0, "\342\247\253"}, {6451, 0, "\342\226\252"}, {6463, 0, "\342\226\264"},
    {6477, 0, "\342\226\276"}, {6495, 0, "\342\227\202"}, {6513, 0, "\342\226\270"},
    {6532, 0, "\342\220\243"}, {6538, 0, "\342\226\222"}, {6544, 0, "\342\226\221"},
    {6550, 0, "\342\226\223"}, {6556, 0, "\342\226\210"}, {6562, 0, "\075\342\203\245"},
    {6566, 0, "\342\211\241\342\203\245"}, {6574, 0, "\342\214\220"}, {6579, 0, "\360\235\225\223"},
    {6584, 0, "\342\212\245"}, {6588, 0, "\342\212\245"}, {6595, 0, "\342\213\210"},
    {6602, 0, "\342\225\227"}, {6608, 0, "\342\225\224"}, {6614, 0, "\342\225\226"},
    {6620, 0, "\342\225\223"}, {6626, 0, "\342\225\220"}, {6631, 0, "\342\225\246"},
    {6637, 0, "\342\225\251"}, {6643, 0, "\342\225\244"}, {6649, 0, "\342\225\247"},
    {6655, 0, "\342\225\235"}, {6661, 0, "\342\225\232"}, {6667, 0, "\342\225\234"},
    {6673, 0, "\342\225\231"}, {6679, 0, "\342\225\221"}, {6684, 0, "\342\225\254"},
    {6690, 0, "\342\225\243"}, {6696, 0, "\342\225\240"}, {6702, 0, "\342\225\253"},
    {6708, 0, "\342\225\242"}, {6714, 0, "\342\225\237"}, {6720, 0, "\342\247\211"},
    {6727, 0, "\342\225\225"}, {6733, 0, "\342\225\222"}, {6739, 0, "\342\224\220"},
    {6745, 0, "\342\224\214"}, {6751, 0, "\342\224\200"}, {6756, 0, "\342\225\245"},
    {6762, 0, "\342\225\250"}, {6768, 0, "\342\224\254"}, {6774, 0, "\342\224\264"},
    {6780, 0, "\342\212\237"}, {6789, 0, "\342\212\236"}, {6797, 0, "\342\212\240"},
    {6806, 0, "\342\225\233"}, {6812, 0, "\342\225\230"}, {6818, 0, "\342\224\230"},
    {6824, 0, "\342\224\224"}, {6830, 0, "\342\224\202"}, {6835, 0, "\342\225\252"},
    {6841, 0, "\342\225\241"}, {6847, 0, "\342\225\236"}, {6853, 0, "\342\224\274"},
    {6859, 0, "\342\224\244"}, {6865, 0, "\342\224\234"}, {6871, 0, "\342\200\265"},
    {6878, 0, "\313\230"}, {6884, 1, "\302\246"}, {6891, 0, "\360\235\222\267"},
    {6896, 0, "\342\201\217"}, {6902, 0, "\342\210\275"}, {6907, 0, "\342\213\215"},
    {6913, 0, "\134"}, {6918, 0, "\342\247\205"}, {6924, 0, "\342\237\210"},
    {6933, 0, "\342\200\242"}, {6938, 0, "\342\200\242"}, {6945, 0, "\342\211\216"},
    {6950, 0, "\342\252\256"}, {6956, 0, "\342\211\217"}, {6962, 0, "\342\211\217"},
    {6969, 0, "\304\207"}, {6976, 0, "\342\210\251"}, {6980, 0, "\342\251\204"},
    {6987, 0, "\342\251\211"}, {6996, 0, "\342\251\213"}, {7003, 0, "\342\251\207"},
    {7010, 0, "\342\251\200"}, {7017, 0, "\342\210\251\357\270\200"}, {7022, 0, "\342\201\201"},
    {7028, 0, "\313\207"}, {7034, 0, "\342\251\215"}, {7040, 0, "\304\215"}, {7047, 1, "\303\247"},
    {7054, 0, "\304\211"}, {7060, 0, "\342\251\214"}, {7066, 0, "\342\251\220"},
    {7074, 0, "\304\213"}, {7079, 1, "\302\270"}, {7085, 0, "\342\246\262"}, {7093, 1, "\302\242"},
    {7098, 0, "\302\267"}, {7108, 0, "\360\235\224\240"}, {7112, 0, "\321\207"},
    {7117, 0, "\342\234\223"}, {7123, 0, "\342\234\223"}, {7133, 0, "\317\207"},
    {7137, 0, "\342\227\213"}, {7141, 0, "\342\247\203"}, {7146, 0, "\313\206"},
    {7151, 0, "\342\211\227"}, {7158, 0, "\342\206\272"}, {7174, 0, "\342\206\273"},
    {7191, 0, "\302\256"}, {7200, 0, "\342\223\210"}, {7209, 0, "\342\212\233"},
    {7220, 0, "\342\212\232"}, {7232, 0, "\342\212\235"}, {7244, 0, "\342\211\227"},
    {7249, 0, "\342\250\220"}, {7258, 0, "\342\253\257"}, {7265, 0, "\342\247\202"},
    {7273, 0, "\342\231\243"}, {7279, 0, "\342\231\243"}, {7288, 0, "\072"},
    {7294, 0, "\342\211\224"}, {7301, 0, "\342\211\224"}, {7309, 0, "\054"}, {7315, 0, "\100"},
    {7322, 0, "\342\210\201"}, {7327, 0, "\342\210\230"}, {7334, 0, "\342\210\201"},
    {7345, 0, "\342\204\202"}, {7355, 0, "\342\211\205"}, {7360, 0, "\342\251\255"},
    {7368, 0, "\342\210\256"}, {7375, 0, "\360\235\225\224"}, {7380, 0, "\342\210\220"},
    {7387, 1, "\302\251"}, {7392, 0, "\342\204\227"}, {7399, 0, "\342\206\265"},
    {7405, 0, "\342\234\227"}, {7411, 0, "\360\235\222\270"}, {7416, 0, "\342\253\217"},
    {7421, 0, "\342\253\221"}, {7427, 0, "\342\253\220"}, {7432, 0, "\342\253\222"},
    {7438, 0, "\342\213\257"}, {7444, 0, "\342\244\270"}, {7452, 0, "\342\244\265"},
    {7460, 0, "\342\213\236"}, {7466, 0, "\342\213\237"}, {7472, 0, "\342\206\266"},
    {7479, 0, "\342\244\275"}, {7487, 0, "\342\210\252"}, {7491, 0, "\342\251\210"},
    {7500, 0, "\342\251\206"}, {7507, 0, "\342\251\212"}, {7514, 0, "\342\212\215"},
    {7521, 0, "\342\251\205"}, {7527, 0, "\342\210\252\357\270\200"}, {7532, 0, "\342\206\267"},
    {7539, 0, "\342\244\274"}, {7547, 0, "\342\213\236"}, {7559, 0, "\342\213\237"},
    {7571, 0, "\342\213\216"}, {7580, 0, "\342\213\217"}, {7591, 1, "\302\244"},
    {7598, 0, "\342\206\266"}, {7613, 0, "\342\206\267"}, {7629, 0, "\342\213\216"},
    {7635, 0, "\342\213\217"}, {7641, 0, "\342\210\262"}, {7650, 0, "\342\210\261"},
    {7656, 0, "\342\214\255"}, {7663, 0, "\342\207\223"}, {7668, 0, "\342\245\245"},
    {7673, 0, "\342\200\240"}, {7680, 0, "\342\204\270"}, {7687, 0, "\342\206\223"},
    {7692, 0, "\342\200\220"}, {7697, 0, "\342\212\243"}, {7703, 0, "\342\244\217"},
    {7711, 0, "\313\235"}, {7717, 0, "\304\217"}, {7724, 0, "\320\264"}, {7728, 0, "\342\205\206"},
    {7731, 0, "\342\200\241"}, {7739, 0, "\342\207\212"}, {7745, 0, "\342\251\267"},
    {7753, 1, "\302\260"}, {7757, 0, "\316\264"}, {7763, 0, "\342\246\261"},
    {7771, 0, "\342\245\277"}, {7778, 0, "\360\235\224\241"}, {7782, 0, "\342\207\203"},
    {7788, 0, "\342\207\202"}, {7794, 0, "\342\213\204"}, {7799, 0, "\342\213\204"},
    {7807, 0, "\342\231\246"}, {7819, 0, "\342\231\246"}, {7825, 0, "\302\250"},
    {7829, 0, "\317\235"}, {7837, 0, "\342\213\262"}, {7843, 0, "\303\267"}, {7847, 1, "\303\267"},
    {7854, 0, "\342\213\207"}, {7868, 0, "\342\213\207"}, {7875, 0, "\321\222"},
    {7880, 0, "\342\214\236"}, {7887, 0, "\342\214\215"}, {7894, 0, "\044"},
    {7901, 0, "\360\235\225\225"}, {7906, 0, "\313\231"}, {7910, 0, "\342\211\220"},
    {7916, 0, "\342\211\221"}, {7925, 0, "\342\210\270"}, {7934, 0, "\342\210\224"},
    {7942, 0, "\342\212\241"}, {7952, 0, "\342\214\206"}, {7967, 0, "\342\206\223"},
    {7977, 0, "\342\207\212"}, {7992, 0, "\342\207\203"}, {8008, 0, "\342\207\202"},
    {8025, 0, "\342\244\220"}, {8034, 0, "\342\214\237"}, {8041, 0, "\342\214\214"},
    {8048, 0, "\360\235\222\271"}, {8053, 0, "\321\225"}, {8058, 0, "\342\247\266"},
    {8063, 0, "\304\221"}, {8070, 0, "\342\213\261"}, {8076, 0, "\342\226\277"},
    {8081, 0, "\342\226\276"}, {8087, 0, "\342\207\265"}, {8093, 0, "\342\245\257"},
    {8099, 0, "\342\246\246"}, {8107, 0, "\321\237"}, {8112, 0, "\342\237\277"},
    {8121, 0, "\342\251\267"}, {8127, 0, "\342\211\221"}, {8132, 1, "\303\251"},
    {8139, 0, "\342\251\256"}, {8146, 0, "\304\233"}, {8153, 0, "\342\211\226"},
    {8158, 1, "\303\252"}, {8164, 0, "\342\211\225"}, {8171, 0, "\321\215"}, {8175, 0, "\304\227"},
    {8180, 0, "\342\205\207"}, {8183, 0, "\342\211\222"}, {8189, 0, "\360\235\224\242"},
    {8193, 0, "\342\252\232"}, {8196, 1, "\303\250"}, {8203, 0, "\342\252\226"},
    {8207, 0, "\342\252\230"}, {8214, 0, "\342\252\231"}, {8217, 0, "\342\217\247"},
    {8226, 0, "\342\204\223"}, {8230, 0, "\342\252\225"}, {8234, 0, "\342\252\227"},
    {8241, 0, "\304\223"}, {8247, 0, "\342\210\205"}, {8253, 0, "\342\210\205"},
    {8262, 0, "\342\210\205"}, {8269, 0, "\342\200\203"}, {8274, 0, "\342\200\204"},
    {8281, 0, "\342\200\205"}, {8288, 0, "\305\213"}, {8292, 0, "\342\200\202"},
    {8297, 0, "\304\231"}, {8303, 0, "\360\235\225\226"}, {8308, 0, "\342\213\225"},
    {8313, 0, "\342\247\243"}, {8320, 0, "\342\251\261"}, {8326, 0, "\316\265"},
    {8331, 0, "\316\265"}, {8339, 0, "\317\265"}, {8345, 0, "\342\211\226"},
    {8352, 0, "\342\211\225"}, {8360, 0, "\342\211\202"}, {8366, 0, "\342\252\226"},
    {8377, 0, "\342\252\225"}, {8389, 0, "\075"}, {8396, 0, "\342\211\237"},
    {8403, 0, "\342\211\241"}, {8409, 0, "\342\251\270"}, {8417, 0, "\342\247\245"},
    {8426, 0, "\342\211\223"}, {8432, 0, "\342\245\261"}, {8438, 0, "\342\204\257"},
    {8443, 0, "\342\211\220"}, {8449, 0, "\342\211\202"}, {8454, 0, "\316\267"},
    {8458, 1, "\303\260"}, {8462, 1, "\303\253"}, {8467, 0, "\342\202\254"}, {8472, 0, "\041"},
    {8477, 0, "\342\210\203"}, {8483, 0, "\342\204\260"}, {8495, 0, "\342\205\207"},
    {8508, 0, "\342\211\222"}, {8522, 0, "\321\204"}, {8526, 0, "\342\231\200"},
    {8533, 0, "\357\254\203"}, {8540, 0, "\357\254\200"}, {8546, 0, "\357\254\204"},
    {8553, 0, "\360\235\224\243"}, {8557, 0, "\357\254\201"}, {8563, 0, "\146\152"},
    {8569, 0, "\342\231\255"}, {8574, 0, "\357\254\202"}, {8580, 0, "\342\226\261"},
    {8586, 0, "\306\222"}, {8591, 0, "\360\235\225\227"}, {8596, 0, "\342\210\200"},
    {8603, 0, "\342\213\224"}, {8608, 0, "\342\253\231"}, {8614, 0, "\342\250\215"},
    {8623, 1, "\302\275"}, {8630, 0, "\342\205\223"}, {8637, 1, "\302\274"},
    {8644, 0, "\342\205\225"}, {8651, 0, "\342\205\231"}, {8658, 0, "\342\205\233"},
    {8665, 0, "\342\205\224"}, {8672, 0, "\342\205\226"}, {8679, 1, "\302\276"},
    {8686, 0, "\342\205\227"}, {8693, 0, "\342\205\234"}, {8700, 0, "\342\205\230"},
    {8707, 0, "\342\205\232"}, {8714, 0, "\342\205\235"}, {8721, 0, "\342\205\236"},
    {8728, 0, "\342\201\204"}, {8734, 0, "\342\214\242"}, {8740, 0, "\360\235\222\273"},
    {8745, 0, "\342\211\247"}, {8748, 0, "\342\252\214"}, {8752, 0, "\307\265"},
    {8759, 0, "\316\263"}, {8765, 0, "\317\235"}, {8772, 0, "\342\252\206"}, {8776, 0, "\304\237"},
    {8783, 0, "\304\235"}, {8789, 0, "\320\263"}, {8793, 0, "\304\241"}, {8798, 0, "\342\211\245"},
    {8801, 0, "\342\213\233"}, {8805, 0, "\342\211\245"}, {8809, 0, "\342\211\247"},
    {8814, 0, "\342\251\276"}, {8823, 0, "\342\251\276"}, {8827, 0, "\342\252\251"},
    {8833, 0, "\342\252\200"}, {8840, 0, "\342\252\202"}, {8848, 0, "\342\252\204"},
    {8857, 0, "\342\213\233\357\270\200"}, {8862, 0, "\342\252\224"}, {8869, 0, "\360\235\224\244"},
    {8873, 0, "\342\211\253"}, {8876, 0, "\342\213\231"}, {8880, 0, "\342\204\267"},
    {8886, 0, "\321\223"}, {8891, 0, "\342\211\267"}, {8894, 0, "\342\252\222"},
    {8898, 0, "\342\252\245"}, {8902, 0, "\342\252\244"}, {8906, 0, "\342\211\251"},
    {8910, 0, "\342\252\212"}, {8915, 0, "\342\252\212"}, {8924, 0, "\342\252\210"},
    {8928, 0, "\342\252\210"}, {8933, 0, "\342\211\251"}, {8939, 0, "\342\213\247"},
    {8945, 0, "\360\235\225\230"}, {8950, 0, "\140"}, {8956, 0, "\342\204\212"},
    {8961, 0, "\342\211\263"}, {8966, 0, "\342\252\216"}, {8972, 0, "\342\252\220"},
    {8978, 1, "\076"}, {8981, 0, "\342\252\247"}, {8986, 0, "\342\251\272"},
    {8992, 0, "\342\213\227"}, {8998, 0, "\342\246\225"}, {9005, 0, "\342\251\274"},
    {9013, 0, "\342\252\206"}, {9023, 0, "\342\245\270"}, {9030, 0, "\342\213\227"},
    {9037, 0, "\342\213\233"}, {9047, 0, "\342\252\214"}, {9058, 0, "\342\211\267"},
    {9066, 0, "\342\211\263"}, {9073, 0, "\342\211\251\357\270\200"},
    {9083, 0, "\342\211\251\357\270\200"}, {9088, 0, "\342\207\224"}, {9093, 0, "\342\200\212"},
    {9100, 0, "\302\275"}, {9105, 0, "\342\204\213"}, {9112, 0, "\321\212"},
    {9119, 0, "\342\206\224"}, {9124, 0, "\342\245\210"}, {9132, 0, "\342\206\255"},
    {9138, 0, "\342\204\217"}, {9143, 0, "\304\245"}, {9149, 0, "\342\231\245"},
    {9156, 0, "\342\231\245"}, {9166, 0, "\342\200\246"}, {9173, 0, "\342\212\271"},
    {9180, 0, "\360\235\224\245"}, {9184, 0, "\342\244\245"}, {9193, 0, "\342\244\246"},
    {9202, 0, "\342\207\277"}, {9208, 0, "\342\210\273"}, {9215, 0, "\342\206\251"},
    {9229, 0, "\342\206\252"}, {9244, 0, "\360\235\225\231"}, {9249, 0, "\342\200\225"},
    {9256, 0, "\360\235\222\275"}, {9261, 0, "\342\204\217"}, {9268, 0, "\304\247"},
    {9275, 0, "\342\201\203"}, {9282, 0, "\342\200\220"}, {9289, 1, "\303\255"},
    {9296, 0, "\342\201\243"}, {9299, 1, "\303\256"}, {9305, 0, "\320\270"}, {9309, 0, "\320\265"},
    {9314, 1, "\302\241"}, {9320, 0, "\342\207\224"}, {9324, 0, "\360\235\224\246"},
    {9328, 1, "\303\254"}, {9335, 0, "\342\205\210"}, {9338, 0, "\342\250\214"},
    {9345, 0, "\342\210\255"}, {9351, 0, "\342\247\234"}, {9358, 0, "\342\204\251"},
    {9364, 0, "\304\263"}, {9370, 0, "\304\253"}, {9376, 0, "\342\204\221"},
    {9382, 0, "\342\204\220"}, {9391, 0, "\342\204\221"}, {9400, 0, "\304\261"},
    {9406, 0, "\342\212\267"}, {9411, 0, "\306\265"}, {9417, 0, "\342\210\210"},
    {9420, 0, "\342\204\205"}, {9427, 0, "\342\210\236"}, {9433, 0, "\342\247\235"},
    {9442, 0, "\304\261"}, {9449, 0, "\342\210\253"}, {9453, 0, "\342\212\272"},
    {9460, 0, "\342\204\244"}, {9469, 0, "\342\212\272"}, {9478, 0, "\342\250\227"},
    {9487, 0, "\342\250\274"}, {9495, 0, "\321\221"}, {9500, 0, "\304\257"},
    {9506, 0, "\360\235\225\232"}, {9511, 0, "\316\271"}, {9516, 0, "\342\250\274"},
    {9522, 1, "\302\277"}, {9529, 0, "\360\235\222\276"}, {9534, 0, "\342\210\210"},
    {9539, 0, "\342\213\271"}, {9545, 0, "\342\213\265"}, {9553, 0, "\342\213\264"},
    {9559, 0, "\342\213\263"}, {9566, 0, "\342\210\210"}, {9572, 0, "\342\201\242"},
    {9575, 0, "\304\251"}, {9582, 0, "\321\226"}, {9588, 1, "\303\257"}, {9593, 0, "\304\265"},
    {9599, 0, "\320\271"}, {9603, 0, "\360\235\224\247"}, {9607, 0, "\310\267"},
    {9613, 0, "\360\235\225\233"}, {9618, 0, "\360\235\222\277"}, {9623, 0, "\321\230"},
    {9630, 0, "\321\224"}, {9636, 0, "\316\272"}, {9642, 0, "\317\260"}, {9649, 0, "\304\267"},
    {9656, 0, "\320\272"}, {9660, 0, "\360\235\224\250"}, {9664, 0, "\304\270"},
    {9671, 0, "\321\205"}, {9676, 0, "\321\234"}, {9681, 0, "\360\235\225\234"},
    {9686, 0, "\360\235\223\200"}, {9691, 0, "\342\207\232"}, {9697, 0, "\342\207\220"},
    {9702, 0, "\342\244\233"}, {9709, 0, "\342\244\216"}, {9715, 0, "\342\211\246"},
    {9718, 0, "\342\252\213"}, {9722, 0, "\342\245\242"}, {9727, 0, "\304\272"},
    {9734, 0, "\342\246\264"}, {9743, 0, "\342\204\222"}, {9750, 0, "\316\273"},
    {9757, 0, "\342\237\250"}, {9762, 0, "\342\246\221"}, {9768, 0, "\342\237\250"},
    {9775, 0, "\342\252\205"}, {9779, 1, "\302\253"}, {9785, 0, "\342\206\220"},
    {9790, 0, "\342\207\244"}, {9796, 0, "\342\244\237"}, {9804, 0, "\342\244\235"},
    {9811, 0, "\342\206\251"}, {9818, 0, "\342\206\253"}, {9825, 0, "\342\244\271"},
    {9832, 0, "\342\245\263"}, {9840, 0, "\342\206\242"}, {9847, 0, "\342\252\253"},
    {9851, 0, "\342\244\231"}, {9858, 0, "\342\252\255"}, {9863, 0, "\342\252\255\357\270\200"},
    {9869, 0, "\342\244\214"}, {9875, 0, "\342\235\262"}, {9881, 0, "\173"}, {9888, 0, "\133"},
    {9895, 0, "\342\246\213"}, {9901, 0, "\342\246\217"}, {9909, 0, "\342\246\215"},
    {9917, 0, "\304\276"}, {9924, 0, "\304\274"}, {9931, 0, "\342\214\210"}, {9937, 0, "\173"},
    {9942, 0, "\320\273"}, {9946, 0, "\342\244\266"}, {9951, 0, "\342\200\234"},
    {9957, 0, "\342\200\236"}, {9964, 0, "\342\245\247"}, {9972, 0, "\342\245\213"},
    {9981, 0, "\342\206\262"}, {9986, 0, "\342\211\244"}, {9989, 0, "\342\206\220"},
    {9999, 0, "\342\206\242"}, {10013, 0, "\342\206\275"}, {10029, 0, "\342\206\274"},
    {10043, 0, "\342\207\207"}, {10058, 0, "\342\206\224"}, {10073, 0, "\342\207\206"},
    {10089, 0, "\342\207\213"}, {10107, 0, "\342\206\255"}, {10127, 0, "\342\213\213"},
    {10142, 0, "\342\213\232"}, {10146, 0, "\342\211\244"}, {10150, 0, "\342\211\246"},
    {10155, 0, "\342\251\275"}, {10164, 0, "\342\251\275"}, {10168, 0, "\342\252\250"},
    {10174, 0, "\342\251\277"}, {10181, 0, "\342\252\201"}, {10189, 0, "\342\252\203"},
    {10198, 0, "\342\213\232\357\270\200"}, {10203, 0, "\342\252\223"}, {10210, 0, "\342\252\205"},
    {10221, 0, "\342\213\226"}, {10229, 0, "\342\213\232"}, {10239, 0, "\342\252\213"},
    {10250, 0, "\342\211\266"}, {10258, 0, "\342\211\262"}, {10266, 0, "\342\245\274"},
    {10273, 0, "\342\214\212"}, {10280, 0, "\360\235\224\251"}, {10284, 0, "\342\211\266"},
    {10287, 0, "\342\252\221"}, {10291, 0, "\342\206\275"}, {10297, 0, "\342\206\274"},
    {10303, 0, "\342\245\252"}, {10310, 0, "\342\226\204"}, {10316, 0, "\321\231"},
    {10321, 0, "\342\211\252"}, {10324, 0, "\342\207\207"}, {10330, 0, "\342\214\236"},
    {10339, 0, "\342\245\253"}, {10346, 0, "\342\227\272"}, {10352, 0, "\305\200"},
    {10359, 0, "\342\216\260"}, {10366, 0, "\342\216\260"}, {10377, 0, "\342\211\250"},
    {10381, 0, "\342\252\211"}, {10386, 0, "\342\252\211"}, {10395, 0, "\342\252\207"},
    {10399, 0, "\342\252\207"}, {10404, 0, "\342\211\250"}, {10410, 0, "\342\213\246"},
    {10416, 0, "\342\237\254"}, {10422, 0, "\342\207\275"}, {10428, 0, "\342\237\246"},
    {10434, 0, "\342\237\265"}, {10448, 0, "\342\237\267"}, {10467, 0, "\342\237\274"},
    {10478, 0, "\342\237\266"}, {10493, 0, "\342\206\253"}, {10507, 0, "\342\206\254"},
    {10522, 0, "\342\246\205"}, {10528, 0, "\360\235\225\235"}, {10533, 0, "\342\250\255"},
    {10540, 0, "\342\250\264"}, {10548, 0, "\342\210\227"}, {10555, 0, "\137"},
    {10562, 0, "\342\227\212"}, {10566, 0, "\342\227\212"}, {10574, 0, "\342\247\253"},
    {10579, 0, "\050"}, {10584, 0, "\342\246\223"}, {10591, 0, "\342\207\206"},
    {10597, 0, "\342\214\237"}, {10606, 0, "\342\207\213"}, {10612, 0, "\342\245\255"},
    {10619, 0, "\342\200\216"}, {10623, 0, "\342\212\277"}, {10629, 0, "\342\200\271"},
    {10636, 0, "\360\235\223\201"}, {10641, 0, "\342\206\260"}, {10645, 0, "\342\211\262"},
    {10650, 0, "\342\252\215"}, {10656, 0, "\342\252\217"}, {10662, 0, "\133"},
    {10667, 0, "\342\200\230"}, {10673, 0, "\342\200\232"}, {10680, 0, "\305\202"},
    {10687, 1, "\074"}, {10690, 0, "\342\252\246"}, {10695, 0, "\342\251\271"},
    {10701, 0, "\342\213\226"}, {10707, 0, "\342\213\213"}, {10714, 0, "\342\213\211"},
    {10721, 0, "\342\245\266"}, {10728, 0, "\342\251\273"}, {10736, 0, "\342\246\226"},
    {10743, 0, "\342\227\203"}, {10748, 0, "\342\212\264"}, {10754, 0, "\342\227\202"},
    {10760, 0, "\342\245\212"}, {10769, 0, "\342\245\246"}, {10777, 0, "\342\211\250\357\270\200"},
    {10787, 0, "\342\211\250\357\270\200"}, {10792, 0, "\342\210\272"}, {10798, 1, "\302\257"},
    {10803, 0, "\342\231\202"}, {10808, 0, "\342\234\240"}, {10813, 0, "\342\234\240"},
    {10821, 0, "\342\206\246"}, {10825, 0, "\342\206\246"}, {10832, 0, "\342\206\247"},
    {10843, 0, "\342\206\244"}, {10854, 0, "\342\206\245"}, {10863, 0, "\342\226\256"},
    {10870, 0, "\342\250\251"}, {10877, 0, "\320\274"}, {10881, 0, "\342\200\224"},
    {10887, 0, "\342\210\241"}, {10901, 0, "\360\235\224\252"}, {10905, 0, "\342\204\247"},
    {10909, 1, "\302\265"}, {10915, 0, "\342\210\243"}, {10919, 0, "\052"},
    {10926, 0, "\342\253\260"}, {10933, 1, "\302\267"}, {10940, 0, "\342\210\222"},
    {10946, 0, "\342\212\237"}, {10953, 0, "\342\210\270"}, {10960, 0, "\342\250\252"},
    {10968, 0, "\342\253\233"}, {10973, 0, "\342\200\246"}, {10978, 0, "\342\210\223"},
    {10985, 0, "\342\212\247"}, {10992, 0, "\360\235\225\236"}, {10997, 0, "\342\210\223"},
    {11000, 0, "\360\235\223\202"}, {11005, 0, "\342\210\276"}, {11012, 0, "\316\274"},
    {11015, 0, "\342\212\270"}, {11024, 0, "\342\212\270"}, {11030, 0, "\342\213\231\314\270"},
    {11034, 0, "\342\211\253\342\203\222"}, {11038, 0, "\342\211\253\314\270"},
    {11043, 0, "\342\207\215"}, {11054, 0, "\342\207\216"}, {11070, 0, "\342\213\230\314\270"},
    {11074, 0, "\342\211\252\342\203\222"}, {11078, 0, "\342\211\252\314\270"},
    {11083, 0, "\342\207\217"}, {11095, 0, "\342\212\257"}, {11102, 0, "\342\212\256"},
    {11109, 0, "\342\210\207"}, {11115, 0, "\305\204"}, {11122, 0, "\342\210\240\342\203\222"},
    {11127, 0, "\342\211\211"}, {11131, 0, "\342\251\260\314\270"},
    {11136, 0, "\342\211\213\314\270"}, {11142, 0, "\305\211"}, {11148, 0, "\342\211\211"},
    {11156, 0, "\342\231\256"}, {11162, 0, "\342\231\256"}, {11170, 0, "\342\204\225"},
    {11179, 1, "\302\240"}, {11184, 0, "\342\211\216\314\270"}, {11190, 0, "\342\211\217\314\270"},
    {11197, 0, "\342\251\203"}, {11202, 0, "\305\210"}, {11209, 0, "\305\206"},
    {11216, 0, "\342\211\207"}, {11222, 0, "\342\251\255\314\270"}, {11231, 0, "\342\251\202"},
    {11236, 0, "\320\275"}, {11240, 0, "\342\200\223"}, {11246, 0, "\342\211\240"},
    {11249, 0, "\342\207\227"}, {11255, 0, "\342\244\244"}, {11262, 0, "\342\206\227"},
    {11268, 0, "\342\206\227"}, {11276, 0, "\342\211\220\314\270"}, {11282, 0, "\342\211\242"},
    {11289, 0, "\342\244\250"}, {11296, 0, "\342\211\202\314\270"}, {11302, 0, "\342\210\204"},
    {11309, 0, "\342\210\204"}, {11317, 0, "\360\235\224\253"}, {11321, 0, "\342\211\247\314\270"},
    {11325, 0, "\342\211\261"}, {11329, 0, "\342\211\261"}, {11334, 0, "\342\211\247\314\270"},
    {11340, 0, "\342\251\276\314\270"}, {11350, 0, "\342\251\276\314\270"},
    {11355, 0, "\342\211\265"}, {11361, 0, "\342\211\257"}, {11365, 0, "\342\211\257"},
    {11370, 0, "\342\207\216"}, {11376, 0, "\342\206\256"}, {11382, 0, "\342\253\262"},
    {11388, 0, "\342\210\213"}, {11391, 0, "\342\213\274"}, {11395, 0, "\342\213\272"},
    {11400, 0, "\342\210\213"}, {11404, 0, "\321\232"}, {11409, 0, "\342\207\215"},
    {11415, 0, "\342\211\246\314\270"}, {11419, 0, "\342\206\232"}, {11425, 0, "\342\200\245"},
    {11430, 0, "\342\211\260"}, {11434, 0, "\342\206\232"}, {11445, 0, "\342\206\256"},
    {11461, 0, "\342\211\260"}, {11466, 0, "\342\211\246\314\270"},
    {11472, 0, "\342\251\275\314\270"}, {11482, 0, "\342\251\275\314\270"},
    {11487, 0, "\342\211\256"}, {11493, 0, "\342\211\264"}, {11499, 0, "\342\211\256"},
    {11503, 0, "\342\213\252"}, {11509, 0, "\342\213\254"}, {11516, 0, "\342\210\244"},
    {11521, 0, "\360\235\225\237"}, {11526, 1, "\302\254"}, {11530, 0, "\342\210\211"},
    {11536, 0, "\342\213\271\314\270"}, {11543, 0, "\342\213\265\314\270"},
    {11552, 0, "\342\210\211"}, {11560, 0, "\342\213\267"}, {11568, 0, "\342\213\266"},
    {11576, 0, "\342\210\214"}, {11582, 0, "\342\210\214"}, {11590, 0, "\342\213\276"},
    {11598, 0, "\342\213\275"}, {11606, 0, "\342\210\246"}, {11611, 0, "\342\210\246"},
    {11621, 0, "\342\253\275\342\203\245"}, {11628, 0, "\342\210\202\314\270"},
    {11634, 0, "\342\250\224"}, {11642, 0, "\342\212\200"}, {11646, 0, "\342\213\240"},
    {11653, 0, "\342\252\257\314\270"}, {11658, 0, "\342\212\200"},
    {11664, 0, "\342\252\257\314\270"}, {11672, 0, "\342\207\217"}, {11678, 0, "\342\206\233"},
    {11684, 0, "\342\244\263\314\270"}, {11691, 0, "\342\206\235\314\270"},
    {11698, 0, "\342\206\233"}, {11710, 0, "\342\213\253"}, {11716, 0, "\342\213\255"},
    {11723, 0, "\342\212\201"}, {11727, 0, "\342\213\241"}, {11734, 0, "\342\252\260\314\270"},
    {11739, 0, "\360\235\223\203"}, {11744, 0, "\342\210\244"}, {11754, 0, "\342\210\246"},
    {11769, 0, "\342\211\201"}, {11774, 0, "\342\211\204"}, {11780, 0, "\342\211\204"},
    {11787, 0, "\342\210\244"}, {11793, 0, "\342\210\246"}, {11799, 0, "\342\213\242"},
    {11807, 0, "\342\213\243"}, {11815, 0, "\342\212\204"}, {11820, 0, "\342\253\205\314\270"},
    {11826, 0, "\342\212\210"}, {11832, 0, "\342\212\202\342\203\222"}, {11840, 0, "\342\212\210"},
    {11850, 0, "\342\253\205\314\270"}, {11861, 0, "\342\212\201"},
    {11867, 0, "\342\252\260\314\270"}, {11875, 0, "\342\212\205"},
    {11880, 0, "\342\253\206\314\270"}, {11886, 0, "\342\212\211"},
    {11892, 0, "\342\212\203\342\203\222"}, {11900, 0, "\342\212\211"},
    {11910, 0, "\342\253\206\314\270"}, {11921, 0, "\342\211\271"}, {11926, 1, "\303\261"},
    {11933, 0, "\342\211\270"}, {11938, 0, "\342\213\252"}, {11952, 0, "\342\213\254"},
    {11968, 0, "\342\213\253"}, {11983, 0, "\342\213\255"}, {12000, 0, "\316\275"},
    {12003, 0, "\043"}, {12007, 0, "\342\204\226"}, {12014, 0, "\342\200\207"},
    {12020, 0, "\342\212\255"}, {12027, 0, "\342\244\204"}, {12034, 0, "\342\211\215\342\203\222"},
    {12039, 0, "\342\212\254"}, {12046, 0, "\342\211\245\342\203\222"},
    {12051, 0, "\076\342\203\222"}, {12056, 0, "\342\247\236"}, {12064, 0, "\342\244\202"},
    {12071, 0, "\342\211\244\342\203\222"}, {12076, 0, "\074\342\203\222"},
    {12081, 0, "\342\212\264\342\203\222"}, {12089, 0, "\342\244\203"},
    {12096, 0, "\342\212\265\342\203\222"}, {12104, 0, "\342\210\274\342\203\222"},
    {12110, 0, "\342\207\226"}, {12116, 0, "\342\244\243"}, {12123, 0, "\342\206\226"},
    {12129, 0, "\342\206\226"}, {12137, 0, "\342\244\247"}, {12144, 0, "\342\223\210"},
    {12147, 1, "\303\263"}, {12154, 0, "\342\212\233"}, {12159, 0, "\342\212\232"},
    {12164, 1, "\303\264"}, {12170, 0, "\320\276"}, {12174, 0, "\342\212\235"},
    {12180, 0, "\305\221"}, {12187, 0, "\342\250\270"}, {12192, 0, "\342\212\231"},
    {12197, 0, "\342\246\274"}, {12204, 0, "\305\223"}, {12210, 0, "\342\246\277"},
    {12216, 0, "\360\235\224\254"}, {12220, 0, "\313\233"}, {12225, 1, "\303\262"},
    {12232, 0, "\342\247\201"}, {12236, 0, "\342\246\265"}, {12242, 0, "\316\251"},
    {12246, 0, "\342\210\256"}, {12251, 0, "\342\206\272"}, {12257, 0, "\342\246\276"},
    {12263, 0, "\342\246\273"}, {12271, 0, "\342\200\276"}, {12277, 0, "\342\247\200"},
    {12281, 0, "\305\215"}, {12287, 0, "\317\211"}, {12293, 0, "\316\277"},
    {12301, 0, "\342\246\266"}, {12306, 0, "\342\212\226"}, {12313, 0, "\360\235\225\240"},
    {12318, 0, "\342\246\267"}, {12323, 0, "\342\246\271"}, {12329, 0, "\342\212\225"},
    {12335, 0, "\342\210\250"}, {12338, 0, "\342\206\273"}, {12344, 0, "\342\251\235"},
    {12348, 0, "\342\204\264"}, {12354, 0, "\342\204\264"}, {12362, 1, "\302\252"},
    {12367, 1, "\302\272"}, {12372, 0, "\342\212\266"}, {12379, 0, "\342\251\226"},
    {12384, 0, "\342\251\227"}, {12392, 0, "\342\251\233"}, {12396, 0, "\342\204\264"},
    {12401, 1, "\303\270"}, {12408, 0, "\342\212\230"}, {12413, 1, "\303\265"},
    {12420, 0, "\342\212\227"}, {12427, 0, "\342\250\266"}, {12436, 1, "\303\266"},
    {12441, 0, "\342\214\275"}, {12447, 0, "\342\210\245"}, {12451, 1, "\302\266"},
    {12456, 0, "\342\210\245"}, {12465, 0, "\342\253\263"}, {12472, 0, "\342\253\275"},
    {12478, 0, "\342\210\202"}, {12483, 0, "\320\277"}, {12487, 0, "\045"}, {12494, 0, "\056"},
    {12501, 0, "\342\200\260"}, {12508, 0, "\342\212\245"}, {12513, 0, "\342\200\261"},
    {12521, 0, "\360\235\224\255"}, {12525, 0, "\317\206"}, {12529, 0, "\317\225"},
    {12534, 0, "\342\204\263"}, {12541, 0, "\342\230\216"}, {12547, 0, "\317\200"},
    {12550, 0, "\342\213\224"}, {12560, 0, "\317\226"}, {12564, 0, "\342\204\217"},
    {12571, 0, "\342\204\216"}, {12579, 0, "\342\204\217"}, {12586, 0, "\053"},
    {12591, 0, "\342\250\243"}, {12600, 0, "\342\212\236"}, {12606, 0, "\342\250\242"},
    {12614, 0, "\342\210\224"}, {12621, 0, "\342\250\245"}, {12628, 0, "\342\251\262"},
    {12634, 1, "\302\261"}, {12641, 0, "\342\250\246"}, {12649, 0, "\342\250\247"},
    {12657, 0, "\302\261"}, {12660, 0, "\342\250\225"}, {12669, 0, "\360\235\225\241"},
    {12674, 1, "\302\243"}, {12680, 0, "\342\211\272"}, {12683, 0, "\342\252\263"},
    {12687, 0, "\342\252\267"}, {12692, 0, "\342\211\274"}, {12698, 0, "\342\252\257"},
    {12702, 0, "\342\211\272"}, {12707, 0, "\342\252\267"}, {12718, 0, "\342\211\274"},
    {12730, 0, "\342\252\257"}, {12737, 0, "\342\252\271"}, {12749, 0, "\342\252\265"},
    {12758, 0, "\342\213\250"}, {12767, 0, "\342\211\276"}, {12775, 0, "\342\200\262"},
    {12781, 0, "\342\204\231"}, {12788, 0, "\342\252\265"}, {12793, 0, "\342\252\271"},
    {12799, 0, "\342\213\250"}, {12806, 0, "\342\210\217"}, {12811, 0, "\342\214\256"},
    {12820, 0, "\342\214\222"}, {12829, 0, "\342\214\223"}, {12838, 0, "\342\210\235"},
    {12843, 0, "\342\210\235"}, {12850, 0, "\342\211\276"}, {12856, 0, "\342\212\260"},
    {12863, 0, "\360\235\223\205"}, {12868, 0, "\317\210"}, {12872, 0, "\342\200\210"},
    {12879, 0, "\360\235\224\256"}, {12883, 0, "\342\250\214"}, {12888, 0, "\360\235\225\242"},
    {12893, 0, "\342\201\227"}, {12900, 0, "\360\235\223\206"}, {12905, 0, "\342\204\215"},
    {12917, 0, "\342\250\226"}, {12925, 0, "\077"}, {12931, 0, "\342\211\237"}, {12939, 1, "\042"},
    {12944, 0, "\342\207\233"}, {12950, 0, "\342\207\222"}, {12955, 0, "\342\244\234"},
    {12962, 0, "\342\244\217"}, {12968, 0, "\342\245\244"}, {12973, 0, "\342\210\275\314\261"},
    {12978, 0, "\305\225"}, {12985, 0, "\342\210\232"}, {12991, 0, "\342\246\263"},
    {13000, 0, "\342\237\251"}, {13005, 0, "\342\246\222"}, {13011, 0, "\342\246\245"},
    {13017, 0, "\342\237\251"}, {13024, 1, "\302\273"}, {13030, 0, "\342\206\222"},
    {13035, 0, "\342\245\265"}, {13042, 0, "\342\207\245"}, {13048, 0, "\342\244\240"},
    {13056, 0, "\342\244\263"}, {13062, 0, "\342\244\236"}, {13069, 0, "\342\206\252"},
    {13076, 0, "\342\206\254"}, {13083, 0, "\342\245\205"}, {13090, 0, "\342\245\264"},
    {13098, 0, "\342\206\243"}, {13105, 0, "\342\206\235"}, {13111, 0, "\342\244\232"},
    {13118, 0, "\342\210\266"}, {13124, 0, "\342\204\232"}, {13134, 0, "\342\244\215"},
    {13140, 0, "\342\235\263"}, {13146, 0, "\175"}, {13153, 0, "\135"}, {13160, 0, "\342\246\214"},
    {13166, 0, "\342\246\216"}, {13174, 0, "\342\246\220"}, {13182, 0, "\305\231"},
    {13189, 0, "\305\227"}, {13196, 0, "\342\214\211"}, {13202, 0, "\175"}, {13207, 0, "\321\200"},
    {13211, 0, "\342\244\267"}, {13216, 0, "\342\245\251"}, {13224, 0, "\342\200\235"},
    {13230, 0, "\342\200\235"}, {13237, 0, "\342\206\263"}, {13242, 0, "\342\204\234"},
    {13247, 0, "\342\204\233"}, {13255, 0, "\342\204\234"}, {13264, 0, "\342\204\235"},
    {13270, 0, "\342\226\255"}, {13275, 1, "\302\256"}, {13279, 0, "\342\245\275"},
    {13286, 0, "\342\214\213"}, {13293, 0, "\360\235\224\257"}, {13297, 0, "\342\207\201"},
    {13303, 0, "\342\207\200"}, {13309, 0, "\342\245\254"}, {13316, 0, "\317\201"},
    {13320, 0, "\317\261"}, {13325, 0, "\342\206\222"}, {13336, 0, "\342\206\243"},
    {13351, 0, "\342\207\201"}, {13368, 0, "\342\207\200"}, {13383, 0, "\342\207\204"},
    {13399, 0, "\342\207\214"}, {13417, 0, "\342\207\211"}, {13434, 0, "\342\206\235"},
    {13450, 0, "\342\213\214"}, {13466, 0, "\313\232"}, {13471, 0, "\342\211\223"},
    {13484, 0, "\342\207\204"}, {13490, 0, "\342\207\214"}, {13496, 0, "\342\200\217"},
    {13500, 0, "\342\216\261"}, {13507, 0, "\342\216\261"}, {13518, 0, "\342\253\256"},
    {13524, 0, "\342\237\255"}, {13530, 0, "\342\207\276"}, {13536, 0, "\342\237\247"},
    {13542, 0, "\342\246\206"}, {13548, 0, "\360\235\225\243"}, {13553, 0, "\342\250\256"},
    {13560, 0, "\342\250\265"}, {13568, 0, "\051"}, {13573, 0, "\342\246\224"},
    {13580, 0, "\342\250\222"}, {13589, 0, "\342\207\211"}, {13595, 0, "\342\200\272"},
    {13602, 0, "\360\235\223\207"}, {13607, 0, "\342\206\261"}, {13611, 0, "\135"},
    {13616, 0, "\342\200\231"}, {13622, 0, "\342\200\231"}, {13629, 0, "\342\213\214"},
    {13636, 0, "\342\213\212"}, {13643, 0, "\342\226\271"}, {13648, 0, "\342\212\265"},
    {13654, 0, "\342\226\270"}, {13660, 0, "\342\247\216"}, {13669, 0, "\342\245\250"},
    {13677, 0, "\342\204\236"}, {13680, 0, "\305\233"}, {13687, 0, "\342\200\232"},
    {13693, 0, "\342\211\273"}, {13696, 0, "\342\252\264"}, {13700, 0, "\342\252\270"},
    {13705, 0, "\305\241"}, {13712, 0, "\342\211\275"}, {13718, 0, "\342\252\260"},
    {13722, 0, "\305\237"}, {13729, 0, "\305\235"}, {13735, 0, "\342\252\266"},
    {13740, 0, "\342\252\272"}, {13746, 0, "\342\213\251"}, {13753, 0, "\342\250\223"},
    {13762, 0, "\342\211\277"}, {13768, 0, "\321\201"}, {13772, 0, "\342\213\205"},
    {13777, 0, "\342\212\241"}, {13783, 0, "\342\251\246"}, {13789, 0, "\342\207\230"},
    {13795, 0, "\342\244\245"}, {13802, 0, "\342\206\230"}, {13808, 0, "\342\206\230"},
    {13816, 1, "\302\247"}, {13821, 0, "\073"}, {13826, 0, "\342\244\251"},
    {13833, 0, "\342\210\226"}, {13842, 0, "\342\210\226"}, {13848, 0, "\342\234\266"},
    {13853, 0, "\360\235\224\260"}, {13857, 0, "\342\214\242"}, {13864, 0, "\342\231\257"},
    {13870, 0, "\321\211"}, {13877, 0, "\321\210"}, {13882, 0, "\342\210\243"},
    {13891, 0, "\342\210\245"}, {13905, 1, "\302\255"}, {13909, 0, "\317\203"},
    {13915, 0, "\317\202"}, {13922, 0, "\317\202"}, {13929, 0, "\342\210\274"},
    {13933, 0, "\342\251\252"}, {13940, 0, "\342\211\203"}, {13945, 0, "\342\211\203"},
    {13951, 0, "\342\252\236"}, {13956, 0, "\342\252\240"}, {13962, 0, "\342\252\235"},
    {13967, 0, "\342\252\237"}, {13973, 0, "\342\211\206"}, {13979, 0, "\342\250\244"},
    {13987, 0, "\342\245\262"}, {13995, 0, "\342\206\220"}, {14001, 0, "\342\210\226"},
    {14015, 0, "\342\250\263"}, {14022, 0, "\342\247\244"}, {14031, 0, "\342\210\243"},
    {14036, 0, "\342\214\243"}, {14042, 0, "\342\252\252"}, {14046, 0, "\342\252\254"},
    {14051, 0, "\342\252\254\357\270\200"}, {14057, 0, "\321\214"}, {14064, 0, "\057"},
    {14068, 0, "\342\247\204"}, {14073, 0, "\342\214\277"}, {14080, 0, "\360\235\225\244"},
    {14085, 0, "\342\231\240"}, {14092, 0, "\342\231\240"}, {14102, 0, "\342\210\245"},
    {14107, 0, "\342\212\223"}, {14113, 0, "\342\212\223\357\270\200"}, {14120, 0, "\342\212\224"},
    {14126, 0, "\342\212\224\357\270\200"}, {14133, 0, "\342\212\217"}, {14139, 0, "\342\212\221"},
    {14146, 0, "\342\212\217"}, {14155, 0, "\342\212\221"}, {14166, 0, "\342\212\220"},
    {14172, 0, "\342\212\222"}, {14179, 0, "\342\212\220"}, {14188, 0, "\342\212\222"},
    {14199, 0, "\342\226\241"}, {14203, 0, "\342\226\241"}, {14210, 0, "\342\226\252"},
    {14217, 0, "\342\226\252"}, {14222, 0, "\342\206\222"}, {14228, 0, "\360\235\223\210"},
    {14233, 0, "\342\210\226"}, {14240, 0, "\342\214\243"}, {14247, 0, "\342\213\206"},
    {14254, 0, "\342\230\206"}, {14259, 0, "\342\230\205"}, {14265, 0, "\317\265"},
    {14281, 0, "\317\225"}, {14293, 0, "\302\257"}, {14299, 0, "\342\212\202"},
    {14303, 0, "\342\253\205"}, {14308, 0, "\342\252\275"}, {14315, 0, "\342\212\206"},
    {14320, 0, "\342\253\203"}, {14328, 0, "\342\253\201"}, {14336, 0, "\342\253\213"},
    {14342, 0, "\342\212\212"}, {14348, 0, "\342\252\277"}, {14356, 0, "\342\245\271"},
    {14364, 0, "\342\212\202"}, {14371, 0, "\342\212\206"}, {14380, 0, "\342\253\205"},
    {14390, 0, "\342\212\212"}, {14400, 0, "\342\253\213"}, {14411, 0, "\342\253\207"},
    {14418, 0, "\342\253\225"}, {14425, 0, "\342\253\223"}, {14432, 0, "\342\211\273"},
    {14437, 0, "\342\252\270"}, {14448, 0, "\342\211\275"}, {14460, 0, "\342\252\260"},
    {14467, 0, "\342\252\272"}, {14479, 0, "\342\252\266"}, {14488, 0, "\342\213\251"},
    {14497, 0, "\342\211\277"}, {14505, 0, "\342\210\221"}, {14509, 0, "\342\231\252"},
    {14514, 0, "\342\212\203"}, {14518, 1, "\302\271"}, {14523, 1, "\302\262"},
    {14528, 1, "\302\263"}, {14533, 0, "\342\253\206"}, {14538, 0, "\342\252\276"},
    {14545, 0, "\342\253\230"}, {14553, 0, "\342\212\207"}, {14558, 0, "\342\253\204"},
    {14566, 0, "\342\237\211"}, {14574, 0, "\342\253\227"}, {14582, 0, "\342\245\273"},
    {14590, 0, "\342\253\202"}, {14598, 0, "\342\253\214"}, {14604, 0, "\342\212\213"},
    {14610, 0, "\342\253\200"}, {14618, 0, "\342\212\203"}, {14625, 0, "\342\212\207"},
    {14634, 0, "\342\253\206"}, {14644, 0, "\342\212\213"}, {14654, 0, "\342\253\214"},
    {14665, 0, "\342\253\210"}, {14672, 0, "\342\253\224"}, {14679, 0, "\342\253\226"},
    {14686, 0, "\342\207\231"}, {14692, 0, "\342\244\246"}, {14699, 0, "\342\206\231"},
    {14705, 0, "\342\206\231"}, {14713, 0, "\342\244\252"}, {14720, 1, "\303\237"},
    {14726, 0, "\342\214\226"}, {14733, 0, "\317\204"}, {14737, 0, "\342\216\264"},
    {14742, 0, "\305\245"}, {14749, 0, "\305\243"}, {14756, 0, "\321\202"},
    {14760, 0, "\342\203\233"}, {14765, 0, "\342\214\225"}, {14772, 0, "\360\235\224\261"},
    {14776, 0, "\342\210\264"}, {14783, 0, "\342\210\264"}, {14793, 0, "\316\270"},
    {14799, 0, "\317\221"}, {14808, 0, "\317\221"}, {14815, 0, "\342\211\210"},
    {14827, 0, "\342\210\274"}, {14836, 0, "\342\200\211"}, {14843, 0, "\342\211\210"},
    {14849, 0, "\342\210\274"}, {14856, 1, "\303\276"}, {14862, 0, "\313\234"},
    {14868, 1, "\303\227"}, {14874, 0, "\342\212\240"}, {14881, 0, "\342\250\261"},
    {14890, 0, "\342\250\260"}, {14897, 0, "\342\210\255"}, {14902, 0, "\342\244\250"},
    {14907, 0, "\342\212\244"}, {14911, 0, "\342\214\266"}, {14918, 0, "\342\253\261"},
    {14925, 0, "\360\235\225\245"}, {14930, 0, "\342\253\232"}, {14938, 0, "\342\244\251"},
    {14943, 0, "\342\200\264"}, {14950, 0, "\342\204\242"}, {14956, 0, "\342\226\265"},
    {14965, 0, "\342\226\277"}, {14978, 0, "\342\227\203"}, {14991, 0, "\342\212\264"},
    {15006, 0, "\342\211\234"}, {15016, 0, "\342\226\271"}, {15030, 0, "\342\212\265"},
    {15046, 0, "\342\227\254"}, {15053, 0, "\342\211\234"}, {15058, 0, "\342\250\272"},
    {15067, 0, "\342\250\271"}, {15075, 0, "\342\247\215"}, {15081, 0, "\342\250\273"},
    {15089, 0, "\342\217\242"}, {15098, 0, "\360\235\223\211"}, {15103, 0, "\321\206"},
    {15108, 0, "\321\233"}, {15114, 0, "\305\247"}, {15121, 0, "\342\211\254"},
    {15127, 0, "\342\206\236"}, {15144, 0, "\342\206\240"}, {15162, 0, "\342\207\221"},
    {15167, 0, "\342\245\243"}, {15172, 1, "\303\272"}, {15179, 0, "\342\206\221"},
    {15184, 0, "\321\236"}, {15190, 0, "\305\255"}, {15197, 1, "\303\273"}, {15203, 0, "\321\203"},
    {15207, 0, "\342\207\205"}, {15213, 0, "\305\261"}, {15220, 0, "\342\245\256"},
    {15226, 0, "\342\245\276"}, {15233, 0, "\360\235\224\262"}, {15237, 1, "\303\271"},
    {15244, 0, "\342\206\277"}, {15250, 0, "\342\206\276"}, {15256, 0, "\342\226\200"},
    {15262, 0, "\342\214\234"}, {15269, 0, "\342\214\234"}, {15278, 0, "\342\214\217"},
    {15285, 0, "\342\227\270"}, {15291, 0, "\305\253"}, {15297, 1, "\302\250"},
    {15301, 0, "\305\263"}, {15307, 0, "\360\235\225\246"}, {15312, 0, "\342\206\221"},
    {15320, 0, "\342\206\225"}, {15332, 0, "\342\206\277"}, {15346, 0, "\342\206\276"},
    {15361, 0, "\342\212\216"}, {15367, 0, "\317\205"}, {15372, 0, "\317\222"},
    {15378, 0, "\317\205"}, {15386, 0, "\342\207\210"}, {15397, 0, "\342\214\235"},
    {15404, 0, "\342\214\235"}, {15413, 0, "\342\214\216"}, {15420, 0, "\305\257"},
    {15426, 0, "\342\227\271"}, {15432, 0, "\360\235\223\212"}, {15437, 0, "\342\213\260"},
    {15443, 0, "\305\251"}, {15450, 0, "\342\226\265"}, {15455, 0, "\342\226\264"},
    {15461, 0, "\342\207\210"}, {15467, 1, "\303\274"}, {15472, 0, "\342\246\247"},
    {15480, 0, "\342\207\225"}, {15485, 0, "\342\253\250"}, {15490, 0, "\342\253\251"},
    {15496, 0, "\342\212\250"}, {15502, 0, "\342\246\234"}, {15509, 0, "\317\265"},
    {15520, 0, "\317\260"}, {15529, 0, "\342\210\205"}, {15540, 0, "\317\225"},
    {15547, 0, "\317\226"}, {15553, 0, "\342\210\235"}, {15563, 0, "\342\206\225"},
    {15568, 0, "\317\261"}, {15575, 0, "\317\202"}, {15584, 0, "\342\212\212\357\270\200"},
    {15597, 0, "\342\253\213\357\270\200"}, {15611, 0, "\342\212\213\357\270\200"},
    {15624, 0, "\342\253\214\357\270\200"}, {15638, 0, "\317\221"}, {15647, 0, "\342\212\262"},
    {15663, 0, "\342\212\263"}, {15680, 0, "\320\262"}, {15684, 0, "\342\212\242"},
    {15690, 0, "\342\210\250"}, {15694, 0, "\342\212\273"}, {15701, 0, "\342\211\232"},
    {15707, 0, "\342\213\256"}, {15714, 0, "\174"}, {15721, 0, "\174"},
    {15726, 0, "\360\235\224\263"}, {15730, 0, "\342\212\262"},
    {15736, 0, "\342\212\202\342\203\222"}, {15742, 0, "\342\212\203\342\203\222"},
    {15748, 0, "\360\235\225\247"}, {15753, 0, "\342\210\235"}, {15759, 0, "\342\212\263"},
    {15765, 0, "\360\235\223\213"}, {15770, 0, "\342\253\213\357\270\200"},
    {15777, 0, "\342\212\212\357\270\200"}, {15784, 0, "\342\253\214\357\270\200"},
    {15791, 0, "\342\212\213\357\270\200"}, {15798, 0, "\342\246\232"}, {15806, 0, "\305\265"},
    {15812, 0, "\342\251\237"}, {15819, 0, "\342\210\247"}, {15825, 0, "\342\211\231"},
    {15832, 0, "\342\204\230"}, {15839, 0, "\360\235\224\264"}, {15843, 0, "\360\235\225\250"},
    {15848, 0, "\342\204\230"}, {15851, 0, "\342\211\200"}, {15854, 0, "\342\211\200"},
    {15861, 0, "\360\235\223\214"}, {15866, 0, "\342\213\202"}, {15871, 0, "\342\227\257"},
    {15877, 0, "\342\213\203"}, {15882, 0, "\342\226\275"}, {15888, 0, "\360\235\224\265"},
    {15892, 0, "\342\237\272"}, {15898, 0, "\342\237\267"}, {15904, 0, "\316\276"},
    {15907, 0, "\342\237\270"}, {15913, 0, "\342\237\265"}, {15919, 0, "\342\237\274"},
    {15924, 0, "\342\213\273"}, {15929, 0, "\342\250\200"}, {15935, 0, "\360\235\225\251"},
    {15940, 0, "\342\250\201"}, {15947, 0, "\342\250\202"}, {15954, 0, "\342\237\271"},
    {15960, 0, "\342\237\266"}, {15966, 0, "\360\235\223\215"}, {15971, 0, "\342\250\206"},
    {15978, 0, "\342\250\204"}, {15985, 0, "\342\226\263"}, {15991, 0, "\342\213\201"},
    {15996, 0, "\342\213\200"}, {16003, 1, "\303\275"}, {16010, 0, "\321\217"},
    {16015, 0, "\305\267"}, {16021, 0, "\321\213"}, {16025, 1, "\302\245"},
    {16029, 0, "\360\235\224\266"}, {16033, 0, "\321\227"}, {16038, 0, "\360\235\225\252"},
    {16043, 0, "\360\235\223\216"}, {16048, 0, "\321\216"}, {16053, 1, "\303\277"},
    {16058, 0, "\305\272"}, {16065, 0, "\305\276"}, {16072, 0, "\320\267"}, {16076, 0, "\305\274"},
    {16081, 0, "\342\204\250"}, {16088, 0, "\316\266"}, {16093, 0, "\360\235\224\267"},
    {16097, 0, "\320\266"}, {16102, 0, "\342\207\235"}, {16110, 0, "\360\235\225\253"},
    {16115, 0, "\360\235\223\217"}, {16120, 0, "\342\200\215"}, {16124, 0, "\342\200\214"},
};
const size_t html_n_reference_names =
    sizeof(html_reference_names) / sizeof(html_reference_names[0]);
