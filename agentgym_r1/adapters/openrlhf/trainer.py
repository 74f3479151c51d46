"""OpenRLHF's trainers with episodes for samples, and ``install``, which makes train_ppo_ray take them.

OpenRLHF looks its classes up by name when a run starts; ``install`` puts subclasses in their places, in the driver
alone. Ray sends them to the workers by reference.
"""

import logging
from pathlib import Path
from typing import Any

import msgspec
import ray
import torch
from openrlhf.trainer import ppo_trainer, ppo_trainer_async
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
from openrlhf.trainer.ray import launcher, ppo_actor, ppo_critic

from agentgym_r1.adapters.openrlhf.batch import EpisodeBatch
from agentgym_r1.adapters.openrlhf.figures import batch_figures, evaluation_figures
from agentgym_r1.adapters.openrlhf.maker import StepExperienceMaker
from agentgym_r1.adapters.openrlhf.samples import EpisodeSample
from agentgym_r1.adapters.openrlhf.spec import RunSpec
from agentgym_r1.adapters.openrlhf.workers import StepCriticActor, StepPolicyActor, TeacherActor, undecorated
from agentgym_r1.trajectories import TrajectoryWriter
from agentgym_r1.types import Trajectory

logger = logging.getLogger(__name__)
_original_eval_metrics = ppo_trainer.compute_eval_metrics


class EpisodeGenerator(SamplesGenerator):  # type: ignore[misc]  # OpenRLHF has no types
    """OpenRLHF's generator, whose samples are episodes."""

    def __init__(self, parent: SamplesGenerator) -> None:
        super().__init__(
            parent.strategy, parent.prompts_dataloader, parent.eval_dataloader, parent.tokenizer, parent.vllm_engines
        )

    def _process_response_into_experience(self, response: bytes, **generate_kwargs: Any) -> EpisodeBatch:
        return EpisodeBatch(msgspec.msgpack.decode(response, type=EpisodeSample))


def evaluation_metrics(dataloader: Any, samples: list[EpisodeBatch], n_samples_per_prompt: int) -> dict[str, float]:
    """Return OpenRLHF's evaluation metrics with ours beside them; in the place of its function of that name."""
    trajectories = [sample.sample.trajectory for sample in samples]
    number = len(list(Path(RunSpec.from_environment().out).glob("evaluation-*.jsonl"))) + 1
    _record(trajectories, f"evaluation-{number:04d}.jsonl")
    metrics: dict[str, float] = _original_eval_metrics(dataloader, samples, n_samples_per_prompt)
    return {**metrics, **evaluation_figures(trajectories)}


def _record(trajectories: list[Trajectory], name: str) -> None:
    path = Path(RunSpec.from_environment().out) / name
    path.unlink(missing_ok=True)  # a resumed run plays the steps after its checkpoint again
    with TrajectoryWriter(path) as writer:
        for trajectory in trajectories:
            writer.write(trajectory)


def _seed_data_order() -> None:
    """Seed what shuffles the prompt set: its sampler draws a seed when it is made, in a process nobody has seeded."""
    torch.manual_seed(RunSpec.from_environment().seed)


class _Steps:
    """What both trainers add: our experience maker, episode-level figures, and the record of every n-th step."""

    experience_maker: Any

    def use_steps(self) -> None:
        """Take our experience maker in place of the one that OpenRLHF made."""
        self._spec = RunSpec.from_environment()
        self.experience_maker = StepExperienceMaker(self.experience_maker, self._spec)

    def train_step(self, rollout_samples: list[EpisodeBatch], global_step: int) -> tuple[dict[str, Any], int]:
        """Train on a batch of episodes."""
        trajectories = [sample.sample.trajectory for sample in rollout_samples]
        if self._spec.record_every and global_step % self._spec.record_every == 0:
            _record(trajectories, f"step-{global_step + 1:06d}.jsonl")
        for error in {t.error for t in trajectories if t.error}:
            logger.warning("step %s trains without an episode that broke: %s", global_step + 1, error)
        status, step = super().train_step(rollout_samples, global_step)  # type: ignore[misc]
        return {**status, **self.experience_maker.figures, **batch_figures(trajectories)}, step

    def _compute_rollout_stats(self, experiences: Any) -> dict[str, float]:
        """Return nothing: OpenRLHF's own figures count rows, idle ones too; ours count episodes."""
        return {}


class StepPPOTrainer(_Steps, undecorated(ppo_trainer.PPOTrainer)):  # type: ignore[misc]
    """The synchronous trainer."""

    samples_generator: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _seed_data_order()
        super().__init__(*args, **kwargs)
        self.samples_generator = EpisodeGenerator(self.samples_generator)
        self.use_steps()


class StepGenerateActor(undecorated(ppo_trainer_async.GenerateSamplesActor)):  # type: ignore[misc]
    """The asynchronous run's generating half."""

    samples_generator: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _seed_data_order()
        super().__init__(*args, **kwargs)
        self.samples_generator = EpisodeGenerator(self.samples_generator)


class StepTrainingActor(_Steps, undecorated(ppo_trainer_async.TrainingActor)):  # type: ignore[misc]
    """The asynchronous run's training half."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.use_steps()

    def broadcast_to_vllm(self) -> None:
        """Send the weights.

        Declared here again because Ray pickles the methods that it wraps: the parent's would travel by value, with a
        copy of its class in the cell of ``super()``.
        """
        super().broadcast_to_vllm()


def install() -> None:
    """Put our classes where OpenRLHF's train() looks them up. In the driver, before the run starts.

    The evaluation's function goes in here too, not in a worker: Ray sends the inherited methods by value, with the
    globals that they have now.
    """
    ppo_trainer.compute_eval_metrics = evaluation_metrics
    ppo_trainer_async.compute_eval_metrics = evaluation_metrics
    ppo_trainer.PPOTrainer = ray.remote(StepPPOTrainer)
    ppo_trainer_async.GenerateSamplesActor = ray.remote(StepGenerateActor)
    ppo_trainer_async.TrainingActor = ray.remote(StepTrainingActor)
    ppo_actor.PolicyModelActor = ray.remote(num_gpus=1)(StepPolicyActor)
    ppo_critic.CriticModelActor = ray.remote(num_gpus=1)(StepCriticActor)
    launcher.ReferenceModelActor = ray.remote(num_gpus=1)(TeacherActor)
