"""Folding: three-valued evaluation and what is left of code under facts."""
