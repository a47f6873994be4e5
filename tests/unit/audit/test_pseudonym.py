"""Behaviour case 185: a pseudonym is stable, keyed when a key is set, and empty for nobody."""

from __future__ import annotations

from dataclasses import replace

from omnia.audit.pseudonym import pseudonym


def test_without_a_key_it_is_the_start_of_the_hash():
    assert pseudonym("test-user") == "f85ac825d102b9f2"


def test_a_key_changes_it_and_keeps_it_stable(settings):
    settings.OMNIA = replace(settings.OMNIA, pseudonym_key="one")
    keyed = pseudonym("test-user")
    assert keyed == pseudonym("test-user") != "f85ac825d102b9f2"
    settings.OMNIA = replace(settings.OMNIA, pseudonym_key="two")
    assert pseudonym("test-user") not in (keyed, "f85ac825d102b9f2")


def test_nobody_stays_nobody():
    assert pseudonym("") == ""
