"""Write folders so that whatever ends the run, the old folder or the new one is there, whole."""

from pruner.emit.lock import lock_target
from pruner.emit.output import check_paths, check_target, emit_output, emit_reports, place_output
from pruner.emit.swap import recover, write_tree

__all__ = [
    "check_paths",
    "check_target",
    "emit_output",
    "emit_reports",
    "lock_target",
    "place_output",
    "recover",
    "write_tree",
]
