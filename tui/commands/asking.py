"""What the commands that ask a model share: their options, and how they tell what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from tui.commands.common import OK, PARTLY, clock, progress_printer, say

if TYPE_CHECKING:
    from judges.endpoint import Endpoint
    from pipeline.asking import AskSummary, How
    from pipeline.batching import BatchWay

ModelOption = Annotated[
    str | None,
    typer.Option(help="Which model of the file of models; with --base-url, the server's name."),
]
ModelsOption = Annotated[
    Path | None,
    typer.Option(
        "--models",
        envvar="MEDOID_MODELS",
        help="File of models ([models.NAME] with base_url …).  [default: medoid.toml]",
    ),
]
BaseUrlOption = Annotated[
    list[str] | None,
    typer.Option(help="A server, such as http://127.0.0.1:8080/v1, in place of a file of models."),
]
KeyEnvOption = Annotated[
    str | None,
    typer.Option(help="Environment variable that holds the key (with --base-url)."),
]
DatasetOption = Annotated[
    list[str] | None, typer.Option(help="Which datasets; all if not given.  (repeatable)")
]
PoolOption = Annotated[str | None, typer.Option(help="Which pool of traces; all if not given.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="So many questions of each dataset at most.")
]
DrawOption = Annotated[
    int | None,
    typer.Option("--draw", min=0, help="Draw those questions by this seed, else the first ones."),
]
FormOption = Annotated[
    str | None,
    typer.Option(
        help="Replies bound by a JSON schema, or plain text: schema, text or auto; "
        "the model's setting if not given."
    ),
]
TemperatureOption = Annotated[float | None, typer.Option(min=0, help="Sampling temperature.")]
TopPOption = Annotated[float | None, typer.Option(min=0, max=1, help="Nucleus sampling.")]
MaxTokensOption = Annotated[
    int | None, typer.Option(min=1, help="Longest reply in tokens; what the role needs by default.")
]
SamplingSeedOption = Annotated[
    int | None, typer.Option(min=0, help="Seed sent to the server (each sample gets its own).")
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Say what would be asked and cost; ask nothing, write nothing."),
]
MaxTotalOption = Annotated[
    int | None, typer.Option("--max-tokens-total", min=1, help="Stop before using more tokens.")
]
MaxCostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, help="Stop before spending more.")
]


def chosen_endpoint(
    model: str | None, models: Path | None, base_url: list[str] | None, key_env: str | None
) -> Endpoint:
    """Return the endpoint that the options mean. ValueError or OSError where none is clear."""
    from pipeline.models import find_endpoint

    return find_endpoint(model, models=models, base_url=base_url or (), key_env=key_env)


def chosen_form(
    endpoint: Endpoint, form: str | None
) -> tuple[Endpoint, Literal["schema", "text"] | None]:
    """Return the endpoint and the form to ask in, None where it is to be found out."""
    from dataclasses import replace

    if form == "auto":
        return replace(endpoint, structured="auto"), None
    if form is None:
        return endpoint, None
    if form in ("schema", "text"):
        return endpoint, "schema" if form == "schema" else "text"
    raise ValueError(f"--form is {form!r}; schema, text or auto is right")


BatchOption = Annotated[
    bool,
    typer.Option(
        "--batch", help="Ask by the server's Batch API: submit; the same command later collects."
    ),
]
WaitOption = Annotated[
    bool, typer.Option("--wait", help="With --batch, stay until the batches are done.")
]


def asking_how(
    max_tokens: int | None,
    max_cost: float | None,
    dry_run: bool,
    batch: bool = False,
    wait: bool = False,
) -> How:
    """Return what the asking stages take besides their own parameters."""
    from judges.client import Budget

    if wait and not batch:
        raise ValueError("--wait goes with --batch")
    bounded = max_tokens is not None or max_cost is not None
    return {
        "budget": Budget(max_tokens=max_tokens, max_cost=max_cost) if bounded else None,
        "on_progress": progress_printer(),
        "on_note": lambda note: say(f"note: {note}", err=True),
        "dry_run": dry_run,
        "batch": _batch_way(wait) if batch else None,
    }


def _batch_way(wait: bool) -> BatchWay:
    from pipeline.batching import BatchWay

    return BatchWay(wait=wait)


def money(amount: float, currency: str | None) -> str:
    """Return an amount for a reader; small ones keep two digits that say something.

    >>> money(1.23456, "USD"), money(0.0000123, "EUR"), money(0.0, "USD")
    ('1.2346 USD', '0.000012 EUR', '0.0000 USD')
    """
    digits = 4
    while amount and digits < 10 and amount < 10 ** (1 - digits):
        digits += 1
    return f"{amount:.{digits}f} {currency or ''}".rstrip()


def print_asked(asking: AskSummary) -> None:
    """Print how requests ended, and what they used."""
    if asking.estimate is not None:
        print_estimate(asking)
        return
    if not asking.n_requests:
        say(f"{asking.stage:8} nothing to ask: {asking.n_known:,} results were there already")
        return
    ended = ", ".join(f"{n:,} {outcome}" for outcome, n in asking.outcomes.items() if n)
    known = f" ({asking.n_known:,} more were there already)" if asking.n_known else ""
    say(f"{asking.stage:8} {asking.n_requests:,} requests{known}: {ended or 'none ended'}")
    used = [f"{asking.n_asked:,} asked"]
    if asking.n_cached:
        used.append(f"{asking.n_cached:,} from kept replies")
    if asking.retries:
        used.append(f"{asking.retries:,} retries")
    used.append(f"{asking.prompt_tokens:,} + {asking.completion_tokens:,} tokens")
    if asking.unknown_usage:
        used.append(f"{asking.unknown_usage:,} replies without a token count")
    if asking.cost is not None:
        used.append(money(asking.cost, asking.currency))
    used.append(clock(asking.seconds))
    if asking.seconds and asking.n_asked:
        rate = asking.n_asked / asking.seconds
        used.append(f"{rate:.1f} a second" if rate >= 1 else f"{60 * rate:.1f} a minute")
    say("         " + ", ".join(used))
    for server in asking.servers:
        state = "" if server.alive else ", left alone since it does not answer"
        aside = f", set aside {server.set_aside:,} times" if server.set_aside else ""
        say(
            f"         {server.url}: {server.replies:,} replies, {server.faults:,} faults"
            f"{aside}{state}"
        )


def print_estimate(asking: AskSummary) -> None:
    """Print what asking would take."""
    e = asking.estimate
    if e is None:
        return
    known = f"; {asking.n_known:,} results are there already" if asking.n_known else ""
    say(
        f"{asking.stage:8} {e.n_requests:,} requests, {e.n_cached:,} of them answered by kept "
        f"replies or equal ones, {e.n_to_ask:,} to ask{known}"
    )
    most = (
        "no limit on the replies' length"
        if e.max_completion_tokens is None
        else f"at most {e.max_completion_tokens:,} completion tokens"
    )
    say(f"         about {e.prompt_tokens:,} prompt tokens (an estimate), {most}")
    price = (
        "costs unknown (no price in the model's settings, or no limit)"
        if e.cost is None
        else f"at most about {money(e.cost, asking.currency)}"
    )
    say(f"         {price}; nothing was asked, nothing written")


def stop_hint(asking: AskSummary, form: str) -> str | None:
    """Return what to do about replies in text form that do not end by themselves, None where they do."""
    cut, n = asking.outcomes.get("truncated", 0), asking.n_replied
    if form != "text" or not cut or 2 * cut < n:
        return None
    return (
        f"{cut:,} of {n:,} replies were cut at their limit: a base model does not stop by itself in "
        'text form; extra = { stop = ["\\n\\n"] } in its settings ends a reply at an empty line'
    )


def print_left(asking: AskSummary) -> None:
    """Say on the error stream what failed or is left, and why."""
    if asking.estimate is not None:
        return
    if asking.stopped:
        say(f"stopped: {asking.stopped}", err=True)
    for reason, n in asking.reasons.items():
        say(f"  {n:,} failed: {reason}", err=True)
    if asking.n_left:
        say(
            f"{asking.n_left:,} of {asking.n_requests:,} are left; the same command asks them",
            err=True,
        )


def end(*askings: AskSummary) -> NoReturn:
    """End the command: 1 where something failed or is left, 0 otherwise."""
    raise typer.Exit(OK if all(a.complete for a in askings) else PARTLY)


def form_note(form: Any) -> str:
    """Return how replies were had, for a reader."""
    words = {"schema": "bound by a JSON schema", "text": "plain text"}
    why = {
        "found": "as found out before",
        "probed": "the server was just looked at",
        "unknown": "assumed: medoid doctor finds it out",
    }.get(form.why, "")
    return f"replies {words[form.form]}" + (f" ({why})" if why else "")
