"""`manage.py apply_policy`: all of a file, or nothing and every reason."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from omnia.audit.models import AuditRow
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from tests.contract.policy_documents import bound, policy, workspace

pytestmark = pytest.mark.django_db


def apply(folder: Path, *documents: Any, text: str | None = None) -> tuple[str, str]:
    """What the command writes to its two outputs. Documents go in as JSON, which is YAML too."""
    file = folder / "file"
    file.write_text("\n---\n".join(map(json.dumps, documents)) if text is None else text, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    call_command("apply_policy", str(file), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_policies_and_workspaces_of_one_file(tmp_path: Path) -> None:
    documents = [workspace(bound("p")), policy()]
    assert apply(tmp_path, *documents)[0] == "workspace/w created\nmemorypolicy/p created\n"
    assert apply(tmp_path, *documents)[0] == "workspace/w unchanged\nmemorypolicy/p unchanged\n"
    changed = [workspace({"displayName": "W", **bound("p")}), policy({"write": {"maxBodyBytes": 1}})]
    assert apply(tmp_path, *changed)[0] == "workspace/w configured\nmemorypolicy/p configured\n"
    assert ServiceGroup.objects.get().policy_name == "p"
    assert set(AuditRow.objects.values_list("actor", flat=True)) == {"system:apply_policy"}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(policy()).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    call_command("apply_policy", "-", stdout=out)
    assert out.getvalue() == "memorypolicy/p created\n"


def test_one_refused_document_refuses_the_file_and_every_problem_is_listed(tmp_path: Path) -> None:
    documents = [
        policy(name="fine"),
        policy({"recall": {"maxRelatedPerMemory": 51}, "gate": {"minDistinctSubjects": 1}}, name="bad"),
        workspace({"services": [{"name": "No"}]}),
        {"kind": "Pod"},
        7,
        policy() | {"metadata": {"name": "Bad_Name"}},
    ]
    with pytest.raises(CommandError) as refusal:
        apply(tmp_path, *documents)
    assert refusal.value.returncode == 1
    lines = str(refusal.value).splitlines()
    assert lines[:5] == [
        "memorypolicy/bad: /spec/recall/maxRelatedPerMemory: must be a whole number from 0 to 50",
        "memorypolicy/bad: /spec/gate/minDistinctSubjects: must be a whole number from 2 to 1000",
        "workspace/w: /spec/services/0/name: must be a lower-case DNS label",
        "document 4: /kind: must be MemoryPolicy or Workspace",
        "document 5: /kind: must be MemoryPolicy or Workspace",
    ]
    assert lines[5].startswith("document 6: /metadata/name: must be a lower-case DNS name")
    assert lines[6:] == ["A document was refused, so none was applied."]
    assert not MemoryPolicy.objects.exists()
    assert not Workspace.objects.exists()
    assert not AuditRow.objects.exists()


def test_a_later_document_is_judged_after_an_earlier_one(tmp_path: Path) -> None:
    out, _ = apply(tmp_path, policy(), policy({"write": {"maxBodyBytes": 1}}))
    assert out == "memorypolicy/p created\nmemorypolicy/p configured\n"
    assert MemoryPolicy.objects.get().generation == 2


def test_a_policy_in_phase_error_is_applied_with_a_warning(tmp_path: Path) -> None:
    out, err = apply(tmp_path, policy({"tiers": {"user": {"ttl": {"default": "2d", "maxAge": "1d"}}}}))
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
        call_command("apply_policy", str(tmp_path / "nowhere"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError, match="not UTF-8"):
        call_command("apply_policy", str(tmp_path / "bytes"))
