"""Tools that agents call; `registry` maps their names."""
