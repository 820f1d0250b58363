"""A plain function as a tool whose name is the one it was registered under."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from typing_extensions import override


class NamedFunctionTool(FunctionTool):
    """ADK's `FunctionTool`, declared to the model as `name` instead of the function's own name."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.name = name

    @override
    def _get_declaration(self) -> types.FunctionDeclaration | None:
        declaration = super()._get_declaration()
        return declaration and declaration.model_copy(update={"name": self.name})
