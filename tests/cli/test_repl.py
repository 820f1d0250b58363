"""The conversation in a real pseudo-terminal."""

from __future__ import annotations

import stat
from typing import Any

import pexpect
import pytest

PROMPT = "❯"


@pytest.fixture
def chat(terminal: Any) -> Any:
    """Opens `syndicate chat pair` and waits for its prompt."""

    def start(*args: str, **env: str) -> Any:
        process = terminal("chat", "pair", *args, **env)
        process.expect("/help for commands")
        process.expect(PROMPT)
        return process

    return start


def ask(process: Any, text: str) -> None:
    process.send(text + "\r")


def leave(process: Any) -> None:
    process.expect(PROMPT)
    process.send("\x04")
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0


def test_it_says_who_answers_and_answers_and_ctrl_d_leaves(shell: Any, terminal: Any) -> None:
    process = terminal("chat", "pair")
    process.expect("Pair")
    process.expect("Lead answers with scripted/lead")
    process.expect(PROMPT)
    ask(process, "hi")
    process.expect("hello from the lead")
    leave(process)


def test_the_greeting_names_a_file_as_it_can_be_typed(shell: Any, terminal: Any) -> None:
    (shell.folder / "later.yaml").write_text((shell.agents / "pair.yaml").read_text().replace("{{topic}}", "{{topik}}"))
    process = terminal("chat", "./later.yaml")
    process.expect("1 warning: syndicate validate later.yaml")
    leave(process)


def test_the_answer_streams(shell: Any, chat: Any) -> None:
    shell.script([{"deltas": ["first\n\n", "second"], "delay": 1.0}])
    process = chat()
    ask(process, "hi")
    process.expect("first")
    assert "second" not in process.before
    process.expect("second")
    leave(process)


def test_delegations_are_a_line_each_and_thinking_is_shown(shell: Any, chat: Any) -> None:
    call = {"name": "Researcher", "args": {"request": "look it up"}}
    shell.script([{"thinking": "let me see", "calls": [call]}, "done"])
    process = chat()
    ask(process, "hi")
    process.expect("let me see")
    process.expect("Researcher")
    process.expect("look it up")
    process.expect(r"\d\.\d s")
    process.expect("done")
    leave(process)


def test_ctrl_c_stops_the_turn_and_not_the_program(shell: Any, chat: Any) -> None:
    shell.script([{"deltas": ["begun\n\n", "never"], "delay": 3.0}, "the next answer"])
    process = chat()
    ask(process, "hi")
    process.expect("begun")
    process.sendintr()
    process.expect("stopped", timeout=2)
    assert "cancelled" not in process.before
    process.expect(PROMPT)
    ask(process, "/cost")
    process.expect(r"turns +1, ")
    process.expect(r"model calls +1\r")
    process.expect(PROMPT)
    ask(process, "again")
    process.expect("the next answer")
    leave(process)


def test_ctrl_c_at_the_prompt_clears_the_line_and_then_says_how_to_leave(chat: Any) -> None:
    process = chat()
    process.send("half a thought")
    process.expect("thought")
    process.send("\x03")
    process.send("\x03")
    process.expect("/exit leaves")
    leave(process)


def test_an_error_is_one_line_and_the_conversation_goes_on(shell: Any, chat: Any) -> None:
    shell.script([{"error": "the key was refused"}, "all is well"])
    process = chat()
    ask(process, "hi")
    process.expect("the key was refused")
    process.expect(PROMPT)
    assert "Traceback" not in process.before
    ask(process, "hi")
    process.expect("all is well")
    leave(process)


def test_commands(shell: Any, chat: Any) -> None:
    process = chat("--session", "mine")
    for command, answer in [
        ("/help", "write the conversation as Markdown"),
        ("/agents", "Looks things up."),
        ("/graph", "└"),
        ("/model", "scripted/researcher"),
        ("/session", "mine"),
        ("/memory", "internal-only"),
        ("/cost", "cost "),
        ("/hlep", r"did you mean /help\?"),
        ("/model Leed=scripted/lead", "did you mean 'Lead'"),
        ("/model Lead=nonsense", "no provider"),
        ("/model Lead=scripted/researcher", "scripted/researcher"),
        ("/clear", "a new session"),
    ]:
        ask(process, command)
        process.expect(answer)
        process.expect(PROMPT)
    ask(process, "hi")
    process.expect("looked up")
    process.expect(PROMPT)
    ask(process, "/sessions")
    process.expect(r"\* \w+")
    process.expect(PROMPT)
    ask(process, "/exit")
    process.expect(pexpect.EOF)


def test_save_writes_the_transcript_and_never_over_a_file(shell: Any, chat: Any) -> None:
    process = chat()
    ask(process, "hi there")
    process.expect("hello from the lead")
    process.expect(PROMPT)
    ask(process, "/save out.md")
    process.expect("saved 1 exchange")
    process.expect(PROMPT)
    ask(process, "/save out.md")
    process.expect("there already")
    process.expect(PROMPT)
    ask(process, "/save no/such/folder/out.md")
    process.expect("cannot be written")
    assert (shell.folder / "out.md").read_text() == "# Pair\n\n## You\n\nhi there\n\n## Lead\n\nhello from the lead\n"
    leave(process)


def test_several_lines_are_one_message(shell: Any, chat: Any) -> None:
    process = chat()
    process.send("one\\\r")
    process.send("two\x1b\r")
    process.send("three\r")
    process.expect("hello from the lead")
    process.expect(PROMPT)
    process.send("\x1b[200~pasted\nlines\x1b[201~")
    process.send("\r")
    process.expect("hello from the lead")
    process.expect(PROMPT)
    ask(process, "/save out.md")
    process.expect("saved 2 exchanges")
    said = (shell.folder / "out.md").read_text()
    assert "one\ntwo\nthree" in said
    assert "pasted\nlines" in said
    leave(process)


def test_history_is_kept_for_this_user_alone(shell: Any, chat: Any) -> None:
    process = chat()
    ask(process, "remember me")
    process.expect("hello from the lead")
    leave(process)
    history = shell.home / "chat-history"
    assert "remember me" in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_tab_completes_commands_and_agents(chat: Any) -> None:
    process = chat()
    process.send("/mod")
    process.expect("which model answers")
    process.send("\t")
    process.send(" Le")
    process.expect("Lead=")
    process.send("\t")
    process.send("scripted/researcher\r")
    process.expect(r"Lead +scripted/researcher")
    leave(process)


def test_escape_sequences_of_a_model_do_not_reach_the_terminal(shell: Any, chat: Any) -> None:
    shell.script([{"deltas": ["before \x1b]0;pwned\x07", "\x1b]52;c;cHduZWQ=\x1b\\after"]}])
    process = chat()
    ask(process, "hi")
    process.expect("after")
    assert "pwned" not in process.before
    assert "]52;" not in process.before
    leave(process)


def test_a_dumb_terminal_gets_a_plain_conversation(shell: Any, terminal: Any) -> None:
    shell.script(["it is **blue**"])
    process = terminal("chat", "pair", TERM="dumb")
    process.expect(PROMPT)
    ask(process, "hi")
    process.expect(r"it is \*\*blue\*\*")
    assert "\x1b[3" not in process.before
    process.delaybeforesend = 0.5  # the prompt is there a moment before its keys are
    leave(process)
