"""OpenRLHF's workers: actor and critic with mini-batches of the padding plan, and a reference that may be a teacher."""

import math
from typing import Any

import torch
from openrlhf.trainer.ppo_utils import NaiveReplayBuffer
from openrlhf.trainer.ray import launcher, ppo_actor, ppo_critic

from agentgym_r1.adapters.openrlhf.distill import EXPERT
from agentgym_r1.adapters.openrlhf.spec import RunSpec


def undecorated(actor_class: Any) -> Any:
    """Return the class under @ray.remote."""
    return actor_class.__ray_metadata__.modified_class.__ray_actor_class__


class PlannedBuffer(NaiveReplayBuffer):  # type: ignore[misc]  # OpenRLHF has no types
    """Keeps the plan's order: OpenRLHF's loader shuffles rows, which would mix the mini-batches."""

    _next = 0

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self._next = 0

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return the next rows in order, as many as are asked for, and begin again after the last."""
        start, self._next = self._next, (self._next + len(indices)) % len(self.items)
        return [self.items[(start + i) % len(self.items)] for i in range(len(indices))]


class WindowedActorTrainer(ppo_actor.ActorPPOTrainer):  # type: ignore[misc]
    """The policy's trainer; a micro-batch may be idle, which has no means to report."""

    def training_step(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Train on a micro-batch; an idle one reports zeros with next to no weight."""
        status: dict[str, Any] = super().training_step(*args, **kwargs)
        status["num_action_tokens"] = max(status["num_action_tokens"], 1e-6)
        status["metrics"] = {key: _finite(value) for key, value in status["metrics"].items()}
        return status


class WindowedCriticTrainer(ppo_critic.CriticPPOTrainer):  # type: ignore[misc]
    """The critic's trainer; a micro-batch may be idle, which has no means to report."""

    def training_step(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Train on a micro-batch; an idle one reports zeros."""
        status = super().training_step(*args, **kwargs)
        return {key: _finite(value) for key, value in status.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.nan_to_num(value) if value.is_floating_point() else value
    return 0.0 if isinstance(value, float) and math.isnan(value) else value


class StepPolicyActor(undecorated(ppo_actor.PolicyModelActor)):  # type: ignore[misc]
    """The policy's worker."""

    def init_model_from_pretrained(self, *args: Any, **kwargs: Any) -> None:
        """Load the model, with our trainer and buffer."""
        ppo_actor.ActorPPOTrainer = WindowedActorTrainer
        ppo_actor.NaiveReplayBuffer = PlannedBuffer
        super().init_model_from_pretrained(*args, **kwargs)

    def set_windows(self, windows: int) -> None:
        """Take note of how many mini-batches the next batch has."""
        self._windows = windows

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Train on the batch, one optimizer step a mini-batch and epoch."""
        accumulate(self.trainer, self.actor.model, self._windows)
        return super().fit(*args, **kwargs)


class StepCriticActor(undecorated(ppo_critic.CriticModelActor)):  # type: ignore[misc]
    """The critic's worker."""

    def init_model_from_pretrained(self, *args: Any, **kwargs: Any) -> None:
        """Load the model, with our trainer and buffer."""
        ppo_critic.CriticPPOTrainer = WindowedCriticTrainer
        ppo_critic.NaiveReplayBuffer = PlannedBuffer
        super().init_model_from_pretrained(*args, **kwargs)

    def set_windows(self, windows: int) -> None:
        """Take note of how many mini-batches the next batch has."""
        self._windows = windows

    def fit(self) -> Any:
        """Train on the batch, one optimizer step a mini-batch and epoch."""
        accumulate(self.trainer, self.critic, self._windows)
        return super().fit()


class TeacherActor(undecorated(launcher.ReferenceModelActor)):  # type: ignore[misc]
    """The reference's worker, which in distillation holds the teacher instead of the policy's first weights."""

    def init_model_from_pretrained(self, strategy: Any, pretrain: str) -> None:
        """Load the model."""
        teacher = RunSpec.from_environment().teacher
        super().init_model_from_pretrained(strategy, pretrain if teacher in {"", EXPERT} else teacher)


def accumulate(trainer: Any, engine: Any, windows: int) -> None:
    """Let DeepSpeed accumulate the rows of one mini-batch, however many this batch has.

    DeepSpeed counts micro-batches from the start of the run; the count begins anew, since every fit ends on a boundary.
    """
    micro_batches = len(trainer.replay_buffer) // windows // trainer.strategy.micro_train_batch_size
    engine.set_train_batch_size(micro_batches * engine.train_micro_batch_size_per_gpu() * engine.dp_world_size)
    engine.micro_steps = 0
    engine.optimizer.gradient_accumulation_steps = micro_batches
    trainer.strategy.accumulated_gradient = micro_batches
