"""From a loaded file to live ADK agents."""
