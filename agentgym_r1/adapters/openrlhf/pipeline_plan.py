"""The YAML file of a pipeline: an environment, a model, and phases that play, train, and train on what was played."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from agentgym_r1.adapters.openrlhf.awr import Weighting
from agentgym_r1.adapters.openrlhf.offline import METHODS
from agentgym_r1.adapters.openrlhf.recipes import OPTIONS
from agentgym_r1.errors import ConfigError, require, unknown_name
from agentgym_r1.exports import Filters
from agentgym_r1.exports.pairs import KINDS
from agentgym_r1.registration import ENTRIES

MODEL_POLICY = "model"
START = "start"
_ONLINE = sorted(OPTIONS - {"env", "env_args", "model", "device", "out", "seed", "split", "eval_split", "ray"})


class Part(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What all phases have: a ``name`` (by default its kind) and ``from``, the phase whose policy it starts with."""

    name: str = ""
    start: str = msgspec.field(default="", name="from")


class Play(Part, frozen=True, tag="play"):
    """Plays tasks of the training split and records them.

    Attributes:
        policy: a policy spec, or ``model``, the newest policy (or that of ``from``).
        tasks: how many tasks; None takes all.
        repeats: how often each is played.
        temperature: of the model.
    """

    policy: str = "expert"
    tasks: int | None = None
    repeats: int = 1
    temperature: float = 1.0


class Sft(Part, frozen=True, tag="sft"):
    """Fine-tunes on recorded steps.

    Attributes:
        data: names of phases that played; by default all before.
        success: only episodes that succeeded, failed (False), or all (None).
        min_score: the lowest score of an episode.
        openrlhf: flags of OpenRLHF's train_sft.
    """

    data: list[str] | None = None
    success: bool | None = True
    min_score: float | None = None
    openrlhf: dict[str, Any] = {}


class Offline(Part, frozen=True, tag="offline"):
    """Trains on logged episodes, good and bad.

    Attributes:
        data: names of phases that played; by default all before.
        method: ``dpo`` or ``awr``.
        pairs: of dpo: ``episode``, ``step`` or ``both``.
        algorithm, gamma, beta: of awr.
        openrlhf: flags of OpenRLHF's train_dpo, or for awr train_sft.
    """

    data: list[str] | None = None
    method: Literal["dpo", "awr"] = "dpo"
    pairs: str = "episode"
    algorithm: str = "reinforce"
    gamma: float = 1.0
    beta: float = 1.0
    openrlhf: dict[str, Any] = {}

    def weighting(self) -> Weighting:
        """Return the weighting of awr."""
        return Weighting(self.algorithm, gamma=self.gamma, beta=self.beta)


class Online(Part, frozen=True, tag="ppo"):
    """Trains with rollouts; ``options`` are those of a ``train ppo`` recipe, OpenRLHF's flags among them."""

    options: dict[str, Any] = {}


Phase = Play | Sft | Offline | Online


class Pipeline(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A whole pipeline.

    Attributes:
        env: the Gymnasium id.
        model: folder or hub name of the policy that the first phase starts with.
        phases: in the order they run.
        env_args: keyword arguments of gym.make.
        split, eval_split: of training and of evaluation; the latter by default the environment's own.
        eval_tasks: held-out tasks that every policy is evaluated on.
        max_tokens: of a response, in evaluation and in phases that play.
        concurrency: episodes in flight there.
        device: ``gpu`` or ``cpu``.
        processes: data-parallel processes of sft and offline.
        seed: of everything.
    """

    env: str
    model: str
    phases: list[Phase]
    env_args: dict[str, Any] = {}
    split: str = "train"
    eval_split: str = ""
    eval_tasks: int = 100
    max_tokens: int = 512
    concurrency: int = 8
    device: Literal["gpu", "cpu"] = "gpu"
    processes: int = 1
    seed: int = 0

    def kwargs(self, *, held_out: bool) -> dict[str, Any]:
        """Return the keyword arguments of gym.make for training or for evaluation."""
        own = {entry.id: entry.split for entry in ENTRIES}.get(self.env, "test")
        return {**self.env_args, "split": (self.eval_split or own) if held_out else self.split}


def read_pipeline(path: Path, *, seed: int | None = None) -> Pipeline:
    """Return the pipeline of a YAML file, every phase with its name, its start and its data filled in.

    Args:
        path: the file.
        seed: takes the place of the file's, for the same pipeline once more.

    Raises:
        ConfigError: the file cannot be read, or something in it is unknown, missing or impossible.
    """
    yaml = require("yaml", "openrlhf")
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        pipeline = msgspec.convert(document, Pipeline)
    except OSError as err:
        raise ConfigError(f"cannot read the pipeline {path}: {err.strerror or err}") from err
    except yaml.YAMLError as err:
        raise ConfigError(f"the pipeline {path} is not YAML: {' '.join(str(err).split())}") from err
    except msgspec.ValidationError as err:
        raise ConfigError(f"the pipeline {path}: {err}") from err
    return msgspec.structs.replace(
        pipeline, phases=_complete(pipeline.phases), seed=pipeline.seed if seed is None else seed
    )


def _complete(phases: list[Phase]) -> list[Phase]:
    """Fill in what phases leave open, in order, and check what they name."""
    if not phases:
        raise ConfigError("a pipeline needs at least one phase")
    done: list[Phase] = []
    newest, trained = START, [START]
    recorded: list[str] = []
    for phase in phases:
        kind = str(phase.__struct_config__.tag)
        changes: dict[str, Any] = {"name": phase.name or kind, "start": phase.start or newest}
        _check_name(changes["name"], [START, "evaluation", *(other.name for other in done)])
        _check_known("phase with a policy", [changes["start"]], trained)
        if isinstance(phase, Sft | Offline):
            changes["data"] = phase.data if phase.data is not None else list(recorded)
            _check_known("phase that played", changes["data"], recorded)
            if not changes["data"]:
                raise ConfigError(f"the phase {changes['name']!r} needs data: put a phase of kind play before it")
        _check_options(phase)
        if isinstance(phase, Play):
            recorded.append(changes["name"])
        else:
            newest = changes["name"]
            trained.append(newest)
        done.append(msgspec.structs.replace(phase, **changes))
    return done


def _check_name(name: str, taken: list[str]) -> None:
    if name in taken:
        raise ConfigError(f"two phases are named {name!r}, or the name is taken: give each its own name")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"a phase's name is a folder's, of letters, digits, - and _, got {name!r}")


def _check_known(kind: str, names: list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)


def _check_options(phase: Phase) -> None:
    if isinstance(phase, Online):
        _check_known("option of a ppo phase", list(phase.options), _ONLINE)
    if isinstance(phase, Offline):
        _check_known("offline method", [phase.method], list(METHODS))
        _check_known("kind of pairs", [phase.pairs], list(KINDS))
        phase.weighting()
    if isinstance(phase, Sft):
        Filters(success=phase.success, min_score=phase.min_score)
