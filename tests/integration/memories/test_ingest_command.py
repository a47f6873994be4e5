"""`manage.py ingest`: files and folders become documents, and what is none is named and left behind."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from omnia.core.edition import Edition
from policies.models import Workspace
from tests.support import Store, contents, opened_store, select

pytestmark = pytest.mark.django_db
PAGE = """<!doctype html><html><head><title>Our &amp; page</title><style>p {color: red}</style></head><body>
<h1>Opening hours</h1><p>Open on <b>Monday</b> and <a href="/t">Tuesday</a>, see room_7*.</p>
<script>hidden()</script><h2>Holidays</h2><ul><li>None</li></ul></body></html>"""


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def run(store: Store, *paths: Path, **options: Any) -> tuple[str, str, str]:
    """What was printed, what was complained of, and how it failed."""
    out, err, failure = io.StringIO(), io.StringIO(), ""
    try:
        call_command("ingest", *paths, workspace=str(store.workspace), stdout=out, stderr=err, **options)
    except CommandError as error:
        failure = str(error)
    return out.getvalue(), err.getvalue(), failure


def known(store: Store) -> dict[str, str]:
    """Title by document_id."""
    found = select("SELECT key, title FROM memories_document WHERE workspace_id = %s", store.workspace)
    return {row["key"]: row["title"] for row in found}


def test_a_folder_with_all_that_is_below_it(store: Store, tmp_path: Path) -> None:
    (tmp_path / "more" / ".git").mkdir(parents=True)
    (tmp_path / "guide.md").write_text("# The guide\n\nzanzibar is warm\n")
    (tmp_path / "more" / "notes.TXT").write_text("just notes")
    (tmp_path / "more" / "page.html").write_text(PAGE)
    (tmp_path / "more" / "logo.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "more" / ".git" / "hidden.md").write_text("hidden")
    out, err, failure = run(store, tmp_path, site="handbook")
    assert out.splitlines() == [
        "created guide.md: 1 item",
        "created more/notes.TXT: 1 item",
        "created more/page.html: 2 items",
        "3 documents with 4 items. Left out: 1 file of other kinds.",
    ]
    assert (err, failure) == ("", "")
    assert known(store) == {"guide.md": "The guide", "more/notes.TXT": "notes", "more/page.html": "Our & page"}
    [found] = store.recall("zanzibar", types=["chunk"])["memories"]
    assert found["metadata"] == {"document_id": "guide.md", "site": "handbook"}


def test_html_leaves_its_words_and_headings(store: Store, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    run(store, tmp_path / "page.html")
    chunks = [(row["title"], row["content"]) for row in store.rows() if row["type"] == "chunk"]
    assert chunks == [
        ("Our & page / Opening hours", "Open on **Monday** and Tuesday, see room_7*."),
        ("Our & page / Opening hours / Holidays", "* None"),
    ]


def test_again_says_what_became_of_each(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("alpha")
    (tmp_path / "b.md").write_text("bravo")
    run(store, tmp_path)
    (tmp_path / "b.md").write_text("beta")
    (tmp_path / "c.md").write_text("charlie")
    out, _, _ = run(store, tmp_path)
    assert [line.split(":")[0] for line in out.splitlines()[:3]] == ["unchanged a.md", "replaced b.md", "created c.md"]
    assert contents(store.search("bravo", user_id=None)) == []


def test_what_cannot_be_read_is_named_and_the_rest_taken_in(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "binary.md").write_bytes(b"\0\1\2")
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "deep.html").write_text("<div>" * 5000 + "x")
    (tmp_path / "wide.txt").write_text("wide", encoding="utf-16")
    (tmp_path / "huge.txt").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    (tmp_path / "link.md").symlink_to(tmp_path / "nowhere")
    out, err, failure = run(store, tmp_path, tmp_path / "missing.md")
    reasons = {line.split(": ", 1)[0].rsplit("/", 1)[1]: line.split(": ", 1)[1] for line in err.splitlines()}
    assert reasons == {
        "binary.md": "it is binary",
        "deep.html": "its tags are nested too deeply",
        "empty.md": "text must hold at least one letter, digit or symbol",
        "huge.txt": "it is larger than 16 MiB",
        "latin.txt": "it is not text in UTF-8",
        "link.md": "there is no such file",
        "missing.md": "there is no such file",
        "pipe.md": "it is no regular file",
    }
    assert failure == "Not taken in: 8 of 9 files."
    assert known(store) == {"wide.txt": "wide"}
    assert "1 document with 1 item." in out


def test_two_files_of_one_name_do_not_replace_each_other(store: Store, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text(folder)
    _, err, failure = run(store, tmp_path / "one", tmp_path / "two")
    assert "another file of this run goes by the same name" in err
    assert failure == "Not taken in: 1 of 2 files."
    assert {row["content"] for row in store.rows() if row["type"] == "chunk"} == {"one"}


def test_a_file_named_outright_is_read_whatever_its_kind(store: Store, tmp_path: Path) -> None:
    (tmp_path / "README").write_text("read me")
    assert run(store, tmp_path / "README")[2] == ""
    assert known(store) == {"README": "README"}


def test_nothing_to_take_in_is_a_failure(store: Store, tmp_path: Path) -> None:
    assert run(store, tmp_path)[2].startswith("There is no file of a known kind")


def test_the_workspace_goes_by_its_name_too(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("alpha")
    name = Workspace.objects.get(uid=store.workspace).name
    call_command("ingest", tmp_path, workspace=name, stdout=io.StringIO())
    assert known(store) == {"a.md": "a"}


def test_an_unknown_workspace_and_core_are_told_in_one_line(store: Store, tmp_path: Path, settings: Any) -> None:
    (tmp_path / "a.md").write_text("alpha")
    with pytest.raises(CommandError, match="workspace"):
        call_command("ingest", tmp_path, workspace="nobody")
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    assert "Enterprise" in run(store, tmp_path)[2]
    assert store.rows() == []
