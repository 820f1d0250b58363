"""The real command line, with one more provider: `scripted/*` answers from a JSON file.

    python scripted_launcher.py REPLIES.json ARGS…

The file maps model ids to replies: texts, objects with the fields of `syndicate.testing.Reply`,
`{"error": text}`, or `{"echo": "message"}` and `{"echo": "instruction"}` for what the model was sent.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from syndicate.cli import main
from syndicate.errors import ModelError
from syndicate.models.registry import Provider, register_provider

REPLIES = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


class Scripted:
    """Builds the model when it is first asked for."""

    @staticmethod
    def from_settings(model_id: str, _settings: Any) -> Any:
        from syndicate.testing import ScriptedModel

        return ScriptedModel([_reply(reply) for reply in REPLIES[model_id]], model=model_id, cycle=True)


def _reply(reply: Any) -> Any:
    from syndicate.testing import Reply, ToolCall

    if isinstance(reply, str):
        return reply
    if "echo" in reply:
        return _instruction if reply["echo"] == "instruction" else _message
    if "error" in reply:
        return Reply(
            deltas=reply.get("deltas", ()),
            fail_after=len(reply.get("deltas", ())),
            error=ModelError(reply["error"], code="auth", remediation="check the key"),
        )
    calls = [ToolCall(call["name"], call["args"]) for call in reply.pop("calls", ())]
    return Reply(calls=calls, **reply)


def _message(request: Any) -> str:
    return request.contents[-1].parts[-1].text


def _instruction(request: Any) -> str:
    return str(request.config.system_instruction)


register_provider(Provider("scripted", "scripted/*", re.compile(r"scripted/\S+"), adapter="__main__:Scripted"))
sys.exit(main(sys.argv[2:]))
