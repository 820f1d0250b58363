"""Grok: what xAI takes beyond, and otherwise than, OpenAI's models on the same wire."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from google.genai import types

from syndicate.errors import ModelError
from syndicate.models.server_tools import ServerTool
from syndicate.models.signature import opened
from syndicate.models.xai import XaiLlm
from syndicate.settings import Settings
from tests.models.aimock import Aimock
from tests.models.conftest import WEATHER, Answer, StandIn, ask, calls_of, request_of, text_of
from tests.models.relay import Received
from tests.models.responses_wire import PATH, call, cited, message, reasoning, streamed, web_search, whole
from tests.models.test_openai_responses import continued, model_at, stored
from tests.models.wire import check

X_SEARCH, WEB, COLLECTIONS = (ServerTool(kind=kind) for kind in ("x_search", "web_search", "collections_search"))


def grok(url: str, **values: Any) -> XaiLlm:
    settings = {"xai_api_key": "sesame-1234", "xai_base_url": f"{url}/v1", **values}
    return XaiLlm.from_settings("grok-4", Settings.read(settings, env_file=None))


def bodies(stand_in: StandIn | Aimock) -> list[Any]:
    """What was sent, held to the types of OpenAI's SDK but for the tools that are xAI's own."""
    sent = stand_in.bodies(PATH)
    for body in sent:
        ours = [tool for tool in body.get("tools", ()) if tool["type"] == "function"]
        check(PATH, {**body, "tools": ours} if "tools" in body else body)
    return sent


async def tools_of(stand_in: StandIn, *tools: types.Tool, **values: Any) -> list[dict[str, Any]]:
    """The tools as they are sent under these settings."""
    stand_in.on(PATH, whole(message("ok")))
    await ask(grok(stand_in.url, **values), request_of(tools=list(tools)))
    return bodies(stand_in)[-1].get("tools", [])


async def test_the_request(stand_in: StandIn) -> None:
    stand_in.on(PATH, whole(message("hello")))
    (reply,) = await ask(grok(stand_in.url), request_of(system_instruction="be brief", temperature=0.5))
    assert (text_of(reply), reply.model_version) == ("hello", "grok-4")
    assert bodies(stand_in) == [
        {
            "model": "grok-4",
            "input": [
                {"type": "message", "role": "system", "content": "be brief"},
                {"type": "message", "role": "user", "content": "hello"},
            ],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "temperature": 0.5,
            "stream": False,
        }
    ]
    assert stand_in.received[0].headers["authorization"] == "Bearer sesame-1234"


@pytest.mark.parametrize(
    ("pinned", "level", "sent"),
    [
        (None, None, None),
        (None, types.ThinkingLevel.HIGH, {"effort": "high"}),
        ("low", types.ThinkingLevel.HIGH, {"effort": "low"}),
        ("high", None, {"effort": "high"}),
    ],
)
async def test_effort_is_what_the_settings_pin(
    pinned: str | None, level: types.ThinkingLevel | None, sent: Any, stand_in: StandIn
) -> None:
    stand_in.on(PATH, whole(message("ok")))
    thinking = types.ThinkingConfig(thinking_level=level) if level else None
    await ask(grok(stand_in.url, xai_reasoning_effort=pinned), request_of(thinking_config=thinking))
    assert bodies(stand_in)[0].get("reasoning") == sent


@pytest.mark.parametrize(
    "refusal",
    [
        {
            "code": "Client specified an invalid argument",
            "error": "Model grok-4 does not support parameter reasoningEffort.",
        },
        {"error": {"message": "Argument not supported on this model: reasoning", "type": "invalid_request_error"}},
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_rejects_reasoning_is_asked_again_without_it(
    stream: bool, refusal: dict[str, Any], stand_in: StandIn
) -> None:
    def answer(received: Received) -> Answer:
        if "reasoning" in received.body:
            return Answer.json(refusal, 400)
        return streamed(message("ok")) if stream else whole(message("ok"))

    stand_in.on(PATH, answer)
    model = grok(stand_in.url, xai_reasoning_effort="high")
    for _ in range(2):
        *_, last = await ask(model, request_of(), stream=stream)
        assert text_of(last) == "ok"
    assert ["reasoning" in body for body in bodies(stand_in)] == [True, False, False]


async def test_another_refusal_is_an_error_in_xais_words(stand_in: StandIn) -> None:
    stand_in.on(PATH, Answer.json({"code": "400", "error": "The image sesame-1234 is not supported"}, 400))
    with pytest.raises(ModelError, match="is not supported") as caught:
        await ask(grok(stand_in.url, xai_reasoning_effort="high"), request_of())
    assert caught.value.code == "bad-request"
    assert "sesame" not in str(caught.value)
    assert len(bodies(stand_in)) == 1


async def test_searches_as_xai_spells_them(stand_in: StandIn) -> None:
    google = ServerTool(kind="google_search")
    sent = await tools_of(stand_in, WEATHER, WEB, X_SEARCH, COLLECTIONS, google, xai_collection_ids="c1, c2,c1")
    assert [tool for tool in sent if tool["type"] != "function"] == [
        {"type": "web_search"},
        {"type": "x_search"},
        {"type": "file_search", "vector_store_ids": ["c1", "c2"]},
    ]


@pytest.mark.parametrize(
    ("kind", "values", "tool"),
    [
        (
            WEB,
            {"xai_web_search_allowed_domains": "a.example, b.example"},
            {"filters": {"allowed_domains": ["a.example", "b.example"]}},
        ),
        (WEB, {"xai_web_search_excluded_domains": "a.example,,"}, {"filters": {"excluded_domains": ["a.example"]}}),
        (X_SEARCH, {"xai_x_search_from_date": "2026-01-31"}, {"from_date": "2026-01-31"}),
        (
            X_SEARCH,
            {"xai_x_search_from_date": "2026-01-31", "xai_x_search_to_date": " 2026-01-31 "},
            {"from_date": "2026-01-31", "to_date": "2026-01-31"},
        ),
        (X_SEARCH, {"xai_x_search_allowed_handles": "@ada, bob,@ada"}, {"allowed_x_handles": ["ada", "bob"]}),
        (X_SEARCH, {"xai_x_search_excluded_handles": "ada"}, {"excluded_x_handles": ["ada"]}),
        (
            COLLECTIONS,
            {"xai_collection_ids": "c1", "xai_collections_max_results": 3},
            {"vector_store_ids": ["c1"], "max_num_results": 3},
        ),
    ],
)
async def test_constraints_come_from_the_settings(
    kind: ServerTool, values: dict[str, Any], tool: dict[str, Any], stand_in: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    (sent,) = await tools_of(stand_in, kind, **values)
    del sent["type"]
    assert sent == tool
    assert [record for record in caplog.records if record.name.startswith("syndicate")] == []


@pytest.mark.parametrize(
    ("kind", "values", "tool", "warning"),
    [
        (
            WEB,
            {"xai_web_search_allowed_domains": "a,b,c,d,e,f"},
            {"type": "web_search", "filters": {"allowed_domains": ["a", "b", "c", "d", "e"]}},
            "XAI_WEB_SEARCH_ALLOWED_DOMAINS is cut to the first 5 of its 6",
        ),
        (
            WEB,
            {"xai_web_search_allowed_domains": "a", "xai_web_search_excluded_domains": "b"},
            {"type": "web_search", "filters": {"allowed_domains": ["a"]}},
            "XAI_WEB_SEARCH_EXCLUDED_DOMAINS is left out: XAI_WEB_SEARCH_ALLOWED_DOMAINS is set too",
        ),
        (
            X_SEARCH,
            {"xai_x_search_excluded_handles": ",".join(f"@h{number}" for number in range(21))},
            {"type": "x_search", "excluded_x_handles": [f"h{number}" for number in range(20)]},
            "XAI_X_SEARCH_EXCLUDED_HANDLES is cut to the first 20 of its 21",
        ),
        (
            X_SEARCH,
            {"xai_x_search_from_date": "31.1.2026", "xai_x_search_to_date": "2026-02-01"},
            {"type": "x_search", "to_date": "2026-02-01"},
            "XAI_X_SEARCH_FROM_DATE is left out: '31.1.2026' is not a date such as 2026-01-31",
        ),
        (
            X_SEARCH,
            {"xai_x_search_from_date": "2026-02-01", "xai_x_search_to_date": "2026-01-31"},
            {"type": "x_search"},
            "XAI_X_SEARCH_FROM_DATE is after XAI_X_SEARCH_TO_DATE: both are left out",
        ),
        (COLLECTIONS, {}, None, "collections_search is left out: XAI_COLLECTION_IDS names no collection"),
    ],
)
async def test_what_xai_does_not_take_is_left_out_with_one_warning(
    kind: ServerTool,
    values: dict[str, Any],
    tool: Any,
    warning: str,
    stand_in: StandIn,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    stand_in.on(PATH, whole(message("ok")))
    model, request = grok(stand_in.url, **values), request_of(tools=[kind])
    for _ in range(2):
        await ask(model, request)
    assert [body.get("tools") for body in bodies(stand_in)] == [[tool] if tool else None] * 2
    assert model.warnings(request) == (warning,)
    assert [record.getMessage() for record in caplog.records] == [f"grok-4: {warning}"]
    assert model.warnings(request_of()) == ()


async def test_thinking_is_sent_back_to_its_maker_only(stand_in: StandIn) -> None:
    items = [reasoning("rs_1", "hm"), call("call_a", "get_weather", '{"city": "Oslo"}')]
    stand_in.on(PATH, streamed(*items))
    request = request_of(tools=[WEATHER])
    *_, first = await ask(grok(stand_in.url), request, stream=True)
    (thought,) = [part for part in first.content.parts or [] if part.thought]
    assert opened("openai", thought.thought_signature) is None
    stand_in.on(PATH, whole(message("ok")))
    for model in (grok(stand_in.url), model_at(stand_in)):
        await ask(model, continued(request, stored(first), "rain"))
    own, foreign = ([item["type"] for item in body["input"]] for body in bodies(stand_in)[1:])
    assert own == ["message", "reasoning", "function_call", "function_call_output"]
    assert foreign == ["message", "function_call", "function_call_output"]


async def test_items_that_only_xai_knows_do_no_harm(stand_in: StandIn) -> None:
    search = {"type": "x_search_call", "id": "xs_1", "status": "completed", "input": "oslo"}
    source = cited("https://x.example/1", "1")
    stand_in.on(PATH, streamed(web_search("oslo"), search, message("Rain.", [source])))
    *_, last = await ask(grok(stand_in.url), request_of(tools=[WEB, X_SEARCH]), stream=True)
    assert text_of(last) == "Rain."
    assert [chunk.web.uri for chunk in last.grounding_metadata.grounding_chunks] == ["https://x.example/1"]


async def test_built_without_settings_it_reads_them_itself(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.on(PATH, whole(message("hello")))
    monkeypatch.setenv("XAI_API_KEY", "sesame-9")
    monkeypatch.setenv("XAI_BASE_URL", f"{stand_in.url}/v1")
    monkeypatch.setenv("XAI_REASONING_EFFORT", "medium")
    await ask(XaiLlm(model="grok-4"), request_of())
    assert stand_in.received[0].headers["authorization"] == "Bearer sesame-9"
    assert bodies(stand_in)[0]["reasoning"] == {"effort": "medium"}


async def test_a_tool_loop_with_a_server_of_all_formats(aimock: Aimock) -> None:
    made = {"id": "call_a", "name": "get_weather", "arguments": '{"city": "Oslo"}'}
    aimock.reply("It rains.", match={"toolCallId": "call_a"})
    aimock.reply("", calls=[made], match={"userMessage": "weather"})
    model, request = grok(aimock.url), request_of("weather", tools=[WEATHER])
    *_, first = await ask(model, request, stream=True)
    assert [(found.name, found.args) for found in calls_of(first)] == [("get_weather", {"city": "Oslo"})]
    *_, last = await ask(model, continued(request, first, "rain"), stream=True)
    assert (text_of(last), last.finish_reason) == ("It rains.", types.FinishReason.STOP)
    assert len(bodies(aimock)) == 2
