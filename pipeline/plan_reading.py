"""Reading a plan: a TOML file of datasets, models and stages, checked wholly before it is run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.endpoint import Endpoint, read_models
from pipeline.plan_keys import (
    ASKING,
    BUDGET_KEYS,
    DATASET_KEYS,
    NAME,
    OTHER_MODELS,
    SET_KEYS,
    STAGES,
    TABLES,
    WITHOUT_DATASETS,
    Check,
    texts,
)
from pipeline.plan_sets import PlanSet
from store.keys import is_name


class PlanError(ValueError):
    """A plan cannot be run; `problems` are all of its faults, each with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class PlanDataset:
    """A dataset: its question files (none: its questions are in the database already).

    With `limit`, that many questions are used: drawn by `seed` where one is given, else the
    first ones.
    """

    name: str
    files: tuple[Path, ...] = ()
    mapping: str = "native"
    limit: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class PlanStage:
    """One stage for one model (none for stages that ask nobody) on some datasets, or relation sets."""

    stage: str
    model: str | None
    datasets: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    sets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Datasets, endpoints and stages in order. `max_tokens` and `max_cost` bound the whole run."""

    path: Path
    datasets: Mapping[str, PlanDataset]
    endpoints: Mapping[str, Endpoint]
    stages: tuple[PlanStage, ...]
    max_tokens: int | None = None
    max_cost: float | None = None
    sets: Mapping[str, PlanSet] = field(default_factory=dict)


def read_plan(path: Path, models: Mapping[str, Endpoint] | None = None) -> Plan:
    """Read a plan. `models` are used where the plan names none of its own.

    Raises
    ------
    PlanError
        With every fault: file, line where the TOML itself is wrong, table, key, what was found
        and what is right.
    OSError
        When the file cannot be read.
    """
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise PlanError([f"{path}: not UTF-8 at byte {error.start + 1}"]) from error
    except tomllib.TOMLDecodeError as error:
        raise PlanError([f"{path}: not TOML: {error}"]) from error
    reader = _Reader(path)
    plan = reader.plan(table, models or {})
    if reader.problems:
        raise PlanError(reader.problems)
    return plan


class _Reader:
    """Collects every problem, so that one look mends them all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []

    def wrong(self, place: str, message: str) -> None:
        self.problems.append(
            f"{self.path}: {place}: {message}" if place else f"{self.path}: {message}"
        )

    def plan(self, table: Mapping[str, Any], models: Mapping[str, Endpoint]) -> Plan:
        for key in table:
            if key not in TABLES:
                self.wrong("", f"{key!r} is unknown; {', '.join(TABLES)} are right")
        endpoints = self._models(table.get("models"), models)
        sets = self._sets(table.get("sets", {}))
        stages_given = table.get("stages")
        spared = "datasets" not in table and (bool(sets) or _spares_datasets(stages_given))
        datasets = {} if spared else self._datasets(table.get("datasets"))
        stages = tuple(self._stages(stages_given, datasets, endpoints, sets))
        budget = self._table("budget", table.get("budget", {}), BUDGET_KEYS)
        return Plan(
            self.path,
            datasets,
            endpoints,
            stages,
            budget.get("max_tokens"),
            budget.get("max_cost"),
            sets,
        )

    def _sets(self, value: Any) -> dict[str, PlanSet]:
        if not isinstance(value, dict):
            self.wrong("sets", f"{_shown(value)}; tables [sets.NAME] are right")
            return {}
        found = {}
        for name, table in value.items():
            place = f"[sets.{name}]"
            if not is_name(name):
                self.wrong(place, f"the name is {_shown(name)}; {NAME[1]} is right")
            good = self._table(place, table, SET_KEYS)
            path = self.path.parent / good.pop("file") if "file" in good else None
            if path is not None and good.get("shipped"):
                self.wrong(place, "a file and shipped; one of the two is right")
            found[name] = PlanSet(name, path, **good)
        return found

    def _models(self, value: Any, models: Mapping[str, Endpoint]) -> Mapping[str, Endpoint]:
        if value is None:
            return models
        path = self.path
        if isinstance(value, str):
            path = self.path.parent / value
        elif not isinstance(value, dict):
            self.wrong(
                "models", f"{_shown(value)}; a file's name or tables [models.NAME] are right"
            )
            return models
        try:
            return read_models(path)
        except ValueError as error:
            self.problems.append(str(error))
        except OSError as error:
            self.wrong("models", f"{value}: {error.strerror or error}")
        return {name: _unread(name) for name in value} if isinstance(value, dict) else models

    def _datasets(self, value: Any) -> dict[str, PlanDataset]:
        if not isinstance(value, dict) or not value:
            self.wrong("datasets", "missing; at least one table [datasets.NAME] is right")
            return {}
        found = {}
        for name, table in value.items():
            place = f"[datasets.{name}]"
            if not is_name(name):
                self.wrong(place, f"the name is {_shown(name)}; {NAME[1]} is right")
            good = self._table(place, table, DATASET_KEYS)
            files = good.get("files", ())
            paths = [self.path.parent / f for f in ([files] if isinstance(files, str) else files)]
            for path in paths:
                if not path.is_file():
                    self.wrong(f"{place} files", f"{path}: no such file")
            found[name] = PlanDataset(
                name,
                tuple(paths),
                good.get("mapping", "native"),
                good.get("limit"),
                good.get("seed"),
            )
        return found

    def _table(self, place: str, table: Any, keys: Mapping[str, Check]) -> dict[str, Any]:
        """Return the good entries of a table, telling of the others."""
        if not isinstance(table, dict):
            self.wrong(place, f"{_shown(table)}; a table is right")
            return {}
        good = {}
        for key, value in table.items():
            if key not in keys:
                self.wrong(place, f"{key!r} is unknown; {', '.join(keys)} are right")
                continue
            is_right, right = keys[key]
            if is_right(value):
                good[key] = value
            else:
                self.wrong(f"{place} {key}", f"{_shown(value)}; {right} is right")
        return good

    def _stages(
        self,
        value: Any,
        datasets: Mapping[str, PlanDataset],
        endpoints: Mapping[str, Endpoint],
        sets: Mapping[str, PlanSet],
    ) -> Iterator[PlanStage]:
        if not isinstance(value, list) or not value:
            self.wrong("stages", "missing; at least one table [[stages]] is right")
            return
        for number, table in enumerate(value, start=1):
            place = f"[[stages]] {number}"
            if not isinstance(table, dict):
                self.wrong(place, f"{_shown(table)}; a table is right")
                continue
            stage = table.get("stage")
            if stage not in STAGES:
                self.wrong(
                    f"{place} stage", f"{_shown(stage)}; one of {', '.join(STAGES)} is right"
                )
                continue
            place = f"{place} ({stage})"
            on_sets = stage == "relations"
            over: Mapping[str, Any] = sets if on_sets else datasets
            what = "sets" if on_sets else "datasets"
            own = {k: v for k, v in table.items() if k not in ("stage", "models", what)}
            parameters = self._table(place, own, STAGES[stage])
            self._together(place, stage, parameters)
            for key in OTHER_MODELS:
                if key in parameters:
                    self._chosen(place, key, parameters[key], endpoints)
            if not over and (on_sets or (sets and stage not in WITHOUT_DATASETS)):
                self.wrong(place, f"no {what} in the plan; a table [{what}.NAME] is right")
            on = self._chosen(place, what, table.get(what), over)
            for model in self._asked(place, stage, table, endpoints):
                both = ((), on) if on_sets else (on, ())
                yield PlanStage(stage, model, both[0], parameters, place, both[1])

    def _together(self, place: str, stage: str, parameters: Mapping[str, Any]) -> None:
        """Tell of parameters that do not go together."""
        if stage != "judge":
            return
        labelled = parameters.get("items") == "labelled"
        if labelled != ("labelled_by" in parameters):
            self.wrong(place, 'items = "labelled" goes with labelled_by = "RATER", and only there')
        of_facts = parameters.get("schema") == "decomposition"
        if not of_facts and "decomposition" in parameters:
            self.wrong(place, 'a decomposition can only go with schema = "decomposition"')
        if of_facts and parameters.get("items") == "cases":
            self.wrong(place, 'items is "cases"; sample, all or labelled is right for facts')

    def _asked(
        self, place: str, stage: str, table: Mapping[str, Any], endpoints: Mapping[str, Endpoint]
    ) -> tuple[str | None, ...]:
        if stage not in ASKING:
            if "models" in table:
                self.wrong(place, f"models: {stage} asks no model; leave it out")
            return (None,)
        if "models" not in table and len(endpoints) != 1:
            self.wrong(
                place, f"models is missing; some of {', '.join(endpoints) or 'none'} are right"
            )
            return ()
        return self._chosen(place, "models", table.get("models"), endpoints)

    def _chosen(
        self, place: str, key: str, value: Any, known: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Return the names chosen among the known, all when none are."""
        if value is None:
            return tuple(known)
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not names or not texts(names):
            self.wrong(f"{place} {key}", f"{_shown(value)}; a name or a list of names is right")
            return ()
        for name in names:
            if name not in known:
                there = ", ".join(known) or "none"
                self.wrong(f"{place} {key}", f"{name!r} is not in the plan; there are: {there}")
        return tuple(dict.fromkeys(n for n in names if n in known))


def _spares_datasets(stages: Any) -> bool:
    """Return whether stages are given, none of which surely asks about a dataset."""
    if not isinstance(stages, list) or not stages:
        return False
    return all(isinstance(s, dict) and s.get("stage") in WITHOUT_DATASETS for s in stages)


def _unread(name: str) -> Endpoint:
    """Stand for a model whose table is wrong, so that stages naming it are not blamed as well."""
    return Endpoint(name=name or "model", model="unread", base_urls=("http://127.0.0.1",))


def _shown(value: object) -> str:
    """Return a value as an error quotes it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
