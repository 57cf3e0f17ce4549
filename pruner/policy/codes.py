"""Diagnostic codes of this layer. Each has a paragraph in docs/troubleshooting.md."""

from __future__ import annotations

UNREADABLE = "PR001"  # the file is missing, a folder, or not readable
NOT_YAML = "PR002"  # not UTF-8, not YAML, or several documents
DUPLICATE_KEY = "PR003"  # a mapping has a key twice
WRONG_TYPE = "PR004"  # a value has the wrong shape or type
UNKNOWN_KEY = "PR005"  # no such key or verb; the nearest one is proposed
MISSING_KEY = "PR006"  # id, because, or a part of a dynamic or allow entry is missing or blank
VERB_COUNT = "PR007"  # a rule has no verb, or several
DUPLICATE_ID = "PR008"  # two rules have the same id
BAD_ID = "PR009"  # an id with other characters than letters, digits, '.', '-', '_'
EXTENDS_LOOP = "PR010"  # a file extends itself, directly or through others
BAD_SUBJECT = "PR011"  # not a chain of names, attributes and calls with constant arguments
# PR012 is the engine's: a rule that matches nothing.
BAD_TARGET = "PR013"  # not a module, symbol, entry, path or name, or a kind that the verb does not take
NO_VALUE = "PR014"  # a fact with no value left: an empty list or range, or two rules that disagree
BAD_VERSION = "PR015"  # since, until or the upstream version is not a version; or since is not before until
NOT_LIFTED = "PR016"  # a lifted rule that no file states
# PR017 is the pipeline's: no root leads to a module of the tree.
# PR018 and PR019 are the engine's: a fact on a function itself, and a near miss in a dynamic declaration.
