"""`syndicate models`: who is there, and one prompt to each, against servers that speak the wire formats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models import anthropic_wire as claude
from tests.models import responses_wire as responses
from tests.models.conftest import Answer, StandIn, stand_in

__all__ = ["stand_in"]

KEY = "sesame-open-4711"
GEMINI = "/v1beta/models/gemini-3.7-flash:streamGenerateContent"
USAGE = {"promptTokenCount": 12, "candidatesTokenCount": 5, "thoughtsTokenCount": 4, "totalTokenCount": 21}
GROUNDING = {
    "webSearchQueries": ["sky blue"],
    "groundingChunks": [
        {"web": {"uri": "https://example.org/sky", "title": "The sky"}},
        {"web": {"uri": "https://example.org/sky", "title": "The sky"}},
        {"web": {"uri": "https://example.org/light", "title": "Light"}},
    ],
}


def gemini_says(*parts: dict[str, Any], **more: Any) -> Answer:
    """Each part in a frame of its own."""
    frames = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
    frames[-1]["candidates"][0] |= {"finishReason": "STOP", **more}
    return Answer.events(*frames[:-1], {**frames[-1], "usageMetadata": USAGE}, pause=0.05)


def ollama_says(text: str) -> Answer:
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 2}
    head = {"model": "qwen3:8b", "done": False}
    frames = ({**head, "message": {"role": "assistant", "content": piece}} for piece in (text[:2], text[2:]))
    return Answer.lines(*frames, {"model": "qwen3:8b", "message": {"role": "assistant"}, **end})


@pytest.fixture
def providers(stand_in: StandIn) -> dict[str, str]:
    """Variables with which Gemini and a daemon are served by the stand-in."""
    stand_in.on(GEMINI, gemini_says({"text": "hm, light", "thought": True}, {"text": "It "}, {"text": "scatters."}))
    stand_in.on("/api/tags", Answer.json({"models": [{"name": "nomic-embed-text"}, {"name": "qwen3:8b"}]}))
    stand_in.on("/api/show", Answer.json({"capabilities": ["completion"]}))
    stand_in.on("/api/chat", ollama_says("Rayleigh."))
    return {
        "GOOGLE_GENAI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": stand_in.url,
        "OLLAMA_BASE_URL": stand_in.url,
    }


BOTH = ("--model", "gemini-3.7-flash", "--model", "ollama/qwen3:8b")


def test_list_names_what_was_pulled(shell: Any, providers: dict[str, str]) -> None:
    file = shell.home / "models" / "org" / "repo" / "tiny.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\0" * 2_000_000)
    lines = shell.run("models", "list", **providers).stdout.splitlines()
    assert any(line.split() == ["ollama", "ollama/*", "ready"] for line in lines)
    assert [line.split() for line in lines if line.startswith(" ")] == [
        ["ollama/nomic-embed-text"],
        ["ollama/qwen3:8b"],
        ["local/org/repo:tiny.gguf", "2", "MB"],
    ]
    rows = {row["provider"]: row for row in json.loads(shell.run("models", "list", "--json", **providers).stdout)}
    assert rows["local"]["pulled"] == [{"id": "local/org/repo:tiny.gguf", "bytes": 2_000_000}]
    assert (rows["gemini"]["ready"], rows["gemini"]["needs"]) == (True, None)


def test_list_says_what_each_needs(shell: Any) -> None:
    rows = {row["provider"]: row for row in json.loads(shell.run("models", "list", "--json").stdout)}
    assert rows["gemini"]["needs"] == "set GOOGLE_GENAI_API_KEY"
    assert rows["ollama"]["needs"].startswith("start Ollama")
    assert (rows["local"]["ready"], rows["local"]["pulled"]) == (True, [])


def test_try_shows_thinking_answer_tokens_and_times_in_order(shell: Any, providers: dict[str, str]) -> None:
    done = shell.run("models", "try", "Why is the sky blue?", *BOTH, **providers)
    assert (done.returncode, done.stderr) == (0, "")
    gemini, ollama = done.stdout.split("\n\n")
    name, thinking, answer, meter = gemini.splitlines()
    assert (name, thinking, answer) == ("gemini-3.7-flash", "hm, light", "It scatters.")
    assert re.match(r"12 in, 5 out, 4 thinking · first token \d+\.\d s, \d+\.\d s in all · (\$|cost unknown)", meter)
    assert ollama.splitlines()[:2] == ["ollama/qwen3:8b", "Rayleigh."]
    assert re.match(r"7 in, 2 out · first token .* · free$", ollama.splitlines()[2])


def test_the_prompt_reaches_every_model(shell: Any, providers: dict[str, str], stand_in: StandIn) -> None:
    shell.run("models", "try", "Why, exactly?", *BOTH, **providers)
    (body,) = stand_in.bodies(GEMINI)
    assert body["contents"][-1]["parts"] == [{"text": "Why, exactly?"}]
    (chat,) = stand_in.bodies("/api/chat")
    assert chat["messages"][-1]["content"] == "Why, exactly?"


def test_models_are_asked_side_by_side(shell: Any, providers: dict[str, str], stand_in: StandIn) -> None:
    slow = gemini_says(*({"text": "x"} for _ in range(20)))
    stand_in.on(GEMINI, slow)  # a second
    lines = shell.run("models", "try", "hi", *BOTH, "--json", **providers).stdout.splitlines()
    paths = [request.path for request in stand_in.received]
    assert [json.loads(line)["provider"] for line in lines] == ["gemini", "ollama"]
    assert json.loads(lines[0])["seconds"] > 0.9
    assert json.loads(lines[1])["seconds"] < json.loads(lines[0])["seconds"]
    assert {GEMINI, "/api/chat"} <= set(paths)


def test_json_is_one_object_a_line(shell: Any, providers: dict[str, str]) -> None:
    first, second = shell.run("models", "try", "hi", *BOTH, "--json", **providers).stdout.splitlines()
    gemini, ollama = json.loads(first), json.loads(second)
    assert (gemini["model"], gemini["answer"], gemini["thinking"]) == ("gemini-3.7-flash", "It scatters.", "hm, light")
    assert gemini["usage"] == {"input": 12, "output": 5, "thinking": 4, "cached": None}
    assert 0 < gemini["first_token_seconds"] <= gemini["seconds"]
    assert (ollama["cost_usd"], ollama["error"], ollama["thinking"]) == (0.0, None, None)


def test_one_that_fails_is_one_line_and_the_others_answer(
    shell: Any, providers: dict[str, str], stand_in: StandIn
) -> None:
    refusal = {"error": {"code": 401, "message": f"no such key {KEY}", "status": "UNAUTHENTICATED"}}
    stand_in.on(GEMINI, Answer.json(refusal, 401))
    done = shell.run("models", "try", "hi", *BOTH, **providers)
    gemini, ollama = done.stdout.split("\n\n")
    assert done.returncode == 0
    assert len(gemini.splitlines()) == 2
    assert "no such key" in gemini
    assert KEY not in done.stdout
    assert "Rayleigh." in ollama
    alone = shell.run("models", "try", "hi", *BOTH[:2], "--json", **providers)
    assert alone.returncode == 1
    assert json.loads(alone.stdout)["error"]["code"] == "auth"


def test_one_that_cannot_be_used_says_why(shell: Any) -> None:
    done = shell.run("models", "try", "hi", *BOTH)
    assert done.returncode == 1
    assert "GOOGLE_GENAI_API_KEY is not set" in done.stdout
    assert "no Ollama daemon answers" in done.stdout


def test_search_is_offered_and_its_sources_printed(shell: Any, providers: dict[str, str], stand_in: StandIn) -> None:
    stand_in.on(GEMINI, gemini_says({"text": "It scatters."}, groundingMetadata=GROUNDING))
    done = shell.run("models", "try", "hi", "--search", *BOTH, **providers)
    gemini, ollama = done.stdout.split("\n\n")
    assert gemini.splitlines()[2:4] == ["The sky  https://example.org/sky", "Light  https://example.org/light"]
    assert "ollama/qwen3:8b has no web search of its own: web_search left out" in ollama
    (body,) = stand_in.bodies(GEMINI)
    assert body["tools"] == [{"googleSearch": {}}]
    (chat,) = stand_in.bodies("/api/chat")
    assert not chat.get("tools")
    sources = json.loads(shell.run("models", "try", "hi", "--search", "--json", *BOTH[:2], **providers).stdout)[
        "sources"
    ]
    assert sources[1] == {"title": "Light", "uri": "https://example.org/light"}


def cited_by_claude() -> Answer:
    """An answer that cites a page, as the Messages API streams it."""
    page = {"url": "https://example.org/sky", "title": "The sky", "cited_text": "blue", "encrypted_index": "x"}
    found = {"type": "web_search_result", "url": page["url"], "title": page["title"], "encrypted_content": "x"}
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{**found, "page_age": None}]}
    citation = {"type": "citations_delta", "citation": {"type": "web_search_result_location", **page}}
    said = {"type": "text_delta", "text": "It scatters."}
    query = {"type": "input_json_delta", "partial_json": '{"query": "sky blue"}'}
    return claude.events(
        claude.start(),
        *claude.block(0, search, query),
        *claude.block(1, result),
        *claude.block(2, {"type": "text", "text": "", "citations": []}, said, citation),
        *claude.stop(),
    )


def cited_by_gpt() -> Answer:
    page = responses.cited("https://example.org/sky", "The sky")
    return responses.streamed(responses.web_search("sky blue"), responses.message("It scatters.", [page]))


@pytest.mark.parametrize(
    ("model_id", "path", "answer", "address"),
    [
        ("claude-haiku-4-5", claude.PATH, cited_by_claude, "ANTHROPIC_BASE_URL"),
        ("gpt-5-mini", responses.PATH, cited_by_gpt, "OPENAI_BASE_URL"),
        ("grok-4-fast", responses.PATH, cited_by_gpt, "XAI_BASE_URL"),
    ],
)
def test_every_cloud_provider_answers_and_searches(
    model_id: str, path: str, answer: Callable[[], Answer], address: str, shell: Any, stand_in: StandIn
) -> None:
    stand_in.on(path, answer())
    variables = {address: stand_in.url + path.removesuffix("/responses").removesuffix("/v1/messages")}
    variables[address.replace("BASE_URL", "API_KEY")] = KEY
    done = shell.run("models", "try", "hi", "--search", "--model", model_id, "--json", **variables)
    trial = json.loads(done.stdout)
    assert (done.returncode, trial["error"], trial["answer"]) == (0, None, "It scatters.")
    assert trial["sources"] == [{"title": "The sky", "uri": "https://example.org/sky"}]
    assert trial["usage"]["input"] > 0
    (body,) = stand_in.bodies(path)
    assert "web_search" in str(body["tools"])


def test_without_search_none_is_offered(shell: Any, providers: dict[str, str], stand_in: StandIn) -> None:
    shell.run("models", "try", "hi", *BOTH[:2], **providers)
    assert "tools" not in stand_in.bodies(GEMINI)[0]


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["--model", "gemni-3.7-flash"], 1, "did you mean 'gemini-3.7-flash'"),
        (["   "], 2, "the prompt is empty"),
        (["--modle", "x"], 2, "--model"),
    ],
)
def test_what_is_typed_wrongly_is_one_line(shell: Any, args: list[str], code: int, says: str) -> None:
    done = shell.run("models", "try", *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert says in done.stderr


def test_on_a_terminal_thinking_is_dimmed(shell: Any, terminal: Any, providers: dict[str, str]) -> None:
    shown = terminal("models", "try", "hi", *BOTH[:2], **providers).read()
    assert re.search(r"\x1b\[2;3mhm, light\x1b\[0m", shown)
    assert "\x1b[1mgemini-3.7-flash" in shown


@pytest.mark.live
def test_without_a_model_one_of_each_available_provider_is_asked(
    shell: Any, providers: dict[str, str], embedded_home: Path
) -> None:
    done = shell.run("models", "try", "--json", SYNDICATE_HOME=str(embedded_home), **providers)
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert [trial["model"] for trial in trials] == ["gemini-3.7-flash", "ollama/qwen3:8b", "local/smollm2"]
    assert trials[2]["answer"]
    assert trials[2]["cost_usd"] == 0
    assert "not available here: anthropic, openai, xai" in done.stderr
