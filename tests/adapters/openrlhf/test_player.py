"""Episodes over a token engine: ids as given and sampled, budgets, and what happens when something breaks."""

import asyncio
import copy
import math
from dataclasses import dataclass, field, replace
from enum import Enum
from types import SimpleNamespace

import pytest
from echo import EchoRetriever
from toy import GuessEnv

from agentgym_r1.adapters.openrlhf.engine import RolloutEngine
from agentgym_r1.adapters.openrlhf.player import Player
from agentgym_r1.adapters.openrlhf.samples import Watch, rows_of
from agentgym_r1.adapters.openrlhf.spec import Job, RunSpec
from agentgym_r1.errors import ConfigError, EngineError
from agentgym_r1.retrieval import RemoteRetriever
from agentgym_r1.retrieval.service import RunningService
from agentgym_r1.types import Message

EOS = 0


class Letters:
    """A tokenizer of characters: the id of a character is its code point; 0 ends a response."""

    eos_token_id = EOS
    chat_template = "yes"

    def __call__(self, text, add_special_tokens=False):
        return {"input_ids": [ord(character) for character in text]}

    def __len__(self):
        return 256

    def decode(self, ids):
        return "".join("<end>" if i == EOS else chr(i) for i in ids)

    def apply_chat_template(self, chat, tokenize, add_generation_prompt):
        return "".join(f"<{m['role']}>{m['content']}" for m in chat) + "<assistant>"


class Kind(Enum):
    """vLLM's RequestOutputKind."""

    CUMULATIVE = 0
    FINAL_ONLY = 2


@dataclass
class Params:
    """The fields of vLLM's SamplingParams that are used."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = 400
    min_tokens: int = 1
    stop: list = field(default_factory=list)
    include_stop_str_in_output: bool = False
    logprobs: int | None = None
    output_kind: Kind = Kind.CUMULATIVE


class Scripted:
    """Answers with the next of its texts, the end token after it; remembers what it was given."""

    def __init__(self, *texts):
        self.texts = list(texts)
        self.given = []

    async def generate(self, ids, params):
        self.given.append((list(ids), copy.copy(params)))
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        if text is None:
            return SimpleNamespace(outputs=[SimpleNamespace(token_ids=[], text="", finish_reason="abort", logprobs=[])])
        ids = [ord(character) for character in text] + [EOS]
        logprobs = [{i: SimpleNamespace(logprob=-0.5)} for i in ids]
        answer = SimpleNamespace(token_ids=ids, text=text + "<end>", finish_reason="stop", logprobs=logprobs)
        return SimpleNamespace(outputs=[answer])


CALL = '<tool_call>\n{"name": "compare", "arguments": {"guess": "7"}}\n</tool_call>'
SPEC = RunSpec(env="Guess", out="", threads=2, algorithm="gae")
SEVEN = Job("n7")


def play(script, *, spec=SPEC, make_env=None, job=SEVEN, max_length=20_000, params=None):
    player = Player(spec, make_env=make_env or (lambda phase: GuessEnv()))
    engine = RolloutEngine(script, Letters(), params or Params(), max_length=max_length)
    return asyncio.run(player.play("train n7", job, engine))


def test_rows_hold_the_ids_that_the_engine_was_given_and_sampled():
    script = Scripted(CALL, "<answer>7</answer>")
    sample = play(script)
    assert sample.trajectory.success and sample.trajectory.error == ""
    assert [list(row.prompt_ids) for row in sample.rows] == [ids for ids, _ in script.given]
    assert [row.action_ids[-1] for row in sample.rows] == [EOS, EOS]
    assert [len(row.logprobs) for row in sample.rows] == [len(row.action_ids) for row in sample.rows]
    assert [row.reward for row in sample.rows] == [0.0, 1.0]


def test_the_expert_as_a_teacher_scores_every_step_by_what_it_would_have_said_there():
    spec = replace(SPEC, algorithm="distill", teacher="expert")
    sample = play(Scripted("<answer>7</answer>"), spec=spec)
    expert = "Check.\n" + CALL  # before the first comparison; the sampled answer differs from its first character on
    assert sample.trajectory.transitions[0].action == "<answer>7</answer>" and not expert.startswith("<")
    (row,) = sample.rows
    assert row.teacher[0] == pytest.approx(math.log(0.01 / 255))
    assert len(row.teacher) == len(row.action_ids) and all(math.isnan(value) for value in row.teacher[1:])
    two = play(Scripted(CALL, "<answer>7</answer>"), spec=spec)
    assert list(two.rows[1].teacher) == pytest.approx([math.log(0.99)] * len("<answer>7</answer>."))
    assert all(row.teacher == () for row in play(Scripted(CALL, "<answer>7</answer>")).rows)


@pytest.mark.parametrize("context", ["append", "window", "state", "summary"])
def test_the_ids_are_those_of_the_engine_under_every_context_policy(context):
    long_call = CALL.replace("7", "3" * 40)
    script = Scripted(long_call, long_call, CALL, "<answer>7</answer>")
    sample = play(script, make_env=lambda phase: GuessEnv(context=context, context_budget=420, max_steps=9))
    assert sample.trajectory.success and len(sample.rows) == 4
    assert {step.context["policy"] for step in sample.trajectory.transitions} == {context}
    assert [list(row.prompt_ids) for row in sample.rows] == [ids for ids, _ in script.given]
    said = [long_call, long_call, CALL, "<answer>7</answer>"]
    assert [list(row.action_ids) for row in sample.rows] == [[*map(ord, text), EOS] for text in said]


def test_the_text_of_an_action_shows_no_end_token():
    sample = play(Scripted("<answer>7</answer>"))
    assert sample.trajectory.transitions[0].action == "<answer>7</answer>"


def test_the_shared_sampling_parameters_are_copied_and_stop_strings_asked_for():
    params, script = Params(), Scripted("<answer>7</answer>")
    play(script, params=params)
    assert params == Params()
    given = script.given[0][1]
    assert given.stop and given.include_stop_str_in_output and given.logprobs == 0
    assert given.output_kind is Kind.FINAL_ONLY


def test_an_end_at_once_is_sampled_as_often_as_the_policy_says_it():
    script = Scripted("")
    sample = play(script)
    assert script.given[0][1].min_tokens == 0
    assert [len(row.action_ids) for row in sample.rows] == [1] * len(sample.rows)
    assert sample.trajectory.error == "" and sample.trajectory.transitions[0].action == ""


def test_a_response_gets_what_the_prompt_leaves_of_the_step_budget():
    script = Scripted("<answer>7</answer>")
    length = len(play(script).rows[0].prompt_ids)
    play(script, max_length=length + 30)
    assert script.given[-1][1].max_tokens == 30


def test_a_prompt_beyond_the_budget_breaks_the_episode_and_says_what_to_do():
    sample = play(Scripted("x"), max_length=50)
    assert sample.rows == () and "raise --data.max_len" in sample.trajectory.error


def test_an_empty_response_breaks_the_episode_without_a_reward():
    sample = play(Scripted(CALL, None))
    assert sample.rows == () and sample.trajectory.error == "policy: EngineError: the engine returned an empty response"
    assert len(sample.trajectory.transitions) == 1


def test_an_episode_that_a_limit_cut_off_carries_the_prompt_after_it():
    sample = play(Scripted(CALL))
    assert sample.trajectory.transitions[-1].truncated and len(sample.rows) == 4
    assert len(sample.next_prompt_ids) > len(sample.rows[-1].prompt_ids)
    assert play(Scripted("<answer>7</answer>")).next_prompt_ids == ()
    without = RunSpec(env="Guess", out="", algorithm="group_norm")
    assert play(Scripted(CALL), spec=without).next_prompt_ids == ()


class Broken(GuessEnv):
    """Breaks in reset until it was asked ``times`` times."""

    asked = 0

    def reset(self, **kwargs):
        Broken.asked += 1
        if Broken.asked <= self.times:
            raise OSError("the world is away")
        return super().reset(**kwargs)


@pytest.mark.parametrize(("times", "error"), [(1, ""), (2, "environment: OSError: the world is away")])
def test_a_reset_that_fails_is_tried_once_more_in_a_new_environment(times, error):
    Broken.asked, Broken.times = 0, times
    made = []
    sample = play(Scripted("<answer>7</answer>"), make_env=lambda phase: made.append(phase) or Broken())
    assert sample.trajectory.error == error and made == ["train", "train"]
    assert bool(sample.rows) == (not error)


def test_a_broken_step_ends_the_episode_and_the_environment():
    class Falling(GuessEnv):
        def step(self, action):
            raise RuntimeError("fell over")

    sample = play(Scripted(CALL), make_env=lambda phase: Falling())
    assert sample.rows == () and sample.trajectory.error == "environment: RuntimeError: fell over"


class Asking(GuessEnv):
    """Asks a retrieval service at every step."""

    def __init__(self, url, *, patience):
        self._service = RemoteRetriever(url, patience=patience)
        super().__init__()

    def step(self, action):
        self._service.search(["seven"], k=1)
        return super().step(action)


@pytest.mark.parametrize(("patience", "broken"), [(30, False), (0.3, True)])
def test_an_outage_of_the_retrieval_service_is_waited_for_or_breaks_the_episode(patience, broken, caplog):
    service = RunningService({"echo": EchoRetriever()})
    url = service.address()
    script = Scripted(CALL, "<answer>7</answer>")
    player = Player(SPEC, make_env=lambda phase: Asking(url, patience=patience))
    engine = RolloutEngine(script, Letters(), Params(), max_length=20_000)
    back = []

    async def interrupted():
        service.close()
        playing = asyncio.create_task(player.play("train n7", SEVEN, engine))
        await asyncio.sleep(1)
        back.append(RunningService({"echo": EchoRetriever()}, port=int(url.rpartition(":")[2])))
        return await playing, await player.play("train n7", SEVEN, engine)

    during, after = asyncio.run(interrupted())
    back[0].close()
    assert after.trajectory.success and after.rows
    assert bool(during.rows) == (not broken)
    if broken:
        assert during.trajectory.error.startswith("environment: RetrievalError: no retrieval service answers")
        assert any("is left out of training" in record.getMessage() for record in caplog.records)


def test_an_unknown_task_is_the_callers_mistake():
    with pytest.raises(ConfigError, match="n8"):
        play(Scripted(CALL), job=Job("n8"))


def test_equal_states_have_equal_anchors():
    sample = play(Scripted(CALL, CALL, "<answer>7</answer>"))
    again = play(Scripted(CALL, "<answer>7</answer>"))
    assert sample.rows[0].anchor == again.rows[0].anchor and sample.rows[1].anchor == again.rows[1].anchor
    assert len({row.anchor for row in sample.rows}) == 3


def test_native_tools_are_refused():
    engine = RolloutEngine(Scripted("x"), Letters(), Params(), max_length=99)
    with pytest.raises(ConfigError, match="action_format='hermes'"):
        asyncio.run(engine.generate([Message("user", "a")], tools=[{}], sampling=engine.sampling))
    with pytest.raises(EngineError, match="a step takes 1 to 98"):
        engine.prompt_ids([Message("user", "a" * 99)])


def test_a_broken_trajectory_has_no_rows():
    trajectory = play(Scripted(CALL, None)).trajectory
    assert rows_of(trajectory, ["a"]) == ()
    assert Watch(GuessEnv()).anchors == []


def test_jobs_and_runs_survive_the_way_through_text(monkeypatch):
    assert Job.decode(Job("a b", "eval").encode()) == Job("a b", "eval")
    with pytest.raises(ConfigError, match="names no task"):
        Job.decode("{}")
    spec = RunSpec(env="E", out="o", env_kwargs={"k": [1, "x"]}, algorithm="gigpo")
    monkeypatch.setenv("AGENTGYM_R1_TRAIN", spec.encode())
    assert RunSpec.from_environment() == spec
    monkeypatch.delenv("AGENTGYM_R1_TRAIN")
    with pytest.raises(ConfigError, match="start the run with agentgym-r1 train ppo"):
        RunSpec.from_environment()
