"""What a training run is, as every process of it reads it from its environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from agentgym_r1.errors import ConfigError

VARIABLE = "AGENTGYM_R1_TRAIN"
Phase = Literal["train", "eval"]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The adapter's own settings of a run; all others are OpenRLHF's.

    Attributes:
        env: the Gymnasium id.
        env_kwargs: keyword arguments of gym.make for training.
        eval_kwargs: the same for evaluation.
        algorithm: one of advantages.ALGORITHMS.
        anchor_weight: weight of GiGPO's step-level advantage.
        teacher: of distillation: folder or hub name of the policy that scores the student's tokens, or ``expert``.
        unit: what counts the same in the policy loss: ``token``, ``step`` or ``episode``.
        bootstrap: whether an episode that a limit cut off goes on with V(s_{T+1}) (algorithms with a critic).
        threads: threads that step environments in each rollout engine.
        workers: Ray actors that hold the environments instead; 0 keeps them in the engine's process.
        out: folder of the trajectories.
        record_every: every how many steps the trajectories of a rollout batch are written; 0 never.
        seed: seeds the environments and the padding plan.
    """

    env: str
    out: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    eval_kwargs: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "gae"
    anchor_weight: float = 1.0
    teacher: str = ""
    unit: str = "token"
    bootstrap: bool = True
    threads: int = 8
    workers: int = 0
    record_every: int = 10
    seed: int = 0

    def kwargs(self, phase: Phase) -> dict[str, Any]:
        """Return the keyword arguments of gym.make for a phase."""
        return dict(self.env_kwargs if phase == "train" else self.eval_kwargs)

    def encode(self) -> str:
        """Return the value of the environment variable."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def from_environment() -> "RunSpec":
        """Read the run of this process.

        Raises:
            ConfigError: the variable is not set or holds no run.
        """
        text = os.environ.get(VARIABLE)
        if text is None:
            raise ConfigError(f"{VARIABLE} is not set: start the run with agentgym-r1 train ppo")
        try:
            return msgspec.json.decode(text, type=RunSpec)
        except msgspec.MsgspecError as err:
            raise ConfigError(f"{VARIABLE} holds no run: {err}") from err


@dataclass(frozen=True, slots=True)
class Job:
    """One row of the prompt set: which task is played, in which phase. It travels as OpenRLHF's label."""

    task: str
    phase: Phase = "train"

    def encode(self) -> str:
        """Return the label."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def decode(label: str) -> "Job":
        """Read a label.

        Raises:
            ConfigError: it is not one of ours.
        """
        try:
            return msgspec.json.decode(label, type=Job)
        except msgspec.MsgspecError as err:
            raise ConfigError(f"the label {label!r} names no task: use the prompt set that train ppo writes") from err
