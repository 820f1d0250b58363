"""Whether anybody but the server gets at what is stored: from the database's catalogue, and by trying.

`verify_storage` in `db/migrations` does what SQL can: it reads every privilege, policy and search path, and tries every
object as `anon` and `authenticated` where those roles exist. With a Supabase project's anon key the same is tried from
outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import httpx

from syndicate.settings import Settings
from syndicate.storage import migrations
from syndicate.storage.transport import Transport

_TABLES = ("adk_sessions", "adk_session_events", "adk_memory_facts", "adk_telemetry", "adk_user_states")
_FUNCTIONS = ("schema_version", "storage_status", "prune_expired")  # without parameters: any other is not found first
_CLOSED = frozenset({401, 403})
_BYPASS = "service_role bypasses row-level security by design: whoever has its key has everything"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is open. `remedy` is what to run, as the object's owner or an administrator."""

    object: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.object}: {self.problem}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Verification:
    """`untried` says what could not be proved and why; `refused` counts the attempts that were, by role."""

    findings: tuple[Finding, ...]
    untried: tuple[str, ...]
    refused: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def hardened(self) -> bool:
        """Whether nothing was found open."""
        return not self.findings


async def verify(transport: Transport, settings: Settings) -> Verification:
    """Prove the hardening of a provisioned database. Nothing is changed; raises `StorageError` as `require_current`."""
    (await migrations.state(transport)).require_current()
    answer = await transport.call("verify_storage")
    inside = Verification(
        findings=tuple(Finding(**finding) for finding in answer["findings"]),
        untried=tuple(answer["untried"]),
        refused=answer["refused"],
    )
    if settings.database_url is not None or settings.supabase_url is None:
        return inside
    outside = await _over_rest(settings)
    return replace(
        inside,
        findings=inside.findings + outside.findings,
        untried=inside.untried + outside.untried,
        refused={**inside.refused, **outside.refused},
        notes=(_BYPASS,),
    )


async def _over_rest(settings: Settings) -> Verification:
    """What anybody with the project's anon key gets."""
    if settings.supabase_anon_key is None:
        return Verification((), ("from outside: SUPABASE_ANON_KEY is not set",), {})
    key = settings.supabase_anon_key.get_secret_value()
    headers = {"apikey": key, "Authorization": f"Bearer {key}"}
    base = f"{(settings.supabase_url or '').rstrip('/')}/rest/v1"
    attempts = [("GET", f"/{table}?limit=1", f"table {table}") for table in _TABLES]
    attempts += [("POST", f"/rpc/{function}", f"function {function}()") for function in _FUNCTIONS]
    findings: list[Finding] = []
    untried: list[str] = []
    async with httpx.AsyncClient(base_url=base, headers=headers, timeout=20) as client:
        for method, path, what in attempts:
            try:
                response = await client.request(method, path, json={} if method == "POST" else None)
            except httpx.HTTPError as error:
                untried.append(f"from outside, {what}: {type(error).__name__}")
                continue
            if response.is_success:
                remedy = f"REVOKE ALL ON {what} FROM PUBLIC, anon;"
                findings.append(Finding(what, "anybody with the anon key gets an answer", remedy))
            elif not _refused(response):
                untried.append(f"from outside, {what}: HTTP {response.status_code}, which says neither yes nor no")
    refused = len(attempts) - len(findings) - len(untried)
    return Verification(tuple(findings), tuple(untried), {"the anon key": refused})


def _refused(response: httpx.Response) -> bool:
    """A privilege that is missing; a bad key answers with the same status and no code of Postgres."""
    if response.status_code not in _CLOSED:
        return False
    try:
        body: object = response.json()
    except ValueError:
        return False
    return isinstance(body, dict) and cast("dict[str, object]", body).get("code") == "42501"
