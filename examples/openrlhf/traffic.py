"""A world of ten words and a model that knows them, to see training work on a CPU: the light says what to do.

`python traffic.py FOLDER` saves the model, a random one of 100 thousand parameters.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym_r1 import Task, ToolResult
from agentgym_r1.context import Section
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.text_env import Options, Outcome, StepPlan, TextEnv, Verdict

RIGHT = {"red": "stop", "green": "go"}
WORDS = ("<pad>", "<eos>", "<unk>", "stop", "go", "red", "green", "light", "wait", "turn")
LIGHTS = 3


class TrafficEnv(TextEnv):
    """Three lights, one a step: answer each with the right word; every right one is worth 1."""

    def __init__(self, *, split: str = "train", **options: Any) -> None:
        tasks = [Task(f"{split}{n}", "light", None) for n in range(256)]
        listed = ListTasks(tasks, name="traffic", split=split, source="world")
        super().__init__(listed, tools=(), options=Options(**{"max_steps": 5, "action_format": "plain", **options}))

    def _instructions(self) -> str:
        return ""

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._lights = random.Random(self.task.id).choices(sorted(RIGHT), k=LIGHTS)
        self._right = 0
        return ""

    def _sections(self) -> tuple[Section, ...]:
        return (Section("light", (self._lights[min(self.steps, LIGHTS - 1)],)),)

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        right = plan.action.split()[:1] == [RIGHT[self._lights[self.steps]]]
        self._right += right
        verdict = Verdict(self._right == LIGHTS, self._right / LIGHTS) if self.steps + 1 == LIGHTS else None
        return Outcome("", rewards={"right": float(right)}, verdict=verdict)

    def _outcome_reward(self, verdict: Verdict) -> float:
        return 0.0

    def expert(self) -> str:
        return RIGHT[self._lights[self.steps]]

    def _state(self) -> Any:
        return [self._lights, self._right]

    def _load_state(self, state: Any) -> None:
        self._lights, self._right = state


gym.register("Examples/Traffic-v0", entry_point=TrafficEnv)


def save_model(folder: Path) -> None:
    """Save a random Llama of two layers and a tokenizer of WORDS."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<eos>", pad_token="<pad>", unk_token="<unk>")
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    tokenizer.save_pretrained(folder)
    set_seed(0)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(WORDS),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=256,
            initializer_range=0.15,
            pad_token_id=0,
            eos_token_id=1,
            tie_word_embeddings=False,
        )
    ).save_pretrained(folder)


if __name__ == "__main__":
    save_model(Path(sys.argv[1]))
