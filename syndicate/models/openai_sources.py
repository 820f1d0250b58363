"""What a reply on the Responses wire was searched from and cites, as ADK's grounding metadata."""

from __future__ import annotations

from collections.abc import Iterable

from google.genai import types
from openai.types.responses import ResponseFileSearchToolCall, ResponseFunctionWebSearch
from openai.types.responses.response_output_text import Annotation


class Sources:
    """Collects the queries of searches and the sources of citations, each once, in order."""

    def __init__(self) -> None:
        self._queries: dict[str, None] = {}
        self._chunks: dict[str, types.GroundingChunk] = {}

    def searched(self, item: ResponseFunctionWebSearch | ResponseFileSearchToolCall) -> None:
        """Take in a search that ran at the provider."""
        if isinstance(item, ResponseFileSearchToolCall):
            queries = item.queries
        else:
            action = item.action
            queries = (action.queries or [action.query]) if action and action.type == "search" else []
        self._queries.update(dict.fromkeys(query for query in queries or () if query))

    def cited(self, annotations: Iterable[Annotation]) -> None:
        """Take in the annotations of a text."""
        for annotation in annotations:
            if annotation.type == "url_citation":
                web = types.GroundingChunkWeb(uri=annotation.url, title=annotation.title)
                self._chunks.setdefault(annotation.url, types.GroundingChunk(web=web))
            elif annotation.type == "file_citation":
                file = types.GroundingChunkRetrievedContext(uri=annotation.file_id, title=annotation.filename)
                self._chunks.setdefault(annotation.file_id, types.GroundingChunk(retrieved_context=file))

    def metadata(self) -> types.GroundingMetadata | None:
        """All of it; None when nothing was searched or cited."""
        if not self._queries and not self._chunks:
            return None
        return types.GroundingMetadata(
            grounding_chunks=list(self._chunks.values()) or None, web_search_queries=list(self._queries) or None
        )
