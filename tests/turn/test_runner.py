"""What a turn promises, with scripted models over the real runner and session service."""

import asyncio
from typing import Any

import pytest
from google.genai import types

from syndicate import (
    EmptyAnswerError,
    ModelError,
    OutputSchemaError,
    RunError,
    StepLimitError,
    TurnStoppedError,
    UsageError,
    register_tool,
)
from syndicate.testing import Reply, ScriptedModel, ToolCall
from syndicate.turn.events import Answer, Failed, Status, Text, Thinking, ToolFinished, ToolStarted, Usage
from syndicate.turn.limits import Limits
from syndicate.turn.runner import run_turn
from tests.conftest import Open, Write

SOLO = "syndicate_name: Solo\norchestrator: {name: Solo, model: local/smollm2, instruction: answer}\n"
TEAM = """
    syndicate_name: Team
    orchestrator: {name: Lead, model: local/smollm2, instruction: lead}
    subagents:
      - {name: Kid One, description: d, instruction: one}
      - {name: Two, description: d, instruction: two}
"""


def delegate(name: str, request: str = "go") -> Reply:
    return Reply(calls=[ToolCall(name, {"request": request})])


async def events_of(syndicate: Any, message: str = "hello", **options: Any) -> list[Any]:
    return [event async for event in syndicate.stream(message, **options)]


def of(events: list[Any], *kinds: type) -> list[Any]:
    return [event for event in events if isinstance(event, kinds)]


def texts(contents: Any) -> list[tuple[str, list[str]]]:
    """Contents in short: role, and each part's text, `call NAME` or `result NAME`."""

    def short(part: Any) -> str:
        if part.function_call:
            return f"call {part.function_call.name}"
        return f"result {part.function_response.name}" if part.function_response else part.text

    return [(content.role, [short(part) for part in content.parts]) for content in contents]


async def test_deltas_are_the_answer_and_the_answer_is_what_is_stored(open_syndicate: Open):
    reply = Reply(thinking="hmm", deltas=["it ", "is ", "five"])
    async with open_syndicate(SOLO, ScriptedModel([reply])) as s:
        events = await events_of(s)
        assert [event.delta for event in of(events, Thinking)] == ["hmm"]
        assert [event.delta for event in of(events, Text)] == ["it ", "is ", "five"]
        assert of(events, Answer)[0].text == "it is five"
        assert [type(event) for event in events[-2:]] == [Answer, Usage]
        assert [exchange.answer for exchange in await s.transcript()] == ["it is five"]


async def test_text_before_a_tool_call_belongs_to_the_answer_and_nothing_is_shown_twice(open_syndicate: Open):
    opening = Reply(deltas=["let me ", "ask"], calls=[ToolCall("Two", {"request": "go"})])
    async with open_syndicate(TEAM, ScriptedModel([opening, "from two", Reply(deltas=["it is ", "five"])])) as s:
        events = await events_of(s)
        assert "".join(event.delta for event in of(events, Text)) == "let me ask\n\nit is five"
        assert of(events, Answer)[0].text == "let me ask\n\nit is five"
        assert (await s.transcript())[0].answer == "let me ask\n\nit is five"


async def test_a_subagents_words_are_a_preview_and_not_the_answer(open_syndicate: Open):
    model = ScriptedModel([delegate("Kid_One", "count"), Reply(thinking="1, 2", text="I counted"), "done"])
    async with open_syndicate(TEAM, model) as s:
        events = await events_of(s)
    [started], [finished] = of(events, ToolStarted), of(events, ToolFinished)
    assert (started.agent, started.name, started.args) == ("Lead", "Kid One", {"request": "count"})
    assert (finished.name, finished.ok, finished.preview) == ("Kid One", True, "I counted")
    assert started.id == finished.id
    assert [(event.agent, event.delta) for event in of(events, Thinking)] == [("Kid One", "1, 2")]
    assert "".join(event.delta for event in of(events, Text)) == "done"


async def test_a_subagent_reads_its_request_and_nothing_of_the_conversation(open_syndicate: Open):
    model = ScriptedModel(["first answer", delegate("Two", "only this"), "two says", "second answer"])
    async with open_syndicate(TEAM, model) as s:
        await s.run("first")
        await s.run("second")
    assert texts(model.requests[2].contents) == [("user", ["only this"])]


async def test_the_orchestrator_reads_past_calls_in_pairs_without_thoughts_or_inner_events(open_syndicate: Open):
    first = Reply(thinking="secret", text="asking", calls=[ToolCall("Two", {"request": "go"})])
    inner = Reply(thinking="inner thought", text="two says")
    model = ScriptedModel([first, inner, Reply(thinking="secret", text="first answer"), "second answer"])
    async with open_syndicate(TEAM, model) as s:
        await s.run("first")
        await s.run("second")
    assert texts(model.requests[-1].contents) == [
        ("user", ["first"]),
        ("model", ["asking", "call Two"]),
        ("user", ["result Two"]),
        ("model", ["first answer"]),
        ("user", ["second"]),
    ]
    parts = [part for content in model.requests[-1].contents for part in content.parts or ()]
    assert not any(part.thought or part.thought_signature for part in parts)


async def test_parallel_delegations_run_at_once_and_keep_apart(open_syndicate: Open):
    calls = [ToolCall(name, {"request": what}) for name, what in (("Kid_One", "a"), ("Two", "b"), ("Two", "c"))]
    barrier = asyncio.Barrier(3)

    class Meeting(ScriptedModel):
        async def generate_content_async(self, llm_request: Any, stream: bool = False):  # type: ignore[override]
            if llm_request.config.system_instruction != "lead":
                async with asyncio.timeout(5):
                    await barrier.wait()
            async for response in super().generate_content_async(llm_request, stream):
                yield response

    def by_request(request: Any) -> str:
        return f"did {request.contents[0].parts[0].text}"

    replies = [Reply(calls=calls), by_request, by_request, by_request, "done"]
    model = Meeting(replies)  # pyright: ignore[reportCallIssue] - it takes a model's fields for the signature
    async with open_syndicate(TEAM, model) as s:
        events = await events_of(s)
    assert of(events, Answer)[0].text == "done"
    results = model.requests[-1].contents[-1].parts
    assert [part.function_response.response for part in results] == [  # type: ignore[union-attr]
        {"result": "did a"},
        {"result": "did b"},
        {"result": "did c"},
    ]
    assert all(len(request.contents) == 1 for request in model.requests[1:4])


async def test_a_tool_that_raises_is_an_error_the_model_reads(open_syndicate: Open):
    def explode(power: int) -> str:
        """Explode."""
        raise ValueError(f"too much: {power}")

    register_tool("explode", lambda: explode)
    text = SOLO.replace("answer", "answer, tools: [explode]")
    model = ScriptedModel([Reply(calls=[ToolCall("explode", {"power": 9})]), "it failed, sorry"])
    async with open_syndicate(text, model) as s:
        events = await events_of(s)
    [finished] = of(events, ToolFinished)
    assert (finished.ok, finished.preview) == (False, "ValueError: too much: 9")
    response = model.requests[1].contents[-1].parts[0].function_response
    assert response is not None
    assert response.response == {"error": "ValueError: too much: 9"}
    assert of(events, Answer)[0].text == "it failed, sorry"


async def test_a_blocking_tool_does_not_hold_up_other_turns(open_syndicate: Open):
    import threading

    release = threading.Event()

    def block() -> str:
        """Wait."""
        return str(release.wait(5))

    register_tool("block", lambda: block)
    text = SOLO.replace("answer", "answer, tools: [block]")
    model = ScriptedModel([Reply(calls=[ToolCall("block")]), "other", "slow"])
    async with open_syndicate(text, model) as s:
        slow = asyncio.create_task(s.run("slow", session_id="a"))
        await asyncio.wait_for(model.called(1), 5)
        other = await asyncio.wait_for(s.run("other", session_id="b"), 3)
        release.set()
        assert (other.answer, (await slow).answer) == ("other", "slow")


async def test_a_tool_the_model_made_up_is_an_error_it_reads(open_syndicate: Open):
    model = ScriptedModel([Reply(calls=[ToolCall("no_such_tool")]), "sorry"])
    async with open_syndicate(SOLO, model) as s:
        events = await events_of(s)
    assert of(events, Answer)[0].text == "sorry"
    assert "no_such_tool" in str(model.requests[1].contents[-1])
    assert [(event.name, event.ok) for event in of(events, ToolFinished)] == [("no_such_tool", False)]
    assert len(of(events, ToolStarted)) == 1


@pytest.mark.parametrize(("args", "read"), [({}, None), ({"request": ""}, None), ({"request": ["a", 1]}, '["a", 1]')])
async def test_a_delegation_without_a_request_is_an_error_and_any_value_is_read_as_json(
    open_syndicate: Open, args: dict[str, Any], read: str | None
):
    replies: list[Any] = [Reply(calls=[ToolCall("Two", args)]), *(["two says"] if read else []), "done"]
    model = ScriptedModel(replies)
    async with open_syndicate(TEAM, model) as s:
        events = await events_of(s)
    assert of(events, ToolFinished)[0].ok is (read is not None)
    if read:
        assert texts(model.requests[1].contents) == [("user", [read])]


async def test_a_failing_subagent_is_an_error_the_orchestrator_reads(open_syndicate: Open):
    broken = ModelError("the server is on fire", code="bad-request")
    model = ScriptedModel([delegate("Two"), broken, "Two is broken, but 4"])
    async with open_syndicate(TEAM, model) as s:
        events = await events_of(s)
    assert of(events, ToolFinished)[0].ok is False
    assert "the server is on fire" in of(events, ToolFinished)[0].preview
    assert of(events, Answer)[0].text == "Two is broken, but 4"


async def test_a_failing_orchestrator_fails_the_turn_with_its_place(
    open_syndicate: Open, capfd: pytest.CaptureFixture[str]
):
    model = ScriptedModel([ModelError("no such key", code="auth", remediation="check the key")])
    async with open_syndicate(SOLO, model) as s:
        events = await events_of(s)
        with pytest.raises(AssertionError):  # the script is over: what is not ours is raised as it is
            await s.run("again")
    failure = of(events, Failed)[0]
    assert (failure.code, failure.remediation) == ("auth", "check the key")
    assert failure.message.endswith("agent 'Solo': no such key")
    assert "test.yaml:2:22" in failure.message


async def test_a_model_error_prints_no_traceback(open_syndicate: Open, caplog: pytest.LogCaptureFixture):
    async with open_syndicate(
        TEAM, ScriptedModel([delegate("Two"), ModelError("x", code="auth"), "ok", ModelError("y", code="auth")])
    ) as s:
        await s.run("first")
        with pytest.raises(ModelError):
            await s.run("second")
    assert not [record for record in caplog.records if record.exc_info]


async def test_an_empty_reply_is_asked_for_once_more(open_syndicate: Open):
    model = ScriptedModel([Reply(), "here"])
    async with open_syndicate(SOLO, model) as s:
        result = await s.run("hello")
    assert (result.answer, result.usage.calls) == ("here", 2)
    assert texts(model.requests[1].contents) == [("user", ["hello", "Your reply was empty. Answer now."])]


async def test_blank_space_of_an_empty_reply_is_no_part_of_the_answer(open_syndicate: Open):
    async with open_syndicate(SOLO, ScriptedModel([Reply(deltas=["  ", "\n"]), "hello"])) as s:
        events = await events_of(s)
        assert [event.delta for event in of(events, Text)] == ["hello"]
        assert (of(events, Answer)[0].text, (await s.transcript())[0].answer) == ("hello", "hello")


async def test_an_answer_that_was_cut_says_so(open_syndicate: Open):
    cut = Reply(text="once upon", finish_reason=types.FinishReason.MAX_TOKENS)
    async with open_syndicate(SOLO, ScriptedModel([cut])) as s:
        events = await events_of(s)
    assert [event.text for event in of(events, Status)] == [
        "the reply was cut at its most tokens: raise maxOutputTokens"
    ]


async def test_two_empty_replies_fail_the_turn_naming_the_agent_and_why(open_syndicate: Open):
    async with open_syndicate(SOLO, ScriptedModel([Reply(thinking="…"), Reply(text="  \n")])) as s:
        with pytest.raises(EmptyAnswerError, match="agent 'Solo': the model replied without text, twice"):
            await s.run("hello")


async def test_a_reply_outside_the_schema_is_repaired_once(open_syndicate: Open):
    text = SOLO.replace(
        "answer", "answer, outputSchema: {type: OBJECT, properties: {n: {type: INTEGER}}, required: [n]}"
    )
    model = ScriptedModel([Reply(deltas=["no ", "json"]), '{"n": 5}'])
    async with open_syndicate(text, model) as s:
        events = await events_of(s)
    assert [event.delta for event in of(events, Text)] == ['{"n": 5}']
    assert texts(model.requests[1].contents)[:2] == [("user", ["hello"]), ("model", ["no json"])]
    assert "not JSON" in texts(model.requests[1].contents)[2][1][0]
    assert of(events, Usage)[0].calls == 2


async def test_a_reply_outside_the_schema_after_the_repair_is_an_error(open_syndicate: Open):
    text = SOLO.replace("answer", "answer, outputSchema: {type: OBJECT, required: [n]}")
    async with open_syndicate(text, ScriptedModel(["{}", "[]"])) as s:
        with pytest.raises(OutputSchemaError, match="not of type 'object'"):
            await s.run("hello")


async def test_max_steps_allows_that_many_calls_of_all_agents_and_not_one_more(open_syndicate: Open):
    replies = [delegate("Two"), "two says", "done"]
    async with open_syndicate(f"{TEAM}    max_steps: 3\n", ScriptedModel(replies)) as s:
        assert (await s.run("hello")).usage.calls == 3
    async with open_syndicate(f"{TEAM}    max_steps: 2\n", ScriptedModel(replies)) as s:
        with pytest.raises(StepLimitError, match="2 model calls") as caught:
            await s.run("hello")
    assert (caught.value.code, caught.value.agent) == ("STEP_LIMIT", "Lead")


async def test_max_steps_reached_inside_a_subagent_ends_the_turn(open_syndicate: Open):
    model = ScriptedModel([delegate("Two"), "never"])
    async with open_syndicate(f"{TEAM}    max_steps: 1\n", model) as s:
        events = await events_of(s)
    assert (of(events, Failed)[0].code, of(events, Failed)[0].agent) == ("STEP_LIMIT", "Two")
    assert len(model.requests) == 1


async def test_a_repair_counts_as_a_step(open_syndicate: Open):
    text = SOLO.replace("answer", "answer, outputSchema: {type: OBJECT}") + "max_steps: 1\n"
    async with open_syndicate(text, ScriptedModel(["no", "{}"])) as s:
        with pytest.raises(StepLimitError):
            await s.run("hello")


async def test_a_nested_file_has_a_limit_of_its_own_beside_the_roots(open_syndicate: Open, write: Write):
    write(
        "desk.yaml",
        """
        syndicate_name: Desk
        max_steps: 1
        orchestrator: {name: Clerk, model: local/smollm2, instruction: clerk}
        subagents: [{name: Copyist, description: d, instruction: copy}]
        """,
    )
    text = SOLO + "subagents: [{name: Desk, description: d, yaml_reference: desk.yaml}]\nmax_steps: 10\n"
    async with open_syndicate(text, ScriptedModel([delegate("Desk"), "clerk says", "done"])) as s:
        assert (await s.run("hello")).answer == "done"
    async with open_syndicate(text, ScriptedModel([delegate("Desk"), delegate("Copyist"), "never"])) as s:
        with pytest.raises(StepLimitError, match=r"max_steps of desk\.yaml"):
            await s.run("hello")
    tight = text.replace("max_steps: 10", "max_steps: 1")
    async with open_syndicate(tight, ScriptedModel([delegate("Desk"), "never"])) as s:
        with pytest.raises(StepLimitError, match=r"max_steps of test\.yaml"):
            await s.run("hello")


async def test_the_callers_own_limits(open_syndicate: Open):
    async with open_syndicate(TEAM, ScriptedModel([delegate("Two"), "never"])) as s:
        with pytest.raises(StepLimitError, match="the caller's limit"):
            await s.run("hello", limits=Limits(max_steps=1))
    async with open_syndicate(SOLO, ScriptedModel([Reply(text="late", delay=5)])) as s:
        with pytest.raises(TurnStoppedError) as caught:
            await s.run("hello", limits=Limits(seconds=0.05))
    assert caught.value.code == "DEADLINE"


async def test_cancelling_stops_the_call_in_flight(open_syndicate: Open):
    cancel = asyncio.Event()
    model = ScriptedModel([Reply(deltas=["slow"] * 50, delay=0.1)])
    async with open_syndicate(SOLO, model) as s:
        events: list[Any] = []
        async for event in s.stream("hello", cancel=cancel):
            events.append(event)
            cancel.set()
        assert (of(events, Failed)[0].code, model.cancelled) == ("CANCELLED", 1)
        assert isinstance(events[-1], Usage)


async def test_cancelling_reaches_a_subagents_call(open_syndicate: Open):
    cancel = asyncio.Event()
    model = ScriptedModel([delegate("Two"), Reply(text="slow", delay=30)])
    async with open_syndicate(TEAM, model) as s:
        turn = asyncio.create_task(events_of(s, cancel=cancel))
        await asyncio.wait_for(model.called(2), 5)
        cancel.set()
        events = await asyncio.wait_for(turn, 5)
    assert (of(events, Failed)[0].code, model.cancelled) == ("CANCELLED", 1)


async def test_a_turn_abandoned_half_way_leaves_a_session_that_the_next_turn_can_use(open_syndicate: Open):
    model = ScriptedModel([delegate("Two"), Reply(text="slow", delay=30), "here I am"])
    async with open_syndicate(TEAM, model) as s:
        stream = s.stream("first")
        async for event in stream:
            if isinstance(event, ToolStarted):
                break
        await stream.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert (await s.run("second")).answer == "here I am"
    assert texts(model.requests[-1].contents) == [("user", ["first", "second"])]


async def test_what_was_shown_before_a_turn_broke_off_is_stored_and_read_by_the_next(open_syndicate: Open):
    broken = Reply(deltas=["one ", "two ", "three"], error=ModelError("cut", code="stream-cut"), fail_after=2)
    stopped = Reply(deltas=["four "] * 50, delay=0.02)
    model = ScriptedModel([broken, stopped, "done"])
    async with open_syndicate(SOLO, model) as s:
        await events_of(s, "count")
        async for event in (stream := s.stream("go on")):
            if isinstance(event, Text):
                break
        await stream.aclose()
        said = [exchange.answer for exchange in await s.transcript()]
        assert said == ["one two ", "four "]
        await s.run("and?")
    assert texts(model.requests[-1].contents) == [
        ("user", ["count"]),
        ("model", ["one two "]),
        ("user", ["go on"]),
        ("model", ["four "]),
        ("user", ["and?"]),
    ]


async def test_turns_that_run_at_once_do_not_mix(open_syndicate: Open):
    def echo(request: Any) -> Reply:
        return Reply(text=f"to {request.contents[-1].parts[-1].text}", delay=0.02)

    model = ScriptedModel([echo, echo, echo, "last"])
    async with open_syndicate(SOLO, model) as s:
        await asyncio.gather(s.run("a"), s.run("b"), s.run("c"))
        assert {(e.user, e.answer) for e in await s.transcript()} == {("a", "to a"), ("b", "to b"), ("c", "to c")}
        await s.run("d")
    read = texts(model.requests[-1].contents)
    assert [(read[n][1][0], read[n + 1][1][0]) for n in (0, 2, 4)] == [("a", "to a"), ("b", "to b"), ("c", "to c")]


async def test_two_turns_on_one_session_at_once_both_answer(open_syndicate: Open):
    model = ScriptedModel([Reply(text="one", delay=0.05), Reply(text="two", delay=0.05)])
    async with open_syndicate(SOLO, model) as s:
        results = await asyncio.gather(s.run("a"), s.run("b"))
        assert sorted(result.answer for result in results) == ["one", "two"]
        session = await s.services.sessions.get_session(app_name=s.name, user_id=s.user_id, session_id=s.session_id)
    assert len(session.events) == 4


async def test_usage_sums_over_all_agents_and_unknown_stays_unknown(open_syndicate: Open):
    model = ScriptedModel(
        [
            Reply(calls=[ToolCall("Two", {"request": "x"})], usage=(100, 1)),
            Reply(text="two says", usage=(20, 2)),
            Reply(text="done", usage=(300, 3)),
            Reply(text="no report", usage=None),
        ]
    )
    async with open_syndicate(TEAM, model) as s:
        usage = (await s.run("hello")).usage
        assert (usage.calls, usage.input, usage.output, usage.thinking, usage.cost_usd) == (3, 420, 6, None, None)
        assert (await s.run("again")).usage.input is None


async def test_at_most_forty_past_turns_are_read_and_the_user_is_told_once(open_syndicate: Open):
    model = ScriptedModel([f"answer {number}" for number in range(43)])
    async with open_syndicate(SOLO.replace("local/smollm2", "gemini-3.7-flash"), model) as s:
        told = []
        for number in range(43):
            told += of(await events_of(s, f"message {number}"), Status)
    assert len(model.requests[40].contents) == 81
    assert texts(model.requests[42].contents)[0] == ("user", ["message 2"])
    assert len(model.requests[42].contents) == 81
    assert [status.text for status in told] == [
        "older turns of this conversation are left out of the prompt from here on"
    ]


@pytest.mark.parametrize(("length", "turns"), [(19_999, 2), (20_001, 1)])
async def test_at_most_forty_thousand_characters_are_read_at_whole_turns(open_syndicate: Open, length: int, turns: int):
    model = ScriptedModel(["x" * (length - 1), "y" * (length - 1), "done"], model="gemini-3.7-flash")
    async with open_syndicate(SOLO, model) as s:
        for message in "abc":
            await s.run(message)
    assert len(model.requests[-1].contents) == 2 * turns + 1


async def test_history_fits_the_models_context_window(open_syndicate: Open):
    model = ScriptedModel(["word " * 400] * 12, model="local/smollm2")
    async with open_syndicate(SOLO, model) as s:
        for number in range(12):
            await s.run(f"message {number}")
    last = model.requests[-1].contents
    size = sum(len(part.text or "") for content in last for part in content.parts or ())
    assert 4_000 < size < 4096 * 4
    assert texts(last)[0][0] == "user"
    assert texts(last)[-1] == ("user", ["message 11"])


async def test_a_prompt_the_provider_finds_too_long_is_sent_again_with_half_the_past(open_syndicate: Open):
    too_long = ModelError("context", code="context-too-long")
    model = ScriptedModel(["a", "b", "c", too_long, too_long, "ok"], model="gemini-3.7-flash")
    async with open_syndicate(SOLO, model) as s:
        for message in "123":
            await s.run(message)
        events = await events_of(s, "4")
    assert [len(request.contents) for request in model.requests[3:]] == [7, 3, 1]
    assert of(events, Answer)[0].text == "ok"


async def test_a_message_that_alone_is_too_long_is_the_providers_error(open_syndicate: Open):
    too_long = ModelError("context", code="context-too-long")
    async with open_syndicate(SOLO, ScriptedModel([too_long])) as s:
        with pytest.raises(ModelError, match="context"):
            await s.run("hello")


async def test_the_current_date_is_rendered_for_each_turn_in_the_users_time_zone(
    open_syndicate: Open, monkeypatch: pytest.MonkeyPatch
):
    from datetime import UTC, datetime

    import syndicate.turn.running as running

    moments = iter([datetime(2026, 11, 30, 23, 30, tzinfo=UTC), datetime(2026, 12, 1, 23, 30, tzinfo=UTC)])

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return next(moments).astimezone(tz)

    monkeypatch.setattr(running, "datetime", Clock)
    text = SOLO.replace("answer", "'Today is {{current_date}}.'")
    model = ScriptedModel(["a", "b"])
    async with open_syndicate(text, model, timezone="Asia/Tokyo") as s:
        await s.run("1")
        await s.run("2")
    assert [request.config.system_instruction for request in model.requests] == [
        "Today is December 1, 2026.",
        "Today is December 2, 2026.",
    ]


async def test_an_unknown_time_zone_is_refused_and_a_stored_one_ignored(open_syndicate: Open):
    text = SOLO.replace("answer", "'Today is {{current_date}}.'")
    async with open_syndicate(text, ScriptedModel(["ok"])) as s:
        bad = run_turn(s.compiled, "hi", user_id="u", session_id="s", services=s.services, timezone="Nope/Zone")
        with pytest.raises(UsageError, match="'Nope/Zone' is not a time zone"):
            await anext(bad)
        assert await s.sessions("u") == []
        state = {"user:timezone": "Nope/Zone"}
        await s.services.sessions.create_session(app_name=s.name, user_id="u", session_id="s", state=state)
        turn = run_turn(s.compiled, "hi", user_id="u", session_id="s", services=s.services)
        assert [event.text async for event in turn if isinstance(event, Answer)] == ["ok"]


async def test_an_empty_message_is_refused_before_anything_runs(open_syndicate: Open):
    async with open_syndicate(SOLO, ScriptedModel([])) as s:
        with pytest.raises(UsageError, match="the message is empty"):
            await s.run(" \n")
        assert await s.sessions() == []


async def test_an_adk_runner_of_ones_own_can_run_the_compiled_agents(open_syndicate: Open):
    from google.adk.runners import InMemoryRunner

    model = ScriptedModel([delegate("Two"), "two says", "done"])
    async with open_syndicate(TEAM, model) as s:
        runner = InMemoryRunner(agent=s.compiled.root, app_name="own")
        await runner.session_service.create_session(app_name="own", user_id="u", session_id="s")
        message = types.Content(role="user", parts=[types.Part(text="hello")])
        events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
    assert events[-1].content is not None
    assert events[-1].content.parts[0].text == "done"  # type: ignore[index]


async def test_what_fails_is_a_run_error_or_the_models_own_exception(
    open_syndicate: Open, caplog: pytest.LogCaptureFixture
):
    async with open_syndicate(SOLO, ScriptedModel([RuntimeError("a bug")])) as s:
        events = await events_of(s)
    assert not [record for record in caplog.records if record.exc_info]
    failure = of(events, Failed)[0]
    assert (failure.code, failure.message) == ("internal", "RuntimeError: a bug")
    assert not isinstance(failure.error, RunError)
