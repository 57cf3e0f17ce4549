"""The rule language as JSON Schema 2020-12, for completion and checking in editors.

It is what one file alone can say; ids across files, loops and disagreeing facts are for
:func:`pruner.policy.load`.
"""

from __future__ import annotations

from typing import Any

from pruner.policy.guard import KINDS, MARKS
from pruner.policy.rule import ID, VERBS

_TEXT: dict[str, Any] = {"type": "string", "pattern": r"\S"}
_CONSTANT: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_CONSTANTS: dict[str, Any] = {"type": "array", "minItems": 1, "items": _CONSTANT}
_DOTTED: dict[str, Any] = {"type": "string", "pattern": r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"}
_TARGETS: dict[str, Any] = {"type": "array", "items": _TEXT}
_VERSION: dict[str, Any] = {"type": "string", "pattern": r"^v?\d+(\.\d+)*([-_.]?(a|b|rc|post|dev)\d*)*(\+[\w.]+)?$"}


def json_schema() -> dict[str, Any]:
    """The schema, with the meaning of each key as its description."""
    verbs = _verbs()
    assert set(verbs) == set(VERBS)
    rule: dict[str, Any] = {
        "type": "object",
        "required": ["id", "because"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string", "pattern": f"^{ID}$", "description": "Unique over all files."},
            "because": {**_TEXT, "description": "One sentence: why this is true."},
            "device": {
                "type": "boolean",
                "description": "true: holds only where a device is; module-level code keeps asking.",
            },
            "optional": {"type": "boolean", "description": "true: the rule may match nothing."},
            "since": {**_VERSION, "description": "First upstream version that the rule speaks of."},
            "until": {**_VERSION, "description": "First upstream version that it no longer speaks of."},
            "without": {
                **_TARGETS,
                "description": "Choices, packages' modules and subjects of facts that the rule leaves without the code behind them.",
            },
            **verbs,
        },
        "oneOf": [{"required": [verb]} for verb in verbs],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of prune",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "extends": {
                "type": "array",
                "items": _TEXT,
                "description": "Other rule files, relative to this one.",
            },
            "capabilities": {
                "type": "object",
                "description": "The table of what must stay; the first file that has the key decides.",
                "required": ["places", "column"],
                "additionalProperties": False,
                "properties": {
                    "places": {**_TEXT, "description": "The file that says where a capability stands in a tree."},
                    "column": {**_TEXT, "description": "The column of its table that says what is kept."},
                },
            },
            "lift": {
                "type": "array",
                "items": _TEXT,
                "description": "Ids of extended rules that do not hold here.",
            },
            "rules": {"type": "array", "items": rule, "description": "What this file states."},
        },
    }


def _verbs() -> dict[str, dict[str, Any]]:
    end = {"type": "integer"}
    value = {
        "anyOf": [
            _CONSTANT,
            _CONSTANTS,
            {
                "type": "object",
                "title": "long value",
                "additionalProperties": False,
                "properties": {
                    "min": {**end, "description": "Lowest value, included."},
                    "max": {**end, "description": "Highest value, included."},
                    "values": {"anyOf": [_CONSTANT, _CONSTANTS], "description": "The values, in place of a range."},
                    "valid_from": {**_TEXT, "description": "The fact holds once this call has returned."},
                },
                "anyOf": [{"required": ["min"]}, {"required": ["max"]}, {"required": ["values"]}],
                "not": {
                    "required": ["values"],
                    "anyOf": [{"required": ["min"]}, {"required": ["max"]}],
                },
            },
        ]
    }
    dynamic = {
        "type": "object",
        "title": "walk",
        "required": ["package", "members"],
        "additionalProperties": False,
        "properties": {
            "package": {**_DOTTED, "description": "The package that is walked or loaded from."},
            "members": {"type": "array", "items": _TEXT, "description": "What it yields, relative to the package."},
            "site": {**_DOTTED, "description": "The module that loads; any when left out."},
        },
    }
    some = {"anyOf": [_TEXT, {"type": "array", "minItems": 1, "items": _TEXT}]}
    domain = {
        "type": "object",
        "title": "question",
        "additionalProperties": False,
        "properties": {
            "fact": {**_TEXT, "description": "The values of this fact's subject, and no other."},
            "values": {"anyOf": [_CONSTANT, _CONSTANTS], "description": "These values, and no other."},
            "tables": {**some, "description": "Nothing that was dropped from these tables."},
            "classes": {**some, "description": "Nothing that removed modules of these packages offer."},
            "members": {**some, "description": "Nothing, while these walked packages yield no module."},
            "attribute": {**_TEXT, "description": "With classes: the name that lists a module's classes."},
            "when": {**_TEXT, "description": "Not asked while this chain below the parameter is there and says no."},
        },
        "oneOf": [{"required": [kind]} for kind in KINDS],
    }
    guard = {
        "type": "object",
        "title": "guard",
        "required": ["at"],
        "additionalProperties": False,
        "properties": {
            "at": {**some, "description": "Functions, as pkg.mod:name; the spellings of several releases."},
            "where": {"enum": ["entry", "after"], "description": "after: before each return, and at the end."},
            "of": {**_TEXT, "description": "The parameter, with attributes, that the questions start from."},
            "options": {**_TEXT, "description": "The parameter that is a command-line parser."},
            "facts": {"type": "boolean", "description": "true: ask every fact that can be asked."},
            "http": {"type": "boolean", "description": "true: the refusal is the HTTP answer 400."},
            "digest": {
                "enum": list(MARKS),
                "description": "What becomes of the digest of the build there, in place of questions.",
            },
            "ask": {
                "type": "object",
                "propertyNames": _TEXT,
                "additionalProperties": domain,
                "description": "Chain below the parameter to the question that it is asked.",
            },
        },
    }
    residue = {
        "type": "object",
        "title": "residue",
        "required": ["path", "name", "reason"],
        "additionalProperties": False,
        "properties": {
            "path": {"anyOf": [_TEXT, _TARGETS], "description": "Glob of paths, or several; * also crosses slashes."},
            "name": {
                "anyOf": [_TEXT, _TARGETS],
                "description": "The identifier that may stay, with * and ?; word:GLOB, a part of one; "
                "rule:ID, all that a discard rule names; or several.",
            },
            "reason": {**_TEXT, "description": "One sentence: why it may."},
            "most": {"type": "integer", "minimum": 1, "description": "So many different names at most."},
            "since": {**_VERSION, "description": "First upstream version that the entry speaks of."},
            "until": {**_VERSION, "description": "First upstream version that it no longer speaks of."},
        },
    }
    return {
        "assume": {
            "type": "object",
            "propertyNames": _TEXT,
            "additionalProperties": value,
            "description": "Subject to the only values it has.",
            "examples": [
                {"pkg.plat.is_hip()": False, "pkg.plat.kind(...)": ["cuda", None], "pkg.plat.sm()": {"min": 90}},
                {"macro:USE_ROCM": None, "os.environ['PKG_HIP']": "0", "hasattr(torch, 'npu')": False},
            ],
        },
        "root": {
            **_TARGETS,
            "description": "Execution starts here, or outsiders use it.",
            "examples": [["pkg.__main__", "pkg.api:serve"]],
        },
        "keep": {
            **_TARGETS,
            "description": "Has users that cannot be seen.",
            "examples": [["pkg.plugins.**", "pkg.args:Args.device"]],
        },
        "drop": {
            **_TARGETS,
            "description": "Goes, with what only it reached.",
            "examples": [["pkg.amd.**", "pkg.quant.METHODS[awq]", "path:docs/*"]],
        },
        "discard": {
            **_TARGETS,
            "description": "Must be gone from the result.",
            "examples": [["name:*_hip", "word:qwen*", "pkg.amd.**"]],
        },
        "dynamic": {
            "anyOf": [dynamic, {"type": "array", "items": dynamic}],
            "description": "A package that is walked or loaded by a built name, and what that yields.",
            "examples": [{"package": "pkg.models", "members": ["llama", "deepseek"], "site": "pkg.registry"}],
        },
        "guard": {
            "anyOf": [guard, {"type": "array", "items": guard}],
            "description": "Functions that refuse what was removed and is asked for.",
            "examples": [
                {
                    "at": "pkg.args:Args.check",
                    "where": "after",
                    "of": "self",
                    "ask": {
                        "device": {"fact": "pkg.plat.kind(...)"},
                        "method": {"tables": "pkg.quant.METHODS"},
                        "level": {"values": [1, 2]},
                    },
                }
            ],
        },
        "pure": {
            "type": "array",
            "items": {"type": "string", "pattern": r"^[A-Za-z_]\w*(\.([A-Za-z_]\w*|\*))*$"},
            "description": "Functions, decorators and base classes whose use has no effect.",
            "examples": [["torch.compile", "pkg.envs.*.get", "builtins.len"]],
        },
        "allow": {
            "type": "array",
            "items": residue,
            "description": "Residue that discard tolerates.",
            "examples": [
                [
                    {"path": "pkg/platforms.py", "name": "is_hip", "reason": "Plug-ins ask it."},
                    {"path": ["pkg/args/*"], "name": ["word:qwen*"], "most": 3, "reason": "Options stay."},
                ]
            ],
        },
    }
