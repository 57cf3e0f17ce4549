"""Text of Python files: offsets, and the door to LibCST."""
