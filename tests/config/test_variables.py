"""`{{name}}` is bound once, at load; everything else in braces is the model's to read."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syndicate.config import CURRENT_DATE_MARK, LoadedSyndicate, render_date
from syndicate.config.variables import bind, bind_text
from syndicate.errors import UsageError

Load = Callable[..., LoadedSyndicate]
Problems = Callable[..., list[str]]
Text = Callable[[str], str]

BRACES = [
    "{id}",
    "{{{id}}}",
    "{ id }",
    "{{ id }}",
    "{user:name}",
    "{id?}",
    '{"a": 1}',
    "${HOME}",
    r"\{id}",
    "{a b}",
    "{{a b}}",
    "{{a-b}}",
    "{{}}",
    "{%x%}",
    "{{#each x}}",
    "${{ github.ref }}",
]


@pytest.mark.parametrize("braces", BRACES)
def test_braces_in_a_prompt_arrive_untouched(braces: str, load_text: Load, root: Text):
    text = root("").replace("  instruction: Help.\n", f"  instruction: |\n    Call GET /users/{braces}.\n")
    loaded = load_text(text, strict="{{{" not in braces)
    assert loaded.config.orchestrator.instruction == f"Call GET /users/{braces}.\n"


def test_a_variable_is_bound_anywhere_in_a_text(load_text: Load, subagent: Text):
    text = subagent(
        """\
        instruction: "{{who}} writes {{ who }}, {who} and {{who}}: {{count}} times, {{share}}, {{sure}}, {{none}}."
        stop: 1
        """
    ).replace("    stop: 1\n", "variables: {who: Ada, count: 3, share: 0.5, sure: true, none: }\n")
    (agent,) = load_text(text).config.subagents
    assert agent.instruction == "Ada writes {{ who }}, {who} and Ada: 3 times, 0.5, true, ."


def test_a_value_that_is_exactly_one_variable_keeps_its_type(load_text: Load, agent: Text):
    text = agent(
        """\
        generateContentConfig: {temperature: "{{heat}}", maxOutputTokens: '{{most}}', stopSequences: ["{{stop}}"]}
        outputSchema: {type: object, properties: {sure: {const: "{{sure}}"}}}
        """
    )
    text += 'max_steps: "{{most}}"\nvariables: {heat: 0.5, most: 12, stop: END, sure: true}\n'
    config = load_text(text).config
    settings = config.orchestrator.generate_content_config
    assert settings is not None
    assert (settings.temperature, settings.max_output_tokens, settings.stop_sequences) == (0.5, 12, ("END",))
    assert config.orchestrator.output_schema == {"type": "object", "properties": {"sure": {"const": True}}}
    assert config.max_steps == 12


def test_a_typed_variable_where_text_is_wanted_names_itself(problems_of: Problems, agent: Text):
    text = agent("description: '{{year}}'\n") + "variables: {year: 2026}\n"
    assert problems_of(text) == ["6:16: 2026 is a number where text is wanted; put the value of 'year' in quotes"]


def test_a_bound_value_is_not_bound_again(load_text: Load, agent: Text):
    text = agent("description: '{{a}} {{b}}'\n") + "variables: {a: '{{b}}', b: '{{a}}'}\n"
    loaded = load_text(text)
    assert loaded.config.orchestrator.description == "{{b}} {{a}}"
    assert loaded.config.variables == {"a": "{{b}}", "b": "{{a}}"}
    assert [str(problem).split("warning: ")[1] for problem in loaded.problems] == [
        "'{{b}}' stays as it is: variables are not bound into one another",
        "'{{a}}' stays as it is: variables are not bound into one another",
    ]


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.text("abc{}", max_size=8)), st.text("abc{} ", max_size=40))
def test_binding_is_one_pass(values: dict[str, str], text: str):
    marked = {name: f"<{number}>" for number, name in enumerate(values)}
    expected = bind_text(text, marked)
    for name, value in values.items():
        expected = expected.replace(marked[name], value)
    assert bind_text(text, values) == expected


@given(st.text(), st.dictionaries(st.text(), st.integers()))
def test_text_without_a_variables_name_stays_as_it_is(text: str, values: dict[str, int]):
    if not any(f"{{{{{name}}}}}" in text for name in values):
        assert bind(text, values) == text


def test_a_name_that_is_no_variable_stays_and_is_warned_about_where_it_stands(problems_of: Problems, root: Text):
    text = root("variables: {topic: bees}\n").replace(
        "  instruction: Help.\n", "  instruction: |\n    é☃ about {{topics}},\n    {{nothing}} and {{nothing}}\n"
    )
    assert problems_of(text) == [
        "6:14: warning: '{{topics}}' names no variable and stays as it is; did you mean 'topic'?",
        "7:5: warning: '{{nothing}}' names no variable and stays as it is; declare it under 'variables'",
    ]


def test_the_place_of_a_name_is_found_in_folded_and_quoted_texts(problems_of: Problems, root: Text):
    text = (
        root("").replace("Help.", '"one\n    two {{x}}"').replace("syndicate_name: Test", "syndicate_name: >\n  {{y}}")
    )
    assert [problem[:5] for problem in problems_of(text)] == ["2:3: ", "7:9: "]


def test_a_name_that_is_no_variable_is_an_error_when_strict(problems_of: Problems, agent: Text):
    assert problems_of(agent("description: '{{x}}'\n"), strict=True) == [
        "6:17: '{{x}}' names no variable and stays as it is; declare it under 'variables'"
    ]


def test_the_date_is_rendered_later(load_text: Load, agent: Text):
    loaded = load_text(agent("description: Today is {{current_date}}.\n"), strict=True)
    description = loaded.config.orchestrator.description or ""
    assert description == f"Today is {CURRENT_DATE_MARK}."
    assert render_date(description, "November 30, 2026") == "Today is November 30, 2026."


def test_a_variable_or_a_binding_can_set_the_date(load_text: Load, agent: Text):
    text = agent("description: '{{current_date}}'\n")
    assert load_text(text, bindings={"current_date": "May 1"}).config.orchestrator.description == "May 1"
    text += "variables: {current_date: 'May 2'}\n"
    assert load_text(text).config.orchestrator.description == "May 2"


def test_names_of_variables_are_words_in_any_script(problems_of: Problems, root: Text):
    assert problems_of(root("variables: {naïve_2: 1, 風: 2}\n")) == []
    assert problems_of(root("variables: {my-var: 1}\n")) == [
        "6:13: variable name 'my-var' has other characters than letters, digits and '_'; rename it"
    ]


def test_a_variable_holds_one_value(problems_of: Problems, root: Text):
    assert problems_of(root("variables: {a: [1], b: {c: 1}}\n")) == [
        "6:16: a variable holds text, a number, true or false, not a list or mapping",
        "6:24: a variable holds text, a number, true or false, not a list or mapping",
    ]
    assert problems_of(root("variables: [a]\n")) == ["6:12: this is a list where a mapping is wanted"]


def test_keys_and_extensions_are_not_bound(load_text: Load, agent: Text):
    text = agent("outputSchema: {type: object, properties: {'{{a}}': {type: string}}}\n")
    loaded = load_text(text + "x-notes: '{{unknown}}'\nvariables: {a: b}\n", strict=True)
    assert loaded.config.orchestrator.output_schema == {"type": "object", "properties": {"{{a}}": {"type": "string"}}}


def test_what_is_merged_from_an_extension_is_bound(load_text: Load, agent: Text):
    text = "x-base: &base {description: 'On {{topic}}'}\n" + agent("<<: *base\n") + "variables: {topic: bees}\n"
    assert load_text(text, strict=True).config.orchestrator.description == "On bees"


def test_bindings_win_over_variables(load_text: Load, agent: Text):
    text = agent("description: '{{a}} {{b}}'\n") + "variables: {a: 1, b: 2}\n"
    assert load_text(text, bindings={"a": "x"}).config.orchestrator.description == "x 2"


def test_a_binding_that_is_no_single_value_is_refused_by_its_type(load_text: Load, root: Text):
    with pytest.raises(UsageError, match=r"'a' is bound to a value of type 'object'; bind text"):
        load_text(root("variables: {a: 1}"), bindings={"a": object()})


def test_a_binding_nobody_declares_is_refused_with_a_suggestion(load_text: Load, root: Text):
    text = root("variables: {topic: bees}\n")
    with pytest.raises(
        UsageError, match=r"test.yaml, with what it nests, declares no variable 'topc'; did you mean 'topic'\?"
    ):
        load_text(text, bindings={"topc": "x"})
    with pytest.raises(UsageError, match=r"declares no variable 'zzz'; declare it under 'variables'"):
        load_text(text, bindings={"zzz": "x"})


@pytest.mark.parametrize("bindings", [{"a b": 1}, {"": 1}, {"a": [1]}, {"a": "x\x00y"}])
def test_bindings_that_no_variable_can_have_are_refused(bindings: dict, load_text: Load, root: Text):
    with pytest.raises(UsageError):
        load_text(root("variables: {a: 1}\n"), bindings=bindings)
