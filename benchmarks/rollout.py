"""What the rollout loop of training costs over the engine: episodes against raw generation of the same tokens.

A batch of GSM8K episodes is played over vLLM as in training, by default with a small random model; then the same
prompts are generated again, response lengths forced to be the same, an episode's requests one after the other as
before, without environment, tokenizer, parser or record. On a machine that does other work too, the wall time says
little and the processor time of this process, the engine's own processes left out, says more. Needs the training
environment:
.venv-train/bin/python benchmarks/rollout.py
"""

import argparse
import asyncio
import importlib.util
import json
import os
import sys
import tempfile
import time
from copy import deepcopy
from pathlib import Path
from statistics import median
from typing import Any

ENV = "AgentR1/GSM8K-v0"
WARM_UP = 2  # rounds
SHAPES = {
    "tiny": {},
    "small": {
        "hidden_size": 384,
        "intermediate_size": 1024,
        "num_hidden_layers": 6,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 64,
    },
}
"""Random models by name, of 0.1 and 10 million parameters. The smallest that people train have fifty times as many."""
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "tests")]


class Engine:
    """vLLM as OpenRLHF's rollout actor calls it, counting nothing."""

    def __init__(self, model: Path) -> None:
        import vllm

        options = vllm.AsyncEngineArgs(
            model=str(model), dtype="float32", max_model_len=2048, enforce_eager=True, enable_prefix_caching=False
        )
        self._llm = vllm.AsyncLLMEngine.from_engine_args(options)
        self._count = 0

    async def generate(self, ids: list[int], params: Any) -> Any:
        from vllm.inputs import TokensPrompt

        self._count += 1
        last = None
        async for output in self._llm.generate(TokensPrompt(prompt_token_ids=ids), params, request_id=str(self._count)):
            last = output
        return last

    def close(self) -> None:
        self._llm.shutdown()


async def measure(model: Path, episodes: int, repeats: int) -> dict[str, list[float]]:
    import gymnasium as gym
    from transformers import AutoTokenizer
    from vllm import SamplingParams

    from agentgym_r1.adapters.openrlhf.engine import RolloutEngine
    from agentgym_r1.adapters.openrlhf.player import Player
    from agentgym_r1.adapters.openrlhf.spec import Job, RunSpec

    spent = [0.0]

    class Timed(gym.Wrapper):
        def step(self, action):
            start = time.perf_counter()
            outcome = self.env.step(action)
            spent[0] += time.perf_counter() - start
            return outcome

    spec = RunSpec(env=ENV, out="", algorithm="group_norm")
    player = Player(spec, make_env=lambda phase: Timed(gym.make(ENV, source="world", split="train", max_steps=3)))
    params = SamplingParams(temperature=1.0, max_tokens=64, min_tokens=1, skip_special_tokens=False)
    raw_engine = Engine(model)
    engine = RolloutEngine(raw_engine, AutoTokenizer.from_pretrained(model), params, max_length=2048)
    env = gym.make(ENV, source="world", split="train")
    tasks = list(env.unwrapped.tasks.ids())[:episodes]
    found: dict[str, list[float]] = {key: [] for key in ("rollout", "raw", "step", "steps", "processor")}
    for repeat in range(WARM_UP + repeats):
        spent[0], start, used = 0.0, time.perf_counter(), time.process_time()
        samples = await asyncio.gather(*(player.play(task, Job(task), engine) for task in tasks))
        played, stepped, busy = time.perf_counter() - start, spent[0], time.process_time() - used
        start, used = time.perf_counter(), time.process_time()
        await asyncio.gather(*(again(raw_engine, sample.rows, params) for sample in samples))
        if repeat >= WARM_UP:
            found["rollout"].append(played)
            found["raw"].append(time.perf_counter() - start)
            found["processor"].append(busy - (time.process_time() - used))
            found["step"].append(stepped)
            found["steps"].append(float(sum(len(sample.rows) for sample in samples)))
    raw_engine.close()
    return found


async def again(engine: Engine, rows: Any, params: Any) -> None:
    """Generate an episode's responses again, as many tokens each."""
    from vllm.sampling_params import RequestOutputKind

    for row in rows:
        fixed = deepcopy(params)
        fixed.max_tokens = len(row.action_ids)
        fixed.ignore_eos, fixed.logprobs = True, 0
        fixed.output_kind = RequestOutputKind.FINAL_ONLY
        await engine.generate(list(row.prompt_ids), fixed)


def make_model(folder: Path, shape: str) -> Path:
    """Save a tokenizer of the environment's text and a random model: of a shape of SHAPES."""
    import gymnasium as gym
    from training_models import make_tiny_model
    from transformers import LlamaConfig, LlamaForCausalLM

    import agentgym_r1  # noqa: F401

    env = gym.make(ENV, source="world", split="train")
    make_tiny_model(folder, [env.reset(seed=seed)[0] for seed in range(10)])
    if shape != "tiny":
        config = LlamaConfig.from_pretrained(folder, **SHAPES[shape])
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--shape", choices=SHAPES, default="small", help="of the random model")
    parser.add_argument("--model", type=Path, help="a model's folder instead of a random one")
    arguments = parser.parse_args()
    if importlib.util.find_spec("vllm") is None:
        print("rollout: needs vLLM: make train-env, then .venv-train/bin/python benchmarks/rollout.py", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or make_model(Path(folder), arguments.shape)
        found = asyncio.run(measure(model, arguments.episodes, arguments.repeats))
    rounds = list(zip(found["rollout"], found["raw"], found["step"], found["steps"]))
    document = {
        "name": "rollout",
        "ratios": {
            "rollout / raw generation, wall time": median(rollout / raw for rollout, raw, _, _ in rounds),
            "env.step / rollout": median(step / rollout for rollout, _, step, _ in rounds),
        },
        "milliseconds a step beyond generation": {
            "wall": median(1000 * (rollout - raw) / steps for rollout, raw, _, steps in rounds),
            "processor": median(1000 * spent / steps for spent, steps in zip(found["processor"], found["steps"])),
        },
        "figures": {"rollout_seconds": found["rollout"], "raw_seconds": found["raw"], "step_seconds": found["step"]},
    }
    if arguments.json:
        print(json.dumps(document, indent=2))
    else:
        for name, ratio in document["ratios"].items():
            print(f"{name:40} {ratio:8.3f}")
        for name, value in document["milliseconds a step beyond generation"].items():
            print(f"{f'ms a step beyond generation, {name}':40} {value:8.3f}")


if __name__ == "__main__":
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as Ray sets it for an engine of one GPU
    main()
