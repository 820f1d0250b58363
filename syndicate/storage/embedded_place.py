"""Where the embedded database of these settings is, and which account its server runs as.

A server never runs as root. Started by root it runs as the system user `syndicate`, and lives below
`/var/lib/syndicate`, because that user cannot enter root's folders and none of them is opened for it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syndicate.errors import StorageError

if TYPE_CHECKING:
    from syndicate.settings import Settings

SYSTEM_FOLDER = Path("/var/lib/syndicate")
SYSTEM_USER = "syndicate"
LOCKS = ("server.lock", "start.lock", "users.lock", "watch.lock")
_SOCKET_NAME = "/.s.PGSQL.5432"
_LONGEST_SOCKET = 103  # bytes; Linux takes 107, macOS 103
_PLAIN = re.compile(r"[A-Za-z0-9/._+-]+")
_ELSEWHERE = "set SYNDICATE_HOME to a folder that can be written, or DATABASE_URL to a database of yours"


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the machine."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of an embedded database: `data/`, `run/` (its socket), its locks and its `log`.

    `home` is the data folder that it belongs to; where root keeps it elsewhere, a file of that name says so.
    """

    folder: Path
    home: Path
    by_root: bool

    @property
    def data(self) -> Path:
        """The folder of Postgres's own files."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What the server had to say."""
        return self.folder / "log"

    def account(self) -> Account:
        """Whom the server runs as; root's is made where it is missing. Raises `StorageError`."""
        return _system_account() if self.by_root else _own_account()

    def identity(self, account: Account) -> dict[str, Any]:
        """The options of `subprocess.run` that run a program as the account (of several types, so `Any`)."""
        return {"user": account.uid, "group": account.gid, "extra_groups": []} if self.by_root else {}

    def prepare(self, account: Account) -> None:
        """Make the folders and locks that are missing. Nothing that exists has its mode changed."""
        with writing(self.folder):
            if self.by_root:
                SYSTEM_FOLDER.mkdir(parents=True, exist_ok=True, mode=0o755)
            self._make(self.folder, 0o750 if self.by_root else 0o700, -1, account.gid)
            for name in LOCKS:
                self._make_lock(self.folder / name, account)
            if self.by_root and not (self.folder / "home").exists():
                (self.folder / "home").write_bytes(os.fsencode(self.home))

    def sockets(self, account: Account) -> Path:
        """A private folder with a path that a socket can have; made where it is missing."""
        for folder in self._socket_folders(account):
            if len(os.fsencode(folder)) + len(_SOCKET_NAME) > _LONGEST_SOCKET or not _PLAIN.fullmatch(str(folder)):
                continue
            with contextlib.suppress(OSError):
                self._make(folder, 0o700, account.uid, account.gid)
                if _is_private(folder, account.uid):
                    return folder
        raise StorageError(
            f"no folder below {str(self.folder)!r} or {tempfile.gettempdir()!r} can hold the database's socket",
            code="connection",
            remediation="set SYNDICATE_HOME or TMPDIR to a shorter path",
        )

    def make_data(self, name: str, account: Account) -> Path:
        """A new, empty, private folder of the server's account; what was there is deleted."""
        folder = self.folder / name
        with writing(folder):
            if folder.exists():
                shutil.rmtree(folder)
            self._make(folder, 0o700, account.uid, account.gid)
        return folder

    def _socket_folders(self, account: Account) -> Generator[Path]:
        yield self.folder / "run"
        if not self.by_root:
            digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]
            if Path(f"/run/user/{account.uid}").is_dir():
                yield Path(f"/run/user/{account.uid}/syndicate-{digest}")
            for base in (tempfile.gettempdir(), "/tmp"):
                yield Path(base) / f"syndicate-{account.uid}-{digest}"

    def _make(self, folder: Path, mode: int, uid: int, gid: int) -> None:
        with contextlib.suppress(FileExistsError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=mode)
            folder.chmod(mode)  # whatever the umask is
            if self.by_root:
                os.chown(folder, uid, gid)

    def _make_lock(self, path: Path, account: Account) -> None:
        """A lock file that the server's account may use, and nobody else."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if self.by_root and os.fstat(descriptor).st_gid != account.gid:
                os.fchown(descriptor, -1, account.gid)
                os.fchmod(descriptor, 0o660)
        finally:
            os.close(descriptor)


def place_of(settings: Settings) -> Place:
    """Where the embedded database of these settings is, or would be."""
    if os.name == "nt":
        raise StorageError("the embedded database does not run on Windows", remediation="set DATABASE_URL")
    home = settings.home.resolve()
    if os.getuid() != 0:
        return Place(home / "database", home, by_root=False)
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:12] if settings.syndicate_home else "default"
    return Place(SYSTEM_FOLDER / name, home, by_root=True)


@contextlib.contextmanager
def writing(folder: Path) -> Generator[None]:
    """Around what writes below the data folder: `StorageError` instead of `OSError`."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else folder
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = (error.strerror or str(error)).lower()
        raise StorageError(
            f"{str(place)!r} cannot be written: {reason}",
            code="disk-full" if full else "missing-privilege",
            remediation="free some space there" if full else _ELSEWHERE,
        ) from None


def _is_private(folder: Path, uid: int) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not found.st_mode & 0o077


def _own_account() -> Account:
    import pwd

    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        raise StorageError(
            f"the embedded database needs an account with a name, and user id {os.getuid()} has none",
            code="missing-privilege",
            remediation="run as a user that is listed in /etc/passwd, or set DATABASE_URL",
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _system_account() -> Account:
    """The system user of servers that root starts; two processes may make it at once, and one of them does."""
    if found := _named(SYSTEM_USER):
        return found
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", str(SYSTEM_FOLDER)]
    with contextlib.suppress(OSError):
        subprocess.run([*command, "--shell", "/usr/sbin/nologin", SYSTEM_USER], capture_output=True, check=False)
    if found := _named(SYSTEM_USER):
        return found
    raise StorageError(
        f"the embedded database does not run as root, and the system user {SYSTEM_USER!r} cannot be made",
        code="missing-privilege",
        remediation=f"run `useradd --system {SYSTEM_USER}`, run as another user, or set DATABASE_URL",
    )


def _named(name: str) -> Account | None:
    import pwd

    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid) if entry.pw_uid else None
