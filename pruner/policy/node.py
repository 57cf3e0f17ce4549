"""YAML with positions: node access that reports faults instead of raising at the first one.

ruamel's *composer* is used, not its round-trip constructor: every node, scalars in lists
included, knows its line and column, and a key that occurs twice is still there to be reported.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pruner.errors import Diagnostic, PruneError
from pruner.model import Location
from pruner.model.policy import Const
from pruner.policy import codes

DEPTH = 40
"""How deep a rule file may nest: rules need 8. Thousands of brackets take ruamel seconds and end its recursion."""
_BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}  # of YAML 1.1
_TAG = "tag:yaml.org,2002:"


@dataclass(slots=True)
class Faults:
    """Collects diagnostics, so that a person sees all of them at once."""

    found: list[Diagnostic] = field(default_factory=list)

    def stop_if_any(self) -> None:
        """Raise one :class:`PruneError` with everything found, sorted by place."""
        if self.found:
            raise PruneError(*sorted(set(self.found)))


@dataclass(frozen=True, slots=True)
class Text:
    """A string scalar and where it stands."""

    value: str
    location: Location
    node: Node


@dataclass(slots=True)
class RuleFile:
    """One YAML file. ``shown`` is the path for diagnostics, ``name`` the stable one for outputs."""

    shown: str
    name: str
    faults: Faults
    least: str = "rules: []"  # what a file that says nothing holds

    def fault(self, node: Node | None, code: str, text: str, advice: str = "") -> None:
        """Note an error at a node (at the file when there is none)."""
        line, column = (node.start_mark.line + 1, node.start_mark.column + 1) if node is not None else (0, 0)
        self.faults.found.append(Diagnostic(self.shown, line, column, "error", code, text, advice))

    def place(self, node: Node) -> Location:
        """The stable location of a node."""
        return Location(self.name, node.start_mark.line + 1, node.start_mark.column + 1)

    def open(self, path: Path) -> Node | None:
        """The root node of the file's one document, or None after noting why there is none."""
        if path.exists() and not path.is_file() and not path.is_dir():
            # `--rules <(...)`: a pipe can be read once, and the checks read the rules too, by themselves
            self.fault(None, codes.UNREADABLE, "cannot read the rule file: it is a pipe or a device", "name a file")
            return None
        if path.is_dir():
            self.fault(None, codes.UNREADABLE, "is a folder, not a rule file", "name the files in it that are meant")
            return None
        try:
            content = path.read_bytes()
        except OSError as error:
            self.fault(None, codes.UNREADABLE, f"cannot read the rule file: {error.strerror}", "check the path")
            return None
        try:
            text = content.decode("utf-8-sig")
            yaml = YAML()
            yaml.max_depth = DEPTH
            root: Node | None = yaml.compose(io.StringIO(text))
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            self._syntax(line, 0, f"byte {error.start} is not UTF-8", "save the file as UTF-8")
            return None
        except MaxDepthExceededError as error:
            mark = error.problem_mark
            text = f"lists and mappings lie more than {DEPTH} deep in each other"
            self._syntax(mark.line + 1, mark.column + 1, text, "no rule needs that: look for a bracket too many")
            return None
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
            problem = error.problem or error.context or "not YAML"
            self._syntax(line, column, f"not YAML: {problem}", _advice(problem))
            return None
        except YAMLError as error:
            self._syntax(0, 0, f"not YAML: {str(error).splitlines()[0]}", "look for control characters")
            return None
        if root is None:
            self.fault(None, codes.WRONG_TYPE, "the file is empty", f"write at least '{self.least}'")
        return root

    def _syntax(self, line: int, column: int, text: str, advice: str) -> None:
        self.faults.found.append(Diagnostic(self.shown, line, column, "error", codes.NOT_YAML, text, advice))

    def mapping(self, node: Node, what: str) -> Iterator[tuple[Text, Node]]:
        """Key and value of each entry; a key that occurs twice or is no string is noted and skipped."""
        if not isinstance(node, MappingNode):
            self.fault(node, codes.WRONG_TYPE, f"{what} must be a mapping, not {kind_of(node)}")
            return
        first: dict[str, Node] = {}
        for key, value in node.value:
            name = self.text(key, f"a key of {what}")
            if name is None:
                continue
            if name.value in first:
                line = first[name.value].start_mark.line + 1
                self.fault(
                    key, codes.DUPLICATE_KEY, f"{what} has the key {name.value!r} twice", f"it is also on line {line}"
                )
                continue
            first[name.value] = key
            yield name, value

    def items(self, node: Node, what: str) -> Iterator[Node]:
        """The elements of a sequence."""
        if not isinstance(node, SequenceNode):
            advice = f"write [{node.value}]" if isinstance(node, ScalarNode) else ""
            self.fault(node, codes.WRONG_TYPE, f"{what} must be a list, not {kind_of(node)}", advice)
            return
        yield from node.value

    def texts(self, node: Node, what: str) -> Iterator[Text]:
        """The elements of a sequence of non-blank strings."""
        for item in self.items(node, what):
            text = self.text(item, f"an element of {what}")
            if text is not None:
                yield text

    def text(self, node: Node, what: str) -> Text | None:
        """A non-blank string scalar, stripped; else None after noting the fault."""
        if not isinstance(node, ScalarNode) or node.tag != _TAG + "str":
            advice = "put it in quotes" if isinstance(node, ScalarNode) else ""
            self.fault(node, codes.WRONG_TYPE, f"{what} must be a string, not {kind_of(node)}", advice)
            return None
        value = str(node.value).strip()
        if not value:
            self.fault(node, codes.MISSING_KEY, f"{what} is blank")
            return None
        return Text(value, self.place(node), node)

    def boolean(self, node: Node, what: str) -> bool:
        """A boolean; False after noting a fault."""
        found = self.constant(node, what)
        if found and not isinstance(found[0], bool):
            self.fault(node, codes.WRONG_TYPE, f"{what} must be true or false, not {kind_of(node)}")
        return found == (True,)

    def constant(self, node: Node, what: str) -> tuple[Const, ...]:
        """A string, integer, float, boolean or null as a tuple of one; () after noting a fault."""
        if isinstance(node, ScalarNode):
            text, tag = str(node.value), str(node.tag).removeprefix(_TAG)
            if tag == "str" and node.style is None and text.lower() in _BOOLEANS:  # is_hip(): no
                meant = _BOOLEANS[text.lower()]
                text = f"{what} is {text!r}, which is a text in YAML and true in a test"
                self.fault(node, codes.WRONG_TYPE, text, f"write {meant}, or put it in quotes if the text is meant")
                return ()
            if tag == "str":
                return (text,)
            if tag == "null":
                return (None,)
            if tag == "bool":
                return (text.lower() == "true",)
            try:
                if tag == "int":
                    return (int(text.replace("_", ""), 0),)
                if tag == "float":
                    return (float(text.replace("_", "")),)
            except ValueError:  # 0o7 and .inf are YAML, and no one's fact
                pass
        advice = "put it in quotes if a string is meant" if isinstance(node, ScalarNode) else ""
        known = kind_of(node)
        if isinstance(node, ScalarNode) and known in ("a float", "an integer"):  # .nan, .inf, 0o7
            known = f"{node.value}, which is no number that a program can write"
        self.fault(node, codes.WRONG_TYPE, f"{what} must be a string, number, boolean or null, not {known}", advice)
        return ()

    def unknown_key(self, key: Text, what: str, known: Iterable[str]) -> str | None:
        """Note a key that is not known; returns the nearest known one."""
        names = sorted(known)
        near = difflib.get_close_matches(key.value, names, n=1, cutoff=0.6)
        advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
        self.fault(key.node, codes.UNKNOWN_KEY, f"{what} has no key {key.value!r}", advice)
        return near[0] if near else None


def _advice(problem: str) -> str:
    """What to do about what YAML's reader says."""
    if "another document" in problem:
        return "take the line '---' out: a file is one document; 'extends' joins files"
    if "'\\t'" in problem:
        return "indent with spaces"
    return "quote strings that hold '[', ']', '{', '}', ': ' or ' #'"


def kind_of(node: Node) -> str:
    """What a node is, for a message."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    tag = str(node.tag).removeprefix(_TAG)
    names = {"str": "a string", "int": "an integer", "float": "a float", "bool": "a boolean", "null": "null"}
    return names.get(tag, f"a {tag}")
