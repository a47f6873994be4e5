"""`manage.py policy validate|diff|apply|export`: policies and workspaces as files."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from omnia.audit.models import AuditRow
from policies.domain.manifest import load_documents
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from policies.services.stored import stored_specs
from tests.contract.policy_documents import bound, policy, workspace

pytestmark = pytest.mark.django_db
INVALID = {"tiers": {"user": {"ttl": {"default": "2d", "maxAge": "1d"}}}}
UNCOVERED = {"tiers": {"agent": {}}, "schema": {"types": [{"name": "note", "allowedTiers": ["user"]}]}}


def run(action: str, *arguments: object) -> tuple[str, str]:
    """What the command writes to its two outputs."""
    out, err = io.StringIO(), io.StringIO()
    call_command("policy", action, *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def written(folder: Path, *documents: Any, text: str | None = None, name: str = "file") -> Path:
    """A file of these documents, as JSON, which is YAML too."""
    file = folder / name
    file.write_text("\n---\n".join(map(json.dumps, documents)) if text is None else text, encoding="utf-8")
    return file


def apply(folder: Path, *documents: Any, text: str | None = None) -> tuple[str, str]:
    return run("apply", written(folder, *documents, text=text))


def refusal(action: str, *arguments: object) -> tuple[int, list[str]]:
    """The exit status and the lines the command ends with."""
    with pytest.raises(CommandError) as refused:
        run(action, *arguments)
    return refused.value.returncode, str(refused.value).splitlines()


def test_policies_and_workspaces_of_one_file(tmp_path: Path) -> None:
    documents = [workspace(bound("p")), policy()]
    assert apply(tmp_path, *documents)[0] == "workspace/w created\nmemorypolicy/p created\n"
    assert apply(tmp_path, *documents)[0] == "workspace/w unchanged\nmemorypolicy/p unchanged\n"
    changed = [workspace({"displayName": "W", **bound("p")}), policy({"write": {"maxBodyBytes": 1}})]
    assert apply(tmp_path, *changed)[0] == "workspace/w configured\nmemorypolicy/p configured\n"
    assert ServiceGroup.objects.get().policy_name == "p"
    assert set(AuditRow.objects.values_list("actor", flat=True)) == {"system:policy"}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(policy()).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("apply", "-")[0] == "memorypolicy/p created\n"


def test_one_refused_document_refuses_the_file_and_every_problem_is_listed(tmp_path: Path) -> None:
    documents = [
        policy(name="fine"),
        policy({"recall": {"maxRelatedPerMemory": 51}, "gate": {"minDistinctSubjects": 1}}, name="bad"),
        workspace({"services": [{"name": "No"}]}),
        {"kind": "Pod"},
        7,
        policy() | {"metadata": {"name": "Bad_Name"}},
    ]
    file = written(tmp_path, *documents)
    status, lines = refusal("apply", file)
    assert status == 1
    assert lines[:5] == [
        f"{file}: memorypolicy/bad: /spec/recall/maxRelatedPerMemory: must be a whole number from 0 to 50",
        f"{file}: memorypolicy/bad: /spec/gate/minDistinctSubjects: must be a whole number from 2 to 1000",
        f"{file}: workspace/w: /spec/services/0/name: must be a lower-case DNS label",
        f"{file}: document 4: /kind: must be MemoryPolicy or Workspace",
        f"{file}: document 5: /kind: must be MemoryPolicy or Workspace",
    ]
    assert lines[5].startswith(f"{file}: document 6: /metadata/name: must be a lower-case DNS name")
    assert lines[6:] == ["A document was refused, so none was applied."]
    assert not MemoryPolicy.objects.exists()
    assert not Workspace.objects.exists()
    assert not AuditRow.objects.exists()


def test_a_later_document_is_judged_after_an_earlier_one(tmp_path: Path) -> None:
    out, _ = apply(tmp_path, policy(), policy({"write": {"maxBodyBytes": 1}}))
    assert out == "memorypolicy/p created\nmemorypolicy/p configured\n"
    assert MemoryPolicy.objects.get().generation == 2


def test_a_policy_in_phase_error_is_applied_with_a_warning(tmp_path: Path) -> None:
    out, err = apply(tmp_path, policy(INVALID))
    assert out == "memorypolicy/p created\n"
    assert err.strip() == (
        "memorypolicy/p is in phase Error: /spec/tiers/user/ttl/default must not be longer than maxAge"
    )


def test_a_binding_to_a_policy_that_is_not_there_is_applied_with_a_warning(tmp_path: Path) -> None:
    out, err = apply(tmp_path, workspace(bound("typo")), policy())
    assert out == "workspace/w created\nmemorypolicy/p created\n"
    assert err.strip() == "workspace/w runs without a policy until there is one of the name typo"
    assert apply(tmp_path, workspace(bound("p")))[1] == ""
    assert apply(tmp_path, workspace(bound("late"), name="other"), policy(name="late"))[1] == ""


def test_a_tier_nothing_can_be_written_to_is_applied_with_a_warning(tmp_path: Path) -> None:
    warning = "memorypolicy/p has a tier that takes no memory: no schema type may be written to: agent\n"
    assert apply(tmp_path, policy(UNCOVERED)) == ("memorypolicy/p created\n", warning)


def test_several_files_are_applied_as_one(tmp_path: Path) -> None:
    files = [written(tmp_path, workspace(bound("p")), name="a"), written(tmp_path, policy(), name="b")]
    assert run("apply", *files) == ("workspace/w created\nmemorypolicy/p created\n", "")
    bad = written(tmp_path, policy({"x": 1}, name="bad"), name="c")
    status, lines = refusal("apply", written(tmp_path, policy(name="fine"), name="d"), bad)
    assert (status, lines[0].partition(" is not")[0]) == (1, f"{bad}: memorypolicy/bad: /spec/x:")
    assert set(MemoryPolicy.objects.values_list("name", flat=True)) == {"p"}


class TestValidate:
    def test_good_files_are_said_to_be_valid_and_nothing_is_stored(self, tmp_path: Path) -> None:
        file = written(tmp_path, policy(), workspace(bound("elsewhere")), policy(UNCOVERED, name="q"))
        out, err = run("validate", file)
        assert out == "memorypolicy/p valid\nworkspace/w valid\nmemorypolicy/q valid\n"
        assert err.startswith("memorypolicy/q has a tier that takes no memory")
        assert stored_specs() == {}

    def test_every_fault_is_told_with_its_file_and_place(self, tmp_path: Path) -> None:
        """A policy that would be stored in phase Error is not valid either."""
        file = written(
            tmp_path, policy({"recall": {"maxRelatedPerMemory": 51}}), policy(INVALID, name="q"), policy(name="r")
        )
        assert refusal("validate", file) == (1, [
            f"{file}: memorypolicy/p: /spec/recall/maxRelatedPerMemory: must be a whole number from 0 to 50",
            f"{file}: memorypolicy/q: /spec/tiers/user/ttl/default: must not be longer than maxAge",
            "2 of 3 documents are not valid.",
        ])  # fmt: skip


@pytest.mark.django_db(databases=[])
def test_ci_needs_no_database_to_validate(tmp_path: Path) -> None:
    assert run("validate", written(tmp_path, policy()))[0] == "memorypolicy/p valid\n"


class TestDiff:
    def test_nothing_to_do_is_nothing_to_say(self, tmp_path: Path) -> None:
        """Defaults the store filled in are no difference, nor is the order of keys."""
        apply(tmp_path, policy({"gate": {}, "write": {"maxBodyBytes": 1}}))
        assert run("diff", written(tmp_path, policy({"write": {"maxBodyBytes": 1}, "gate": {}}))) == ("", "")

    def test_a_change_is_shown_line_by_line_and_nothing_is_stored(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        apply(tmp_path, policy({"write": {"maxBodyBytes": 1}}))
        before = stored_specs()
        file = written(tmp_path, policy({"write": {"maxBodyBytes": 2}}), workspace())
        with pytest.raises(SystemExit) as ended:
            call_command("policy", "diff", str(file))
        shown = capsys.readouterr().out
        assert ended.value.code == 1
        assert f"--- memorypolicy/p (stored)\n+++ {file}: memorypolicy/p\n" in shown
        assert "-    maxBodyBytes: 1\n+    maxBodyBytes: 2\n" in shown
        assert "+kind: Workspace\n" in shown
        assert stored_specs() == before

    def test_a_refused_document_has_an_exit_status_of_its_own(self, tmp_path: Path) -> None:
        file = written(tmp_path, policy({"write": {"maxBodyBytes": -1}}))
        assert refusal("diff", file) == (2, [f"{file}: memorypolicy/p: /spec/write/maxBodyBytes: must be a whole number from 0 to 1048576"])  # fmt: skip

    def test_what_an_update_may_leave_as_it_is_is_no_fault_here(self, tmp_path: Path) -> None:
        legacy = {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.4"}}}
        MemoryPolicy.objects.create(name="p", spec={"tiers": {}, **legacy})
        with pytest.raises(SystemExit):
            run("diff", written(tmp_path, policy(legacy | {"write": {"maxBodyBytes": 1}})))
        assert refusal("validate", tmp_path / "file")[0] == 1


class TestExport:
    def test_what_was_written_out_is_applied_elsewhere_as_it_was(self, tmp_path: Path) -> None:
        documents = [policy({"write": {"maxBodyBytes": 1}, "gate": {}}), policy(name="q"), workspace(bound("p"))]
        apply(tmp_path, *documents)
        before = stored_specs()
        text, _ = run("export")
        assert "status" not in text
        MemoryPolicy.objects.all().delete()
        Workspace.objects.all().delete()
        apply(tmp_path, text=text)
        assert stored_specs() == before

    def test_one_document_by_its_name(self, tmp_path: Path) -> None:
        apply(tmp_path, policy({"write": {"maxBodyBytes": 1}}), policy(name="q"), workspace())
        [document] = load_documents(run("export", "memorypolicy/p")[0])
        assert document == policy({"write": {"maxBodyBytes": 1}})
        assert list(document["spec"]) == ["tiers", "write"], "in the order of the schema"
        assert refusal("export", "memorypolicy/p", "workspace/none") == (1, ["There is no workspace/none."])

    def test_nothing_stored_is_nothing_to_write(self) -> None:
        assert run("export") == ("", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no document"),
        ("# nothing\n---\n", "holds no document"),
        ("kind: MemoryPolicy\nkind: Workspace\n", "a key stands twice"),
        ("a: &a [*a]", "aliases written out"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        apply(tmp_path, text=text)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        run("apply", tmp_path / "nowhere")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError, match="not UTF-8"):
        run("apply", tmp_path / "bytes")
