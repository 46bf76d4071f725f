"""`medoid decompose --sample`: which decomposed traces people label."""

from __future__ import annotations

from dataclasses import asdict

from tui.commands.common import database, print_json, say, usage_errors


def draw_sample(db: str, name: str | None, n: int, seed: int, *, as_json: bool) -> None:
    """Draw a sample of the decomposition of this name, or of the only one there is.

    The command fails where the name is unknown, or not given and not clear.
    """
    with usage_errors(), database(db) as store:
        if name is None:
            known = [d.name for d in store.decompositions()]
            if len(known) != 1:
                names = ", ".join(known) or "none yet"
                raise ValueError(f"say which decomposition with --name; there are: {names}")
            name = known[0]
        made = store.decomposition_named(name)
        drawn = store.make_decomposition_sample(made.id, n, seed)
    if as_json:
        print_json(
            {"decomposition": name, "seed": seed, "n_sampled": drawn.n_sampled, **asdict(drawn)}
        )
        return
    probability = "–" if drawn.probability is None else f"{drawn.probability:.4g}"
    say(
        f"sample   decomposition {name}: {drawn.n_sampled:,} of {drawn.n_population:,} traces with "
        f"facts to label, each with probability {probability} (seed {seed})"
    )
    told = [
        (drawn.n_new, "new"),
        (drawn.n_same, "there already"),
        (drawn.n_kept, "of another draw kept, as somebody labelled them"),
        (drawn.n_withdrawn, "of another draw withdrawn"),
        (drawn.n_left_out, "left out, as they have no facts"),
    ]
    if any(count for count, _ in told):
        say("         " + ", ".join(f"{count:,} {what}" for count, what in told if count))
    if drawn.n_sampled:
        say("         label them in the workbench: medoid, then d")
