"""One question and out, through real pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any


def test_the_answer_and_nothing_else_is_on_standard_output(shell: Any) -> None:
    shell.script(
        [
            {"thinking": "hm", "calls": [{"name": "Researcher", "args": {"request": "look"}}]},
            {"deltas": ["it ", "is **blue**"]},
        ]
    )
    done = shell.run("chat", "pair", "why?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "it is **blue**\n", "")


def test_a_message_can_come_on_standard_input(shell: Any) -> None:
    assert shell.run("chat", "pair", stdin="hi\n").stdout == "hello from the lead\n"
    assert shell.run("chat", "--syndicate", "pair", stdin="hi\n").stdout == "hello from the lead\n"
    assert shell.run("chat", stdin="hi\n", SYNDICATE_DEFAULT="pair").stdout == "hello from the lead\n"


def test_words_are_the_message_and_standard_input_is_added_to_them(shell: Any) -> None:
    shell.script([{"echo": "message"}])
    assert shell.run("chat", "pair", "sum", "this up", stdin="a long text").stdout == "sum this up\n\na long text\n"
    assert shell.run("chat", "--syndicate", "pair", "hi").stdout == "hi\n"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(shell: Any) -> None:
    process = subprocess.Popen(
        shell.command("chat", "pair", "hi"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=shell.folder,
        env=shell.env(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read() == b"hello from the lead\n"
    assert b"going on without it" in process.stderr.read()
    assert process.wait() == 0
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


def test_text_comes_as_it_is_made(shell: Any) -> None:
    shell.script([{"deltas": ["first", "second"], "delay": 1.0}])
    process = subprocess.Popen(
        shell.command("chat", "pair", "hi"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=shell.folder,
        env=shell.env(),
    )
    assert process.stdout is not None
    assert process.stdout.read(5) == b"first"
    seen = time.monotonic()
    assert process.stdout.read() == b"second\n"
    assert time.monotonic() - seen > 0.5
    process.stdout.close()
    assert process.wait() == 0


def test_a_turn_that_fails_is_one_located_line_and_exit_1(shell: Any) -> None:
    shell.script([{"error": "the key was refused"}])
    done = shell.run("chat", "pair", "hi")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "pair.yaml:" in done.stderr
    assert "'Lead'" in done.stderr
    assert "the key was refused" in done.stderr
    assert "check the key" in done.stderr


def test_a_turn_that_fails_half_way_ends_its_line_first(shell: Any) -> None:
    shell.script([{"deltas": ["half"], "error": "cut"}])
    done = shell.run("chat", "pair", "hi")
    assert (done.returncode, done.stdout) == (1, "half\n")


def test_json_is_one_object_a_line_and_the_last_is_the_result(shell: Any) -> None:
    shell.script(
        [
            {"calls": [{"name": "Researcher", "args": {"request": "look"}}]},
            {"deltas": ["it is ", "blue\u2028\x9b"]},
        ]
    )
    done = shell.run("chat", "pair", "why?", "--json", "--session", "mine")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    types = [event["type"] for event in events]
    assert done.returncode == 0
    assert types[-3:] == ["answer", "usage", "result"]
    assert {"tool_started", "tool_finished", "text"} <= set(types)
    result = events[-1]
    assert list(result) == ["type", "answer", "agent", "route", "usage", "session"]
    assert result["answer"] == "".join(event["delta"] for event in events if event["type"] == "text")
    assert (result["agent"], result["route"], result["session"]) == ("Lead", None, "mine")
    assert (result["usage"]["calls"], result["usage"]["input"]) == (3, 30)


def test_json_of_a_failed_turn_ends_with_a_result_that_says_so(shell: Any) -> None:
    shell.script([{"error": "the key was refused"}])
    done = shell.run("chat", "pair", "why?", "--json")
    result = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1
    assert result["answer"] is None
    assert result["error"]["code"] == "auth"


def test_escape_sequences_of_a_model_do_not_reach_the_output(shell: Any) -> None:
    shell.script([{"deltas": ["a\x1b", "[2Jb\x1b]0;t", "\x07c\r\x9b"]}])
    assert shell.run("chat", "pair", "hi").stdout == "abc\n"


def test_variables_and_models_can_be_set(shell: Any) -> None:
    shell.script([{"echo": "instruction"}], ["someone else"])
    assert "The topic is the sky." in shell.run("chat", "pair", "hi").stdout
    assert "The topic is 7." in shell.run("chat", "pair", "hi", "--bind", "topic=7").stdout
    assert shell.run("chat", "pair", "hi", "--model", "Lead=scripted/researcher").stdout == "someone else\n"


def interrupted(shell: Any, *args: str) -> subprocess.CompletedProcess[bytes]:
    """A one shot that gets Ctrl-C once it has begun to answer."""
    shell.script([{"deltas": ["begun"] + ["more"] * 100, "delay": 0.2}])
    process = subprocess.Popen(
        shell.command("chat", "pair", "hi", *args),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=shell.folder,
        env=shell.env(),
    )
    assert process.stdout is not None
    begun = b""
    while b"begun" not in begun:
        begun += process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return subprocess.CompletedProcess(process.args, process.returncode, begun + out, err)


def test_ctrl_c_ends_it_with_130_and_no_traceback(shell: Any) -> None:
    done = interrupted(shell)
    assert (done.returncode, done.stderr) == (130, b"")
    assert done.stdout.startswith(b"begun")


def test_ctrl_c_ends_json_with_what_happened_and_what_it_took(shell: Any) -> None:
    done = interrupted(shell, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 130
    assert [event["type"] for event in events[-3:]] == ["failed", "usage", "result"]
    assert events[-3]["code"] == "CANCELLED"
    result = events[-1]
    assert (result["agent"], result["error"]["code"], result["usage"]["calls"]) == ("Lead", "CANCELLED", 1)


def test_a_reader_that_leaves_is_no_error(shell: Any) -> None:
    shell.script([{"deltas": ["word "] * 200, "delay": 0.01}])
    process = subprocess.Popen(
        shell.command("chat", "pair", "hi"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=shell.folder,
        env=shell.env(),
    )
    assert process.stdout is not None
    process.stdout.read(5)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=20)


def test_on_a_terminal_progress_is_shown_beside_the_answer(shell: Any, terminal: Any) -> None:
    shell.script([{"calls": [{"name": "Researcher", "args": {"request": "look it up"}}]}, "it is **blue**"])
    shown = terminal("chat", "pair", "why?").read()
    assert "look it up" in shown
    assert "blue" in shown
    assert "**" not in shown


def test_a_dumb_terminal_and_no_color_get_plain_text(shell: Any, terminal: Any) -> None:
    shell.script(["it is **blue**"])
    assert "\x1b" not in terminal("chat", "pair", "why?", TERM="dumb").read()
