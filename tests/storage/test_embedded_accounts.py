"""The embedded database and the accounts of a machine: nothing is opened for others, and nobody else gets in."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from syndicate.settings import Settings
from syndicate.storage import embedded, embedded_binaries, embedded_place
from tests.storage.embedding import eventually, forget, home_of, needs_root, ordinary, user_of

_CONNECT = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
try:
    s.connect(sys.argv[1])
except OSError as error:
    sys.exit(f"no way in: {error.strerror}")
body = b"\\0\\3\\0\\0user\\0" + sys.argv[2].encode() + b"\\0database\\0syndicate\\0\\0"
s.sendall((len(body) + 4).to_bytes(4, "big") + body)
sys.exit(repr(s.recv(4096)))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    found = Settings.read({"syndicate_home": tmp_path / "home"}, env_file=None)
    yield found
    forget(found)


def modes_above(*paths: Path) -> dict[Path, int]:
    folders = {folder for path in paths for folder in (path, *path.parents)}
    return {folder: folder.stat().st_mode for folder in sorted(folders) if folder.exists()}


def knock(socket_path: Path, role: str, account: str) -> str:
    """What an account gets that tries to come in as a role: `no way in`, or the server's first bytes."""
    entry = pwd.getpwnam(account)
    command = ["/usr/bin/python3", "-c", _CONNECT, str(socket_path), role]
    done = subprocess.run(
        command, user=entry.pw_uid, group=entry.pw_gid, extra_groups=[], capture_output=True, text=True, check=False
    )
    return done.stderr


def test_no_folder_that_was_there_has_its_mode_changed(settings: Settings, tmp_path: Path):
    binaries = Path(embedded_binaries.__file__)
    tmp_path.chmod(0o700)
    watched = (tmp_path, embedded_place.SYSTEM_FOLDER, Path(sys.prefix), binaries, Path(tempfile.gettempdir()))
    before = modes_above(*watched)
    with embedded.using(settings):
        after = modes_above(*watched)
    assert {folder: after[folder] for folder in before} == before


def test_the_folders_of_the_database_are_closed_to_others(settings: Settings):
    with embedded.using(settings):
        folder = embedded.status(settings).folder
        assert folder.stat().st_mode & 0o007 == 0
        assert (folder / "data").stat().st_mode & 0o077 == 0
        assert (folder / "run").stat().st_mode & 0o077 == 0
        assert not [path.name for path in folder.glob("*.*") if path.stat().st_mode & 0o007]


@needs_root
def test_the_server_of_root_runs_as_a_system_user(settings: Settings):
    with embedded.using(settings):
        status = embedded.status(settings)
        owner = Path(f"/proc/{status.pid}").stat().st_uid
        assert pwd.getpwuid(owner).pw_name == "syndicate"
        assert status.folder.parent == Path("/var/lib/syndicate")


@needs_root
def test_another_account_cannot_reach_the_socket(settings: Settings):
    with embedded.using(settings):
        door = embedded.status(settings).folder / "run" / ".s.PGSQL.5432"
        assert "no way in" in knock(door, "syndicate", "daemon")


@needs_root
@pytest.mark.parametrize("role", ["syndicate", "postgres"])
def test_another_account_is_refused_even_where_every_folder_was_opened(settings: Settings, role: str):
    with embedded.using(settings):
        folder = embedded.status(settings).folder
        door = folder / "run" / ".s.PGSQL.5432"
        for path in (folder, door.parent, door):
            path.chmod(0o777)
        assert "Peer authentication failed" in knock(door, role, "daemon")


@needs_root
def test_an_account_has_a_database_of_its_own_in_its_own_folder():
    uid = ordinary()
    with home_of(uid) as base, user_of(base / "home", uid) as user:
        found = user.found
        assert found.get("role") == "syndicate", found
        assert found["folder"] == str(base / "home" / "database")
        assert Path(f"/proc/{found['pid']}").stat().st_uid == uid


@needs_root
def test_an_account_is_told_about_a_folder_that_it_cannot_write(tmp_path: Path):
    tmp_path.chmod(0o700)
    with user_of(tmp_path / "home", ordinary()) as user:
        found = user.found
    assert found["code"] == "missing-privilege"
    assert "permission denied" in found["error"]
    assert "SYNDICATE_HOME" in found["error"]


_STOP = """
import os, sys
from syndicate.errors import StorageError
from syndicate.settings import Settings
from syndicate.storage import embedded
settings = Settings.read({"syndicate_home": sys.argv[1]}, env_file=None)
os.setgroups([])
os.setuid(int(sys.argv[2]))
try:
    embedded.stop(settings)
except StorageError as error:
    print(error.code)
"""


@needs_root
def test_stopping_where_an_account_cannot_enter_says_so(tmp_path: Path):
    tmp_path.chmod(0o700)
    command = [sys.executable, "-c", _STOP, str(tmp_path / "home"), str(ordinary())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("missing-privilege\n", "")


@needs_root
def test_a_second_account_in_the_same_folder_is_told():
    uid = ordinary()
    with home_of(uid) as base, user_of(base, uid) as first:
        assert first.found["role"] == "syndicate"
        base.chmod(0o777)
        with user_of(base, pwd.getpwnam("nobody").pw_uid) as second:
            found = second.found
    assert (found.get("code"), "SYNDICATE_HOME" in found.get("error", "")) == ("missing-privilege", True)


@needs_root
def test_a_user_id_without_a_name_is_told_what_is_missing():
    with home_of(54321) as base, user_of(base / "home", 54321) as user:
        found = user.found
    assert found["code"] == "missing-privilege"
    assert "user id 54321 has none" in found["error"]


@needs_root
def test_a_server_starts_where_its_account_cannot_read_the_environment(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The wheel lies below a folder of root's that is closed; the programs are copied, and nothing is opened."""
    real = Path(embedded_binaries._installed()[18]).parent
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for each in (real, real.with_name(f"{real.name}.libs")):
        (closed / each.name).symlink_to(each)
    monkeypatch.syspath_prepend(str(closed))
    system = Path(tempfile.mkdtemp(prefix="syn-"))
    system.chmod(0o755)
    monkeypatch.setattr(embedded_binaries, "SYSTEM_FOLDER", system)
    try:
        with embedded.using(settings):
            program = os.readlink(f"/proc/{embedded.status(settings).pid}/exe")
        assert program.startswith(f"{system}/pgsql-18-")
        assert [path.name for path in system.iterdir()] == [Path(program).relative_to(system).parts[0]]
        assert closed.stat().st_mode & 0o777 == 0o700
        assert eventually(lambda: embedded.status(settings).pid is None)
    finally:
        forget(settings)
        shutil.rmtree(system)
