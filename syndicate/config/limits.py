"""How large a file may be. Far above what people write, low enough that a hostile file is refused in milliseconds."""

MAX_BYTES = 1 << 20
"""Of one syndicate file or instruction file."""

MAX_TOTAL_BYTES = 8 << 20
"""Of one syndicate with all the files it nests or reads."""

MAX_FILES = 100
"""Syndicate files nested below one root, each counted once."""

MAX_NODES = 50_000
"""Values in one file, each counted as often as aliases repeat it."""

MAX_DEPTH = 64
"""Levels of nesting in one file, through aliases too."""

MAX_PROBLEMS = 200
"""Errors, and again warnings, reported of one file; then one says that there are more. Hostile files have thousands."""

MAX_NUMBER_LENGTH = 400
"""Characters of one number."""

MAX_PATTERN_SIZE = 10_000
"""Steps of a route override's pattern once its counted repeats (`a{100}`) are written out."""
