"""The embedded model's weights, for what the documents run."""

from tests.weights import embedded_home

__all__ = ["embedded_home"]
