"""What runs inside the verification environment, once on each tree: stdlib and that environment only.

``boot.py`` loads this folder as a package of its own, so that the tool's packages are not needed there.
"""
