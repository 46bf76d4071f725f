"""Agreement on the first wrong step."""

from __future__ import annotations

import pytest

from scoring.agreement import StepLabel, cohen_kappa, first_wrong_step

SOUND = StepLabel(True)


def wrong(step: int | None = None) -> StepLabel:
    return StepLabel(False, step)


def test_every_combination() -> None:
    a = [SOUND, SOUND, wrong(0), wrong(3), wrong(3), wrong(3), wrong(2), wrong(), None, wrong(1)]
    b = [SOUND, wrong(1), SOUND, wrong(3), wrong(2), wrong(4), wrong(5), wrong(1), SOUND, None]
    r = first_wrong_step(a, b)
    assert (r.exact.k, r.exact.n) == (1, 4)
    assert (r.within_one.k, r.within_one.n) == (3, 4)
    assert (r.agreed.k, r.agreed.n) == (2, 7)
    assert (r.n, r.dropped, r.n_unnamed) == (8, 2, 1)
    split = (r.n_both_sound, r.n_both_wrong, r.n_only_first_sound, r.n_only_second_sound)
    assert split == (1, 5, 1, 1)
    kappa = cohen_kappa([True, True, *[False] * 6], [True, False, True, *[False] * 5])
    assert r.kappa.value == kappa.value


def test_the_answer_is_the_position_after_the_last_step() -> None:
    """A path of three steps that all hold while the answer does not follow is wrong at 3."""
    r = first_wrong_step([wrong(3), wrong(3), wrong(3)], [wrong(3), wrong(2), wrong(1)])
    assert (r.exact.k, r.within_one.k, r.exact.n) == (1, 2, 3)


def test_all_sound_finds_no_step() -> None:
    r = first_wrong_step([SOUND] * 3, [SOUND] * 3)
    assert (r.exact.value, r.within_one.value, r.n_both_sound) == (None, None, 3)
    assert r.exact.why_undefined == "no item to count"
    assert (r.agreed.value, r.kappa.value) == (1.0, None)


def test_nothing_compared() -> None:
    r = first_wrong_step([None], [SOUND])
    assert (r.n, r.dropped, r.agreed.value) == (0, 1, None)
    assert r.kappa.why_undefined == "no item has a label from both raters"


def test_exchange_of_the_raters() -> None:
    a, b = [SOUND, wrong(2), wrong(4)], [wrong(1), wrong(3), wrong(4)]
    one, two = first_wrong_step(a, b), first_wrong_step(b, a)
    assert (one.exact, one.within_one, one.kappa.value) == (
        two.exact,
        two.within_one,
        two.kappa.value,
    )
    assert one.n_only_first_sound == two.n_only_second_sound == 1


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (StepLabel(True, 2), "path 0 of rater 1 is sound and has first wrong step 2"),
        (StepLabel(False, -1), "path 0 of rater 1 has first wrong step -1: steps count from 0"),
        (StepLabel(False, True), "first wrong step True"),
    ],
)
def test_refusals(label: StepLabel, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        first_wrong_step([label], [SOUND])
    with pytest.raises(ValueError, match="rater 1 has 1 paths and rater 2 has 2"):
        first_wrong_step([SOUND], [SOUND, SOUND])
