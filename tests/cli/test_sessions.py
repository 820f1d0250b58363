"""`syndicate sessions` on a real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pexpect
import pytest
from google.adk.events import Event
from google.genai import types

from syndicate.storage import open_session_service
from tests.storage.conftest import (
    _servers_end_with_the_tests,  # pyright: ignore[reportPrivateUsage]
    database,
    database_url,
    flavour,
    major,
)

__all__ = ["_servers_end_with_the_tests", "database", "database_url", "flavour", "major"]

NOON = 1_796_040_000.0  # 2026-11-30 12:00 UTC
LONG = "x" * 300


def said(author: str, text: str, at: float) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="t1", content=content, timestamp=at)


def called(author: str, at: float, *, branch: str | None = None, **call: Any) -> Event:
    content = types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(**call))])
    return Event(author=author, invocation_id="t1", content=content, timestamp=at, branch=branch)


def answered(author: str, at: float, *, branch: str | None = None, **response: Any) -> Event:
    content = types.Content(role="user", parts=[types.Part(function_response=types.FunctionResponse(**response))])
    return Event(author=author, invocation_id="t1", content=content, timestamp=at, branch=branch)


TURN = (
    said("user", "Where shall we go?", NOON),
    called("Lead", NOON + 1, id="1", name="Re_Searcher", args={"request": "a town by the sea"}),
    called("Re_Searcher", NOON + 2, branch="Re_Searcher@1", id="1", name="look_up", args={"word": "sea"}),
    answered(
        "Re_Searcher", NOON + 3.5, branch="Re_Searcher@1", id="1", name="look_up", response={"found": "salt " * 99}
    ),
    answered("Lead", NOON + 5, id="1", name="Re_Searcher", response={"result": "Ostend"}),
    said("Lead", "To **Ostend**.\n\nIt has a beach.", NOON + 6),
)


@pytest.fixture
async def stored(database_url: str) -> dict[str, str]:
    """Variables of a database with four sessions; the newest of ana is `trip`."""
    named = [("Pair", "ana", "plans"), ("Tutor", "ana", "maths"), ("Pair", "bob", "trip"), ("Pair", "ana", "trip")]
    async with await open_session_service(database_url) as service:
        for hours, (app, user, name) in enumerate(named, start=-len(named) + 1):
            session = await service.create_session(app_name=app, user_id=user, session_id=name, state={"mood": "good"})
            for event in TURN:
                moved = event.model_copy(update={"timestamp": event.timestamp + hours * 3600, "id": ""})
                await service.append_event(session, moved.model_copy(update={"id": Event.new_id()}))
    return {"DATABASE_URL": database_url, "SYNDICATE_USER_ID": "ana", "TZ": "UTC"}


def words(line: str) -> list[str]:
    return line.split()


def test_list_shows_the_users_sessions_the_last_used_first(shell: Any, stored: dict[str, str]) -> None:
    done = shell.run("sessions", "list", **stored)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(map(words, done.stdout.splitlines())) == [
        ["trip", "Pair", "2026-11-30", "12:00", "6", "events"],
        ["maths", "Tutor", "2026-11-30", "10:00", "6", "events"],
        ["plans", "Pair", "2026-11-30", "09:00", "6", "events"],
    ]
    assert shell.run("sessions", **stored).stdout == done.stdout


def test_list_of_another_user_and_of_all(shell: Any, stored: dict[str, str]) -> None:
    assert words(shell.run("sessions", "list", "--user", "bob", **stored).stdout)[:2] == ["trip", "Pair"]
    everybody = shell.run("sessions", "list", "--all-users", **stored).stdout.splitlines()
    assert [words(line)[2] for line in everybody] == ["ana", "bob", "ana", "ana"]
    assert shell.run("sessions", "list", "--all-users", "--user", "bob", **stored).returncode == 2


@pytest.mark.parametrize("name", ["pair", "Pair", "config/agents/pair.yaml"])
def test_list_by_syndicate_takes_its_file_or_its_name(shell: Any, stored: dict[str, str], name: str) -> None:
    lines = shell.run("sessions", "list", "--syndicate", name, **stored).stdout.splitlines()
    assert [words(line)[0] for line in lines] == ["trip", "plans"]


def test_sessions_of_a_syndicate_whose_file_is_gone_are_found_by_name(shell: Any, stored: dict[str, str]) -> None:
    (shell.agents / "pair.yaml").unlink()
    assert len(shell.run("sessions", "list", "--syndicate", "Pair", **stored).stdout.splitlines()) == 2


def test_list_says_when_there_are_more(shell: Any, stored: dict[str, str]) -> None:
    done = shell.run("sessions", "list", "--limit", "2", **stored)
    assert [words(line)[0] for line in done.stdout.splitlines()] == ["trip", "maths"]
    assert "more" in done.stderr
    assert shell.run("sessions", "list", "--limit", "3", **stored).stderr == ""
    assert len(shell.run("sessions", "list", "--limit", "0", **stored).stdout.splitlines()) == 3


def test_list_as_json(shell: Any, stored: dict[str, str]) -> None:
    rows = json.loads(shell.run("sessions", "list", "--json", **stored).stdout)
    assert set(rows[0]) == {"id", "syndicate", "user", "events", "created", "updated"}
    assert (rows[0]["id"], rows[0]["user"], rows[0]["events"], rows[0]["updated"]) == ("trip", "ana", 6, NOON + 6)
    nobody = shell.run("sessions", "list", "--json", "--user", "nobody", **stored)
    assert (nobody.returncode, nobody.stdout) == (0, "[]\n")


def test_show_reads_well(shell: Any, stored: dict[str, str]) -> None:
    done = shell.run("sessions", "show", "trip", **stored)
    assert (done.returncode, done.stderr) == (0, "")
    shortened = ("salt " * 99)[:100]
    lines = done.stdout.splitlines()
    assert shortened in lines[10]
    assert lines[10].endswith("…")
    lines[10] = "(a long result)"
    assert "\n".join(lines) == "\n".join(
        [
            "Pair · trip · ana",
            "1 turn, 6 events, last used 2026-11-30 12:00",
            "",
            "2026-11-30",
            "you  12:00:00",
            "  Where shall we go?",
            "",
            "Lead  12:00:01",
            "  → Re Searcher  a town by the sea  4.0 s",
            "    • look_up  sea  1.5 s",
            "(a long result)",
            "    = Ostend",
            "",
            "  To **Ostend**.",
            "",
            "  It has a beach.",
        ]
    )


def test_show_last_is_the_session_used_last(shell: Any, stored: dict[str, str]) -> None:
    assert shell.run("sessions", "show", "last", **stored).stdout.startswith("Pair · trip · ana\n")
    assert shell.run("sessions", "show", "last", "--syndicate", "Tutor", **stored).stdout.startswith("Tutor · maths")
    done = shell.run("sessions", "show", "last", "--user", "nobody", **stored)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "no session of user 'nobody'" in done.stderr


def test_show_as_json_has_the_events_as_they_are_stored(shell: Any, stored: dict[str, str]) -> None:
    shown = json.loads(shell.run("sessions", "show", "trip", "--json", **stored).stdout)
    assert (shown["id"], shown["state"]) == ("trip", {"mood": "good"})
    events = [Event.model_validate(event) for event in shown["events"]]
    assert [event.content for event in events] == [event.content for event in TURN]


def test_show_on_a_terminal_draws_markdown(
    shell: Any, terminal: Callable[..., pexpect.spawn[str]], stored: dict[str, str]
) -> None:
    process = terminal("sessions", "show", "trip", NO_COLOR="1", **stored)
    shown = process.read()
    assert "Ostend" in shown
    assert "**" not in shown


def test_delete_is_a_dry_run_without_yes(shell: Any, stored: dict[str, str]) -> None:
    done = shell.run("sessions", "delete", "trip", **stored)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "would delete session trip with Pair, 6 events, last used 2026-11-30 12:00; --yes does it\n"
    assert shell.run("sessions", "show", "trip", **stored).returncode == 0


def test_delete_takes_that_session_and_no_other(shell: Any, stored: dict[str, str]) -> None:
    done = shell.run("sessions", "delete", "trip", "--yes", **stored)
    assert (done.returncode, done.stdout) == (0, "deleted session trip with Pair, 6 events\n")
    left = json.loads(shell.run("sessions", "list", "--all-users", "--json", **stored).stdout)
    assert [(row["user"], row["id"]) for row in left] == [("bob", "trip"), ("ana", "maths"), ("ana", "plans")]
    assert shell.run("sessions", "delete", "trip", "--yes", **stored).returncode == 1


def test_delete_as_json_says_whether_it_was_done(shell: Any, stored: dict[str, str]) -> None:
    for args, deleted in (((), False), (("--yes",), True)):
        row = json.loads(shell.run("sessions", "delete", "plans", "--json", *args, **stored).stdout)
        assert (row["id"], row["deleted"]) == ("plans", deleted)


@pytest.mark.parametrize("verb", ["show", "delete"])
@pytest.mark.parametrize("args", [("maths", "--user", "bob"), ("maths", "--syndicate", "pair"), ("nowhere",), (LONG,)])
def test_a_session_that_is_not_the_users_is_one_line(
    shell: Any, stored: dict[str, str], verb: str, args: tuple[str, ...]
) -> None:
    more = ("--yes",) if verb == "delete" else ()
    done = shell.run("sessions", verb, *args, *more, **stored)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"error: no session '{args[0][:40]}")
    assert len(done.stderr) < 250
    assert len(shell.run("sessions", "list", "--all-users", **stored).stdout.splitlines()) == 4


async def test_an_id_with_two_syndicates_asks_which(shell: Any, stored: dict[str, str]) -> None:
    async with await open_session_service(stored["DATABASE_URL"]) as service:
        await service.create_session(app_name="Tutor", user_id="ana", session_id="trip")
    done = shell.run("sessions", "delete", "trip", "--yes", **stored)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "--syndicate" in done.stderr
    assert shell.run("sessions", "delete", "trip", "--yes", "--syndicate", "pair", **stored).returncode == 0
    assert shell.run("sessions", "show", "trip", **stored).stdout.startswith("Tutor · trip")


async def test_what_is_stored_cannot_steer_the_terminal(shell: Any, stored: dict[str, str]) -> None:
    hostile = "\x1b[2J\x1b]0;title\x07gone"
    async with await open_session_service(stored["DATABASE_URL"]) as service:
        session = await service.create_session(app_name=hostile, user_id="eve", session_id=f"{hostile}-id")
        await service.append_event(session, said(hostile, hostile, NOON))
    outputs = [
        shell.run("sessions", verb, *args, "--user", "eve", **stored)
        for verb, args in (("list", ()), ("list", ("--json",)), ("show", ("last",)), ("delete", ("last",)))
    ]
    assert all(output.returncode == 0 and "gone" in output.stdout for output in outputs)
    assert not [output for output in outputs if "\x1b" in output.stdout or "\x07" in output.stdout]
