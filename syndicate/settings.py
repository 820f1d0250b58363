"""All environment variables, in one typed class. Nothing else reads the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from syndicate.errors import SettingsError

_PLACEHOLDER = re.compile(
    r"(your|my|the|insert|enter|put|add|replace|change)[\s_-].*|<.*>|\[.*\]|x{3,}|\.{3,}|sk-\.{3}.*|todo|changeme|change-me|none|null"
    r"|placeholder|(api[\s_-]?)?key([\s_-]?here)?",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """Whether a key's value is empty or sample text such as `your_key_here`."""
    return not value.strip() or _PLACEHOLDER.fullmatch(value.strip()) is not None


def _absent_if_placeholder(value: Any) -> Any:
    if isinstance(value, str) and is_placeholder(value):
        return None
    return value


def _absent_if_blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


Key = Annotated[SecretStr | None, BeforeValidator(_absent_if_placeholder)]
Folder = Annotated[Path | None, BeforeValidator(_absent_if_blank)]
Text = Annotated[str | None, BeforeValidator(_absent_if_blank)]


class Settings(BaseSettings):
    """What the environment and the `.env` of the working directory say. Build it with `Settings.read()`."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    google_genai_api_key: Key = Field(
        None,
        validation_alias=AliasChoices("GOOGLE_GENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        description="Key of Google Gemini (`gemini-*`). Also read as GEMINI_API_KEY and GOOGLE_API_KEY.",
    )
    anthropic_api_key: Key = Field(None, description="Key of Anthropic (`claude-*`).")
    openai_api_key: Key = Field(None, description="Key of OpenAI (`gpt-*`, `o3`, `chatgpt-*`).")
    xai_api_key: Key = Field(None, description="Key of xAI (`grok-*`).")
    google_gemini_base_url: Text = Field(None, description="Another address for the Gemini API.")
    anthropic_base_url: Text = Field(None, description="Another address for the Anthropic API.")
    openai_base_url: Text = Field(None, description="Another address for the OpenAI API.")
    xai_base_url: Text = Field(None, description="Another address for the xAI API.")
    model_gateway: Literal["openrouter", "vercel"] | None = Field(
        None, description="Gateway for cloud models whose own key is not set: openrouter or vercel."
    )
    model_gateway_api_key: Key = Field(None, description="Key of the gateway.")
    model_gateway_base_url: Text = Field(None, description="Another address for the gateway.")
    model_gateway_model_map: Text = Field(
        None, description="What the gateway calls models where it differs: `id=name` pairs, commas between them."
    )
    xai_web_search_allowed_domains: Text = Field(None, description="Grok's web search: only these domains (at most 5).")
    xai_web_search_excluded_domains: Text = Field(
        None, description="Grok's web search: not these domains (at most 5); the allowed ones go before."
    )
    xai_x_search_from_date: Text = Field(None, description="Grok's X search: posts since this day, YYYY-MM-DD.")
    xai_x_search_to_date: Text = Field(None, description="Grok's X search: posts until this day, YYYY-MM-DD.")
    xai_x_search_allowed_handles: Text = Field(None, description="Grok's X search: only these handles (at most 20).")
    xai_x_search_excluded_handles: Text = Field(
        None, description="Grok's X search: not these handles (at most 20); the allowed ones go before."
    )
    xai_collection_ids: Text = Field(None, description="Collections that Grok's collections search reads.")
    xai_collections_max_results: int | None = Field(None, ge=1, description="Most results of a collections search.")
    xai_reasoning_effort: Literal["low", "medium", "high"] | None = Field(
        None, description="Reasoning effort of Grok models, whatever a file's thinkingLevel says."
    )
    ollama_base_url: str = Field(
        "http://127.0.0.1:11434",
        description="Address of the Ollama daemon; one that ends in /v1 is spoken to in OpenAI's chat format.",
    )
    ollama_api_key: Key = Field(None, description="Key of an Ollama server that asks for one.")

    syndicate_model_attempts: int = Field(
        3, ge=1, description="Attempts of a model call that fails before its answer begins, the first one counted."
    )

    syndicate_agents_dir: Path = Field(Path("config/agents"), description="Folder of your syndicate files.")
    syndicate_default: str = Field("tutor", description="The syndicate that `syndicate chat` opens without a name.")
    syndicate_user_id: str = Field("local-user", description="The user that chat speaks for.")
    syndicate_timezone: Text = Field(None, description="IANA time zone of the user; unset, the machine's.")
    syndicate_home: Folder = Field(None, description="Data folder (models, history); unset, the user's data folder.")
    syndicate_local_idle_seconds: float = Field(
        300, gt=0, description="Seconds without a request after which an embedded model's server stops."
    )
    syndicate_local_threads: int = Field(
        0, ge=0, description="Threads of an embedded model's server; 0 takes all cores but one."
    )
    syndicate_local_context: int = Field(
        4096, ge=512, description="Tokens of context per slot of an embedded model's server."
    )

    @classmethod
    def read(cls, values: Mapping[str, Any] | None = None, *, env_file: str | Path | None = ".env") -> Settings:
        """Read the environment; `values` (by field name) win over it. Raises `SettingsError` for a bad value."""
        try:
            return cls(_env_file=env_file, **(values or {}))  # type: ignore[call-arg]
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = str(first["loc"][0]).upper() if first["loc"] else "a setting"
            raise SettingsError(f"{name}: {first['msg'].lower()}", remediation=f"correct {name} or unset it") from None
        except UnicodeDecodeError:
            raise SettingsError(".env is not UTF-8 text", remediation="save it as UTF-8") from None

    @cached_property
    def home(self) -> Path:
        """The data folder, not necessarily there yet."""
        return self.syndicate_home or Path(platformdirs.user_data_dir("syndicate", appauthor=False))
