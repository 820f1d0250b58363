"""Which session a chat goes on in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syndicate.errors import UsageError

if TYPE_CHECKING:
    from syndicate import Syndicate

LAST = "last"


async def choose_session(syndicate: Syndicate, wanted: str | None) -> str:
    """Make the wanted session the current one: a new one (None), the user's `last`, or that of an id.

    Raises `UsageError` when there is no last one.
    """
    if wanted is None:
        return syndicate.session_id
    if wanted != LAST:
        return syndicate.new_session(wanted)
    if not syndicate.services.lasts:
        raise UsageError(f"sessions of {syndicate.name!r} end with the program: there is no last one")
    last = await syndicate.last_session()
    if last is None:
        raise UsageError(
            f"{syndicate.user_id!r} has no session of {syndicate.name!r} yet", remediation="start one without --session"
        )
    return syndicate.new_session(last)
