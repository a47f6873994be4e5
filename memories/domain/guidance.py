"""What a model is told about the memory tools: how to use them in this workspace (spec: toolGuidance).

The text is derived from the policy in force, and the workspace's and the agent's own notes follow it, so that a
note can add to how the store behaves but never stands in its place. A policy and notes are all that comes in
here: no memory can write into the instructions a model reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memories.domain import guidance_parameters as parameters
from memories.domain import guidance_texts as texts
from policies.domain.effective import EffectivePolicy

LONGEST_AGENT_NOTES = 2000
"""In characters; what an agent says beyond is left out."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as a model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class Guidance:
    """The tools, and a version that changes with the policy and with every word of them."""

    version: str
    tools: tuple[Tool, ...]

    def as_json(self) -> dict[str, Any]:
        return {"version": self.version, "tools": [tool.as_json() for tool in self.tools]}


def tool_guidance(policy: EffectivePolicy, *, agent_notes: str = "") -> Guidance:
    """The tools under `policy`, with an agent's own advice behind everything else."""
    notes, heard = policy.tool_guidance, agent_notes[:LONGEST_AGENT_NOTES].strip()
    tools = tuple(
        Tool(
            name=f"memory__{verb}",
            description=_described(describe(policy), workspace=(notes.notes, getattr(notes.tools, verb)), agent=heard),
            parameters=schema(policy),
        )
        for verb, (describe, schema) in _TOOLS.items()
    )
    return Guidance(_version(policy, tools), tools)


_TOOLS = {
    "remember": (texts.remember, parameters.remember),
    "recall": (texts.recall, parameters.recall),
    "list": (texts.listing, parameters.listing),
    "forget": (texts.forget, parameters.one_memory),
    "open": (texts.opening, parameters.one_memory),
}


def _described(derived: str, *, workspace: tuple[str, str], agent: str) -> str:
    parts, said = [derived], [note.strip() for note in workspace if note.strip()]
    if said:
        parts.append("\n".join(["Notes for this workspace:", *said]))
    if agent:
        parts.append(f"Notes for this agent:\n{agent}")
    return "\n\n".join(parts)


def _version(policy: EffectivePolicy, tools: tuple[Tool, ...]) -> str:
    told = [policy.name, policy.generation, policy.vocabulary.version, [tool.as_json() for tool in tools]]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
