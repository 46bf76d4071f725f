"""What stands beside a value and changes what it says: denial, bounds, estimates, operations."""

from __future__ import annotations

import re

_REACH = 200
"""Characters beside a value that are looked at."""

_SIGNS = re.compile(
    r"(?:[\s$€£¥¢+(\[{\"'-]|(?<![^\W_])(?:minus|negative|plus|positive|the|an?|exactly|just|only)"
    r"(?![^\W_]))+$",
    re.IGNORECASE,
)
_PAUSE = re.compile(
    r"[,;:!?—(]|\.(?![0-9])|\b(?:but|so|because|since|therefore|hence|thus|then|although|though|and"
    r"|while|if|where|when)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|equals|has|had|gets|earns|costs|makes|pays|needs|takes|leaves)\b(?!n't)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|no(?!\s+doubt\b)|cannot|without(?!\s+(?:a\s+)?doubt\b)|except|excluding|wrong"
    r"|incorrect|unlike|instead\s+of|(?:rather|other)\s+than)\b|n't\b"
    r"|\b(?:is|are|was|ca|wo|does|do|did)nt\b",
    re.IGNORECASE,
)
_NONE = re.compile(r"\b(?:none|nothing|neither|nor|nobody|no\s+one)\b", re.IGNORECASE)
_ALL_BUT = re.compile(r"\b(?:anything|everything|all)\s+but$", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    r"[)\]\s]{0,3}(?:(?:is|was)(?:\s{1,3}(?:not|never|wrong|incorrect|false|impossible)\b|n't\b)"
    r"|(?:cannot|can't|(?:could|would)(?:n't|\s{1,3}not))\s{1,3}be\b)",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:(?<!rather )(?<!other )\bthan(?:\s+or\s+equal\s+to)?|\bor\s+equal\s+to|\b(?:less|more|fewer|greater)\s+then"
    r"|\bat\s+(?:the\s+)?(?:very\s+)?(?:least|most)|\bat\s+(?:a\s+|the\s+)?(?:minimum|maximum)"
    r"(?:\s+of)?|\b(?:minimum|maximum|min|max)\.?(?:\s+of)?|\bup\s?to|\bover|\bunder|\babove|\bbelow"
    r"|\bbeyond|\bwithin|\bbetween|\bexceed(?:s|ed|ing)?)$",
    re.IGNORECASE,
)
_ADDS_UP = re.compile(
    r"\b(?:add|sum|come|came|round|total|work)[a-z]{0,5}\s+(?:\w{1,9}\s+)?up\s?to$", re.IGNORECASE
)
_BOUND_AFTER = re.compile(
    r"(?:\s{0,3}[^\W\d_][\w'-]{0,30}){0,2}?\s{0,3}\b(?:or\s+(?:more|less|fewer|greater|higher|lower"
    r"|above|below|over|under|later|earlier)|and\s+(?:above|over|up|more|below|under)"
    r"|at\s+(?:the\s+)?(?:very\s+)?(?:least|most)|minimum|maximum|max|tops)\b",
    re.IGNORECASE,
)
_ESTIMATE = re.compile(
    r"(?:(?<![^\W_])(?:about|around|approx(?:\.|imately)?|roughly|circa|ca\.|nearly|almost"
    r"|close\s+to|(?:an\s+)?estimated(?:\s+(?:at|to\s+be))?)|[~≈])$",
    re.IGNORECASE,
)
_ESTIMATE_AFTER = re.compile(
    r"(?:\s{0,3}[^\W\d_][\w'-]{0,30}){0,2}?\s{0,3}\bor\s+so\b", re.IGNORECASE
)
_DATE_BOUND = re.compile(
    r"\b(?:before|after|until|till|prior\s+to|from|following|preceding|than)$", re.IGNORECASE
)
_DATE_AFTER = re.compile(
    r"\s{0,3}(?:or\s+(?:later|earlier|before|after)\b|[+-]\s{0,3}[0-9]|(?:plus|minus)\b)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    r"(?:[\s,]|\b(?:the|on|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?\b)+$", re.I
)
_SYMBOLS = "√∛∜∑∏∐∫∬∭∮∂∇∆∓∝∠∞≪≫≲≳⊕⊖⊗⊘∪∩∘⌊⌋⌈⌉‖¬"
_FUNCTION = re.compile(
    rf"(?:[{_SYMBOLS}π]"
    r"|(?<![^\W_])(?:sqrt|cbrt|root|log|ln|lg|exp|a?sinh?|a?cosh?|a?tanh?|arc(?:sin|cos|tan)|cot|csc"
    r"|abs|mod|modulo|floor|ceil|ceiling|gcd|lcm|[dt]?binom|lim|det|bmod|pmod|sec|alpha|beta|gamma|theta|lambda|phi|omega|sigma|tau|rho|delta|[dtc]?frac|factorial|pi|twice|thrice|double|triple"
    r"|times|(?:divided|multiplied)\s+by)(?:_\w{1,9})?(?:\s+of)?"
    r"|\b(?:logarithm|square|cube|absolute\s+value|reciprocal|inverse|opposite|multiples?|powers?|half"
    r"|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?)\s+of)$",
    re.IGNORECASE,
)
_CALL = re.compile(r"(?:[^\W_]|[-+*/^<>±]\s{0,3})\($|\|$")
_INSIDE = re.compile(r"[-+$€£¥¢]+$")
_OPERATION_AFTER = re.compile(
    rf"!(?!=)|\||\s{{0,3}}[{_SYMBOLS}‰‱]|[)\]}}|]{{1,3}}\s{{0,3}}[\^!*+]"
    r"|\s{0,3}(?:π|[xyzn](?![^\W_]))|-(?=$|[^\w\s]|\s)|-[xyzn](?!\w)"
)
_OPERATION_WORD = re.compile(
    r"\s{0,3}(?:pi|squared|cubed|factorial|plus|minus|multiplied|divided|mod|modulo|raised\s+to"
    r"|to\s+the\s+power|(?:sqrt|log|ln)\b)(?![^\W_])",
    re.IGNORECASE,
)


def is_denied(before: str, after: str) -> bool:
    """Return whether a value is named only to be denied.

    Parameters
    ----------
    before, after
        The folded text on both sides of the value.

    Notes
    -----
    A negation counts up to the next pause or finite verb: "who did not pass is 12" states 12,
    "is not 12" does not.

    Examples
    --------
    >>> is_denied("It isn't ", ""), is_denied("", " is not right"), is_denied("No, it is ", "")
    (True, True, False)
    """
    tail = before[-_REACH:].rstrip()
    if _ALL_BUT.search(tail) or _DENIED_AFTER.match(after[:_REACH]):
        return True
    clause = _PAUSE.split(tail)[-1]
    if _NONE.search(clause):
        return True
    return _NOT.search(_VERB.split(clause)[-1]) is not None


def is_bounded(before: str, after: str) -> bool:
    """Return whether a number is only compared with: "less than 5", "at least 5", "5 or more".

    Parameters
    ----------
    before, after
        The folded text on both sides of the number, its sign and currency included.

    Examples
    --------
    >>> is_bounded("no more than ", ""), is_bounded("", " jars at most"), is_bounded("adds up to ", "")
    (True, True, False)
    """
    tail = _SIGNS.sub("", before[-_REACH:])
    if _BOUND.search(tail) and not _ADDS_UP.search(tail):
        return True
    return _BOUND_AFTER.match(after[:_REACH]) is not None


def is_bounded_date(before: str, after: str) -> bool:
    """Return whether a date is only counted from or compared with: "the day after 2020-05-01".

    Parameters
    ----------
    before, after
        The folded text on both sides of the date.

    Examples
    --------
    >>> is_bounded_date("a week from ", ""), is_bounded_date("", " or later"), is_bounded_date("on ", "")
    (True, True, False)
    """
    tail = _WEEKDAY.sub("", before[-_REACH:])
    return bool(_DATE_BOUND.search(tail) or _DATE_AFTER.match(after[:_REACH]))


def estimate_words(before: str, after: str) -> int | None:
    """Return how many words before a value mark it as an estimate; None when it is stated as exact.

    Parameters
    ----------
    before, after
        The folded text on both sides of the value.

    Examples
    --------
    >>> estimate_words("it is about ", ""), estimate_words("≈ ", ""), estimate_words("", " jars or so")
    (1, 0, 0)
    >>> estimate_words("it is ", "") is None
    True
    """
    match = _ESTIMATE.search(_SIGNS.sub("", before[-_REACH:]))
    if match is not None:
        return len(re.findall(r"[^\W\d_]+", match[0]))
    return 0 if _ESTIMATE_AFTER.match(after[:_REACH]) else None


def is_operand(before: str, after: str) -> bool:
    """Return whether a number stands under an operation that is left to carry out.

    Parameters
    ----------
    before, after
        The folded text on both sides of the number, its sign and currency included.

    Examples
    --------
    >>> is_operand("√", ""), is_operand("log ", ""), is_operand("a third of ", ""), is_operand("f(", ")")
    (True, True, True, True)
    >>> is_operand("", "!"), is_operand("", " squared"), is_operand("", "-"), is_operand("", "-day trip")
    (True, True, True, False)
    """
    tail, head = before[-_REACH:], after[:_REACH]
    if _CALL.search(_INSIDE.sub("", tail)) or _FUNCTION.search(_SIGNS.sub("", tail)):
        return True
    return bool(_OPERATION_AFTER.match(head) or _OPERATION_WORD.match(head))
