"""A plain table of text as ratings, and the agreement of every pair."""

from __future__ import annotations

import pytest

from scoring.agreement import (
    MISSING_WORDS,
    cohen_kappa,
    gwet_ac1,
    pairwise_agreement,
    rating_table,
)


def test_numbers_are_compared_and_ordered_as_numbers() -> None:
    t = rating_table(
        ["item", "ann", "bob"], [["q1", "10", "9.0"], ["q2", " 9", ""], ["q3", "2", "2"]]
    )
    assert t.raters == ("ann", "bob")
    assert t.ratings == ((10, 9, 2), (9, None, 2))
    assert t.categories == (2, 9, 10)
    assert (t.n_items, t.declared) == (3, False)
    assert t.missing == (("", 1),)


def test_one_word_makes_all_labels_text_in_alphabetical_order() -> None:
    t = rating_table(["a", "b"], [["10", "9"], ["tie", "10"]])
    assert t.ratings == (("10", "tie"), ("9", "10"))
    assert t.categories == ("10", "9", "tie")


def test_words_that_mean_missing_and_states_are_no_labels() -> None:
    rows = [["y", "NA"], ["nan", "y"], ["Unsure", "n"], ["n", "skip"], ["N/A", "null"], ["y", "y"]]
    t = rating_table(["a", "b"], rows)
    assert t.ratings == (("y", None, None, "n", None, "y"), (None, "y", "n", None, None, "y"))
    assert dict(t.missing) == dict.fromkeys(("NA", "nan", "Unsure", "skip", "N/A", "null"), 1)
    assert t.categories == ("n", "y")
    assert rating_table(["a", "b"], rows, missing=MISSING_WORDS).categories == (
        "Unsure",
        "n",
        "skip",
        "y",
    )


def test_a_declared_category_is_never_missing() -> None:
    t = rating_table(["a", "b"], [["none", "some"], ["", "none"]], categories=["none", "some"])
    assert t.ratings == (("none", None), ("some", "none"))
    assert (t.categories, t.declared) == (("none", "some"), True)


def test_declared_numbers_keep_their_order_and_their_gaps() -> None:
    t = rating_table(["a", "b"], [["3", "1.0"]], categories=["3", "2", "1"])
    assert t.categories == (3, 2, 1)
    assert t.ratings == ((3,), (1,))


def test_the_item_column_is_left_out_by_name_or_by_choice() -> None:
    rows = [["1", "x", "x", "free text"], ["2", "y", "x", "more"]]
    assert rating_table(["ID", "a", "b", "c"], rows).raters == ("a", "b", "c")
    assert rating_table(["task", "a", "b", "c"], rows).raters == ("task", "a", "b", "c")
    chosen = rating_table(["task", "a", "b", "note"], rows, raters=["b", "a"])
    assert chosen.raters == ("b", "a")
    assert chosen.ratings == (("x", "x"), ("x", "y"))


@pytest.mark.parametrize(
    ("header", "rows", "options", "message"),
    [
        (["item", "a"], [["1", "x"]], {}, "1 rater in columns"),
        (["a", "a"], [["x", "x"]], {}, "'a' is in the header twice"),
        (["a", "b"], [["x", "y"], ["x"]], {}, "row 2 has 1 cells, but the header names 2"),
        (["a", "b"], [], {}, "no rows below its header"),
        (["a", "b"], [["x", "y"]], {"raters": ["a", "c"]}, "no column 'c'"),
        (["a", "b"], [["x", "y"]], {"raters": ["a", "a", "b"]}, "name one column twice"),
        (
            ["a", "b"],
            [["x", "x"], ["x", "z"]],
            {"categories": ["x", "y"]},
            "row 2, column 'b': 'z' is not among the categories x, y",
        ),
        (["a", "b"], [["1", "1"]], {"categories": ["1", "1.0"]}, "category 1 is declared twice"),
    ],
)
def test_refusals_name_the_place(
    header: list[str], rows: list[list[str]], options: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rating_table(header, rows, **options)


def test_pairs_come_in_the_order_of_columns_with_their_own_n() -> None:
    rows = [["y", "y", "n"], ["n", "n", ""], ["y", "n", "y"], ["n", "n", "n"], ["", "y", "y"]]
    pairs = pairwise_agreement(rating_table(["a", "b", "c"], rows))
    assert [p.raters for p in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    first = pairs[0]
    assert first.table.table.tolist() == [[2, 0], [1, 1]]
    assert first.kappa == cohen_kappa(["y", "n", "y", "n", None], ["y", "n", "n", "n", "y"])
    assert first.ac1.value == gwet_ac1([["y", "n", "y", "n"], ["y", "n", "n", "n"]]).value
    assert first.summary.observed == 0.75
    assert [(p.kappa.n, p.kappa.dropped) for p in pairs] == [(4, 1), (3, 2), (4, 1)]


THREE = [["y", "y", "maybe"], ["n", "y", "n"], ["n", "n", "maybe"], ["y", "y", "y"]]


def test_a_third_rater_does_not_change_a_pair() -> None:
    """The number of categories enters AC1 and PABAK: it is that of the pair."""
    alone = pairwise_agreement(rating_table(["a", "b"], [r[:2] for r in THREE]))[0]
    pair = pairwise_agreement(rating_table(["a", "b", "c"], THREE))[0]
    assert pair.table.categories == ("n", "y")
    assert pair.table.table.tolist() == alone.table.table.tolist()
    assert (pair.kappa, pair.ac1, pair.summary) == (alone.kappa, alone.ac1, alone.summary)
    # po = 3/4 over two categories
    assert pair.summary.pabak == 0.5
    assert pair.ac1.k == 2
    assert pair.ac1.value == gwet_ac1([["y", "n", "n", "y"], ["y", "y", "n", "y"]]).value


def test_declared_categories_count_for_every_pair() -> None:
    table = rating_table(["a", "b", "c"], THREE, categories=["n", "maybe", "y"])
    pair = pairwise_agreement(table)[0]
    assert pair.table.categories == ("n", "maybe", "y")
    # (3·3/4 - 1)/2
    assert pair.summary.pabak == 0.625
    assert pair.ac1.k == 3


def test_a_category_on_an_item_only_one_labelled_counts() -> None:
    pair = pairwise_agreement(rating_table(["a", "b"], [["x", "x"], ["y", "x"], ["z", ""]]))[0]
    assert pair.table.categories == ("x", "y", "z")
    assert (pair.ac1.k, pair.ac1.n, pair.kappa.dropped) == (3, 2, 1)


def test_weights_need_declared_categories() -> None:
    rows = [["1", "2"], ["2", "2"], ["5", "2"], ["1", "1"]]
    with pytest.raises(ValueError, match=r"declare the full list .* in use \(1, 2, 5\)"):
        pairwise_agreement(rating_table(["a", "b"], rows), weights="linear")
    scale = ["1", "2", "3", "4", "5"]
    pair = pairwise_agreement(rating_table(["a", "b"], rows, categories=scale), weights="linear")[0]
    want = cohen_kappa([1, 2, 5, 1], [2, 2, 2, 1], categories=[1, 2, 3, 4, 5], weights="linear")
    assert pair.kappa == want


def test_a_table_without_any_label_is_undefined_not_an_error() -> None:
    pair = pairwise_agreement(rating_table(["a", "b"], [["", "NA"]]))[0]
    assert pair.kappa.value is None
    assert pair.kappa.why_undefined == "no item has a label from both raters"
    assert (pair.kappa.n, pair.kappa.dropped) == (0, 1)
    assert pair.ac1.value is None
