"""Run by test_step_datasets.py in a process with the CPU shim: weighted rows through OpenRLHF's supervised loss.

    python training_weights.py MODEL

Prints the loss of two rows whose tokens have the log-probabilities -1, -2, ... as JSON, with what it should be.
"""

import json
import sys
from types import SimpleNamespace

import torch
from openrlhf.models import SFTLoss
from openrlhf.utils.loss_utils import iter_grad_accum_global_norm

from agentgym_r1.adapters.openrlhf.step_datasets import StepSFTDataset
from agentgym_r1.exports.tokens import load_tokenizer

WEIGHTS = {"bb": 3.0, "c": 0.5}

tokenizer = load_tokenizer(sys.argv[1])
rows = [
    {
        "prompt": [{"role": "user", "content": "a"}],
        "completion": [{"role": "assistant", "content": text}],
        "weight": weight,
    }
    for text, weight in WEIGHTS.items()
]
data = StepSFTDataset(rows, tokenizer, 4096, SimpleNamespace(print=print))
batch = data.collate_fn([data[0], data[1]])
mask = batch[2][:, :-1]
logprobs = -torch.arange(1.0, mask.numel() + 1).reshape(mask.shape)
((_, info),) = iter_grad_accum_global_norm([batch], SimpleNamespace(), 1, lambda item: item[2][:, :-1])
loss = SFTLoss()(logprobs, mask, **info)

weighted = total = 0.0
for i, (text, weight) in enumerate(WEIGHTS.items()):
    first = int(data[i][2][0].nonzero()[0, 0])
    count = len(tokenizer(text)["input_ids"]) + 1  # and the end token
    weighted += weight * sum(-float(logprobs[i, first + k]) for k in range(count))
    total += weight * count
print(json.dumps({"loss": float(loss), "expected": weighted / total}))
