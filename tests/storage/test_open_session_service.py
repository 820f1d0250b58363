"""`open_session_service`: a ready service for a runner of one's own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.runners import Runner
from google.genai import types

from syndicate.errors import StorageError
from syndicate.storage import open_session_service
from syndicate.storage.postgres import PostgresTransport
from syndicate.testing import ScriptedModel

NAMES: dict[str, Any] = {"app_name": "Mine", "user_id": "ada", "session_id": "s"}


@pytest.mark.parametrize("major", [18, 16])
async def test_on_an_empty_database_a_runner_of_your_own_can_begin(database_url: str):
    service = await open_session_service(database_url)
    agent = LlmAgent(name="Mine", model=ScriptedModel(["hello"]))
    runner = Runner(app_name="Mine", agent=agent, session_service=service, auto_create_session=True)
    message = types.Content(role="user", parts=[types.Part(text="hi")])
    async for _ in runner.run_async(user_id="ada", session_id="s", new_message=message):
        pass
    await runner.close()
    await service.aclose()
    async with await open_session_service(database_url) as again:
        found = await again.get_session(**NAMES)
    assert [event.content.parts[0].text for event in found.events] == ["hi", "hello"]


async def test_after_closing_nothing_can_be_stored(database_url: str):
    async with await open_session_service(database_url) as service:
        await service.create_session(**NAMES)
    with pytest.raises(StorageError):
        await service.get_session(**NAMES)
    await service.aclose()


async def test_sessions_expire_when_it_was_said(database_url: str, transport: PostgresTransport):
    async with await open_session_service(database_url, ttl_days=30) as service:
        await service.create_session(**NAMES)
    [row] = await transport.fetch(
        "select round(extract(epoch from expire_at - now()) / 86400)::int days from adk_sessions"
    )
    assert row["days"] == 30


async def test_several_may_open_the_same_empty_database_at_once(database_url: str):
    opened = await asyncio.gather(*(open_session_service(database_url) for _ in range(4)))
    await opened[0].create_session(**NAMES)
    assert all([await service.get_session(**NAMES) is not None for service in opened])
    for service in opened:
        await service.aclose()


async def test_a_database_with_tables_of_the_predecessor_is_left_alone(database_url: str, transport: PostgresTransport):
    await transport.execute("create table adk_sessions (id text primary key)")
    with pytest.raises(StorageError, match="db apply"):
        await open_session_service(database_url)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://ada:geheim@127.0.0.1:9/none", "connection"),
        ("mysql://ada:geheim@localhost/none", "wrong-url"),
        ("geheim", "wrong-url"),
        ("", "wrong-url"),
    ],
)
async def test_an_address_that_cannot_be_used_is_one_error_without_the_password(url: str, code: str):
    with pytest.raises(StorageError) as caught:
        await open_session_service(url)
    assert caught.value.code == code
    assert "geheim" not in str(caught.value)


async def test_the_environment_does_not_count(database_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    monkeypatch.setenv("SESSION_TTL_DAYS", "soon")
    async with await open_session_service(database_url) as service:
        assert await service.get_session(**NAMES) is None


def test_importing_it_loads_neither_adk_nor_a_driver():
    code = "import sys, syndicate.storage; print({'google.adk', 'asyncpg', 'supabase'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
