"""Importing the package is quick and loads nothing heavy."""

import subprocess
import sys

HEAVY = (
    "torch",
    "faiss",
    "jnius",
    "pyserini",
    "ray",
    "textworld",
    "vllm",
    "openrlhf",
    "transformers",
    "numba",
    "pyarrow",
)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, agentgym_r1; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_importing_the_package_registers_the_environments() -> None:
    code = "import gymnasium, agentgym_r1; print(sum(id.startswith('AgentR1/') for id in gymnasium.registry))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(found.stdout) >= 4


def test_gymnasium_imports_the_package_by_a_module_prefix() -> None:
    code = "import gymnasium; print(gymnasium.make('agentgym_r1:AgentR1/GSM8K-v0', source='world').spec.id)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "AgentR1/GSM8K-v0"
