"""The generated parts of the docs: `python -m scripts.docs` writes them, `--check` lists those that are stale.

A page keeps its prose; what is generated stands between `<!-- generated: NAME -->` and `<!-- /generated -->`.
`.env.example` is generated whole. Tests hold every page to what this would write.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from syndicate.settings import Settings

if TYPE_CHECKING:
    from syndicate.models.registry import Provider

ROOT = Path(__file__).parent.parent
REGION = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- /generated -->)", re.DOTALL)
HELP_WIDTH = 100
A_VARIABLE = r"^\{\{\w+\}\}$"  # what the schema allows beside every value that is not text; the page says it once

Json = Mapping[str, Any]


def settings_variables() -> Iterator[tuple[str, FieldInfo]]:
    """Each environment variable under its first name, in the order of the class."""
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        first = alias.choices[0] if isinstance(alias, AliasChoices) else alias or name
        yield str(first).upper(), field


def env_example() -> str:
    """`.env.example`: every variable, no value."""
    blocks = [
        "# Copy to .env and fill in what you need; every line may stay empty. Nothing here is needed by `tutor`.\n"
    ]
    for name, field in settings_variables():
        default = "" if field.default is None else f" Default: {field.default}"
        assign = f"{name}=" if field.default is None else f"# {name}="
        blocks.append(f"# {field.description}{default}\n{assign}\n")
    return "\n".join(blocks)


def settings_table() -> str:
    """Name, default and meaning of every environment variable."""
    rows = (
        (f"`{name}`", "" if field.default is None else f"`{field.default}`", field.description or "")
        for name, field in settings_variables()
    )
    return table(("variable", "default", "meaning"), rows)


def syndicate_keys() -> str:
    """A section with a table of keys for the root and each block of the format, in the order in which they appear."""
    from syndicate.config.json_schema import json_schema

    schema = json_schema()
    blocks: dict[str, Json] = {name: schema["$defs"][name] for name in references(schema, schema["$defs"])}
    orchestrator, subagent = blocks["OrchestratorConfig"], blocks["SubagentConfig"]
    common = [key for key in orchestrator["properties"] if key in subagent["properties"]]
    agent = {**only(orchestrator, common), "description": "What an orchestrator and a subagent can both have."}
    sections = [section("Root", schema), section("Agent", agent)]
    for name, block in blocks.items():
        if block in (orchestrator, subagent):
            own = [key for key in block["properties"] if key not in common]
            sections.append(section(title(name), only(block, own), "The keys of an [agent](#agent), and:"))
        else:
            sections.append(section(title(name), block))
    return "\n".join(sections)


def references(spec: Any, blocks: Json) -> dict[str, None]:
    """Names of the blocks that a schema refers to, itself or through others, each once, depth first."""
    found: dict[str, None] = {}
    if isinstance(spec, Mapping):
        for key, value in spec.items():
            if key == "$ref":
                name = value.rsplit("/", 1)[-1]
                found |= {name: None} | references(blocks[name], blocks)
            elif key != "$defs":
                found |= references(value, blocks)
    elif isinstance(spec, list):
        for value in spec:
            found |= references(value, blocks)
    return found


def only(block: Json, keys: list[str]) -> Json:
    """A block with some of its keys."""
    return {**block, "properties": {key: block["properties"][key] for key in keys}}


def section(heading: str, block: Json, note: str = "") -> str:
    """One block of the format: its docstring and its keys."""
    required = set(block.get("required", ()))
    rows = (
        (f"`{key}`", type_of(spec), default_of(key, spec, required), meaning(spec), example(spec))
        for key, spec in block["properties"].items()
    )
    text = " ".join(f"{block.get('description', '')} {note}".split())
    return f"### {heading}\n\n{text}\n\n{table(('key', 'type', 'default', 'meaning', 'example'), rows)}"


def title(name: str) -> str:
    """`GenerateContentConfig` → `Generate content`."""
    words = re.findall(r"[A-Z][a-z0-9]*", name.removesuffix("Config"))
    return " ".join(words).capitalize().replace("Mcp", "MCP")


def type_of(spec: Json) -> str:
    """The type of a property in words; names of blocks link to their section."""
    if "$ref" in spec:
        heading = title(spec["$ref"].rsplit("/", 1)[-1])
        return f"[{heading.lower().replace('mcp', 'MCP')}](#{heading.lower().replace(' ', '-')})"
    if "enum" in spec:
        return " or ".join(f"`{value}`" for value in spec["enum"])
    if "const" in spec:
        return f"`{spec['const']}`"
    if "anyOf" in spec:
        parts = (part for part in spec["anyOf"] if part.get("type") != "null" and part.get("pattern") != A_VARIABLE)
        return " or ".join(dict.fromkeys(map(type_of, parts)))
    if spec.get("type") == "array":
        return f"list of {type_of(spec.get('items', {}))}"
    if spec.get("type") == "object":
        values = spec.get("additionalProperties")
        return f"map of {type_of(values)}" if isinstance(values, dict) and values else "map"
    return spec.get("type", "anything") + limits(spec)


def limits(spec: Json) -> str:
    """The bounds of a number, or the pattern of a text."""
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
    bounds = [f"{sign} {spec[word]}" for word, sign in signs.items() if word in spec]
    bounds += [f"`{spec['pattern']}`"] if "pattern" in spec else []
    return f" {', '.join(bounds)}" if bounds else ""


def default_of(key: str, spec: Json, required: set[str]) -> str:
    """`required`, the default as YAML would have it, or nothing when it is absent by default."""
    if key in required:
        return "required"
    default = spec.get("default")
    return "" if default in (None, "", [], {}) else f"`{json.dumps(default, ensure_ascii=False)}`"


def meaning(spec: Json) -> str:
    """The description, on one line."""
    return " ".join(spec.get("description", "").split())


def example(spec: Json) -> str:
    """The first example as JSON, which YAML reads too."""
    examples = spec.get("examples", ())
    return f"`{json.dumps(examples[0], ensure_ascii=False)}`" if examples else ""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; bars within cells are escaped."""
    lines = [head, ("---",) * len(head), *rows]
    cells = ((cell.replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def not_in_this_version() -> str:
    """The keys and the tool names that are known and cannot be run yet."""
    from syndicate.graph.features import AGENT_KEYS, ROOT_KEYS, missing_feature, missing_tool
    from syndicate.tools.registry import RESERVED

    asked = {key: "long-term" if key == "memory_system" else True for key in (*ROOT_KEYS, *AGENT_KEYS)}
    keys = [
        f"`{key}: {value}`" if value is not True else f"`{key}`"
        for key, value in asked.items()
        if missing_feature(key, value)
    ]
    names = [f"`{name}`" for name in sorted(RESERVED) if missing_tool(name)]
    return f"- keys: {', '.join(keys)}\n- tools: {', '.join(names)}"


def model_ids() -> str:
    """Each provider's model ids, and what it takes to use them."""
    from syndicate.models.registry import providers

    def needs(provider: Provider) -> str:
        if provider.adapter is None:
            return "no adapter in this version"
        extra = f"the `{provider.extra}` extra" if provider.extra else ""
        return ", ".join(filter(None, (f"`{provider.key}`" if provider.key else "", extra))) or "no key"

    rows = (
        (", ".join(f"`{prefix}`" for prefix in provider.prefixes.split(", ")), provider.id, needs(provider))
        for provider in providers()
    )
    return table(("id", "provider", "needs"), rows)


def capability_matrix() -> str:
    """Feature × provider, and the notes below: the table of `doctor --matrix`."""
    from syndicate.cli.marks import marks
    from syndicate.cli.matrix import cell, numbered_notes
    from syndicate.models.capabilities import FEATURES, MATRIX

    notes, signs = numbered_notes(), marks("utf-8")
    rows = (
        (feature.replace("_", " "), *(cell(row[feature], notes, signs) for row in MATRIX.values()))
        for feature in FEATURES
    )
    below = "".join(f"{number}. {note}\n" for note, number in notes.items())
    return f"{table(('', *MATRIX), rows)}\n{below}"


def search_tools() -> str:
    """Which provider has which search, and what an agent that names one is told on the others."""
    from typing import get_args

    from syndicate.models.capabilities import MATRIX, native_tools
    from syndicate.models.server_tools import ServerToolKind
    from syndicate.tools.search import left_out

    rows = (
        (
            f"`{kind}`",
            ", ".join(provider for provider in MATRIX if kind in native_tools(provider)),
            "left out, said once" if left_out([kind], "ollama/any") else "does nothing",
        )
        for kind in get_args(ServerToolKind)
    )
    return table(("tool", "who has it", "elsewhere"), rows)


def cli_help() -> str:
    """What `--help` prints, for `syndicate` and every verb."""
    from syndicate.cli.app import group

    return "\n".join(help_sections(group, "syndicate", None))


def help_sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    """A heading and a code block for a command, then for each of its own."""
    settings = {"terminal_width": HELP_WIDTH, "max_content_width": HELP_WIDTH, **command.context_settings}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    yield f"### `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            child = command.get_command(context, verb)
            if child is not None:
                yield from help_sections(child, verb, context)


REGIONS: dict[str, Callable[[], str]] = {
    "settings": settings_table,
    "syndicate-keys": syndicate_keys,
    "cli-help": cli_help,
    "model-ids": model_ids,
    "capabilities": capability_matrix,
    "search-tools": search_tools,
    "not-in-this-version": not_in_this_version,
}
PAGES = ("docs/cli.md", "docs/providers.md", "docs/settings.md", "docs/syndicate-yaml.md")


def regenerate(text: str) -> str:
    """A page with its generated regions written anew."""
    return REGION.sub(lambda match: f"{match[1]}\n{REGIONS[match['name']]().rstrip()}\n\n{match[3]}", text)


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file and the text it should have."""
    yield ROOT / ".env.example", env_example()
    for page in PAGES:
        path = ROOT / page
        yield path, regenerate(path.read_text(encoding="utf-8"))


def main(args: list[str]) -> int:
    """Write what is stale, or with `--check` only name it: exit 1 if there is any."""
    stale = [(path, text) for path, text in generated() if not path.exists() or path.read_text("utf-8") != text]
    for path, text in stale:
        print(path.relative_to(ROOT))
        if "--check" not in args:
            path.write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in args else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
