"""The embedded model, live: its server is shared, leaves when idle, comes back, and its answers obey the contract."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models import local_launch, weights
from syndicate.models.local import start_early
from syndicate.models.local_launch import Endpoint, Launch, ensure, running
from syndicate.models.local_llm import LocalLlm
from syndicate.models.registry import create
from syndicate.settings import Settings
from tests.models.conftest import WEATHER, ask, calls_of, each, request_of, text_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SMOLLM2 = "local/smollm2"
ROUTES = {"type": "object", "properties": {"route": {"enum": ["billing", "sales"]}}, "required": ["route"]}


def launch_of(settings: Settings, model_id: str = SMOLLM2) -> Launch:
    path = weights.find(model_id, settings)
    assert path is not None
    return Launch.of(path, settings)


@pytest.fixture
def launch(own_settings: Settings) -> Iterator[Launch]:
    """The launch of a server of the test's own, which is gone when the test is over."""
    made = launch_of(own_settings)
    yield made
    made.file(".json").unlink(missing_ok=True)


def wait_until(condition: Any, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def slots(endpoint: Endpoint) -> list[dict[str, Any]]:
    request = urllib.request.Request(f"{endpoint.url}/slots", headers={"Authorization": f"Bearer {endpoint.key}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def exists(pid: int) -> bool:
    """Whether a process lives; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_it_answers(live_settings: Settings) -> None:
    (response,) = await ask(create(SMOLLM2, live_settings), request_of("Say hello.", max_output_tokens=20))
    assert text_of(response)
    assert response.finish_reason in (types.FinishReason.STOP, types.FinishReason.MAX_TOKENS)
    assert response.model_version == SMOLLM2
    assert response.usage_metadata is not None
    assert response.usage_metadata.prompt_token_count
    assert response.usage_metadata.candidates_token_count


async def test_it_streams_more_than_one_delta(live_settings: Settings) -> None:
    request = request_of("Count from one to ten.", max_output_tokens=24)
    *deltas, whole = await ask(create(SMOLLM2, live_settings), request, stream=True)
    assert len(deltas) > 1
    assert "".join(text_of(delta) for delta in deltas) == text_of(whole)
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.total_token_count


@pytest.mark.parametrize("question", ["I want my money back", "What does it cost?", "lalala"])
async def test_it_obeys_a_schema(question: str, live_settings: Settings) -> None:
    request = request_of(question, response_schema=ROUTES, response_mime_type="application/json", max_output_tokens=60)
    (response,) = await ask(create(SMOLLM2, live_settings), request)
    assert json.loads(text_of(response))["route"] in ("billing", "sales")


async def test_tools_it_cannot_call_are_left_out(live_settings: Settings) -> None:
    model = create(SMOLLM2, live_settings)
    assert isinstance(model, LocalLlm)
    request = request_of("hi", tools=[WEATHER], response_schema=ROUTES, max_output_tokens=60)
    body = model.body(request)
    assert "tools" not in body
    assert "response_format" in body
    assert body["extra_body"]["cache_prompt"] is True
    (response,) = await ask(model, request)
    assert json.loads(text_of(response))["route"] in ("billing", "sales")


async def test_a_prompt_that_is_too_long_is_that_error(live_settings: Settings) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(create(SMOLLM2, live_settings), request_of("word " * 6000))
    assert caught.value.code == "context-too-long"
    assert not caught.value.retryable


async def test_each_slot_has_the_whole_window(live_settings: Settings) -> None:
    endpoint = await asyncio.to_thread(ensure, launch_of(live_settings))
    assert [slot["n_ctx"] for slot in slots(endpoint)] == [live_settings.syndicate_local_context] * local_launch.SLOTS


async def test_cancelling_stops_the_model(own_settings: Settings, launch: Launch) -> None:
    model = create(SMOLLM2, own_settings)
    task = asyncio.create_task(ask(model, request_of("Write a long story.", max_output_tokens=900), stream=True))
    endpoint = await asyncio.to_thread(ensure, launch)
    busy = lambda: any(slot["is_processing"] for slot in slots(endpoint))  # noqa: E731
    assert await asyncio.to_thread(wait_until, busy)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(wait_until, lambda: not busy(), 3)


async def test_the_server_keeps_what_it_is_asked_private(launch: Launch) -> None:
    endpoint = await asyncio.to_thread(ensure, launch)
    state = launch.file(".json")
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.parent.stat().st_mode) == 0o700
    assert endpoint.url.startswith("http://127.0.0.1:")
    assert endpoint.key not in repr(endpoint)
    assert endpoint.key not in Path(f"/proc/{endpoint.pid}/cmdline").read_text()
    with pytest.raises(urllib.error.HTTPError) as caught:
        slots(Endpoint(endpoint.pid, endpoint.url, "another key"))
    assert caught.value.code == 401
    caught.value.close()


CLIENT = """
import asyncio, sys
from syndicate.models.registry import create
from syndicate.models.local_launch import Launch, running
from syndicate.models.weights import find
from syndicate.settings import Settings
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.genai import types

async def main():
    values = {"syndicate_home": sys.argv[1], "syndicate_local_context": 1024, "syndicate_local_idle_seconds": 15}
    settings = Settings.read(values, env_file=None)
    model = create("local/smollm2", settings)
    contents = [types.Content(role="user", parts=[types.Part(text="Say hello.")])]
    request = LlmRequest(contents=contents, config=types.GenerateContentConfig(max_output_tokens=4))
    async for response in model.generate_content_async(request):
        print(running(Launch.of(find("local/smollm2", settings), settings)).pid)

asyncio.run(main())
"""


def test_processes_that_start_at_once_share_one_server_that_outlives_them(
    own_settings: Settings, launch: Launch
) -> None:
    command = [sys.executable, "-c", CLIENT, str(own_settings.home)]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    pids = {client.communicate(timeout=120)[0].strip() for client in clients}
    assert len(pids) == 1
    endpoint = running(launch)
    assert endpoint is not None
    assert {str(endpoint.pid)} == pids


async def test_started_early_it_is_there_when_it_is_needed(own_settings: Settings, launch: Launch) -> None:
    begun = time.monotonic()
    start_early(SMOLLM2, own_settings)
    start_early(SMOLLM2, own_settings)
    start_early("gemini-2.5-flash", own_settings)
    assert time.monotonic() - begun < 1
    endpoint = await asyncio.to_thread(ensure, launch)
    assert await asyncio.to_thread(ensure, launch) == endpoint


async def test_it_leaves_when_idle_and_the_next_call_brings_it_back(own_settings: Settings, launch: Launch) -> None:
    settings = own_settings.model_copy(update={"syndicate_local_idle_seconds": 0.5})
    model = create(SMOLLM2, settings)
    pids: list[int] = []
    for _ in range(2):
        async for response in each(model, request_of("Say hello.", max_output_tokens=4)):
            assert response.content
        endpoint = running(launch)
        if endpoint is not None:
            pids.append(endpoint.pid)
            assert await asyncio.to_thread(wait_until, lambda pid=endpoint.pid: not exists(pid))
        assert not launch.file(".json").exists()
    assert len(set(pids)) == len(pids)


async def test_it_stays_while_it_works(own_settings: Settings, launch: Launch) -> None:
    settings = own_settings.model_copy(update={"syndicate_local_idle_seconds": 0.2})
    request = request_of("Tell me a long story.", max_output_tokens=300)
    responses = await ask(create(SMOLLM2, settings), request, stream=True)
    assert responses[-1].partial is False


async def test_a_killed_server_is_replaced(own_settings: Settings, launch: Launch) -> None:
    model = create(SMOLLM2, own_settings)
    first = await asyncio.to_thread(ensure, launch)
    os.kill(first.pid, signal.SIGKILL)
    assert await asyncio.to_thread(wait_until, lambda: not exists(first.pid))
    assert launch.file(".json").exists()
    (response,) = await ask(model, request_of("Say hello.", max_output_tokens=4))
    assert text_of(response)
    second = running(launch)
    assert second is not None
    assert second.pid != first.pid


async def test_a_server_that_leaves_between_being_found_and_being_asked_is_started_again(
    own_settings: Settings, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = await asyncio.to_thread(ensure, launch)
    os.kill(stale.pid, signal.SIGKILL)
    assert await asyncio.to_thread(wait_until, lambda: not exists(stale.pid))
    found = [stale]
    monkeypatch.setattr(local_launch, "ensure", lambda launch: found.pop() if found else ensure(launch))
    (response,) = await ask(create(SMOLLM2, own_settings), request_of("Say hello.", max_output_tokens=4))
    assert text_of(response)


async def test_a_crash_in_the_middle_names_the_log(own_settings: Settings, launch: Launch) -> None:
    model = create(SMOLLM2, own_settings)
    with pytest.raises(ModelError) as caught:
        await crash_at_first_word(model, launch)
    assert caught.value.code == "stream-cut"
    assert str(launch.file(".log")) in caught.value.remediation
    assert "Segmentation fault" in launch.file(".log").read_text()
    await model.aclose()  # type: ignore[attr-defined]


async def crash_at_first_word(model: BaseLlm, launch: Launch) -> None:
    async for _ in each(model, request_of("Tell me a long story."), stream=True):
        endpoint = running(launch)
        if endpoint is not None:
            os.kill(endpoint.pid, signal.SIGSEGV)


async def test_a_file_that_is_no_model_is_one_error_with_the_reason(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"this is no model")
    with pytest.raises(ModelError, match="invalid magic characters") as caught:
        await ask(create(f"local/{path}", settings), request_of())
    assert str(settings.home) in caught.value.remediation


async def test_removing_the_data_folder_ends_the_server(launch: Launch) -> None:
    endpoint = await asyncio.to_thread(ensure, launch)
    launch.file(".json").unlink()
    assert await asyncio.to_thread(wait_until, lambda: not exists(endpoint.pid), 5)


async def test_a_model_that_calls_tools_ends_a_tool_loop(tool_model: Path, live_settings: Settings) -> None:
    model = create(f"local/{tool_model}", live_settings)
    request = request_of("What is the weather in Oslo?", tools=[WEATHER], temperature=0, max_output_tokens=200)
    (response,) = [answer async for answer in each(model, request)]
    (call,) = calls_of(response)
    assert (call.name, call.args) == ("get_weather", {"city": "Oslo"})
    assert call.id
    result = types.FunctionResponse(id=call.id, name=call.name, response={"result": "4 degrees and rain"})
    assert response.content is not None
    contents = [*request.contents, response.content]
    contents.append(types.Content(role="user", parts=[types.Part(function_response=result)]))
    *_, whole = await ask(model, LlmRequest(contents=contents, config=request.config), stream=True)
    assert not calls_of(whole)
    assert "rain" in text_of(whole)
