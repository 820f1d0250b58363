"""Model strings in plain ADK code; in a process of its own, since ADK's registry is global."""

import subprocess
import sys

CODE = """
import os
from google.adk.models import LLMRegistry
import syndicate
syndicate.register_models()
for model in ("gemini-3.7-flash", "claude-haiku-4-5", "gpt-5", "o3", "o4-mini", "chatgpt-4o", "grok-4",
              "ollama/qwen3:8b", "ollama/gemma3:4b", "local/smollm2"):
    llm = LLMRegistry.new_llm(model)
    assert (type(llm).__module__, llm.model) == ("syndicate.models.adk_registry", model), (model, type(llm))
print("all ours")
"""


def test_a_plain_string_finds_our_adapter_for_every_provider():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.returncode) == ("all ours", 0), done.stderr
