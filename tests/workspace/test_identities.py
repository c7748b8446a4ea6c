"""Who somebody is without a token: an agent that the owner of the files started (rule 3)."""

from __future__ import annotations

from typing import Any

import pytest

from quire.core.errors import BadInput
from quire.workspace.identity import identities


def test_an_agent_acts_for_the_owner_and_may_say_yes_to_nothing() -> None:
    made = identities.agent("claude", ["run"])
    assert (made.actor, made.on_behalf_of) == ("agent:claude", identities.owner().actor)
    assert made.scopes == {"read", "edit", "run", "bind"} and made.asks == {"run"}
    assert not made.owns and made.is_bound, "roles bind it as they bind everybody"


@pytest.mark.parametrize(("name", "asks"), [("a b", ()), ("", ()), ("a", ["approve"]), ("a", ["read"])])
def test_what_makes_no_agent_is_refused(name: str, asks: Any) -> None:
    with pytest.raises(BadInput):
        identities.agent(name, asks)
