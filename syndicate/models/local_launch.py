"""Find the server of an embedded model, or start it: one per weights and data folder, shared by all processes.

Light on purpose: the chat starts the server before it has imported anything else.

Under `<data folder>/local/` each server has four files named after its weights: `.json` says where it listens and with
which key (readable by the user only), `.start` is locked while somebody starts or stops it, `.alive` is locked by the
server as long as it lives, `.log` holds what it had to say.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from syndicate.errors import ModelError
from syndicate.models.data_folder import writing

if TYPE_CHECKING:
    from syndicate.settings import Settings

SLOTS = 2
ALREADY_RUNNING = 75
_START_SECONDS = 600
_ROOT = Path(__file__).parents[2]  # where the package is found, whatever the folder of the caller holds


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a running server listens. The key is kept out of every `repr`."""

    pid: int
    url: str
    key: str

    def __repr__(self) -> str:
        return f"Endpoint(pid={self.pid}, url={self.url!r})"


@dataclass(frozen=True, slots=True)
class Launch:
    """What a server is started with. `context` counts tokens per slot, `idle` seconds without a request."""

    model: str
    folder: str
    context: int
    threads: int
    idle: float

    @classmethod
    def of(cls, weights: Path, settings: Settings) -> Launch:
        """The launch of a weights file under these settings."""
        return cls(
            model=os.path.abspath(weights),
            folder=str((settings.home / "local").absolute()),
            context=settings.syndicate_local_context,
            threads=settings.syndicate_local_threads or _spare_cores(),
            idle=settings.syndicate_local_idle_seconds,
        )

    @classmethod
    def parse(cls, text: str) -> Launch:
        """The inverse of `str()`."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    def file(self, suffix: str) -> Path:
        """One of the server's files; weights that have changed, or another context, mean another server."""
        identity = [self.model, self.context]
        for path in (Path(self.model), template_of(self.model)):
            if path.exists():
                identity += [path.stat().st_size, path.stat().st_mtime_ns]
        digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
        return Path(self.folder) / f"{Path(self.model).stem}-{digest}{suffix}"


def template_of(model: str) -> Path:
    """A chat template beside the weights, which then takes the place of the one inside: `<model>.gguf.jinja`."""
    return Path(model + ".jinja")


def running(launch: Launch) -> Endpoint | None:
    """The server of these weights, when it is up and answers."""
    try:
        endpoint = Endpoint(**json.loads(launch.file(".json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return endpoint if _process_exists(endpoint.pid) and _healthy(endpoint) else None


def begin(launch: Launch) -> None:
    """Start the server unless it runs, without waiting for it. When two are started, the second ends by itself."""
    if running(launch) is None:
        _spawn(launch)


def ensure(launch: Launch) -> Endpoint:
    """The running server; blocks until it is ready.

    Raises `ModelError` when it cannot start, `ModelUnavailableError` when its files cannot be kept.
    """
    if (endpoint := running(launch)) is not None:
        return endpoint
    from filelock import FileLock

    lock = FileLock(launch.file(".start"))
    with writing(Path(launch.folder)):
        _make_folder(launch)
        lock.acquire()
    try:
        return running(launch) or _start(launch)
    finally:
        lock.release()


def _start(launch: Launch) -> Endpoint:
    """Start the server and wait for its state file; when another is just starting, wait for that one."""
    process = _spawn(launch)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if (endpoint := running(launch)) is not None:
            return endpoint
        if process.poll() == ALREADY_RUNNING:
            process = _spawn(launch)
        elif process.poll() is not None:
            raise _not_started(launch, f"ended with {_manner(process.returncode)} while it started")
        time.sleep(0.02)
    process.kill()
    raise _not_started(launch, f"was not ready after {_START_SECONDS} seconds")


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    """A process of its own session, so that neither Ctrl-C nor the end of this process reaches it."""
    with writing(Path(launch.folder)):
        _make_folder(launch)
        log = launch.file(".log").open("ab")
    with log:
        process = subprocess.Popen(
            [sys.executable, "-m", "syndicate.models.local_server", str(launch)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=_ROOT,
            start_new_session=True,
        )
    threading.Thread(target=process.wait, name="local-server", daemon=True).start()
    return process


def _make_folder(launch: Launch) -> None:
    folder = Path(launch.folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)


def _healthy(endpoint: Endpoint) -> bool:
    address = urlsplit(endpoint.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _process_exists(pid: int) -> bool:
    if os.name == "nt":  # where signal 0 is not a question; whether it answers tells too
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _manner(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _not_started(launch: Launch, what: str) -> ModelError:
    log = launch.file(".log")
    return ModelError(
        f"the server of {Path(launch.model).name} {what}{_last_words(log)}",
        code="server-error",
        remediation=f"see {log}",
    )


def _last_words(log: Path) -> str:
    """The first complaint in a log, which names the cause; later lines only repeat that it failed."""
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if " E " in line]
    except OSError:
        return ""
    return f" ({lines[0].split(' E ', 1)[1]})" if lines else ""


def _spare_cores() -> int:
    """All cores but one, which the program itself and others need: the engine's threads wait for each other at every
    step. On two cores two threads are a sixth faster while nothing else runs, and ten times slower when something does.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)
