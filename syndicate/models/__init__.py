"""Model ids and the adapters that answer for them."""
