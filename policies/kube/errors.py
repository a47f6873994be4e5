"""How a call to the cluster fails, told apart by what the caller can do about it."""

from __future__ import annotations

from omnia.core.errors import FieldProblem


class ClusterError(Exception):
    """The call did not come about. The message is for the log, never for a client."""


class Away(ClusterError):
    """No usable answer: the network, or a server in trouble. Worth asking again later."""


class Denied(ClusterError):
    """403: the process lacks a right; see the roles in deploy/."""


class Gone(ClusterError):
    """410: the version to go on from is no longer kept; list again."""


class Missing(ClusterError):
    """404: there is no such object."""


class Taken(ClusterError):
    """409: there is an object of this name already."""


class Stale(ClusterError):
    """409: the object is no longer the one, or at the version, that the edit was made from."""


class Refused(ClusterError):
    """The server's own admission says no; `problems` say where and why."""

    def __init__(self, message: str, problems: tuple[FieldProblem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems
