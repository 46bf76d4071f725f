"""Templates that several tests share."""

from __future__ import annotations

from typing import Any

from scoring.deduction import Template, template_from_dict

JAMES: dict[str, Any] = {
    "problem": "letters",
    "question": "James writes a {num_pages}-page letter to {num_friends} different friends"
    " {num_times} times a week. How many pages does he write a year?",
    "steps": [
        "James writes {num_pages} pages to {num_friends} friends {num_times} times a week.",
        "There are {num_weeks_in_a_year} weeks in a year.",
        "So that is {num_pages} * {num_friends} * {num_times} = {pages_per_week} pages a week.",
        "In a year, that is {num_weeks_in_a_year} * {pages_per_week} = {total_pages} pages.",
    ],
    "code": "num_pages = 3\nnum_friends = 2\nnum_times = 2\nnum_weeks_in_a_year = 52\n"
    "pages_per_week = num_pages * num_friends * num_times\n"
    "total_pages = pages_per_week * num_weeks_in_a_year\n",
    "factual": {"num_pages": 3, "num_friends": 2, "num_times": 2},
    "gold": 624,
}

SHOP: dict[str, Any] = {
    "problem": "shop",
    "question": "A shop sells {boxes} boxes at ${price} each and gives {share} of it away. What is"
    " left?",
    "steps": [
        "{boxes} boxes at ${price} bring {boxes} * {price} = ${income}.",
        "It gives away {share} * {income} = ${gift}.",
        "So {income} - {gift} = ${left} is left.",
    ],
    "code": "income = boxes * price\ngift = share * income\nleft = income - gift",
    "factual": {"boxes": 4, "price": 2.5, "share": 0.25, "income": 10},
    "gold": "7.5",
    "ranges": {"boxes": [2, 12]},
    "conditions": ["income >= 1", "left < 500"],
}


def james(**changes: Any) -> Template:
    return template_from_dict(JAMES | changes)


def shop(**changes: Any) -> Template:
    return template_from_dict(SHOP | changes)
