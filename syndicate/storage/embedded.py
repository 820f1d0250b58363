"""The embedded database: find its server, or start it; one for a data folder, shared by all processes.

The server listens on a socket in a private folder, and takes only the account that it belongs to. It is stopped when
the last of its users is gone, in whatever way (`embedded_server` minds it), or by `stop`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from syndicate.errors import StorageError
from syndicate.storage import embedded_server as server
from syndicate.storage.embedded_binaries import binaries, is_installed
from syndicate.storage.embedded_place import Account, Place, place_of, writing

if TYPE_CHECKING:
    from syndicate.settings import Settings

__all__ = ["Status", "ensure", "is_installed", "status", "stop", "using"]

_START_SECONDS = 120
_NAME = "syndicate"
_FIRST_STATEMENTS = f"""create extension vector;
create role {_NAME} login createrole;
create database {_NAME} owner {_NAME};
"""
_SETTINGS = {"listen_addresses": "", "unix_socket_permissions": "0700", "logging_collector": "off"}
_kept: dict[Path, int] = {}


@dataclass(frozen=True, slots=True)
class Status:
    """`folder` is the database's; `pid` its server's, None while it does not run; `exists` whether there are data."""

    folder: Path
    pid: int | None
    exists: bool


def ensure(settings: Settings) -> str:
    """The address of the running server, kept running until this process ends. Blocks; raises `StorageError`."""
    place = place_of(settings)
    url, share = _use(place)
    if place.folder in _kept:
        os.close(share)
    else:
        _kept[place.folder] = share
    return url


@contextlib.contextmanager
def using(settings: Settings) -> Generator[str]:
    """The address of the running server, kept running until the end of the block. Blocks; raises `StorageError`."""
    url, share = _use(place_of(settings))
    try:
        yield url
    finally:
        os.close(share)


def stop(settings: Settings) -> bool:
    """Stop the server, for all who use it; False when it did not run."""
    place = place_of(settings)
    with writing(place.folder):
        if not (place.folder / "start.lock").exists():
            return False
    with writing(place.folder), server.alone(place.folder / "start.lock"):
        if not server.is_alive(place.folder):
            return False
        server.shut_down(place.folder, _sender(place))
        if not server.is_alive(place.folder):
            return True
    raise StorageError(f"the server of {str(place.folder)!r} does not stop", remediation=f"see {place.log}")


def status(settings: Settings) -> Status:
    """What there is, without starting anything."""
    place = place_of(settings)
    with writing(place.folder):
        found = server.running(place.folder) if place.folder.exists() else None
        return Status(place.folder, found.pid if found else None, (place.data / "PG_VERSION").exists())


def _use(place: Place) -> tuple[str, int]:
    """The address, and a share in the server: it is not stopped before the descriptor is closed."""
    if not is_installed():
        binaries(place, Account("", -1, -1))  # says what is missing
    with writing(place.folder):
        share = _share(place)
        try:
            found = server.running(place.folder) or _start(place)
            if not server.is_held(place.folder / "watch.lock"):
                _mind(place)
        except BaseException:
            os.close(share)
            raise
    return f"postgresql://{_NAME}@/{_NAME}?host={quote(found.sockets, safe='')}&port=5432", share


def _share(place: Place) -> int:
    """A share of the users' lock; folders and locks are made when they are missing."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = server.open_lock(place.folder / "users.lock")
        server.share(descriptor)
        return descriptor
    place.prepare(place.account())
    descriptor = server.open_lock(place.folder / "users.lock")
    server.share(descriptor)
    return descriptor


def _start(place: Place) -> server.Running:
    """Start the server, initialised when it is the first time, unless another process does."""
    account = place.account()
    place.prepare(account)
    with server.alone(place.folder / "start.lock"):
        if found := _wait(place):  # another process was faster, or was killed while it started the server
            return found
        programs = binaries(place, account)
        if not (place.data / "PG_VERSION").exists():
            _initialise(place, account, programs)
        _launch(place, account, programs)
        if found := _wait(place):
            return found
    raise _not_started(place, "did not start")


def _wait(place: Place) -> server.Running | None:
    """The server once it takes connections; None when it ended."""
    deadline = time.monotonic() + _START_SECONDS
    while server.is_alive(place.folder):
        if found := server.running(place.folder):
            return found
        if time.monotonic() > deadline:
            raise _not_started(place, f"was not ready after {_START_SECONDS} seconds")
        time.sleep(0.005)
    return None


def _initialise(place: Place, account: Account, programs: Path) -> None:
    """A new data folder, complete when it gets its name: pgvector, and a database whose owner is no superuser."""
    draft = place.make_data("data.new", account)
    try:
        _fill(place, account, programs, draft)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)  # gives back its space
        raise
    draft.rename(place.data)


def _fill(place: Place, account: Account, programs: Path, draft: Path) -> None:
    locale = ["--locale=C"]
    if _is_at_least_17(programs):
        locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options = ["--username=postgres", "--auth=peer", "--encoding=UTF8", "--no-instructions", *locale]
    _run(place, account, [programs / "initdb", "--pgdata=.", "--no-sync", *options], draft)
    single = [programs / "postgres", "--single", "-F", "-D", ".", "-c", "exit_on_error=on", "template1"]
    _run(place, account, single, draft, _FIRST_STATEMENTS)
    _run(place, account, [programs / "initdb", "--pgdata=.", "--sync-only"], draft)  # once, when all is there


def _is_at_least_17(programs: Path) -> bool:
    done = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, env={}, check=False)
    return int(done.stdout.split()[-1].split(".")[0]) >= 17


def _run(place: Place, account: Account, command: list[Any], folder: Path, given: str = "") -> None:
    done = subprocess.run(
        command,
        input=given.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env={"LC_ALL": "C"},
        check=False,
        **place.identity(account),
    )
    if done.returncode:
        raise _not_started(place, "cannot be initialised", done.stdout.decode(errors="replace"))


def _launch(place: Place, account: Account, programs: Path) -> None:
    """Start Postgres as a process of its own session. It and its children hold the lock that proves they live."""
    sockets = place.sockets(account)
    for left_behind in (place.data / "postmaster.pid", sockets / ".s.PGSQL.5432.lock"):
        left_behind.unlink(missing_ok=True)  # nobody has the server's lock, so whatever process they name is another
    settings = {
        **_SETTINGS,
        "unix_socket_directories": str(sockets),
        "hba_file": str(_rules(place, account, "pg_hba.conf", f"local all all peer map={_NAME}\n")),
        "ident_file": str(_rules(place, account, "pg_ident.conf", _owners(place, account))),
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    if place.log.exists():
        place.log.replace(place.log.with_name("log.before"))
    lock = server.open_lock(place.folder / "server.lock")
    try:
        while not server.take(lock):  # somebody is just looking whether it is held
            time.sleep(0.001)
        command = [str(programs / "postgres"), "-D", str(place.data), *options]
        _detach(place, command, place.identity(account), keep=(lock,))
    finally:
        os.close(lock)


def _owners(place: Place, account: Account) -> str:
    """Which accounts of the machine may come in as which role: the server's own, and root where root started it."""
    names = [account.name, *(["root"] if place.by_root else [])]
    return "".join(f'{_NAME} "{name}" all\n' for name in names)


def _rules(place: Place, account: Account, name: str, text: str) -> Path:
    """A configuration file that the server's account may read and, where root started it, not change."""
    path = place.folder / name
    draft = place.folder / f"{name}.new"
    draft.unlink(missing_ok=True)
    draft.write_text(text, encoding="utf-8")
    if place.by_root:
        os.chown(draft, -1, account.gid)
    draft.chmod(0o640 if place.by_root else 0o600)
    return draft.replace(path)


def _mind(place: Place) -> None:
    account = place.account()
    command = [sys.executable, "-I", "-S", server.__file__, str(place.folder), str(account.uid), str(account.gid)]
    _detach(place, command, {})


def _detach(place: Place, command: list[str], identity: dict[str, Any], keep: tuple[int, ...] = ()) -> None:
    """Run a program that nobody waits for: its parent is a shell that ends at once, so it never is a zombie of ours."""
    with place.log.open("ab") as log:
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env={"LC_ALL": "C"},
            start_new_session=True,
            pass_fds=keep,
            check=True,
            **identity,
        )


def _sender(place: Place) -> Any:
    """How signals reach the server: as its own account, so that no other process is ever hit."""
    if not place.by_root:
        return server.signal_directly
    identity = place.identity(place.account())

    def send(pid: int, how: signal.Signals) -> None:
        command = ["/bin/sh", "-c", 'kill -s "$1" "$2"', "sh", how.name.removeprefix("SIG"), str(pid)]
        subprocess.run(command, capture_output=True, check=False, cwd="/", **identity)

    return send


def _not_started(place: Place, what: str, said: str | None = None) -> StorageError:
    """The error, with Postgres's own first complaint, which names the cause, and nothing else of what it said."""
    if said is None:
        said = place.log.read_text(errors="replace") if place.log.exists() else ""
    full = any(sign in said.lower() for sign in ("no space left on device", "check free disk space"))
    return StorageError(
        f"the embedded database in {str(place.folder)!r} {what}{_complaint(said)}",
        code="disk-full" if full else "connection",
        remediation="free some space there" if full else f"see {place.log}, or set DATABASE_URL",
    )


def _complaint(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    complaints = [line for line in lines if any(word in line for word in ("FATAL:", "PANIC:", "error:"))] or lines[-1:]
    return f" ({complaints[0].split(': ', 1)[-1].strip()})" if complaints else ""
