"""What the verbs of `syndicate db` do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syndicate.cli.database import the_database
from syndicate.errors import StorageError
from syndicate.storage import embedded, migrations
from syndicate.storage.database import configured
from syndicate.storage.verify import Verification, verify

if TYPE_CHECKING:
    from syndicate.settings import Settings

Counts = Mapping[str, Any]
"""How many of what, by the name of what; `bytes` and numbers of rows as the SQL functions give them."""

_NOUNS = {
    "sessions": "session",
    "events": "event",
    "user_states": "user's state",
    "app_states": "syndicate's state",
    "facts": "fact",
    "spans": "span",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A database. `schema` is None where nothing was asked, `counts` where the schema is another; `server` of ours."""

    kind: str
    address: str
    server: str | None
    schema: migrations.SchemaState | None
    counts: Counts | None

    @property
    def usable(self) -> bool:
        """Whether sessions can be stored as it is: an embedded database is made when it is first needed."""
        return self.schema is None or self.schema.current

    def as_json(self) -> dict[str, Any]:
        """One object with the same keys for every database; what is not known is null."""
        counts = self.counts or {}
        return {
            "kind": self.kind,
            "address": self.address,
            "server": self.server,
            "version": self.schema.version if self.schema else None,
            "expected": migrations.expected_version(),
            "usable": self.usable,
            **{name: counts.get(name) for name in ("sessions", "events", "expired", "facts", "spans", "bytes")},
        }

    @property
    def summary(self) -> str:
        """What and where it is, and the state of its schema, in one line."""
        return f"{self.kind}, {self.address}: schema {self._schema()}"

    def lines(self) -> list[str]:
        """The same for a person: a word of 12 columns, then what it is."""
        lines = [f"{self.kind:<12}{self.address}"]
        if self.server:
            lines.append(f"  server    {self.server}")
        lines.append(f"  schema    {self._schema()}")
        if (counts := self.counts) is not None:
            expired = f", {counts['expired']:,} expired: syndicate db prune" if counts["expired"] else ""
            lines.append(f"  sessions  {counts['sessions']:,} with {counted({'events': counts['events']})}{expired}")
            lines.append(f"  facts     {counts['facts']:,}")
            lines.append(f"  spans     {counts['spans']:,}")
            lines.append(f"  size      {counts['bytes'] / 1e6:.1f} MB")
        return lines

    def _schema(self) -> str:
        if self.schema is None:
            return "none yet: it is made when it is first needed"
        if self.schema.current:
            return f"version {self.schema.version}, up to date"
        try:
            self.schema.require_current()
        except StorageError as error:
            return str(error)
        return ""


async def examine(settings: Settings) -> Found:
    """The configured database. Raises `StorageError` when it cannot be reached."""
    server = None
    if configured(settings) == "embedded":
        running = embedded.status(settings)
        server = f"runs as process {running.pid}" if running.pid else "does not run; it is started when it is needed"
        if not running.exists:
            return Found("embedded", str(running.folder), server, None, None)
    provision = None if server else False  # the embedded one gets its schema by being opened
    async with the_database(settings, provision=provision) as database:
        schema = await migrations.state(database.transport)
        counts = await database.transport.call("storage_status") if schema.current else None
        return Found(database.kind, database.address, server, schema, counts)


@dataclass(frozen=True, slots=True)
class Done:
    """What `apply` did, in lines, or else the SQL that is left to run."""

    lines: tuple[str, ...] = ()
    remaining: str = ""


async def bring_up(settings: Settings, renamed: Mapping[str, str], user_role: str | None = None) -> Done:
    """Run what is pending, the user tier for a role and the hardening, then rename user keys. Raises `StorageError`."""
    async with the_database(settings, provision=False) as database:
        schema = await migrations.state(database.transport)
        if database.kind == "supabase":
            return _by_hand(schema, renamed, user_role)
        applied = await migrations.apply(database.transport, map=renamed, user_role=user_role)
    lines = [f"applied {step.version:04} {step.name}" for step in applied.migrations]
    lines.append(f"the schema is version {migrations.expected_version()}, and hardened")
    if user_role:
        lines.append(f"role {user_role!r} may read the rows of the user whose key is in its setting app.user_key")
    lines += [
        f"{counted({'facts': count})} of {old!r} went to {renamed[old]!r}" for old, count in applied.mapped.items()
    ]
    return Done(tuple(lines))


def _by_hand(schema: migrations.SchemaState, renamed: Mapping[str, str], user_role: str | None) -> Done:
    if schema.version > schema.expected:
        schema.require_current()
    if schema.current and not renamed and user_role is None:
        return Done((f"the schema is version {schema.version}; the hardening is in what `syndicate db print` prints",))
    return Done(remaining=migrations.script(schema.version, map=renamed, user_role=user_role))


async def verification(settings: Settings) -> Verification:
    """What is open. Raises `StorageError` for a database whose schema is another."""
    async with the_database(settings) as database:
        return await verify(database.transport, settings)


async def prune_expired(settings: Settings) -> Counts:
    """Delete what has expired; how much that was."""
    async with the_database(settings) as database:
        return await database.transport.call("prune_expired")


async def purge_or_count(settings: Settings, user: str | None, syndicate: str | None, *, yes: bool) -> Counts:
    """Delete what is stored of a user and a syndicate (None: of all), or only count what can be counted."""
    from syndicate.cli.stored_sessions import StoredSessions, stored_name

    name = stored_name(syndicate, settings) if syndicate is not None else None
    async with the_database(settings) as database:
        if yes:
            return await database.transport.call("purge", p_app_name=name, p_user_id=user)
        if name is None and user is None:
            counts = await database.transport.call("storage_status")
            return {what: counts[what] for what in ("sessions", "events", "facts", "spans")}
        found = await StoredSessions(database.transport).newest(name, user)
        return {"sessions": len(found), "events": sum(session.events for session in found)}


def counted(counts: Counts) -> str:
    """The numbers with their nouns, as in `2 sessions, 1 event`."""
    return ", ".join(
        f"{counts[name]:,} {_plural(noun, counts[name])}" for name, noun in _NOUNS.items() if name in counts
    )


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"
