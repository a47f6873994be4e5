"""A draft as the editor shows it: each field with its value, problem and change, and what speaks against saving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from omnia.core.errors import FieldProblem
from policies.dashboard.draft import Draft, Fault, placed, shown
from policies.dashboard.fields import Field, value_at
from policies.dashboard.places import line_of
from policies.dashboard.readback import read_back
from policies.dashboard.review import Line, Sentence, compared, dotted, sentences
from policies.dashboard.sections import Group, NotShown, Section, fields_of, sections_of
from policies.domain.schema.crd import name_in
from policies.services.check import check_policy


@dataclass(frozen=True, slots=True)
class Setting:
    """A field as it stands: its text, what that means, what is wrong with it, and what it was when it changed."""

    field: Field
    value: str
    meaning: str
    problem: str
    was: str | None


@dataclass(frozen=True, slots=True)
class KeptPart:
    """What the form keeps unseen; `stated`: the document has it."""

    part: NotShown
    stated: bool


@dataclass(frozen=True, slots=True)
class ShownGroup:
    group: Group
    settings: list[Setting]
    kept: list[KeptPart]


@dataclass(frozen=True, slots=True)
class ShownSection:
    """`stated`: the document has it. `standing`: it cannot be removed."""

    section: Section
    groups: list[ShownGroup]
    stated: bool
    standing: bool
    changed: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it stands, and its line in the YAML; `field` when the form shows it there."""

    pointer: str
    name: str
    detail: str
    line: int
    field: Field | None


@dataclass(frozen=True, slots=True)
class Editor:
    """Everything the templates show of a draft. `new`: of no policy yet. `refused`: it cannot be stored at all."""

    draft: Draft
    new: bool
    sections: list[ShownSection]
    problems: list[Problem]
    refused: bool
    changes: list[Sentence]

    @property
    def readable(self) -> bool:
        return not isinstance(self.draft.read, Fault)

    @property
    def name(self) -> str:
        return str(value_at(self.draft.document, ("metadata", "name")) or "")

    @property
    def name_problem(self) -> str:
        return next((each.detail for each in self.problems if each.pointer == "/metadata/name"), "")

    @property
    def elsewhere(self) -> list[Problem]:
        """The problems that no field of the form shows; a new policy's name is a field too."""
        shown_too = {"/metadata/name"} if self.new else {}
        return [each for each in self.problems if each.field is None and each.pointer not in shown_too]

    @property
    def comparison(self) -> list[Line]:
        return compared(self.draft) if self.readable else []

    @property
    def first_problem(self) -> str:
        """The field to go to."""
        return next((each.field.pointer for each in self.problems if each.field), "")


def edited(draft: Draft, *, name: str, now: datetime, found: Sequence[FieldProblem] = ()) -> Editor:
    """The editor of a draft of the policy `name` (empty: a new one). `found`: what saving it was refused for."""
    if isinstance(draft.read, Fault):
        problem = Problem("", "YAML", draft.read.detail, draft.read.line, None)
        return Editor(draft, not name, [], [problem], True, [])
    fields = {field.pointer: field for field in fields_of(draft.document)}
    errors, refused = (tuple(found), True) if found else _judged(draft, name, now)
    problems = [_problem(each, fields, draft.text) for each in errors]
    changed = sentences(draft.base, draft.document.get("spec", {}), fields=fields, now=now)
    return Editor(draft, not name, _sections(draft, problems, changed, now), problems, refused, changed)


def _judged(draft: Draft, name: str, now: datetime) -> tuple[tuple[FieldProblem, ...], bool]:
    """What is wrong with the document, and whether it could not even be stored."""
    document = placed(draft.document, ("metadata", "name"), name, base={}) if name else draft.document
    verdict = check_policy(document, as_create=not name, now=now)
    foreign = tuple(_beyond_the_spec(draft, name)) if name else ()
    return foreign + verdict.errors, bool(foreign) or (not verdict.valid and not verdict.conditions)


def _beyond_the_spec(draft: Draft, name: str) -> Iterator[FieldProblem]:
    """What an edit would silently not save: an object keeps its name, and only its spec is edited here."""
    if name_in(draft.document) != name:
        detail = f"must be {name}; duplicate the policy to give it another name"
        yield FieldProblem("/metadata/name", "not_allowed", detail)
    metadata = draft.document.get("metadata")
    for key in sorted(metadata.keys() - {"name"}) if isinstance(metadata, dict) else ():
        yield FieldProblem(f"/metadata/{key}", "not_allowed", "is not edited here; only the spec is")


def _problem(each: FieldProblem, fields: dict[str, Field], text: str) -> Problem:
    """A problem inside a list is shown at the field that holds the list."""
    around = (pointer for pointer in fields if each.pointer == pointer or each.pointer.startswith(pointer + "/"))
    return Problem(
        each.pointer,
        dotted(each.pointer) or "The document",
        each.detail,
        line_of(text, each.pointer),
        fields.get(next(around, "")),
    )


def _sections(draft: Draft, problems: list[Problem], changed: list[Sentence], now: datetime) -> list[ShownSection]:
    wrong: dict[str, str] = {}
    for problem in problems:
        if problem.field:
            wrong.setdefault(problem.field.pointer, problem.detail)
    was = {each.pointer: each.before for each in changed}

    def setting(field: Field) -> Setting:
        text = shown(field, draft.document)
        before = was.get(field.pointer)
        return Setting(field, text, read_back(field, text, now=now), wrong.get(field.pointer, ""), before)

    def group(each: Group) -> ShownGroup:
        kept = [KeptPart(part, value_at(draft.document, part.path) is not None) for part in each.not_shown]
        return ShownGroup(each, [setting(field) for field in each.fields], kept)

    def section(each: Section) -> ShownSection:
        below = each.pointer + "/"
        return ShownSection(
            section=each,
            groups=[group(inner) for inner in each.groups],
            stated=value_at(draft.document, each.path) is not None,
            standing=each.key == "tiers",
            changed=sum(1 for pointer in was if (pointer + "/").startswith(below)),
            wrong=sum(1 for problem in problems if (problem.pointer + "/").startswith(below)),
        )

    return [section(each) for each in sections_of(draft.document)]
