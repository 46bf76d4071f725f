"""Deduction problems from files, each checked before it is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scoring.deduction import SanityFailure, check_template
from store import ConflictError, Store
from store.exchange.lines import Rejected
from store.exchange.problems import ReadProblem, problem_files, read_problems

OWN_PROBLEMS = Path(__file__).parents[1] / "bundled" / "problems.toml"
"""The dozen problems that come with the tool."""


@dataclass(frozen=True, slots=True)
class CheckedProblem:
    """A problem of a file: what its checks found (nothing: it may be mutated), and notes."""

    problem: str
    failures: tuple[SanityFailure, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProblemsImported:
    """What an import of problems did.

    `checked` are all problems that could be read; `n_added` of them are new, the others were known.
    """

    checked: tuple[CheckedProblem, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    n_added: int = 0

    @property
    def n_passed(self) -> int:
        """Problems that passed every check."""
        return sum(not c.failures for c in self.checked)

    @property
    def reasons(self) -> dict[str, int]:
        """Failed checks by code; one problem may count under several."""
        found = Counter(code for c in self.checked for code in {f.code for f in c.failures})
        return dict(sorted(found.items()))


@dataclass(slots=True)
class _Importing:
    store: Store
    checked: list[CheckedProblem] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    n_added: int = 0

    def add(self, read: ReadProblem) -> None:
        template = read.template
        report = check_template(template)
        before = {(t.id, t.attempt) for t in self.store.templates(template.model)}
        try:
            self.store.add_problem(
                template.problem, read.question, read.gold, source=template.source
            )
            made = self.store.add_template(
                template.problem,
                template,
                report.failures,
                solver=template.model,
                made_by={"file": Path(read.file).name},
            )
        except (ConflictError, ValueError) as error:
            self.rejected.append(Rejected(read.file, read.line, str(error)))
            return
        self.n_added += (made.id, made.attempt) not in before
        self.checked.append(CheckedProblem(template.problem, report.failures, read.notes))


def import_problems(store: Store, paths: Iterable[Path]) -> ProblemsImported:
    """Read problems from files and folders, check each, and store it with what was found.

    A problem that fails a check is stored too, so that it can be listed with its reason; it is
    neither mutated nor asked.

    Raises
    ------
    OSError
        When a file cannot be read.
    ValueError
        When a folder holds no file of problems.
    """
    work = _Importing(store)
    for path in paths:
        for file in problem_files(path):
            for read in read_problems(file):
                if isinstance(read, Rejected):
                    work.rejected.append(read)
                else:
                    work.add(read)
    return ProblemsImported(tuple(work.checked), tuple(work.rejected), work.n_added)


def known_problems(store: Store, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Return the problems that are meant, all when none is named.

    Raises
    ------
    ValueError
        When there is none, or one of them is not there.
    """
    known = tuple(p.name for p in store.problems())
    if not known:
        raise ValueError("no problems in the database: medoid deduce import first")
    for name in wanted or ():
        if name not in known:
            there = ", ".join(known[:12]) + ("…" if len(known) > 12 else "")
            raise ValueError(f"no problem {name!r} in the database; there are: {there}")
    return tuple(dict.fromkeys(wanted)) if wanted else known


__all__ = [
    "OWN_PROBLEMS",
    "CheckedProblem",
    "ProblemsImported",
    "import_problems",
    "known_problems",
]
