"""A loopback server that stands in for a provider: it speaks whatever wire format a test scripts, over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from syndicate.settings import Settings
from tests.models.aimock import aimock, aimock_server
from tests.models.relay import Received
from tests.weights import embedded_home, tool_model

__all__ = ["aimock", "aimock_server", "embedded_home", "tool_model"]


@dataclass
class Answer:
    """What the server sends: `frames` one after another, `pause` seconds before each; `drop` breaks off after them."""

    frames: Iterable[str | bytes] = ()
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0
    drop: bool = False

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Answer:
        return cls([json.dumps(value)], status)

    @classmethod
    def events(cls, *values: Any, **options: Any) -> Answer:
        """Server-sent events, one JSON value each; a text goes as it is."""
        data = [value if isinstance(value, str) else json.dumps(value) for value in values]
        return cls([f"data: {text}\n\n" for text in data], content_type="text/event-stream", **options)

    @classmethod
    def lines(cls, *values: Any, **options: Any) -> Answer:
        """JSON lines."""
        return cls([json.dumps(value) + "\n" for value in values], content_type="application/x-ndjson", **options)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class StandIn:
    """Answers each path with what was scripted for it last; keeps what it was asked."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.disconnected = threading.Event()
        self._answers: dict[str, Answer | Callable[[Received], Answer]] = {}
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def on(self, path: str, answer: Answer | Callable[[Received], Answer]) -> None:
        self._answers[path] = answer

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def bodies(self, path: str) -> list[Any]:
        return [request.body for request in self.received if request.path == path]

    def answer(self, request: Received) -> Answer:
        self.received.append(request)
        scripted = self._answers.get(request.path, Answer.json({"error": f"no such path {request.path}"}, 404))
        return scripted(request) if callable(scripted) else scripted

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve()

            def do_HEAD(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def _serve(self) -> None:
                text = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                path = self.path.split("?")[0]
                answer = outer.answer(Received(self.command, path, headers, json.loads(text) if text else None))
                self.send_response(answer.status)
                self.send_header("content-type", answer.content_type)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if "content-length" not in {name.lower() for name in answer.headers}:
                    self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                try:
                    self._send(answer)
                except (BrokenPipeError, ConnectionResetError):
                    outer.disconnected.set()
                    self.close_connection = True

            def _send(self, answer: Answer) -> None:
                chunked = "content-length" not in {name.lower() for name in answer.headers}
                if self.command == "HEAD":
                    return
                for frame in answer.frames:
                    time.sleep(answer.pause)
                    data = frame.encode() if isinstance(frame, str) else frame
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
                    self.wfile.flush()
                if answer.drop:
                    self.close_connection = True
                elif chunked:
                    self.wfile.write(b"0\r\n\r\n")

        return Handler


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A server of the test's own, without a script."""
    server = StandIn()
    yield server
    server.close()


@pytest.fixture
def live_settings(embedded_home: Path) -> Settings:
    """Settings of the shared data folder, whose server leaves soon after the tests are done."""
    return Settings.read({"syndicate_home": embedded_home, "syndicate_local_idle_seconds": 15}, env_file=None)


@pytest.fixture
def own_settings(embedded_home: Path, tmp_path: Path) -> Settings:
    """Settings of a data folder of the test's own, with SmolLM2's weights: its server may be killed."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(embedded_home / "models")
    values = {"syndicate_home": tmp_path / "home", "syndicate_local_idle_seconds": 15, "syndicate_local_context": 1024}
    return Settings.read(values, env_file=None)


def request_of(text: str = "hello", **config: Any) -> LlmRequest:
    """A request with one user message."""
    contents = [types.Content(role="user", parts=[types.Part(text=text)])]
    return LlmRequest(contents=contents, config=types.GenerateContentConfig(**config))


async def ask(model: BaseLlm, request: LlmRequest, *, stream: bool = False) -> list[LlmResponse]:
    """All responses of one call, after which the connections are closed."""
    try:
        return [response async for response in each(model, request, stream=stream)]
    finally:
        await model.aclose()  # type: ignore[attr-defined]


async def each(model: BaseLlm, request: LlmRequest, *, stream: bool = False) -> AsyncIterator[LlmResponse]:
    async with aclosing(model.generate_content_async(request, stream)) as responses:  # type: ignore[type-var]
        async for response in responses:
            yield response


def text_of(response: LlmResponse, *, thought: bool = False) -> str:
    """The text of a response, or its thoughts."""
    parts = (response.content.parts if response.content else None) or []
    return "".join(part.text or "" for part in parts if bool(part.thought) is thought)


def calls_of(response: LlmResponse) -> list[types.FunctionCall]:
    parts = (response.content.parts if response.content else None) or []
    return [part.function_call for part in parts if part.function_call]


WEATHER = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="get_weather",
            description="The weather of a city",
            parameters_json_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        )
    ]
)
