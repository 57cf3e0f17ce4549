"""The folder that goes on the path of the tests: one plug-in of pytest, nothing else."""
