"""Seeded generators of tasks in the format of the published sets."""
