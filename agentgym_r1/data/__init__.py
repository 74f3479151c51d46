"""Loaders of the published data sets and generators of the embedded worlds."""
