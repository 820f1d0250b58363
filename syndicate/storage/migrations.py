"""The schema: which version a database has, what is pending, and how it gets there.

The SQL is in `db/` and ships with the package. What is pending runs with the hardening in one transaction, under a lock
of the database, and not again: any number of processes may apply at once, and nobody sees a schema in between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import syndicate
from syndicate.errors import StorageError
from syndicate.storage.postgres import PostgresTransport
from syndicate.storage.transport import DatabaseFailure, Transport

_LOCK = 82071204  # `hardening.sql` takes the same
_TABLES = """
select exists (
  select from pg_catalog.pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    and relname ~ '^adk_') as occupied
"""
_GUARDED = """
-- {number:04} {name}
do $syndicate$
declare
  v_done boolean := false;
begin
  perform pg_advisory_xact_lock({lock});
  if to_regclass('public.adk_schema_migrations') is not null then
    select exists (select from public.adk_schema_migrations where version >= {number}) into v_done;
  end if;
  if v_done then
    return;
  end if;
  execute $migration$
{sql}
$migration$;
end
$syndicate$;
"""
_ROLE = r"[A-Za-z_][A-Za-z0-9_.@-]{0,62}"  # what Postgres does not cut off
_HEADING = """\
-- The schema of syndicate from version {version} to {expected}. Run it whole, as the owner of the tables.
begin;
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; `version` counts from 1 without a gap."""

    version: int
    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class SchemaState:
    """A database's schema. `version` is 0 without one; `occupied`: tables of ours or the predecessor's are there.

    Over REST a database without a schema counts as occupied, since that cannot be seen.
    """

    version: int
    expected: int
    occupied: bool

    @property
    def provisioned(self) -> bool:
        """Whether any version was applied."""
        return self.version > 0

    @property
    def current(self) -> bool:
        """Whether it is the version this program works with."""
        return self.version == self.expected

    def require_current(self) -> None:
        """Raise `StorageError` (`not-provisioned`, `schema-too-old`, `schema-too-new`) unless it is."""
        if self.version > self.expected:
            raise StorageError(
                f"the database's schema is version {self.version}, and this program knows {self.expected}",
                code="schema-too-new",
                remediation="install the version of the program that made it, or a newer one",
            )
        if not self.provisioned:
            raise StorageError(
                "the database is not provisioned: it has no schema of syndicate",
                code="not-provisioned",
                remediation="run `syndicate db apply`",
            )
        if not self.current:
            raise StorageError(
                f"the database's schema is version {self.version}, and this program needs {self.expected}",
                code="schema-too-old",
                remediation="run `syndicate db apply`",
            )


@dataclass(frozen=True, slots=True)
class Applied:
    """What `apply` did: migrations in order, and how many facts went from each old user key to its new one."""

    migrations: tuple[Migration, ...]
    mapped: Mapping[str, int]


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations that ship with this program, in order."""
    files = sorted((_folder() / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return tuple(Migration(int(path.stem[:4]), path.stem[5:], path.read_text(encoding="utf-8")) for path in files)


def hardening() -> str:
    """The SQL that takes what is ours from everybody but its owner."""
    return (_folder() / "hardening.sql").read_text(encoding="utf-8")


def expected_version() -> int:
    """The schema's version that this program works with."""
    return migrations()[-1].version


async def state(transport: Transport) -> SchemaState:
    """The schema that the database has; raises `StorageError` when it cannot be asked."""
    try:
        answer = await transport.call("schema_version")
    except DatabaseFailure as failure:
        if failure.code != "not-provisioned":
            raise
        return SchemaState(0, expected_version(), await _occupied(transport))
    return SchemaState(int(answer["version"]), expected_version(), occupied=True)


async def pending(transport: Transport) -> tuple[Migration, ...]:
    """The migrations that the database has not seen."""
    version = (await state(transport)).version
    return tuple(migration for migration in migrations() if migration.version > version)


async def apply(transport: Transport, *, map: Mapping[str, str] | None = None, user_role: str | None = None) -> Applied:
    """Run what is pending and, every time, the hardening; then move facts from the old user keys of `map` to new ones.

    `user_role` becomes the role that reads the rows of one user; without it, the tier stays as it is. All or nothing.
    Raises `StorageError`: `schema-too-new`, `missing-extension`, `missing-privilege`, `bad-value`.
    """
    _check_keys(map or {})
    tier = _user_tier(user_role)
    found = await state(transport)
    if found.version > found.expected:
        found.require_current()
    steps = tuple(migration for migration in migrations() if migration.version > found.version)
    await _execute(transport, "".join(_guarded(step) for step in steps) + tier + hardening())
    mapped: dict[str, int] = {}
    if map:
        mapped = (await transport.call("map_user_keys", p_map=dict(map)))["mapped"]
    return Applied(steps, mapped)


def script(version: int = 0, *, map: Mapping[str, str] | None = None, user_role: str | None = None) -> str:
    """What `apply` would run on a schema of this version, for a SQL editor: one transaction, then PostgREST is told."""
    _check_keys(map or {})
    steps = [_guarded(migration) for migration in migrations() if migration.version > version]
    moves = f"\nselect public.map_user_keys({_literal(json.dumps(dict(map)))}::jsonb);\n" if map else ""
    heading = _HEADING.format(version=version, expected=expected_version())
    closing = f"{_user_tier(user_role)}{hardening()}{moves}"
    return f"{heading}{''.join(steps)}\n{closing}\ncommit;\n\nNOTIFY pgrst, 'reload schema';\n"


def _folder() -> Path:
    """The shipped `db` folder: inside the package in a wheel, the checkout's when editable."""
    package = Path(syndicate.__path__[0])
    inside = package / "_shipped" / "db"
    return inside if inside.is_dir() else package.parent / "db"


def _user_tier(role: str | None) -> str:
    """The SQL that makes this role the user tier's; nothing for None."""
    if role is None:
        return ""
    if not re.fullmatch(_ROLE, role) or role.startswith("pg_"):
        raise StorageError(
            f"{role!r} cannot be the name of the role that reads the rows of one user",
            code="bad-value",
            remediation="name it with up to 63 letters, digits, _ . @ -, a letter or _ first, and not pg_",
        )
    chosen = f"select pg_catalog.set_config('syndicate.user_role', {_literal(role)}, true);\n"
    return f"{chosen}{(_folder() / 'user_tier.sql').read_text(encoding='utf-8')}\n"


def _guarded(migration: Migration) -> str:
    """One statement that does nothing where the migration has been applied, also by somebody who was just faster."""
    return _GUARDED.format(number=migration.version, name=migration.name, lock=_LOCK, sql=migration.sql)


async def _execute(transport: Transport, sql: str) -> None:
    try:
        await transport.execute(sql)
    except DatabaseFailure as failure:
        raise _explained(failure) from None


def _explained(failure: DatabaseFailure) -> StorageError:
    """A refusal with the line that an administrator is to run, where there is one."""
    ask = f"ask the database's administrator to run: {failure.hint}"
    match failure.sqlstate:
        case "AG010":
            return StorageError(failure.message, code="missing-extension", remediation=ask)
        case "AG011":
            return StorageError(failure.message, code="missing-privilege", remediation=ask)
        case "AG012" | "AG013":
            return StorageError(failure.message, code="bad-value", remediation=failure.hint)
        case "42501":
            remedy = "apply as the role that owns the tables, or ask the database's administrator to make it the owner"
            return StorageError(failure.message, code="missing-privilege", remediation=remedy)
        case _:
            return failure


async def _occupied(transport: Transport) -> bool:
    if not isinstance(transport, PostgresTransport):
        return True
    return bool((await transport.fetch(_TABLES))[0]["occupied"])


def _check_keys(map: Mapping[str, str]) -> None:
    for old, new in map.items():
        if not old or not re.fullmatch(r".+/[^/]+", new, re.DOTALL):
            raise StorageError(
                f"{old!r} cannot become the user key {new!r}",
                code="bad-value",
                remediation="write OLD=NAMESPACE/USER; the namespace is a memory_namespace or a syndicate's name",
            )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
