"""One module per payment vendor; each registers its client when it is imported."""
