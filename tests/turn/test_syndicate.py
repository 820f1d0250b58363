import asyncio
import subprocess
import sys

import pytest

from syndicate import ConfigError, ModelUnavailableError, Syndicate, UsageError, run_sync
from syndicate.settings import Settings
from syndicate.testing import ScriptedModel
from syndicate.turn.events import Status, ToolStarted, Usage, to_json
from tests.conftest import Open, Write

SOLO = """\
syndicate_name: My Council
memory_system: internal-only
orchestrator: {name: Solo, model: local/smollm2, instruction: '{{tone}}'}
"""


async def test_bindings_win_over_variables(open_syndicate: Open):
    model = ScriptedModel(["ok"])
    async with open_syndicate(f"{SOLO}variables: {{tone: dry}}\n", model, bindings={"tone": "warm"}) as s:
        await s.run("hello")
    assert model.requests[0].config.system_instruction == "warm"


async def test_sessions_keep_conversations_apart(open_syndicate: Open):
    model = ScriptedModel(["a", "b", "c"])
    async with open_syndicate(SOLO, model) as s:
        first = s.session_id
        await s.run("one")
        await s.run("two", session_id="other")
        s.new_session()
        await s.run("three")
        assert [len(request.contents) for request in model.requests] == [1, 1, 1]
        assert {session for session, _ in await s.sessions()} == {first, "other", s.session_id}
        assert [(e.user, e.agent, e.answer) for e in await s.transcript("other")] == [("two", "Solo", "b")]
        assert await s.transcript("nowhere") == []


async def test_users_do_not_see_each_others_sessions(open_syndicate: Open):
    model = ScriptedModel(["a", "b"])
    async with open_syndicate(SOLO, model) as s:
        await s.run("mine", session_id="same")
        await s.run("yours", session_id="same", user_id="other")
        assert len(model.requests[1].contents) == 1
        assert [e.user for e in await s.transcript("same")] == ["mine"]


async def test_another_model_answers_from_the_next_turn_on(open_syndicate: Open):
    async with open_syndicate(SOLO, ScriptedModel(["from the first"])) as s:
        await s.run("hello")
        s.use_model("Solo", ScriptedModel(["from the second"], model="second"))
        assert await s.answering_model() == "second"
        assert (await s.run("hello")).answer == "from the second"
        with pytest.raises(UsageError, match="no provider answers"):
            s.use_model("Solo", "nonsense")


async def test_the_answering_model_of_one_without_key_is_an_error(open_syndicate: Open):
    async with open_syndicate(SOLO.replace("local/smollm2", "gemini-3.7-flash")) as s:
        with pytest.raises(ModelUnavailableError, match="GOOGLE_GENAI_API_KEY"):
            await s.answering_model()


@pytest.mark.parametrize("user", ["a/b", " "])
async def test_a_user_id_with_a_slash_is_refused(open_syndicate: Open, user: str):
    with pytest.raises(UsageError, match="cannot be a user id"):
        async with open_syndicate(SOLO, ScriptedModel([]), user_id=user):
            pass


async def test_a_time_zone_that_is_none_is_refused(open_syndicate: Open):
    for zone in ("Mars/Olympus", "../etc/passwd", "/etc/localtime"):
        with pytest.raises(UsageError, match="is not a time zone"):
            async with open_syndicate(SOLO, ScriptedModel([]), timezone=zone):
                pass


def test_without_an_event_loop(write: Write, settings: Settings):
    path = write("solo.yaml", SOLO)
    result = run_sync(path, "hello", settings=settings, models={"*": ScriptedModel(["hi"])})
    assert (result.answer, result.agent, result.route, result.confirms) == ("hi", "Solo", None, ())


async def test_without_an_event_loop_is_said_where_one_runs(write: Write, settings: Settings):
    with pytest.raises(UsageError, match=r"await Syndicate\.run there"):
        run_sync(write("solo.yaml", SOLO), "hello", settings=settings)


async def test_a_named_agents_model_wins_over_that_of_all(open_syndicate: Open):
    named, others = ScriptedModel(["named"], model="named"), ScriptedModel([], model="others")
    async with open_syndicate(SOLO, models={"Solo": named, "*": others}) as s:
        assert await s.answering_model() == "named"


def test_the_date_needs_no_time_zones_of_the_machine(write: Write, settings: Settings):
    path = write("solo.yaml", SOLO.replace("{{tone}}", "{{current_date}}"))
    code = (
        "from syndicate import run_sync; from syndicate.testing import ScriptedModel;"
        f"print(run_sync({str(path)!r}, 'hi', models={{'*': ScriptedModel(['ok'])}}).answer)"
    )
    env = {"PATH": "/usr/bin:/bin", "PYTHONTZPATH": "", "TZ": "Nowhere/Nothing", "HOME": str(path.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=env
    )
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr


async def test_a_file_with_problems_is_not_opened(write: Write, settings: Settings):
    path = write("bad.yaml", "syndicate_name: X\norchestrator: {name: A, modle: local/smollm2}\n")
    with pytest.raises(ConfigError, match="did you mean 'model'"):
        async with Syndicate.open(path, settings=settings):
            pass


async def test_opened_in_one_loop_after_another(open_syndicate: Open):
    async with open_syndicate(SOLO, ScriptedModel(["a"])) as s:
        assert (await asyncio.create_task(s.run("hello"))).answer == "a"


def test_events_as_json_have_their_type_in_snake_case():
    event = ToolStarted("roll", {"sides": 6}, "call_1", agent="Solo", time=1.0)
    expected = {
        "type": "tool_started",
        "agent": "Solo",
        "time": 1.0,
        "name": "roll",
        "args": {"sides": 6},
        "id": "call_1",
    }
    assert to_json(event) == expected
    assert to_json(Status("hm", time=0.0))["type"] == "status"
    usage = Usage(calls=1, input=2, output=None, thinking=None, cached=None, cost_usd=None, seconds=0.5)
    assert to_json(usage)["output"] is None
