"""Where a rater goes on: at the path and step of their last act, else at what is open next."""

from __future__ import annotations

from dataclasses import dataclass

from store.records import CaseView, LastAct, PathView
from tui.caselist import CaseList
from tui.pathlines import last_place
from tui.session import Session
from tui.steplabels import next_step
from tui.walk import Place, decided, name_of, next_open, path_at, place_of


@dataclass(frozen=True, slots=True)
class Stop:
    """A path without a label, and the step on which the cursor stands.

    With `stepping`, digits go to its steps; `step` None then is the first without a label.
    """

    case_id: int
    question_id: str
    question: str
    item_id: int
    place: Place
    step: int | None = None
    stepping: bool = False

    @property
    def name(self) -> str:
        """What the path, or the step whose label is due, is called."""
        name = name_of(self.place, self.step if self.stepping else None)
        return f"{name}, its steps" if self.stepping and self.step is None else name


def find_stop(session: Session, dataset: str | None, pool: str | None) -> Stop | None:
    """Return where the rater goes on among the cases of a dataset and a pool's name.

    That is the path of the last act. Where it is decided, it is the next open path of that case,
    and where there is none, the next case in random order, from the first again at the end. None
    when nothing was done there yet, or nothing is left. Safe on any thread.
    """
    store, rater, schema = session.store, session.rater.id, session.schema
    act = store.last_act(rater, schema.name, dataset=dataset, pool=pool)
    if act is None:
        return None
    case = store.case(act.case_id, rater, schema)
    here = place_of(case, act.path_item_id)
    path = None if here is None else path_at(case, here)
    if here is not None and path is not None and not decided(path.label):
        step = _step(session, act, path)
        stepping = act.on_step and session.step_schema is not None
        return _stop(case, path, here, step, stepping)
    return _open_path(case, here) or _next_case(session, act.case_id, dataset, pool)


def _step(session: Session, act: LastAct, path: PathView) -> int | None:
    """Return the step, or the answer, on which the cursor stood after an act."""
    step, n_steps = act.step, len(path.steps)
    if step is None or not 0 <= step <= last_place(path):
        return None
    if act.on_step:
        labels = session.store.step_labels(session.rater.id, act.path_item_id)
        return next_step(n_steps, labels, step) if decided(labels.get(step)) else step
    return step


def _open_path(case: CaseView, here: Place | None) -> Stop | None:
    place = next_open(case, here)
    path = None if place is None else path_at(case, place)
    if place is None or path is None:
        return None
    return _stop(case, path, place)


def _stop(
    case: CaseView, path: PathView, place: Place, step: int | None = None, stepping: bool = False
) -> Stop:
    return Stop(case.case_id, case.question_id, case.question, path.item_id, place, step, stepping)


def _next_case(
    session: Session, case_id: int, dataset: str | None, pool: str | None
) -> Stop | None:
    store, rater, schema = session.store, session.rater.id, session.schema
    for after in (case_id, None):
        found = store.neighbour_case(
            rater, after, show="unlabelled", dataset=dataset, pool=pool, schema=schema.name
        )
        if found is not None:
            return _open_path(store.case(found, rater, schema), None)
    return None


def resume(cases: CaseList, session: Session) -> Stop | None:
    """Read the page of the list on which the rater goes on and stand there; safe on any thread.

    Where nothing was done yet, or nothing is left, that is the first case, and there is no stop.
    """
    stop = find_stop(session, cases.query.dataset, cases.query.pool)
    cases.take(cases.read())
    if stop is not None and not cases.find(stop.case_id):
        cases.take(cases.read_to(stop.case_id), case_id=stop.case_id)
    return stop
