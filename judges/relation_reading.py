"""Reading what a relation asker replied: a word of the vocabulary, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from judges.plain import after_thinking, one_line, why_not
from judges.relation_asker import INCONSISTENT, Asked, RelationQuestion
from judges.requests import Reply
from scoring.relations import WORDS, axis_word, normal_word

_MAX_LINE = 2000
"""A longer line is no answer."""
_MAX_REASONING = 4000

_BOXED = re.compile(r"\\+(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]{0,80}\}){1,160})\}")
_ANSWER = re.compile(
    r"[\s>*#_`•+–-]{0,12}(?:the )?(?:final )?(?:answer|relation|reply)\b[\s*_`]{0,4}(?:is\b)?"
    r"[\s*_`]{0,4}[:=–—-]{0,2}[\s*_`]{0,4}(.{1,400})",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|cannot|neither|nor|unclear|unknown|never)\b|n['’]t\b", re.IGNORECASE
)
_TIME = re.compile(r"\b(?:before|after|earlier|later)\b", re.IGNORECASE)
_QUADRANT = re.compile(
    r"\b(?:north|south)[\s‐‑–-]?(?:east|west)(?:ern)?\b|\b(?:NE|NW|SE|SW)\b", re.IGNORECASE
)
_SHORT_QUADRANT = re.compile(r"\b(?:ne|nw|se|sw)\b")
_INCONSISTENT = re.compile(r"\binconsisten(?:t|cy)\b|\bcontradict(?:ory|ion)\b", re.IGNORECASE)

_INVERSE = {
    "before": "after",
    "after": "before",
    "northeast": "southwest",
    "southwest": "northeast",
    "northwest": "southeast",
    "southeast": "northwest",
}


def _kinship_pattern() -> re.Pattern[str]:
    """Return a pattern of the 31 words as people write them, the longest first."""
    spelled = set(WORDS)
    for word in WORDS:
        if "grandpa" in word or "grandma" in word:
            spelled.add(word.replace("grandpa", "grandfather").replace("grandma", "grandmother"))
    gap = r"[\s‐‑–-]?"
    found = (
        gap.join(re.escape(part) for part in w.replace("grand", "grand-").split("-") if part)
        for w in sorted(spelled, key=len, reverse=True)
    )
    return re.compile(rf"\b(?:{'|'.join(found)})\b", re.IGNORECASE)


_KINSHIP = _kinship_pattern()


@dataclass(frozen=True, slots=True)
class RelationReading:
    """What a reply says the first object is to the second.

    `relation` is a word of the vocabulary, None with a `reason`. `reasoning` are the model's words
    before the answer. `turned`: the reply spoke of the pair the other way round, and the word is
    the inverse of the one it wrote.
    """

    relation: str | None
    reason: str = ""
    reasoning: str = ""
    turned: bool = False


def read_relation(reply: Reply, q: RelationQuestion) -> RelationReading:
    """Read a reply; nothing a model writes raises.

    Only an ``ok`` reply is read: one that was refused, cut or broken has no relation. In a text
    reply the word is what a box or an answer line gives, the last of them; else what the last line
    says if it names one word and denies nothing. A sentence that names the two objects the other
    way round is read as what it says.
    """
    reason = why_not(reply)
    if reason is not None:
        return RelationReading(None, reason)
    if reply.data is not None:
        return _read_fields(reply.data, q)
    text = after_thinking(reply.text).strip()
    if not text:
        return RelationReading(None, "there is no answer after the thinking")
    place = _answer_line(text, q.asked)
    reasoning = text if place is None else text[: place[0]]
    kept = reasoning.strip()[:_MAX_REASONING]
    if place is None:
        return RelationReading(None, "no line gives the relation", kept)
    return _read_answer(place[1], place[2], q, kept)


def _read_fields(data: object, q: RelationQuestion) -> RelationReading:
    said = data.get("relation") if isinstance(data, dict) else None
    why = data.get("reasoning") if isinstance(data, dict) else None
    reasoning = why.strip()[:_MAX_REASONING] if isinstance(why, str) else ""
    word = _word(said, q.asked) if isinstance(said, str) else None
    if word is None:
        return RelationReading(None, "the reply gives no relation", reasoning)
    return RelationReading(word, "", reasoning)


def _word(text: str, asked: Asked) -> str | None:
    """Return the vocabulary's word for one that stands alone."""
    if asked == "kinship":
        return normal_word(text)
    if asked == "time":
        return axis_word(text, "time")
    if asked == "contradiction" and _INCONSISTENT.fullmatch(text.strip(" .*_`\"'")):
        return INCONSISTENT
    return axis_word(text, "quadrant")


def _answer_line(text: str, asked: Asked) -> tuple[int, str, str] | None:
    """Return where the answer begins, the piece that holds the word, and its whole line.

    The last box that holds a word counts, else the last answer line, else the last line.
    """
    lines = list(_lines(text))
    if not lines:
        return None
    for start, line in reversed(lines):
        boxes = [m[1] for m in _BOXED.finditer(line) if words_in(m[1], asked)]
        if boxes:
            return start, boxes[-1], line
    for start, line in reversed(lines):
        match = _ANSWER.fullmatch(line)
        if match is not None and (words_in(match[1], asked) or line is lines[-1][1]):
            return start, match[1], match[1]
    start, line = lines[-1]
    if len(words_in(line, asked)) == 1:
        return start, line, line
    return None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and len(line) <= _MAX_LINE:
            yield start, line.strip()
        start += len(line)


def words_in(text: str, asked: Asked) -> tuple[str, ...]:
    """Return the different words of the vocabulary that a text names, in order."""
    if asked == "kinship":
        found = [normal_word(m[0]) for m in _KINSHIP.finditer(text)]
    elif asked == "time":
        found = [axis_word(m[0], "time") for m in _TIME.finditer(text)]
    else:
        # "ne" in small letters is a word of some languages; it counts only where it stands alone.
        alone = _SHORT_QUADRANT.fullmatch(text.strip(" .*_`\"'"))
        named = [
            m[0].casefold().removesuffix("ern")
            for m in _QUADRANT.finditer(text)
            if len(m[0]) > 2 or m[0].isupper() or alone
        ]
        found = [axis_word(word, "quadrant") for word in named]
    words = [w for w in found if w is not None]
    if asked == "contradiction" and _INCONSISTENT.search(text):
        words.append(INCONSISTENT)
    return tuple(dict.fromkeys(words))


def _read_answer(piece: str, line: str, q: RelationQuestion, reasoning: str) -> RelationReading:
    words = words_in(piece, q.asked)
    if not words:
        return RelationReading(None, "the answer is no word of the vocabulary", reasoning)
    if len(words) > 1:
        return RelationReading(None, f"the answer names {' and '.join(words)}", reasoning)
    if _NEGATED.search(line):
        return RelationReading(None, "the answer is denied or left open", reasoning)
    (word,) = words
    if not _other_way_round(line, q):
        return RelationReading(word, "", reasoning)
    inverse = _INVERSE.get(word)
    if inverse is None and word != INCONSISTENT:
        why = "the answer speaks of the two the other way round"
        return RelationReading(None, why, reasoning)
    return RelationReading(inverse or word, "", reasoning, turned=inverse is not None)


def _other_way_round(line: str, q: RelationQuestion) -> bool:
    """Whether a sentence begins with the second object and ends with the first."""
    plain = one_line(re.sub(r"[*_`\"'“”‘’\\]|\\\(|\\\)", "", line)).casefold().strip(" .!:-–")
    plain = plain.removeprefix("the ")
    for a, b in (
        (one_line(q.a).casefold(), one_line(q.b).casefold()),
        ("subject", "reference"),
    ):
        a, b = (re.sub(r"[*_`\"'“”‘’\\]", "", name) for name in (a, b))
        if not a or not b or a == b:
            continue
        opens = _opens(plain, b) and not (_opens(plain, a) and len(a) > len(b))
        closes = _closes(plain, a) and not (_closes(plain, b) and len(b) > len(a))
        if opens and closes:
            return True
    return False


def _opens(text: str, name: str) -> bool:
    return text.startswith(name) and not text[len(name) :][:1].isalnum()


def _closes(text: str, name: str) -> bool:
    return text.endswith(name) and not text[: -len(name)][-1:].isalnum()
