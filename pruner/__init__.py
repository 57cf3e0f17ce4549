"""prune: specialise one code base to facts, then drop what nothing reaches."""

__version__ = "0.1.0"
