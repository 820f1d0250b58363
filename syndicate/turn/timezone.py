"""Time zones by their IANA names."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from syndicate.errors import UsageError


def is_zone(name: str) -> bool:
    """Whether there is a time zone of this name."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return False
    return True


def checked_zone(name: str) -> str:
    """The name, if it is a time zone's. Raises `UsageError`."""
    if not is_zone(name):
        raise UsageError(f"{name!r} is not a time zone", remediation="use an IANA name like Europe/Berlin")
    return name


def machine_zone() -> str:
    """The machine's time zone; `UTC` when it has none by name."""
    try:
        name = tzlocal.get_localzone_name()
    except (ValueError, OSError, ZoneInfoNotFoundError):  # a TZ that names nothing
        return "UTC"
    return name if name and is_zone(name) else "UTC"
