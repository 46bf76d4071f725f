"""The audit of paper A: how faithful the wins of SC alone and of GSC alone are."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.faithfulness import counted_rows
from scoring.faithfulness.audit import AuditCase, AuditSummary, audit_summary
from store import Store


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The audit by one rater's path labels; cells are (dataset, pool).

    `n_held` questions are left out: still sealed for whoever the figures are for.
    """

    rater: str
    schema: str
    summary: AuditSummary
    n_held: int


def audit_report(
    store: Store,
    rater: str,
    schema: str = "path",
    *,
    unsealed: bool = False,
    viewer: int | None = None,
) -> AuditReport:
    """Return the audit by one rater's labels.

    While a person has sealed paths to label, only questions they have revealed count. With
    `viewer`, a rater's id, only what that rater has revealed counts, unless nothing is sealed:
    who is right on how many questions is made of gold.

    Raises
    ------
    ValueError
        When there is no such rater, or the schema has no category faithful.
    """
    counted, n_held = counted_rows(store, rater, schema, unsealed=unsealed)
    if viewer is not None and store.schema(schema).seal == "full" and not unsealed:
        seen = store.revealed_questions(viewer)
        kept = [r for r in counted if f"{r.dataset}/{r.question_id}" in seen]
        n_held += len(counted) - len(kept)
        counted = kept
    cases = [
        AuditCase(
            cell=(r.dataset, r.pool),
            disagree=r.disagree,
            sc_correct=r.extra.get("sc_correct"),
            gsc_correct=r.extra.get("gsc_correct"),
            sc_faithful=r.sc_faithful,
            gsc_faithful=r.gsc_faithful,
            sc_sound=r.sc_sound,
            sc_labelled=r.sc_labelled,
            gsc_sound=r.gsc_sound,
            gsc_labelled=r.gsc_labelled,
        )
        for r in counted
    ]
    return AuditReport(rater, schema, audit_summary(cases), n_held)
