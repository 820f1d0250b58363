"""The format of a syndicate file, as frozen models: the one source of the JSON Schema and of the reference page.

Shapes only. What relates one key to another, or to another file, is in `rules` and `references`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Scalar = str | int | float | bool | None
"""What a variable can hold."""

Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], Field(strict=False)]
Positive = Annotated[int, Field(gt=0)]
HarmCategory = Literal[
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
    "HARM_CATEGORY_CIVIC_INTEGRITY",
]
HarmThreshold = Literal["BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF"]


class Block(BaseModel):
    """A mapping of the format. Code may fill a model by field name; a file is read by the format's names only."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_by_name=True, validate_by_alias=True, defer_build=True
    )


class CamelBlock(Block):
    """A mapping whose keys are camelCase in the file."""

    model_config = ConfigDict(alias_generator=to_camel)


class SafetySetting(Block):
    """How strictly one kind of harm is blocked (Gemini)."""

    category: HarmCategory = Field(description="Kind of harm.", examples=["HARM_CATEGORY_HARASSMENT"])
    threshold: HarmThreshold = Field(description="What is blocked.", examples=["BLOCK_ONLY_HIGH"])


class ThinkingConfig(CamelBlock):
    """How much a model thinks before it answers."""

    thinking_budget: Annotated[int, Field(ge=-1)] | None = Field(
        None, description="Tokens for thinking; -1 lets the model decide, 0 turns it off.", examples=[1024]
    )
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH"] | None = Field(
        None, description="Effort of thinking, for models that take a level.", examples=["MEDIUM"]
    )
    include_thoughts: bool | None = Field(None, description="Whether thoughts are streamed.", examples=[True])


class GenerateContentConfig(CamelBlock):
    """Settings of the model call. One a provider has no equivalent for is reported, never silently dropped."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="Randomness, 0 to 2.", examples=[0.7]
    )
    top_p: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Nucleus sampling: the share of probability kept, 0 to 1.", examples=[0.95]
    )
    top_k: Positive | None = Field(None, description="How many of the likeliest tokens are kept.", examples=[40])
    max_output_tokens: Positive | None = Field(None, description="Most tokens of one reply.", examples=[2048])
    stop_sequences: Texts = Field((), description="Texts that end the reply.", examples=[["END"]])
    candidate_count: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None, description="Replies asked for; only the first is used.", examples=[1]
    )
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = Field(
        None, description="Above 0, tokens that occurred at all become less likely; -2 to 2.", examples=[0.1]
    )
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = Field(
        None, description="Above 0, tokens become less likely the more they occurred; -2 to 2.", examples=[0.1]
    )
    seed: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = Field(
        None, description="Number that makes sampling repeatable where the provider can.", examples=[42]
    )
    response_mime_type: Literal["text/plain", "application/json", "text/x.enum"] | None = Field(
        None, description="Kind of text the reply is; `outputSchema` sets it by itself.", examples=["application/json"]
    )
    safety_settings: Annotated[tuple[SafetySetting, ...], Field(strict=False)] = Field(
        (), description="What Gemini blocks.", examples=[[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]]
    )
    thinking_config: ThinkingConfig | None = Field(
        None, description="How much the model thinks.", examples=[{"thinkingLevel": "LOW", "includeThoughts": True}]
    )


class OrchestrationConfig(Block):
    """Accepted for files of an earlier system; has no effect."""

    role: str | None = Field(None, description="No effect.", examples=["orchestrator"])
    delegates: Texts = Field((), description="No effect.", examples=[["Researcher"]])


class McpServerConfig(Block):
    """A remote (`url`) or local (`command`) MCP server whose tools the agent gets."""

    url: str | None = Field(None, description="Its http(s) address.", examples=["https://mcp.example.com/mcp"])
    command: Text | None = Field(None, description="The command that starts it.", examples=["my-server --stdio"])
    tools: Texts = Field((), description="Only these of its tools; all when empty.", examples=[["search"]])
    prefix: Text | None = Field(None, description="Put before each tool's name.", examples=["library"])
    required: bool = Field(
        True, description="Whether the agent refuses to load when the server is down.", examples=[False]
    )


class AgentConfig(Block):
    """What every agent of a file can have."""

    name: Text = Field(description="Display name, unique within the file; any text.", examples=["Researcher"])
    description: Text | None = Field(
        None,
        description="When to use this agent: the orchestrator decides by it. Required on a subagent.",
        examples=["Finds sources. Pass it one focused question."],
    )
    model: Text | None = Field(
        None,
        description="Model id; the prefix picks the provider. A subagent without one inherits.",
        examples=["gemini-3.7-flash", "ollama/qwen3:8b", "local/smollm2"],
    )
    models: Texts = Field(
        (),
        description="Instead of `model`: the first one that is available is used.",
        examples=[["ollama/qwen3:8b", "local/smollm2"]],
    )
    instruction: Text | None = Field(
        None,
        description="The prompt, literal but for `{{variables}}`.",
        examples=["You answer in one short paragraph."],
    )
    instruction_file: Text | None = Field(
        None, description="A Markdown file beside this one, instead of `instruction`.", examples=["researcher.md"]
    )
    tools: Texts = Field((), description="Names of tools.", examples=[["web_search"]])
    generate_content_config: GenerateContentConfig | None = Field(
        None,
        alias="generateContentConfig",
        description="Settings of the model call.",
        examples=[{"temperature": 0.7, "maxOutputTokens": 2048}],
    )
    output_schema: dict[str, Any] | None = Field(  # JSON Schema: open by nature
        None,
        alias="outputSchema",
        description="JSON Schema the reply must fit, on every provider.",
        examples=[{"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}],
    )
    include_contents: Literal["default", "none"] = Field(
        "default",
        alias="includeContents",
        description="Whether the agent reads the conversation (`default`) or only its request (`none`).",
        examples=["none"],
    )
    output_key: Text | None = Field(
        None, alias="outputKey", description="Session-state key for the final reply.", examples=["draft"]
    )
    disallow_transfer_to_parent: bool | None = Field(
        None,
        alias="disallowTransferToParent",
        description="Accepted for compatibility: delegation here never transfers.",
        examples=[True],
    )
    disallow_transfer_to_peers: bool | None = Field(
        None,
        alias="disallowTransferToPeers",
        description="Accepted for compatibility: delegation here never transfers.",
        examples=[True],
    )
    orchestration: OrchestrationConfig | None = Field(
        None, description="Accepted for compatibility: has no effect.", examples=[{"role": "orchestrator"}]
    )
    confirm: Texts = Field((), description="Tools that need a person's yes before they run.", examples=[["task_add"]])
    mcp_server_url: str | None = Field(
        None, description="A remote MCP server whose tools the agent gets.", examples=["https://mcp.example.com/sse"]
    )
    mcp_servers: Annotated[tuple[McpServerConfig, ...], Field(strict=False)] = Field(
        (),
        description="MCP servers whose tools the agent gets.",
        examples=[[{"url": "https://mcp.example.com/mcp", "prefix": "library"}]],
    )


class OrchestratorConfig(AgentConfig):
    """The root agent of a file."""

    global_instruction: Text | None = Field(
        None,
        alias="globalInstruction",
        description="Put before the instruction of every agent of this file.",
        examples=["Answer in the user's language."],
    )


class SubagentConfig(AgentConfig):
    """One of the orchestrator's team: inline (`instruction`), another file or a remote agent."""

    yaml_reference: Text | None = Field(
        None, description="Another syndicate file, mounted whole.", examples=["researchers.yaml"]
    )
    a2a_agent_url: str | None = Field(
        None, description="Address of a remote A2A agent.", examples=["https://agents.example.com/critic"]
    )


class RouteOverride(Block):
    """A pattern that pins a route before any classifier runs."""

    route: Text = Field(description="Name of a subagent.", examples=["Billing"])
    pattern: Text = Field(description="Regular expression searched in the message.", examples=[r"\binvoice\b"])
    flags: Annotated[str, Field(pattern=r"^[imsux]*$")] = Field(
        "", description="Letters: i ignore case, m multi-line, s dot matches line ends, x verbose.", examples=["i"]
    )
    reason: Text | None = Field(None, description="Shown when the pattern decides.", examples=["names an invoice"])


class DispatchConfig(Block):
    """Plan-dispatch: the orchestrator names a route, and that specialist answers."""

    default_route: Text = Field(description="Subagent that answers whenever routing fails.", examples=["General"])
    route_key: Text = Field("route", description="Property of the orchestrator's JSON that names the route.")
    reason_key: Text = Field("reason", description="Property of the orchestrator's JSON that says why.")
    route_overrides: Annotated[tuple[RouteOverride, ...], Field(strict=False)] = Field(
        (),
        description="Patterns tried in order before the orchestrator is asked.",
        examples=[[{"route": "Billing", "pattern": "invoice", "flags": "i"}]],
    )


class BudgetConfig(Block):
    """What one turn may spend before it ends with an error."""

    max_tokens: Positive | None = Field(None, description="Tokens, in and out.", examples=[50_000])
    max_cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="US dollars; local and Ollama models cost 0.", examples=[0.25]
    )
    max_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds of wall-clock time.", examples=[60]
    )


class SyndicateConfig(Block):
    """A syndicate file."""

    syndicate_name: Text = Field(
        description="Display name; namespaces memory unless `memory_namespace` is set.", examples=["My Council"]
    )
    description: Text | None = Field(
        None, description="One line for catalogues and the agent card.", examples=["Two voices argue, one decides."]
    )
    orchestrator: OrchestratorConfig = Field(description="The root agent.")
    subagents: Annotated[tuple[SubagentConfig, ...], Field(strict=False)] = Field(
        (), description="The orchestrator's team."
    )
    dispatch: DispatchConfig | None = Field(
        None, description="Switches the syndicate to plan-dispatch.", examples=[{"default_route": "General"}]
    )
    variables: dict[str, Scalar] = Field(
        {},
        description="Values bound into `{{name}}` in any text of the file; `{{current_date}}` is always there.",
        examples=[{"headline_count": 5}],
    )
    memory_system: Literal["internal-only", "session-only", "long-term"] = Field(
        "session-only",
        description="Nothing outlives the process, the transcript is stored, or facts are distilled and recalled too.",
        examples=["session-only"],
    )
    memory_namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,96}$")] | None = Field(
        None, description="Syndicates with the same one share long-term memory.", examples=["my-team"]
    )
    memory_extraction_rules: Text | None = Field(
        None, description="Rules for this syndicate's fact extraction (`long-term` only).", examples=["Keep dates."]
    )
    guards: Texts = Field((), description="Checks of the answer before it is published.", examples=[["citations"]])
    max_steps: Positive = Field(50, description="Model calls in one turn, all agents together.", examples=[20])
    budget: BudgetConfig | None = Field(
        None, description="What one turn may spend.", examples=[{"max_tokens": 50_000, "max_seconds": 60}]
    )
