"""Is the printed number true? Draws from known worlds, run with ``python -m tests.honesty``."""
