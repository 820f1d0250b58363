"""All environment variables, in one typed class. Nothing else reads the environment."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from dotenv.parser import parse_stream
from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from syndicate.errors import SettingsError

_SECRET = r"(api[\s_-]?)?(key|token|secret)"
_HERE = r"([\s_-]?(goes[\s_-])?here)?"
_FILLER = (
    r"(with|your|my|the|an?|openai|anthropic|claude|gemini|google|genai|xai|grok|ollama|openrouter|vercel|gateway)"
)
_PLACEHOLDER = re.compile(
    rf"your[\s_-]?([^\W_]+[\s_-])*{_SECRET}{_HERE}|(my|the)[\s_-]?{_SECRET}{_HERE}|(api[\s_-]?)?key{_HERE}"
    rf"|(insert|enter|put|paste|add|replace|change)[\s_-]?({_FILLER}[\s_-])*({_SECRET}{_HERE}|me|this|it|here)"
    r"|((sk|xai)-(ant-|proj-|or-)?|AIza)?(x{3,}|[.…]+|\.{3}.*)|<.*>|\[.*\]|todo|none|null|placeholder|dummy"
    rf"|(sk|xai)-(your|my|the)[\s_-]?({_FILLER}[\s_-])*{_SECRET}{_HERE}",
    re.IGNORECASE,
)
_NOT_IN_A_KEY = re.compile(r"[^\x21-\x7e]")


def is_placeholder(value: str) -> bool:
    """Whether a key's value is empty or sample text such as `your_key_here`."""
    bare = value.strip().strip("'\"")  # quotes that a shell or `docker --env-file` has left
    return not bare or _PLACEHOLDER.fullmatch(bare) is not None


def _usable_key(value: Any) -> Any:
    """The key, None for a placeholder. It goes into an HTTP header, so there are characters it cannot have."""
    if not isinstance(value, str):
        return value
    if is_placeholder(value):
        return None
    if _NOT_IN_A_KEY.search(value.strip()):
        raise ValueError("a key has no spaces, control characters or letters outside ASCII, and this one does")
    return value.strip()


def _absent_if_blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


Key = Annotated[SecretStr | None, BeforeValidator(_usable_key)]
Folder = Annotated[Path | None, BeforeValidator(_absent_if_blank)]
Text = Annotated[str | None, BeforeValidator(_absent_if_blank)]


def without_password(url: str) -> str:
    """An address that people may see: the name and password before an `@` are left out."""
    return re.sub(r"(?<=://)[^/?#]*@", "", url)


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

    database_url: Key = Field(
        None, description="A Postgres database (15 or newer, with pgvector); unset, one is embedded."
    )
    supabase_url: Text = Field(None, description="A Supabase project, used where DATABASE_URL is not set.")
    supabase_service_role_key: Key = Field(None, description="The Supabase project's service-role key.")
    supabase_anon_key: Key = Field(None, description="The Supabase project's anon key; only `db verify` uses it.")
    session_ttl_days: int = Field(
        7, ge=0, le=36500, description="Days after which a session that is not used expires; 0: never."
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
        written = _names_in(env_file) | {name.upper() for name, value in os.environ.items() if value}
        try:
            return cls(_env_file=env_file, **(values or {}))  # type: ignore[call-arg]
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = _as_written(str(first["loc"][0]), written) if first["loc"] else "a setting"
            reason = first["msg"].removeprefix("Value error, ")
            reason = f"{reason[:1].lower()}{reason[1:]}"
            raise SettingsError(f"{name}: {reason}", remediation=f"correct {name} or unset it") from None

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Keys are masked by their type; addresses are shown without what may be a password."""
        for name, value in super().__repr_args__():
            yield name, without_password(value) if isinstance(value, str) else value

    @cached_property
    def home(self) -> Path:
        """The data folder, not necessarily there yet."""
        return self.syndicate_home or Path(platformdirs.user_data_dir("syndicate", appauthor=False))


def _as_written(name: str, written: Set[str]) -> str:
    """The variable behind a field or its first alias: the alias that is set, when it has several."""
    for field in Settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices) and name in field.validation_alias.choices:
            return next((str(alias) for alias in field.validation_alias.choices if alias in written), name)
    return name.upper()


def _names_in(env_file: str | Path | None) -> Set[str]:
    """The variables of a `.env`. Refuses one that cannot be read whole: pydantic skips lines it does not understand."""
    path = Path(env_file).expanduser() if env_file is not None else None
    if path is None or not _is_there(path):
        return frozenset()
    try:
        statements = list(parse_stream(io.StringIO(path.read_text(encoding="utf-8"))))
    except OSError as error:
        raise _unreadable(path, error) from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text", remediation="save it as UTF-8") from None
    for statement in statements:
        if statement.error:
            text = statement.original.string
            line = statement.original.line + text[: len(text) - len(text.lstrip())].count("\n")
            remedy = "correct the line; a quote must be closed"
            raise SettingsError(f"{path}:{line}: not readable as NAME=value", remediation=remedy)
    return {statement.key.upper() for statement in statements if statement.key and statement.value}


def _is_there(path: Path) -> bool:
    """Whether there is a file to read. A folder called `.env` is somebody's virtual environment."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise SettingsError(f"{path} is not a regular file", remediation="put the variables into one, or remove it")
    return stat.S_ISREG(mode)


def _unreadable(path: Path, error: OSError) -> SettingsError:
    reason = (error.strerror or str(error)).lower()
    return SettingsError(f"{path} cannot be read: {reason}", remediation="make it readable, or work in another folder")
