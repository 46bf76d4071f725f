"""Which server is asked, and whether its replies are bound by a schema."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judges.endpoint import Endpoint, SchemaKeywords, read_models
from judges.requests import Form
from store import Store

if TYPE_CHECKING:
    import httpx2

    from judges.probe import Probe

DEFAULT_FILE = Path("medoid.toml")
FILE_VARIABLE = "MEDOID_MODELS"


def models_file(models: Path | None = None) -> Path | None:
    """Return the file of model settings: the one given, $MEDOID_MODELS, or ./medoid.toml.

    None when there is none of the three.
    """
    if models is not None:
        return models
    named = os.environ.get(FILE_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    return DEFAULT_FILE if DEFAULT_FILE.is_file() else None


def endpoints(models: Path | None = None) -> dict[str, Endpoint]:
    """Return the endpoints of the file of model settings; none where there is no file.

    Raises
    ------
    ValueError
        When the file is wrong, with its place.
    OSError
        When it cannot be read.
    """
    path = models_file(models)
    return {} if path is None else read_models(path)


def find_endpoint(
    model: str | None = None,
    *,
    models: Path | None = None,
    base_url: Sequence[str] = (),
    key_env: str | None = None,
) -> Endpoint:
    """Return the endpoint that is meant.

    With `base_url`, `model` is what the server calls it; else it is a name of the file of model
    settings, and may be left out where that holds one only.

    Raises
    ------
    ValueError
        When none is meant clearly, saying what would be.
    OSError
        When the file cannot be read.
    """
    if base_url:
        if model is None:
            raise ValueError("--base-url goes with --model NAME, as the server calls it")
        return Endpoint(name=model, model=model, base_urls=tuple(base_url), key_env=key_env)
    if key_env is not None:
        raise ValueError("--key-env goes with --base-url; in a file of models it is key_env")
    known = endpoints(models)
    if model is None and len(known) == 1:
        return next(iter(known.values()))
    path = models_file(models)
    if path is None:
        raise ValueError(
            "no model to ask: give --model and --base-url, or describe models in medoid.toml "
            "([models.NAME] with base_url), --models FILE or $MEDOID_MODELS"
        )
    names = ", ".join(known) or "none"
    if model is None:
        raise ValueError(f"--model is missing; {path} has: {names}")
    if model not in known:
        raise ValueError(f"no model {model!r} in {path}; there are: {names}")
    return known[model]


@dataclass(frozen=True, slots=True)
class FormChoice:
    """How replies are had, and how that is known.

    `why` is ``asked`` (by the settings or the caller), ``found`` (by an earlier look at the
    server), ``probed`` (just now), or ``unknown`` (nobody looked, and nobody may now).
    """

    form: Form
    why: str


def choose_form(
    store: Store,
    endpoint: Endpoint,
    form: Form | None = None,
    *,
    before: Form | None = None,
    dry_run: bool = False,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> FormChoice:
    """Return whether replies are bound by a schema.

    `form` overrides the endpoint's setting. Where that is ``auto``, work that was begun goes on in
    the form it had `before`; else what was found out about every one of the servers counts. A
    server nobody looked at is probed now, and the finding is kept. With `dry_run` nothing is asked
    or kept: replies count as bound by a schema until it is known.

    Raises
    ------
    ValueError
        When no server answers.
    """
    if form is not None:
        return FormChoice(form, "asked")
    if endpoint.structured != "auto":
        return FormChoice(endpoint.structured, "asked")
    if before is not None:
        return FormChoice(before, "found")
    why: str = "found"
    structured: list[bool] = []
    notes: list[str] = []
    for url in endpoint.base_urls:
        finding = store.finding(url, endpoint.model)
        if finding is not None:
            structured.append(finding.findings.get("structured") is True)
        elif dry_run:
            return FormChoice("schema", "unknown")
        else:
            why = "probed"
            found = look_at(store, endpoint, url, transport=transport)
            if found.reachable:
                structured.append(found.structured is True)
            notes += found.notes
    if not structured:
        raise ValueError("no server answers: " + "; ".join(notes))
    return FormChoice("schema" if all(structured) else "text", why)


def look_at(
    store: Store | None,
    endpoint: Endpoint,
    url: str,
    *,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Probe:
    """Probe one server of an endpoint, and keep what was found where it could be reached."""
    from dataclasses import replace

    from judges.probe import probe

    found = probe(replace(endpoint, base_urls=(url,)), transport=transport)
    if store is not None and found.reachable:
        store.keep_finding(url, endpoint.model, findings_of(found))
    return found


def with_findings(store: Store, endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with what was found out about the keywords of schemas its servers take.

    ``plain`` when one of them is: any of them may be asked. None where nobody looked at one.
    """
    from dataclasses import replace

    kept = [store.finding(url, endpoint.model) for url in endpoint.base_urls]
    found = {None if k is None else k.findings.get("schema_keywords") for k in kept}
    keywords: SchemaKeywords | None = None
    if "plain" in found:
        keywords = "plain"
    elif found == {"all"}:
        keywords = "all"
    return replace(endpoint, schema_keywords=keywords)


def findings_of(found: Probe) -> Mapping[str, bool | str | None]:
    """Return what is kept of a probe: what the server can do, None where it could not be told."""
    return {
        "model_known": found.model_known,
        "structured": found.structured,
        "schema_keywords": found.schema_keywords,
        "continues_prefix": found.continues_prefix,
        "reports_usage": found.reports_usage,
        "several_choices": found.several_choices,
    }
