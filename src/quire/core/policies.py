"""What an owner allows in a notebook beyond roles, by effect. The workspace log has it as `PolicySet`."""

from __future__ import annotations

from .events import Permission, PolicySet
from .ids import LogId
from .notebook.directory import Directory

RUN_WITH_PARAMETERS = "run_with_parameters"
"""Whoever may read the notebook may start runs of it with other values of its parameters."""


def permission(now: Directory, effect: str, notebook: LogId) -> Permission | None:
    """Return what was decided about an effect in a notebook, for everybody there; None: nothing."""
    for policy in now.policies:
        if policy.notebook == notebook and policy.actor is None:
            return policy.effects.get(effect)
    return None


def with_permission(now: Directory, effect: str, notebook: LogId, decided: Permission | None) -> PolicySet:
    """Return the event that decides one effect in a notebook and leaves all others there as they are."""
    before = next((each for each in now.policies if (each.notebook, each.actor) == (notebook, None)), None)
    effects: dict[str, Permission] = dict(before.effects) if before is not None else {}
    effects.pop(effect, None)
    if decided is not None:
        effects[effect] = decided
    return PolicySet(effects=effects, notebook=notebook)
