"""The environments, one package or module each."""
