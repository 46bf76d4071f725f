"""Given steps in other styles: asked of a paraphraser, kept where every number is as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judges.paraphraser import DEFAULT_SAMPLING, Style, paraphrase_request, read_paraphrase
from pipeline.asking import Answered, AskSummary, How, Job, ask_jobs
from pipeline.deducing.work import Asked, SolverWork
from pipeline.models import choose_form
from pipeline.replies import reply_outcome
from store import Store
from store.deduction_records import PrefixRecord

if TYPE_CHECKING:
    from judges.endpoint import Endpoint
    from judges.requests import Form


class Paraphrases:
    """The steps that one solver is given, in other styles."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        form: Form | None,
        work: SolverWork,
        styles: Sequence[str],
        how: How,
    ) -> None:
        self._store, self._endpoint, self._given = store, endpoint, form
        self._work, self._styles, self._how = work, tuple(styles), how
        self._found: dict[str, dict[tuple[int, int], tuple[PrefixRecord, ...]]] = {}
        self.faults: Counter[str] = Counter()
        self._load()

    def text(self, asked: Asked) -> str | None:
        """Return the steps in their style; None where there is no paraphrase of them."""
        rows = self._found.get(asked.style, {}).get((asked.mutation_id, asked.k), ())
        return rows[0].text if rows else None

    def ask(self) -> AskSummary:
        """Ask for the paraphrases that are not there; one that failed is not asked again of the
        same model."""
        model = self._endpoint.model
        wanted = [a for style in self._styles for a in self._work.asked(style)]
        missing = [a for a in wanted if self.text(a) is None and not self._tried(a, model)]
        form = choose_form(
            self._store,
            self._endpoint,
            self._given,
            dry_run=self._how.get("dry_run", False),
            transport=self._how.get("transport"),
        ).form
        summary = ask_jobs(
            self._store,
            self._endpoint,
            "rewrite",
            self._jobs(missing, form),
            len(missing),
            self._save,
            unit="prefixes",
            n_known=len(wanted) - len(missing),
            parameters={"model": model, "form": form, "styles": list(self._styles)},
            how=self._how,
        )
        self._load()
        return summary

    def _tried(self, asked: Asked, model: str) -> bool:
        rows = self._found.get(asked.style, {}).get((asked.mutation_id, asked.k), ())
        return any(r.model == model for r in rows)

    def _load(self) -> None:
        for style in self._styles:
            ids = sorted({a.mutation_id for a in self._work.asked(style)})
            self._found[style] = self._store.prefixes(ids, style)

    def _jobs(self, missing: Sequence[Asked], form: Form) -> Iterator[Job[Asked]]:
        sampling = self._endpoint.keyed(DEFAULT_SAMPLING)
        for asked in missing:
            style: Style = asked.style  # type: ignore[assignment]  # checked by the stage
            request = paraphrase_request(
                self._endpoint.model, asked.prefix, style, sampling=sampling, form=form
            )
            yield Job(request, asked)

    def _save(self, answered: Sequence[Answered[Asked]]) -> None:
        rows = []
        for a in answered:
            found = read_paraphrase(a.reply, a.about.prefix)
            if found.fault is not None:
                self.faults[found.fault] += 1
            rows.append(
                PrefixRecord(
                    mutation_id=a.about.mutation_id,
                    k=a.about.k,
                    style=a.about.style,
                    model=self._endpoint.model,
                    prompt_version=a.request.prompt_version,
                    outcome=reply_outcome(found.outcome),
                    text=found.text,
                    fault=found.fault,
                    reason=found.reason,
                    reply_key=a.request.key,
                )
            )
        self._store.save_prefixes(rows)


__all__ = ["Paraphrases"]
