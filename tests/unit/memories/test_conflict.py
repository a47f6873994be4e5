"""Two texts that read alike: what sets them apart is told, a paraphrase raises no alarm (design: Merge)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.conflict import LONGEST_COMPARED, Difference, differences

DIFFER = [
    # one saying, another, how they differ
    ("The deadline is October 15th", "The deadline is October 16th", "date"),
    ("Due on 2026-10-15", "Due on 2026-10-16", "date"),
    ("Due on 2026-10-15", "Due on 15 October 2027", "date"),
    ("Due on 15.10.2026", "Due on 14.10.2026", "date"),
    ("The team deploys on Tuesdays", "The team deploys on Thursdays", "date"),
    ("Released in March 2024", "Released in April 2024", "date"),
    ("Leaves today", "Leaves tomorrow", "date"),
    ("Order #12345 is late", "Order #12346 is late", "number"),
    ("Runs v1.2.3", "Runs v1.2.4", "number"),
    ("He quit smoking two years ago", "He quit smoking three years ago", "number"),
    ("The budget is 2000 dollars", "The budget is 5000 dollars", "number"),
    ("The budget is $2,000", "The budget is two thousand and five dollars", "number"),
    ("User was born in 1985", "User was born in 1958", "number"),
    ("Wakes up at 6am", "Wakes up at 6pm", "number"),
    ("Wakes up at 6:15", "Wakes up at 6:45", "number"),
    ("Refunds need approval", "Refunds over 500 need approval", "number"),
    ("Her first child is Ann", "Her second child is Ann", "number"),
    ("預算是5000元", "預算是3000元", "number"),
    ("The docs are at https://corp.example/a", "The docs are at https://corp-example.net/a", "url"),
    ("The docs are at corp.example", "The docs are at corp-example.net", "url"),
    ("Write to ann@corp.example", "Write to bob@corp.example", "url"),
    ("The user is allergic to peanuts", "The user is not allergic to peanuts", "negation"),
    ("Every change must be approved", "Every change must not be approved", "negation"),
    ("She can eat nuts", "She can’t eat nuts", "negation"),
    ("Works at Acme", "No longer works at Acme", "negation"),
    ("Takes coffee with sugar", "Takes coffee without sugar", "negation"),
    ("Customer is unhappy with the delivery", "Customer is happy with the delivery", "negation"),
    ("User prefers dark mode", "User prefers light mode", "negation"),
    ("The office is closed on holidays", "The office is open on holidays", "negation"),
    ("Wants short answers", "Wants long answers", "negation"),
    ("Notifications are enabled", "Notifications are disabled", "negation"),
    ("John reports to Sarah", "Sarah reports to John", "roles"),
    ("Alice reports to Bob", "Bob now reports to Alice", "roles"),
    ("The meeting moved from Monday to Tuesday", "The meeting moved from Tuesday to Monday", "roles"),
    ("Prefers email over phone", "Prefers phone over email", "roles"),
    ("She prefers chat to phone calls", "She prefers phone calls to chat", "roles"),
    ("Works from 9 to 5", "Works from 5 to 9", "roles"),
    ("Likes dogs, not cats", "Likes cats, not dogs", "negation"),
    ("Likes dogs not cats", "Likes cats not dogs", "negation roles"),
    ("Ann does not work on Monday", "Ann works on Tuesday", "date negation"),
]


@pytest.mark.parametrize(("one", "other", "kinds"), DIFFER)
def test_what_sets_two_texts_apart_is_told(one: str, other: str, kinds: str) -> None:
    assert " ".join(differences(one, other)) == kinds
    assert differences(other, one) == differences(one, other)


ALIKE = [
    ("User prefers dark mode", "user prefers dark mode."),
    ("User prefers dark mode in every application", "The user likes apps to use a dark theme"),
    ("He quit smoking two years ago", "He quit smoking 2 years ago"),
    ("The budget is 2000 dollars", "User can spend $2,000"),
    ("The budget is 5k", "The budget is 5,000"),
    ("Has two hundred and five books", "Has 205 books"),
    ("The password is rotated every 90 days", "We rotate the password each ninety days"),
    ("Wakes up at 6am to run", "Goes running at six every morning"),
    ("Deploys at 3 p.m.", "Deploys at 15:00"),
    ("The meeting is on Friday at 3pm", "Meeting scheduled for 3 pm on Friday"),
    ("Due on 2026-10-15", "Due on October 15"),
    ("Due on 5/10/2026", "Due on Oct 5th, 2026"),
    ("The API uses OAuth 2.0", "The API uses OAuth2"),
    ("The docs are at https://www.corp.example/", "Docs: corp.example"),
    ("One of the users prefers tea", "The users prefer tea"),
    ("User is vegetarian", "The user does not eat meat"),
    ("The office is closed on public holidays", "On public holidays the office does not open"),
    ("The customer is unhappy", "The customer is not happy"),
    ("Never call after 6pm", "Do not call after 6 pm"),
    ("She dislikes phone calls and prefers chat", "She would rather chat than talk on the phone"),
    ("On Fridays the team deploys to production", "The team deploys to production on Fridays"),
    ("Likes tea, coffee and cake", "Likes cake, coffee and tea"),
    ("The car is a red Toyota Corolla", "The car is a Toyota Corolla, red"),
    ("Luna and Milo are the cats", "The cats are Luna and Milo"),
    ("Anna manages Ben", "Ben is managed by Anna"),
    ("Ann moved to Lyon", "Ann has moved to Lyon"),
    ("May call at any time", "Call at any time"),
    ("", "Ann moved to Lyon"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_a_paraphrase_raises_no_alarm(one: str, other: str) -> None:
    assert differences(one, other) == differences(other, one) == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared_the_same_way_round_and_back(one: str, other: str) -> None:
    assert differences(one, other) == differences(other, one)
    assert differences(one, one + "  ") == ()


WORDS = st.lists(
    st.sampled_from(
        [
            "Ann",
            "Bob",
            "likes",
            "not",
            "two",
            "3",
            "15:00",
            "Monday",
            "May,",
            "5",
            "open",
            "closed",
            "a@b.example",
            "and",
            "to",
        ]
    )
)


@given(WORDS, WORDS)
def test_case_and_space_make_no_difference(one: list[str], other: list[str]) -> None:
    assert differences(" ".join(one), " ".join(other)) == differences("  ".join(one).upper(), " ".join(other).upper())


HARD = [
    "a-",
    "a.",
    "a@",
    "1.",
    "hundred ",
    "n't",
    "a",
    "'a",
    "1 ",
    "can n't ",
    "one million ",
    "a,",
    "9",
    "1:1",
    "\u0301",
]


@pytest.mark.parametrize("piece", HARD)
def test_a_hostile_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (LONGEST_COMPARED // len(piece))
    assert differences(text, text + " ") == ()
    assert Difference.NUMBER in differences(text, "4711")


def test_what_lies_beyond_the_limit_is_not_read() -> None:
    long = "Ann keeps bees. " * (LONGEST_COMPARED // 16)
    assert differences(long + "5", long + "6") == ()
