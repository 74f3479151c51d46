"""Loaders of the libraries of papers: PaSa, LitSearch, SciFact, and one of your own."""
