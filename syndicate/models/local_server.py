"""llama.cpp's own HTTP server, in this process: `python -m syndicate.models.local_server '<launch as JSON>'`.

It says where it listens in its state file, stops when nobody has asked anything for a while, and when its state file
is gone. A crash in native code ends this process only.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import re
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from filelock import FileLock, Timeout

from syndicate.models.local_launch import ALREADY_RUNNING, SLOTS, Launch, template_of

_LOG_BYTES = 1_000_000
_ACTIVITY = re.compile(r"^llamacpp:(?:prompt_tokens|tokens_predicted|prompt_tokens_cached)_total (\S+)", re.MULTILINE)
_BUSY = re.compile(r"^llamacpp:requests_(?:processing|deferred) [1-9]", re.MULTILINE)


def main(argv: list[str]) -> int:
    """Serve until idle; the exit code is `ALREADY_RUNNING` when another process serves the same weights."""
    faulthandler.enable()
    signal.signal(signal.SIGTERM, _leave)
    launch = Launch.parse(argv[0])
    alive = FileLock(launch.file(".alive"))
    try:
        alive.acquire(timeout=1)
    except Timeout:
        return ALREADY_RUNNING
    os.ftruncate(sys.stderr.fileno(), 0)
    key = secrets.token_urlsafe(24)
    server = _serve(launch, key)
    state = launch.file(".json")
    try:
        _publish(state, {"pid": os.getpid(), "url": server.listening_address, "key": key})
        _watch(server, launch, state)
    finally:
        if _is_ours(state):
            state.unlink()
    return 0


def _leave(_signal: int, _frame: object) -> NoReturn:
    """End as when idle: the state file goes too."""
    sys.exit(0)


def _serve(launch: Launch, key: str) -> Any:
    """A loaded, listening server; untyped, as the engine is. Its context is one number for all slots together."""
    engine: Any = importlib.import_module("xllamacpp")
    params = engine.CommonParams()
    params.model.path = launch.model
    params.model_alias = {Path(launch.model).stem}
    params.n_ctx, params.n_parallel = launch.context * SLOTS, SLOTS
    params.kv_unified = False
    params.cpuparams.n_threads = launch.threads
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.use_jinja, params.cache_prompt, params.cache_ram_mib = True, True, 256
    params.endpoint_slots = params.endpoint_metrics = True
    params.ui, params.offline, params.verbosity = False, True, 1
    if template_of(launch.model).exists():
        params.chat_template = template_of(launch.model).read_text(encoding="utf-8")
    return engine.Server(params)


def _publish(path: Path, state: dict[str, Any]) -> None:
    """Write the state file whole, readable by the user only."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(state, file)
    draft.replace(path)


def _watch(server: Any, launch: Launch, state: Path) -> None:
    """Return when the server may end: nothing asked for `launch.idle` seconds, or its state file is not its own."""
    starting = FileLock(launch.file(".start"))
    seen, since = _activity(server), time.monotonic()
    while _is_ours(state):
        time.sleep(min(1.0, launch.idle / 4))
        _bound_log()
        now = _activity(server)
        if now is None or now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since >= launch.idle and _retire(server, starting, state, seen):
            return


def _retire(server: Any, starting: FileLock, state: Path, seen: tuple[str, ...] | None) -> bool:
    """Withdraw the state file unless somebody is looking for this server or has just asked it something."""
    with contextlib.suppress(Timeout), starting.acquire(timeout=0):
        if _activity(server) == seen:
            state.unlink(missing_ok=True)
            return True
    return False


def _activity(server: Any) -> tuple[str, ...] | None:
    """Numbers that change with every request; None while one is in the works."""
    metrics = server.handle_metrics()
    return None if _BUSY.search(metrics) else tuple(_ACTIVITY.findall(metrics))


def _is_ours(state: Path) -> bool:
    try:
        return json.loads(state.read_text())["pid"] == os.getpid()
    except (OSError, ValueError, LookupError):
        return False


def _bound_log() -> None:
    if os.fstat(sys.stderr.fileno()).st_size > _LOG_BYTES:
        os.ftruncate(sys.stderr.fileno(), 0)


if __name__ == "__main__":
    code = 1
    try:
        code = main(sys.argv[1:])
    except SystemExit:
        code = 0
    except Exception as error:
        time.sleep(0.1)  # the engine writes its log, which says more, from a thread of its own
        print(f"0 E {error}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)  # the engine's threads do not outlive the interpreter gracefully
