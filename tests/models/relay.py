"""A loopback address before a server: hands bytes on both ways and keeps the requests as they were sent."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Received:
    """A request; `path` is without its query."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Relay:
    """What is sent to `url` reaches `upstream`; `received` holds each request, its body parsed."""

    def __init__(self, upstream: str) -> None:
        self.received: list[Received] = []
        place = urlsplit(upstream)
        self._upstream = (place.hostname or "127.0.0.1", place.port or 80)
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def bodies(self, path: str = "") -> list[object]:
        """The bodies sent to paths that end so."""
        return [request.body for request in self.received if request.path.endswith(path)]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[socketserver.StreamRequestHandler]:
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            request: socket.socket

            def handle(self) -> None:
                with socket.create_connection(outer._upstream) as server:
                    threading.Thread(target=_pump, args=(server, self.request), daemon=True).start()
                    try:
                        while (sent := outer._request(self.rfile)) is not None:
                            server.sendall(sent)
                    except OSError:
                        pass

        return Handler

    def _request(self, source: BufferedIOBase) -> bytes | None:
        """The bytes of the next request on a connection; None when there is none."""
        first = source.readline()
        if not first.strip():
            return None
        lines = [first]
        while lines[-1].strip():
            lines.append(source.readline())
        headers = {
            name.lower(): value.strip() for name, _, value in (line.decode("latin-1").partition(":") for line in lines)
        }
        body = source.read(int(headers.get("content-length") or 0))
        method, target, _ = first.decode("latin-1").split()
        self.received.append(Received(method, target.split("?")[0], headers, json.loads(body) if body else None))
        return b"".join(lines) + body


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Hand on what a server answers, and its end."""
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
