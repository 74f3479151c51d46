"""The OpenAI formats on the wire: what a request holds, and what a reply says.

Chat and completions replies are read by one set of structures, which also know the extra fields of vLLM (``token_ids``,
``prompt_token_ids``, ``stop_reason``, ``reasoning_content``) and SGLang (``matched_stop``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agentgym_r1.actions.json_calls import write_json
from agentgym_r1.errors import EngineError
from agentgym_r1.policies.engines.base import Sampling, plain_prompt
from agentgym_r1.types import Message, Response

_FINISH = {"stop": "stop", "tool_calls": "stop", "function_call": "stop", "length": "length"}


class _Function(msgspec.Struct):
    name: str
    arguments: Any = "{}"


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None
    reasoning_content: str | None = None


class _TokenLogprob(msgspec.Struct):
    logprob: float


class _Logprobs(msgspec.Struct):
    content: list[_TokenLogprob] | None = None
    token_logprobs: list[float] | None = None

    def values(self) -> list[float]:
        """Return one number a sampled token, wherever this API keeps it."""
        return self.token_logprobs or [token.logprob for token in self.content or ()]


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None
    stop_reason: Any = None
    matched_stop: Any = None
    logprobs: _Logprobs | None = None
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None
    prompt_token_ids: list[int] | None = None


def chat_payload(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the part of a chat request that says what to answer."""
    payload: dict[str, Any] = {"messages": [message.to_dict() for message in messages]}
    if tools:
        payload["tools"] = list(tools)
    return payload


def completion_payload(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the part of a completions request that says what to continue."""
    return {"prompt": plain_prompt(messages)}


def sampling_payload(sampling: Sampling) -> dict[str, Any]:
    """Return the part of a request that says how to draw; it asks vLLM to keep the stop string in the text."""
    payload: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
    }
    if sampling.seed is not None:
        payload["seed"] = sampling.seed
    if sampling.stop:
        payload |= {"stop": list(sampling.stop), "include_stop_str_in_output": True}
    return payload


def read_reply(body: bytes, stop: Sequence[str]) -> Response:
    """Return the response that a reply's body holds.

    Token ids and log-probabilities are there when the server sent both and they have one length.

    Raises:
        EngineError: the body is not a completion.
    """
    try:
        reply = msgspec.json.decode(body, type=_Reply)
        choice = reply.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError) as err:
        start = " ".join(body[:200].decode("utf-8", "replace").split())
        raise EngineError(
            f"expected an OpenAI completion with a choice, got {start!r}: is the URL an OpenAI-compatible API?"
        ) from err
    ids = tuple(choice.token_ids or ())
    logprobs = tuple(choice.logprobs.values()) if choice.logprobs else ()
    usage = reply.usage or _Usage()
    return Response(
        text=_with_stop(choice, _text(choice), stop),
        prompt_ids=tuple(choice.prompt_token_ids or reply.prompt_token_ids or ()),
        action_ids=ids,
        logprobs=logprobs if len(logprobs) == len(ids) else (),
        finish_reason=_FINISH.get(choice.finish_reason or "", ""),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )


def _text(choice: _Choice) -> str:
    """Return reasoning, content and tool calls of a choice as one text."""
    if choice.message is None:
        return choice.text or ""
    message = choice.message
    thought = f"<think>\n{message.reasoning_content.strip()}\n</think>" if message.reasoning_content else ""
    calls = _native(message.tool_calls) if message.tool_calls else ""
    return "\n".join(filter(None, [thought, message.content, calls]))


def _native(calls: Sequence[_ToolCall]) -> str:
    """Return the calls in the ``native`` action format, their arguments as the model wrote them, right JSON or not."""
    entries = [
        {
            "id": call.id or "",
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in calls
    ]
    return write_json({"tool_calls": entries})


def _with_stop(choice: _Choice, text: str, stop: Sequence[str]) -> str:
    """Put back the stop string that a server cut off, where it can be known.

    It is known when the server names it (vLLM, SGLang), or when it closes a tag that the text leaves open. Elsewhere
    the text stays as it came: a plain OpenAI server does not tell a stop string from the model's own end.
    """
    if choice.finish_reason != "stop" or text.endswith(tuple(stop)):
        return text
    named = {choice.stop_reason, choice.matched_stop}
    for string in stop:
        if string in named or _closes(string, text):
            return text + string
    return text


def _closes(string: str, text: str) -> bool:
    opening = f"<{string[2:]}"
    return string.startswith("</") and text.rfind(opening) > text.rfind(string)
