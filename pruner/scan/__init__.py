"""Scanning: files to summaries."""
