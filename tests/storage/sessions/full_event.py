"""An event with every field of Google ADK's set, so that a field that is lost shows."""

from __future__ import annotations

from typing import Any

from fastapi.openapi.models import APIKey
from google.adk.auth.auth_credential import AuthCredential, AuthCredentialTypes
from google.adk.auth.auth_tool import AuthConfig
from google.adk.events import Event, EventActions
from google.adk.events.event import NodeInfo
from google.adk.events.event_actions import EventCompaction
from google.adk.events.ui_widget import UiWidget
from google.adk.models.cache_metadata import CacheMetadata
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types

SIGNATURE = bytes(range(256))

PARTS = [
    types.Part(text="let me think", thought=True, thought_signature=SIGNATURE),
    types.Part(text="two words 日本語 🌍 \\u0000 \n\t\x7f\x1b"),
    types.Part(function_call=types.FunctionCall(id="c1", name="look", args={"q": None, "n": [1, {"x": 0.5}]})),
    types.Part(function_call=types.FunctionCall(id="c2", name="wait", args={}), thought_signature=b"\xff"),
    types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={"result": [None, "é"]})),
    types.Part(inline_data=types.Blob(data=SIGNATURE, mime_type="image/png", display_name="a.png")),
    types.Part(file_data=types.FileData(file_uri="gs://bucket/a b", mime_type="text/plain")),
    types.Part(executable_code=types.ExecutableCode(code="1 + 1", language=types.Language.PYTHON)),
    types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="2")),
    types.Part(text="a film", video_metadata=types.VideoMetadata(fps=1.5, start_offset="1s", end_offset="2s")),
]


def full_event() -> Event:
    """One event that nothing is missing from."""
    return Event(
        id="event-1",
        invocation_id="turn-1",
        author="Lead",
        timestamp=1_800_000_000.123456,
        content=types.Content(role="model", parts=[part.model_copy(deep=True) for part in PARTS]),
        actions=full_actions(),
        output={"answer": 42, "parts": [None, {"a": "b"}]},
        node_info=NodeInfo(path="wf/Lead@1", output_for=["wf/Lead@1", "wf"], message_as_output=True),
        long_running_tool_ids={"c2", "c1"},
        branch="Lead.Helper@c1",
        isolation_scope="c1",
        partial=False,
        turn_complete=True,
        turn_complete_reason=list(types.TurnCompleteReason)[-1],
        interaction_status=list(types.InteractionStatus)[-1],
        finish_reason=types.FinishReason.MAX_TOKENS,
        error_code="E1",
        error_message="it broke",
        interrupted=False,
        custom_metadata={"cost": 0.25, "none": None},
        model_version="model-1",
        **_of_the_model(),
    )


def full_actions() -> EventActions:
    return EventActions(
        skip_summarization=True,
        state_delta={"a": 1, "user:b": None, "app:c": {"d": []}},
        artifact_delta={"a b.png": 3},
        transfer_to_agent="Helper",
        transfer_reason="knows more",
        escalate=False,
        requested_auth_configs={"c1": _auth()},
        requested_tool_confirmations={"c2": ToolConfirmation(hint="sure?", confirmed=True, payload={"n": 1})},
        compaction=EventCompaction(
            start_timestamp=1.5,
            end_timestamp=2.5,
            compacted_content=types.Content(role="model", parts=[types.Part(text="in short")]),
        ),
        end_of_agent=False,
        agent_state={"step": 2, "none": None},
        rewind_before_invocation_id="turn-0",
        route=["left", 1, True],
        render_ui_widgets=[UiWidget(id="w", provider="mcp", payload={"x": [1]})],
        set_model_response={"answer": ["x"]},
    )


def _auth() -> AuthConfig:
    credential = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="in a header")
    return AuthConfig(
        auth_scheme=APIKey.model_validate({"in": "header", "name": "X-Key", "description": "of the service"}),
        raw_auth_credential=credential,
        exchanged_auth_credential=credential,
        credential_key="k",
    )


def _of_the_model() -> dict[str, Any]:
    """What a model reports beside its reply."""
    return {
        "grounding_metadata": types.GroundingMetadata(
            web_search_queries=["birds"],
            grounding_chunks=[types.GroundingChunk(web=types.GroundingChunkWeb(uri="https://a", title="A"))],
        ),
        "usage_metadata": types.GenerateContentResponseUsageMetadata(
            prompt_token_count=11,
            candidates_token_count=7,
            thoughts_token_count=3,
            cached_content_token_count=5,
            total_token_count=21,
            prompt_tokens_details=[types.ModalityTokenCount(modality=types.MediaModality.TEXT, token_count=11)],
        ),
        "live_session_resumption_update": types.LiveServerSessionResumptionUpdate(new_handle="h", resumable=True),
        "live_session_id": "live-1",
        "go_away": types.LiveServerGoAway(time_left="3s"),
        "voice_activity": types.VoiceActivity(voice_activity_type=types.VoiceActivityType.ACTIVITY_START),
        "input_transcription": types.Transcription(text="heard", finished=True),
        "output_transcription": types.Transcription(text="spoken", finished=False),
        "avg_logprobs": -0.125,
        "logprobs_result": types.LogprobsResult(
            chosen_candidates=[types.LogprobsResultCandidate(token="a", token_id=1, log_probability=-0.5)]
        ),
        "cache_metadata": CacheMetadata(fingerprint="f", contents_count=2),
        "citation_metadata": types.CitationMetadata(citations=[types.Citation(uri="https://a", start_index=1)]),
        "interaction_id": "i-1",
        "environment_id": "e-1",
    }
