"""Spelling out of the way: one folding of answer text that every kind of answer starts from."""

from __future__ import annotations

import re
import unicodedata

_PREFIX = re.compile(
    r"(?:(?:so|thus|therefore|hence)\b[\s,]{0,4})?(?:the|my|our)?\s{0,4}(?:final|correct)?\s{0,4}"
    r"(?<![^\W\d_])(?:answer|option|choice)(?:\s{0,4}(?:is|was)\b\s{0,4}:?|\s{0,4}[:=])\s{0,8}",
    re.IGNORECASE,
)
_FRAC = re.compile(r"\\[dt]?frac\s{0,4}\{([^{}]{0,200})\}\s{0,4}\{([^{}]{0,200})\}")
_SHORT_FRAC = re.compile(r"\\[dt]?frac\s{0,4}([0-9])\s{0,4}([0-9])")
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox|operatorname)\s{0,4}\{([^{}]{0,500})\}")
_OPERATORS = re.compile(r"\\(?:times|cdot|ast)(?![a-zA-Z])")
_DIVIDE = re.compile(r"\\div(?![a-zA-Z])")
_SPACES = re.compile(r"\\(?:[,;:! ]|quad(?![a-zA-Z])|qquad(?![a-zA-Z]))")
_DELIMITERS = re.compile(r"\\(?:[()\[\]]|left(?![a-zA-Z])|right(?![a-zA-Z])|displaystyle)")
_ESCAPED = re.compile(r"\\([$%&#_{}])")
_COMMAND = re.compile(r"\\([a-zA-Z]{1,30})")
_SYMBOLS = {
    **{"sqrt": "√", "pi": "π", "infty": "∞", "pm": "±", "mp": "∓", "sum": "∑", "prod": "∏"},
    **{"int": "∫", "partial": "∂", "nabla": "∇", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈"},
    **{"rceil": "⌉", "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "neg": "¬", "lnot": "¬"},
    **dict.fromkeys(["le", "leq", "leqslant"], "≤"),
    **dict.fromkeys(["ge", "geq", "geqslant"], "≥"),
    **dict.fromkeys(["ne", "neq"], "≠"),
    **{"lt": "<", "ll": "<", "gt": ">", "gg": ">"},
    **dict.fromkeys(["approx", "sim", "simeq", "cong", "thickapprox", "thicksim"], "≈"),
}
_KEPT = frozenset(
    [
        *(
            "log",
            "ln",
            "lg",
            "exp",
            "sin",
            "cos",
            "tan",
            "cot",
            "csc",
            "sec",
            "sinh",
            "cosh",
            "tanh",
        ),
        *("arcsin", "arccos", "arctan", "binom", "dbinom", "tbinom", "frac", "dfrac", "tfrac"),
        *(
            "cfrac",
            "gcd",
            "lcm",
            "max",
            "min",
            "mod",
            "bmod",
            "pmod",
            "lim",
            "det",
            "alpha",
            "beta",
        ),
        *("gamma", "theta", "lambda", "mu", "phi", "omega", "sigma", "tau", "rho", "delta"),
    ]
)
_DEGREES = re.compile(r"\^\s{0,4}(?:\{\s{0,4}\\circ\s{0,4}\}|\\circ(?![a-zA-Z]))")
_ESTIMATE = re.compile(r"(?<![\w~])~(?!~)\s{0,2}(?=[-$€£¥]{0,2}\.?[0-9])")
_CRY = re.compile(r"(?<=[^\W_])!+$")
_LETTER = re.compile(r"[^\W\d_]")
_BOLD = re.compile(r"(?<![\w*])\*\*(?=\S)([^*]{1,2000})\*\*(?!\*)")
_GROUPED = re.compile(r"(?<=[0-9])[\u00a0\u2009\u202f'](?=[0-9]{3}(?![0-9]))")
_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_PLAIN = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u2012": "-", "\u2010": "-", "\u2011": "-", "\u2044": "/"}
    | {"\u2215": "/", "\u00d7": "*", "\u22c5": "*", "\u00f7": "/", "\u2019": "'", "\u2018": "'"}
    | {"\u201c": '"', "\u201d": '"', "\u2248": "≈"}
)
_FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10)]))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_UNSEEN = dict.fromkeys(map(ord, _FILLERS), "")
_PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`", "*": "*", "_": "_", "$": "$"}
_PAIRS |= {"«": "»", "„": '"', "~": "~"}
_TRAILING = " \t\r\n.,;:!?*_`~"
_LEADING = " \t\r\n,;:!?*_`~•"


def fold(text: str) -> str:
    r"""Return answer text without LaTeX, markdown, announcement and typographic variety.

    Parameters
    ----------
    text
        An answer as a model wrote it, of bounded length.

    Returns
    -------
    str
        The same statement in plain characters. Letter case is kept. Vulgar fractions become
        ``n/d``, superscripts ``^n``, so that compatibility folding cannot glue digits together.

    Examples
    --------
    >>> fold("**The final answer is:** $2½$.")
    '2 1/2'
    >>> fold("\\boxed{\\frac{1}{2}}")
    '1/2'
    """
    for _ in range(8):
        folded = _fold_once(text)
        if folded == text:
            break
        text = folded
    return text


def visible(text: str) -> str:
    r"""Return a text without what shows nothing: two answers that look alike are one answer.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    str
        Without format characters (Unicode category Cf: zero-width spaces and joiners, soft hyphen,
        bidi marks and overrides, byte order mark, tags), variation selectors, fillers and the
        blank Braille cell. Control characters other than white space become a space, so that they
        never join two numbers to one.

    Notes
    -----
    The price: the few spellings that a joiner alone tells apart (Persian, emoji) are one answer.

    Examples
    --------
    >>> visible("Pa\u00adris\u200b"), visible("1\x002"), visible("\u2066\ufeff")
    ('Paris', '1 2', '')
    """
    if text.isascii() and text.isprintable():
        return text
    kinds = {c: unicodedata.category(c) for c in set(text) if not c.isspace()}
    table = _UNSEEN | {ord(c): "" for c, kind in kinds.items() if kind == "Cf"}
    return text.translate(table | {ord(c): " " for c, kind in kinds.items() if kind == "Cc"})


def text_form(text: str) -> str:
    r"""Return the normal form of a free-text answer; may be empty.

    Notes
    -----
    NFKC, case folded, white space collapsed, punctuation, quotes and markdown around it removed,
    and what shows nothing (`visible`). Applied until nothing changes, so that it is idempotent.

    Examples
    --------
    >>> text_form("  “The  Beatles”. "), text_form("\u200b")
    ('the beatles', '')
    """
    for _ in range(12):
        formed = fold(text).casefold()
        formed = _CRY.sub("", formed) if _LETTER.search(formed) else formed  # 5! is not 5
        formed = " ".join(formed.split())
        if formed == text:
            break
        text = formed
    return text


def _fold_once(text: str) -> str:
    text = visible(text)
    if "\\boxed" in text:
        text = last_boxed(text) or text
    if "\\" in text or "{" in text:
        text = _without_latex(text)
    text = unicodedata.normalize("NFKC", _digits(_GROUPED.sub(",", text))).translate(_PLAIN)
    text = _ESTIMATE.sub("≈ ", text)
    text = _BOLD.sub(r"\1", text)
    text = " ".join(_PREFIX.sub("", _stripped(text), count=1).split()) if _starts(text) else text
    return _stripped(text)


def _starts(text: str) -> bool:
    """Return whether an announcement opens the text (and more than it is there)."""
    bare = _stripped(text)
    match = _PREFIX.match(bare)
    return match is not None and match.end() < len(bare)


def _stripped(text: str) -> str:
    for _ in range(16):
        text = text.strip()
        bare = text.rstrip(_TRAILING)
        if text[len(bare) :].lstrip()[:1] == "!" and bare[-1:].isdigit():
            bare = text[: len(bare) + 1]  # 5! may be a factorial: the number reader decides
        text = bare.lstrip(_LEADING)
        if len(text) < 2 or _PAIRS.get(text[0]) != text[-1]:
            return text
        inner = text[1:-1]
        if text[0] in inner or text[-1] in inner:
            return text
        text = inner
    return text


def last_boxed(text: str) -> str | None:
    r"""Return the inside of the last ``\boxed{…}``, braces matched, or None.

    Examples
    --------
    >>> last_boxed(r"so \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    """
    start = text.rfind("\\boxed")
    if start < 0:
        return None
    start = text.find("{", start, start + 12)
    if start < 0:
        return None
    depth = 0
    for i in range(start, min(len(text), start + 2000)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return text[start + 1 : i].strip() or None
    return None


def _without_latex(text: str) -> str:
    text = text.replace("{,}", ",").replace("\\!", "")
    text = _DEGREES.sub("°", _TEXT.sub(r" \1 ", text))
    text = _FRAC.sub(lambda m: _ratio(m[1], m[2]), text)
    text = _SHORT_FRAC.sub(lambda m: _ratio(m[1], m[2]), text)
    text = _DIVIDE.sub(" / ", _OPERATORS.sub(" * ", text))
    text = _ESCAPED.sub(r"\1", _DELIMITERS.sub(" ", _SPACES.sub(" ", text)))
    text = _COMMAND.sub(_command, text).replace("}{", " ").replace("{", "").replace("}", "")
    return " ".join(text.split())


def _command(match: re.Match[str]) -> str:
    """Return a LaTeX command as the sign or word it stands for; a space where it only lays out."""
    name = match[1]
    return f" {_SYMBOLS.get(name, name if name in _KEPT else '')} "


def _ratio(top: str, bottom: str) -> str:
    return f" {top.strip()}/{bottom.strip()} "


def _digits(text: str) -> str:
    """Spell out characters whose compatibility form would merge with digits beside them."""
    if text.isascii():
        return text
    out: list[str] = []
    for i, c in enumerate(text):
        if c in _SUPER:
            out.append("^" + _SUPER[c])
        elif c in _SUB:
            out.append("_" + _SUB[c])
        elif "\u2044" in (plain := unicodedata.normalize("NFKC", c)) and len(plain) > 1:
            gap = " " if i and text[i - 1].isdecimal() else ""
            out.append(gap + plain.replace("\u2044", "/") + " ")
        elif c.isdecimal() and not c.isascii():
            out.append(str(unicodedata.decimal(c)))
        else:
            out.append(c)
    return "".join(out)
