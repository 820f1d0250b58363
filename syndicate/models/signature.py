"""Who made a thought: what a provider wants back of its thinking is sealed with its id, and opened by it alone.

A thought's `thought_signature` is opaque bytes that only their maker can read; another provider's would be refused, or
shown as text.
"""

from __future__ import annotations

_MARK = b"syndicate:"


def seal(provider: str, signature: bytes) -> bytes:
    """The signature, marked as this provider's."""
    return _MARK + provider.encode() + b":" + signature


def opened(provider: str, sealed: bytes | None) -> bytes | None:
    """The signature as the provider made it; None when there is none, or it is another provider's."""
    prefix = _MARK + provider.encode() + b":"
    return sealed[len(prefix) :] if sealed and sealed.startswith(prefix) else None
