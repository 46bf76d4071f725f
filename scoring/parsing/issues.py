"""Every code a parser may put on a trace, in one place, and what counts as a departure."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType

from scoring.types import ParseIssue, Trace

ISSUE_CODES = MappingProxyType(
    {
        # the text as a whole
        "empty_text": "there is no text at all",
        "text_cut": "the text is longer than the parser reads; the rest was left out",
        "leaked_turn": "a chat turn or next question leaked in; it was left out",
        "preamble": "text before the first step was left out",
        "trailing_text": "text after the final answer was left out",
        "no_steps": "nothing usable as a step was found",
        "unstructured": "no numbered step: sentences and lines were taken as steps",
        "truncated": "the text stops in mid-sentence and no answer follows",
        "text_in_program": "lines before the program's first step, or comments in it, were left out",
        "issues_capped": "one code occurs too often; its further occurrences are only counted",
        # a model's reply that must not be read, so that the trace has no answer (judges)
        "reply_refused": "the model refused to reply; nothing was read",
        "reply_empty": "the reply was blank",
        "reply_truncated": "the reply was cut at the token limit; no answer was read from it",
        "reply_invalid": "the reply was not the JSON that was asked for; nothing was read",
        "reply_failed": "the server gave no reply",
        "reply_unasked": "the model was not asked",
        # numbering
        "numbering_style": "steps are numbered, but not as '0. …'",
        "numbering_from_one": "steps are numbered from 1; all numbers were shifted by one",
        "numbering_start": "the first step is numbered neither 0 nor 1",
        "numbering_gap": "a step number is missing; references to it lead nowhere",
        "numbering_restart": "a number repeats or goes back; a reference means the latest before it",
        "unnumbered_step": "a line without a number was taken as a step of its own",
        # steps
        "continuation_lines": "the step goes on over further lines, which were joined to it",
        "step_empty": "a step without text was dropped; its children inherit its parents",
        "step_malformed": "a step that is no object with a text was dropped; children inherit",
        "step_repeated": "the step says the same as an earlier one",
        "line_dropped": "a line without any statement was left out",
        # annotations
        "annotation_missing": "the step does not say what it depends on; the missing rule applies",
        "unannotated": "steps without annotation are excluded by rule: the trace has no steps",
        "annotation_next_line": "the annotation stands on a line of its own",
        "annotation_inline": "the annotation stands inside the step's text",
        "annotation_style": "the annotation is spelled otherwise than [depends_on: …]",
        "annotation_repeated": "the step has several annotations; they were united",
        "annotation_unclosed": "the annotation's bracket is not closed",
        "annotation_orphan": "an annotation belongs to no step and was left out",
        "annotation_malformed": "depends_on is not a list; the step counts as unannotated",
        "reference_self": "a step refers to itself; the edge was dropped",
        "reference_forward": "a step refers to a later step; the edge was dropped",
        "reference_out_of_range": "a step refers to a number no step has; the edge was dropped",
        "reference_malformed": "a reference is no step number; it was dropped",
        "reference_duplicate": "a step names the same reference twice; once counts",
        "references_all_dropped": "no reference of the step was usable; it counts as a premise",
        # where the answer was found
        "no_answer": "there is no final answer",
        "answer_empty": "a final answer is announced but none follows",
        "answer_as_step": "the final answer was written as a step; that step was dropped",
        "announcement_kept": "a step announces an answer but gives none; one follows, so it stays",
        "answer_in_step": "the final answer was read inside a step, whose text was kept",
        "answer_first": "the final answer stands before steps",
        "answer_next_line": "the final answer stands on the line after its announcement",
        "answer_doubled": "the final answer is announced twice in one line",
        "answer_repeated": "the same final answer is given several times",
        "answer_conflict": "several final answers differ; the last readable one counts",
        "answer_informal": "no 'final answer' line; read after 'the answer is' or the like",
        "answer_boxed": "no 'final answer' line; the last \\boxed{…} counts",
        # how the answer was read
        "answer_unreadable": "the answer has no normal form of its kind",
        "answer_too_long": "the answer is too long to be one",
        "answer_units": "units or a currency sign beside the number were dropped",
        "answer_percent": "the number is a percentage, read by the question's percent rule",
        "answer_in_sentence": "the answer was read out of a sentence",
        "answer_first_sentence": "only the answer's first sentence was read",
        "answer_expression": "the answer is an equation; what follows its last '=' counts",
        "answer_estimate": "the answer is stated as an estimate ('about'); its value counts",
        "answer_denied": "the answer only says what it is not",
        "answer_bound": "the answer is a bound ('at least', 'less than', 'before'), not a value",
        "answer_operation": "an operation beside the number is left to carry out",
        "answer_polarity": "the answer says both yes and no",
        "answer_corrected": "a later sentence of the answer gives another one",
        "answer_brackets": "the answer stands in square brackets",
        "date_ambiguous": "the date was read as month/day; day/month would be possible too",
        "date_day_first": "the date was read as day/month, the only possible reading",
        "choice_text_differs": "the text after the letter is not that option's; the letter counts",
    }
)
"""Code → one-line meaning. Codes are stable: they are stored and exported."""

FORMAT_NEUTRAL = frozenset(
    {
        "issues_capped",
        "step_repeated",
        "answer_units",
        "answer_percent",
        "answer_estimate",
        "announcement_kept",
        "date_ambiguous",
        "date_day_first",
        "choice_text_differs",
    }
)
"""Codes about content, not layout: they do not make a trace depart from the requested format."""

MAX_PER_CODE = 200
"""Occurrences of one code that are kept one by one."""


def is_strict(trace: Trace) -> bool:
    r"""Return whether a trace keeps to the requested format in every respect.

    Parameters
    ----------
    trace
        A parsed trace.

    Returns
    -------
    bool
        True iff it has steps, an answer text, and no issue outside `FORMAT_NEUTRAL`.

    Notes
    -----
    The requested format is one line ``N. text [depends_on: …]`` per step, numbered from 0, with
    references to earlier steps only, then one line with the final answer. The usable parse rate
    is the share of traces with ``trace.usable``; the strict one is the share with ``is_strict``.
    A step with bad references departs from the format although the parser can mend it.

    Examples
    --------
    >>> from scoring.parsing import parse_trace
    >>> is_strict(parse_trace("0. Ice floats. [depends_on: none]\nThe final answer is: yes"))
    True
    >>> is_strict(parse_trace("1. Ice floats. [depends_on: none]\nThe final answer is: yes"))
    False
    """
    return (
        trace.usable
        and trace.answer_text is not None
        and all(issue.code in FORMAT_NEUTRAL for issue in trace.issues)
    )


def shown(text: object, limit: int = 60) -> str:
    r"""Return a short, printable quotation of model text for a message.

    Parameters
    ----------
    text
        Anything; non-strings are shown by their type and value.
    limit
        Characters kept.

    Examples
    --------
    >>> shown("a\x1bb")
    "'a\\x1bb'"
    """
    raw = text if isinstance(text, str) else f"{type(text).__name__} {_bounded_repr(text)}"
    return (
        ascii(raw[:limit] + ("…" if len(raw) > limit else ""))
        if not raw.isprintable()
        else (repr(raw[:limit] + ("…" if len(raw) > limit else "")))
    )


def _bounded_repr(value: object) -> str:
    """Return a repr of small scalars only: a container could be huge or deeply nested."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "of many digits"
    return repr(value) if isinstance(value, int | float | bool | type(None)) else ""


class IssueLog:
    """Collects issues with their place, so that they come out in reading order."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, str, str, int | None]] = []
        self._counts: Counter[str] = Counter()

    def add(self, code: str, message: str, *, at: float = -1.0, step: int | None = None) -> None:
        """Note one issue.

        Parameters
        ----------
        code
            A key of `ISSUE_CODES`.
        message
            What was found and done.
        at
            Line number, or -1 for the whole text, or infinity for its end.
        step
            Raw step number (before dropped steps are taken out), or None.
        """
        if code not in ISSUE_CODES:
            raise ValueError(f"{code!r} is no issue code: add it to ISSUE_CODES first")
        self._counts[code] += 1
        if self._counts[code] <= MAX_PER_CODE:
            self._entries.append((at, code, message, step))

    def issues(self, final: dict[int, int] | None = None) -> tuple[ParseIssue, ...]:
        """Return the issues in reading order.

        Parameters
        ----------
        final
            Raw step number → index in the trace; a step that is missing there was dropped, and
            its issues are about the whole trace. None keeps the raw numbers.
        """
        out = [
            ParseIssue(code, message, step if final is None or step is None else final.get(step))
            for _, code, message, step in sorted(self._entries, key=lambda e: e[0])
        ]
        for code, count in self._counts.items():
            if count > MAX_PER_CODE:
                out.append(
                    ParseIssue(
                        "issues_capped", f"{code} occurs {count} times; {MAX_PER_CODE} are listed"
                    )
                )
        return tuple(out)
