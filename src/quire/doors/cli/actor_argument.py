"""Which actor somebody means: `kind:name`, or the name of one that is known here."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import BadInput, NotFound
from ...core.ids import ACTOR_KINDS, ActorId, check_actor, nearest
from ...workspace.protocol import Workspace


def new_actor(name: str, kind: str | None) -> ActorId:
    """An actor that may be new. Its kind has to be said: nobody becomes a human by default."""
    said, colon, _ = name.partition(":")
    if colon and kind not in (None, said):
        raise BadInput(f"{name!r} is not {kind}: leave --kind out, or the kind out of the name.")
    if not colon and kind is None:
        kinds = " or ".join(f"--kind {each}" for each in ACTOR_KINDS[:3])
        raise BadInput(f"{name!r} is of no kind. Write agent:{name}, or add {kinds}.")
    return check_actor(name if colon else f"{kind}:{name}")


async def known_actor(workspace: Workspace, name: str, also: Iterable[ActorId] = ()) -> ActorId:
    """An actor who has been here, has a token or was introduced, or one of `also`; else the nearest are named."""
    known = list(dict.fromkeys((*await _known(workspace), *also)))
    matching = [each for each in known if name in (each, each.partition(":")[2])]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise BadInput(f"{name!r} is {' and '.join(matching)}. Write which one.")
    names = {each.partition(":")[2]: each for each in known}
    close = dict.fromkeys([*nearest(name, known), *(names[each] for each in nearest(name, names))])
    hint = f" Nearest: {', '.join(list(close)[:3])}." if close else ""
    raise NotFound(f"There is no actor {name!r} here.{hint} Who gets a token is known: `quire token new --actor`.")


async def _known(workspace: Workspace) -> list[ActorId]:
    directory, me = await workspace.directory(), workspace.identity
    found: dict[ActorId, None] = dict.fromkeys(directory.actors)
    for token in directory.tokens.values():
        found |= dict.fromkeys(who for who in (token.actor, token.on_behalf_of, token.created_by) if who is not None)
    found |= dict.fromkeys(ActorId(key.partition(" ")[2]) for key in directory.roles)
    found |= dict.fromkeys(who for who in (me.actor, me.on_behalf_of) if who is not None)
    found |= dict.fromkeys(info.created_by for info in await workspace.logs() if info.log not in directory.imports)
    return [actor for actor in found if actor.partition(":")[0] in ACTOR_KINDS]
