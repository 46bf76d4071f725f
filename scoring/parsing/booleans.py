"""Yes and no."""

from __future__ import annotations

import re

from scoring.parsing.folding import fold

_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_LETTERS = {"y": True, "t": True, "n": False, "f": False}
_LEAD = re.compile(r"(yes|no|true|false)\b(.*)", re.IGNORECASE | re.DOTALL)
_GOES_ON = frozenset(
    ["it", "they", "he", "she", "because", "since", "as", "that", "this", "there", "you", "we", "i"]
)
_END = re.compile(r".*\b(?:is|answer|therefore|so|:)\s{0,4}[:,]?\s{0,4}[\"']?(yes|no|true|false)")
_DENIED = re.compile(r"\b(?:not|or|never|no|none|nothing|neither|nor|cannot|hardly)\b|n't\b")
_SENTENCE = re.compile(r"[.!?;]\s{1,4}|\n")
_STOPS = tuple(".,;:!-—")

_Raw = tuple[bool | None, tuple[str, ...]]


def read_boolean(folded: str, *, known: bool = False) -> _Raw:
    """Read the truth value a folded text states.

    Parameters
    ----------
    folded
        An answer after `fold`.
    known
        Whether the question is known to be a yes/no question.

    Returns
    -------
    tuple
        (truth value or None, issue codes). Both polarities decide nothing: ``answer_polarity``.

    Notes
    -----
    A leading yes/no/true/false decides when it stands alone or before punctuation, unless another
    sentence opens with the opposite. `known` also takes the letters y, n, t and f alone, "yes it
    is", "true because …" and a sentence that ends in "is false" without a negation; without it
    single letters are options.

    Examples
    --------
    >>> read_boolean("No, it sinks"), read_boolean("yes. no"), read_boolean("y", known=True)
    ((False, ()), (None, ('answer_polarity',)), (True, ()))
    >>> read_boolean("no one knows"), read_boolean("y")
    ((None, ()), (None, ()))
    """
    table = _WORDS | _LETTERS if known else _WORDS
    words = [w for w in re.findall(r"[^\W\d_]+", folded.casefold()) if w not in ("or", "and")]
    if words and all(w in table for w in words) and not any(c.isdigit() for c in folded):
        values = {table[w] for w in words}
        return (values.pop(), ()) if len(values) == 1 else (None, ("answer_polarity",))
    value = _lead(folded, known)
    if value is None:
        return (_ending(folded) if known else None), ()
    later = [_lead(fold(s), known=False) for s in _SENTENCE.split(folded)[1:21]]
    return (None, ("answer_polarity",)) if (not value) in later else (value, ())


def _lead(text: str, known: bool) -> bool | None:
    """Return the value of the word that opens a text and stands for itself."""
    lead = _LEAD.fullmatch(text)
    if lead is None:
        return None
    rest = lead[2].lstrip(" *_`\"')")
    if not rest or (rest[:1] in _STOPS and not re.match(r"\W{0,4}[0-9]", rest)):
        return _WORDS[lead[1].casefold()]
    follows = re.match(r"[^\W\d_]+", rest)
    if known and follows and follows[0].casefold() in _GOES_ON:
        return _WORDS[lead[1].casefold()]
    return None


def _ending(folded: str) -> bool | None:
    """Return the value of "… is false", unless anything before it denies."""
    ending = _END.fullmatch(folded.casefold().replace("*", "").rstrip(" .\"')"))
    if ending is None or _DENIED.search(ending[0][: ending.start(1)]):
        return None
    return _WORDS[ending[1]]
