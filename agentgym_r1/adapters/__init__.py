"""Adapters to trainers; they translate and hold no task logic."""
