"""On PYTHONPATH with ``--device cpu`` only, so that every process, vLLM's subprocesses too, loads the shim."""

import cpu_shim  # type: ignore[import-not-found]  # beside this file

cpu_shim.install()
