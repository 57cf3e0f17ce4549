"""C, C++ and CUDA sources: decided ``#if`` branches, the include graph, what kept Python asks for.

Works on lines of text; nothing is expanded or parsed beyond preprocessor directives.
"""

from pruner.native.branches import Branches, fold
from pruner.native.condition import DEFINED, MacroFacts
from pruner.native.sources import Index, is_native, line_of, reached

__all__ = ["DEFINED", "Branches", "Index", "MacroFacts", "fold", "is_native", "line_of", "reached"]
