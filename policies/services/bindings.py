"""Which service groups bind a policy, as far as the caller may know (spec: How Policies Are Bound)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from omnia.api.principal import Principal
from policies.models import MemoryPolicy, ServiceGroup
from policies.services.access import visible_workspaces


@dataclass(frozen=True, slots=True)
class Binding:
    """One service group that runs on a policy."""

    workspace: str
    workspace_uid: UUID
    service_group: str

    def as_json(self) -> dict[str, str]:
        return {
            "workspace": self.workspace,
            "workspace_uid": str(self.workspace_uid),
            "service_group": self.service_group,
        }


def visible_bindings(principal: Principal) -> dict[str, list[Binding]]:
    """Policy name to the groups that bind it, in the workspaces the caller may see.

    A name may be one of no policy: a group can bind what does not exist yet.
    """
    names = {each.uid: each.name for each in visible_workspaces(principal)}
    rows = ServiceGroup.objects.filter(workspace_id__in=names).exclude(policy_name="")
    found: dict[str, list[Binding]] = {}
    for uid, group, policy in rows.order_by("workspace__name", "name").values_list(
        "workspace_id", "name", "policy_name"
    ):
        found.setdefault(policy, []).append(Binding(names[uid], uid, group))
    return found


def visible_policies(principal: Principal) -> list[tuple[MemoryPolicy, list[Binding]]]:
    """The policies the caller may read, by name, each with its visible bindings.

    A platform admin reads every policy, anyone else those bound in a workspace they can see.
    """
    bindings = visible_bindings(principal)
    rows = MemoryPolicy.objects.order_by("name")
    readable = rows if principal.platform_admin else rows.filter(name__in=bindings)
    return [(row, bindings.get(row.name, [])) for row in readable]
