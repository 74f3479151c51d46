"""Make an engine from the one-line description that the command line takes."""

from agentgym_r1.errors import ConfigError
from agentgym_r1.policies.engines.base import Engine

FORMS = (
    "http://HOST:PORT/v1#MODEL (chat), http://HOST:PORT/v1/completions#MODEL (completions, for base models), "
    "hf:smollm2, hf:/path/to/model, hf:ORG/NAME"
)


def engine_from_spec(spec: str, *, device: str = "cpu") -> Engine:
    """Return the engine that ``spec`` describes; nothing is loaded or reached yet.

    Args:
        spec: ``http(s)://HOST/v1#MODEL`` for an OpenAI-compatible endpoint (chat; a path that ends in ``/completions``
            chooses the completions API), or ``hf:MODEL`` for a transformers model in this process (``smollm2``, a
            folder, a ``.gguf`` file, or a hub name).
        device: where an in-process model runs.

    Raises:
        ConfigError: the description has none of these forms.
        MissingExtra: an in-process model is asked for without the extra ``lm``.
    """
    kind, _, rest = spec.partition(":")
    if kind == "hf" and rest:
        from agentgym_r1.policies.engines.transformers import TransformersEngine

        return TransformersEngine(rest, device=device)
    url, _, model = spec.partition("#")
    if kind in {"http", "https"} and model:
        return _http_engine(url.rstrip("/"), model)
    raise ConfigError(f"unknown engine {spec!r}: expected one of {FORMS}")


def _http_engine(url: str, model: str) -> Engine:
    from agentgym_r1.policies.engines.http import HttpEngine

    if url.endswith("/chat/completions"):
        return HttpEngine(url.removesuffix("/chat/completions"), model)
    if url.endswith("/completions"):
        return HttpEngine(url.removesuffix("/completions"), model, api="completions")
    return HttpEngine(url, model)
