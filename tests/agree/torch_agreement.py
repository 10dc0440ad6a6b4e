#!/usr/bin/env python3
"""The reference executor against PyTorch: same weights, float64, forward and gradients.

Usage: torch_agreement.py REFERENCE_NUMBERS MODEL

REFERENCE_NUMBERS is the program built from reference_numbers.cc. For both attention kernels and
several draws of sizes it prints a training step of MODEL, shrunk. The same step is computed here
with torch operations and torch's own differentiation. Loss, logits and every gradient must agree to
1e-10 * max(1, largest element). Prints the worst difference; exits 1 naming the first tensor that
differs, 77 where torch is not installed.

The models, from their papers and the Hugging Face conventions:
  GPT-2     learned positions, LayerNorm before each half, biases everywhere, GELU by tanh, the head
            is the token embedding (Radford et al. 2019)
  Llama     RMSNorm (Zhang and Sennrich 2019), rotary positions turning elements j and j + H/2 of a
            head (Su et al. 2021), grouped queries (Ainslie et al. 2023), SwiGLU (Shazeer 2020), no
            biases (Touvron et al. 2023)
  Qwen3     Llama with an RMSNorm on each head's queries and keys before they turn, tied head
            (Yang et al. 2025)
  Gemma 2   Llama with tanh-GELU as the gate, tied head, embeddings times sqrt(D), a second RMSNorm
            on what each half gives, soft caps on scores and logits, windows on every other layer
            (Gemma Team 2024)
  Mixtral   Llama with k of E SwiGLU experts a token: the k largest router scores, softmax over
            them (Jiang et al. 2024)
  Qwen3-MoE Qwen3 with an untied head and such experts: softmax over all E scores, the k largest
            divided by their sum (Yang et al. 2025)
What differs from the released models is what no cost depends on, so that the executor has one value
for all: rotary base 10000, epsilon 1e-5, scores over sqrt(H), equal layers one after the other. The
weight of Gemma's norms is what is multiplied: 1 + what its files hold.
"""

import json
import math
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    print("python3-torch is not installed")
    sys.exit(77)

TOLERANCE = 1e-10
EPSILON = 1e-5
ROTARY_BASE = 10000.0
KERNELS = ["flash", "plain"]
DRAWS = range(3)  # one for each way a window can lie to the sequence


class Weights:
    """The parameters by key, each a leaf of torch's graph; remembers which have been asked for."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.leaves = {}

    def take(self, key, *shape):
        if key not in self.arrays:
            sys.exit(f"{key}: the executor has no such parameter")
        if tuple(self.arrays[key]["shape"]) != shape:
            sys.exit(f"{key}: shape {self.arrays[key]['shape']}, expected {list(shape)}")
        if key not in self.leaves:
            self.leaves[key] = tensor_of(self.arrays[key]).requires_grad_()
        return self.leaves[key]


def tensor_of(array, dtype=torch.float64):
    return torch.tensor(array["values"], dtype=dtype).reshape(array["shape"])


# ---- pieces ------------------------------------------------------------------------------------


def rms_norm(x, weight):
    return weight * (x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON))


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def rotary(x):  # [B,heads,T,H]
    positions, width = x.shape[-2:]
    frequencies = ROTARY_BASE ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.outer(torch.arange(positions, dtype=torch.float64), frequencies)
    angles = torch.cat([angles, angles], dim=-1)
    return x * angles.cos() + rotate_half(x) * angles.sin()


def soft_cap(x, cap):
    return x if cap is None else cap * torch.tanh(x / cap)


def hidden_pairs(positions, window=None):
    """[T,T], true where the query (row) must not see the key (column)."""
    distance = torch.arange(positions)[:, None] - torch.arange(positions)[None, :]
    hidden = distance < 0
    return hidden if window is None else hidden | (distance >= window)


def attention(q, k, v, hidden, cap=None):
    """q [B,N,T,H], k and v [B,K,T,H] -> [B,N,T,H]; N/K neighbouring queries share a key."""
    group = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(group, dim=1)
    v = v.repeat_interleave(group, dim=1)
    scores = soft_cap(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), cap)
    return torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1) @ v


def split_heads(x, weight):
    """x [B,T,D] through weight [D,N,H] -> [B,N,T,H]."""
    return (x @ weight.flatten(1)).unflatten(-1, weight.shape[1:]).transpose(1, 2)


def merge_heads(x, weight):
    """x [B,N,T,H] through weight [N,H,D] -> [B,T,D]."""
    return x.transpose(1, 2).flatten(2) @ weight.flatten(0, 1)


# ---- models: logits [B,T,V] --------------------------------------------------------------------


def gpt2(weights, sizes, layers, ids):
    T, D, d_ff, V, N, H = (sizes[letter] for letter in "TDFVNH")

    def layer_norm(x, key):
        return F.layer_norm(x, (D,), weights.take(f"{key}.weight", D),
                            weights.take(f"{key}.bias", D), EPSILON)

    def linear(x, key, inputs, outputs):
        bias = weights.take(f"{key}.bias", outputs)
        return x @ weights.take(f"{key}.weight", inputs, outputs) + bias

    def heads(x, key):
        bias = weights.take(f"{key}.bias", N, H)
        return split_heads(x, weights.take(f"{key}.weight", D, N, H)) + bias[:, None, :]

    tokens = weights.take("embed.tokens.weight", V, D)
    positions_key = "embed/0/embed.positions.weight"
    positions = weights.take(positions_key, weights.arrays[positions_key]["shape"][0], D)
    x = F.embedding(ids, tokens) + positions[:T]
    for layer in layers:
        y = layer_norm(x, f"{layer}/attention.norm")
        q, k, v = (heads(y, f"{layer}/attention.{part}") for part in "qkv")
        y = attention(q, k, v, hidden_pairs(T))
        y = merge_heads(y, weights.take(f"{layer}/attention.o.weight", N, H, D))
        x = x + y + weights.take(f"{layer}/attention.o.bias", D)
        y = linear(layer_norm(x, f"{layer}/mlp.norm"), f"{layer}/mlp.up", D, d_ff)
        x = x + linear(F.gelu(y, approximate="tanh"), f"{layer}/mlp.down", d_ff, D)
    return layer_norm(x, "head/0/final.norm") @ tokens.T


def llama_like(weights, sizes, layers, ids, *, tied=False, qk_norm=False, gate=F.silu,
               scaled_embedding=False, sandwich=False, score_cap=None, logit_cap=None,
               windowed=None, route=None):
    T, D, d_ff, V, N, K, H = (sizes[letter] for letter in "TDFVNKH")

    def norm(x, key):
        return rms_norm(x, weights.take(f"{key}.weight", x.shape[-1]))

    def residual(x, layer, half, body):
        y = body(norm(x, f"{layer}/{half}.norm"))
        return x + (norm(y, f"{layer}/{half}.post_norm") if sandwich else y)

    def self_attention(layer):
        def body(x):
            q = split_heads(x, weights.take(f"{layer}/attention.q.weight", D, N, H))
            k = split_heads(x, weights.take(f"{layer}/attention.k.weight", D, K, H))
            v = split_heads(x, weights.take(f"{layer}/attention.v.weight", D, K, H))
            if qk_norm:
                q = norm(q, f"{layer}/attention.q_norm")
                k = norm(k, f"{layer}/attention.k_norm")
            is_windowed = windowed is not None and layer.startswith(windowed)
            hidden = hidden_pairs(T, sizes["W"] if is_windowed else None)
            out = attention(rotary(q), rotary(k), v, hidden, score_cap)
            return merge_heads(out, weights.take(f"{layer}/attention.o.weight", N, H, D))
        return body

    def gated_mlp(layer):
        def body(x):
            gated = gate(x @ weights.take(f"{layer}/mlp.gate.weight", D, d_ff))
            up = x @ weights.take(f"{layer}/mlp.up.weight", D, d_ff)
            return (gated * up) @ weights.take(f"{layer}/mlp.down.weight", d_ff, D)
        return body

    def experts(layer):
        E = sizes["E"]

        def body(x):
            chosen, share = route(x @ weights.take(f"{layer}/router.scores.weight", D, E),
                                  sizes["k"])
            parts = {part: weights.take(f"{layer}/experts.{part}.weight", E, *shape)[chosen]
                     for part, shape in (("gate", (D, d_ff)), ("up", (D, d_ff)),
                                         ("down", (d_ff, D)))}  # [B,T,k,..,..]
            x = x[:, :, None, None, :]
            inner = gate(x @ parts["gate"]) * (x @ parts["up"])
            return (share[..., None] * (inner @ parts["down"]).squeeze(-2)).sum(-2)
        return body

    feed_forward = gated_mlp if route is None else experts
    tokens = weights.take("embed.tokens.weight", V, D)
    x = F.embedding(ids, tokens)
    if scaled_embedding:
        x = x * math.sqrt(D)
    for layer in layers:
        x = residual(x, layer, "attention", self_attention(layer))
        x = residual(x, layer, "mlp", feed_forward(layer))
    x = norm(x, "head/0/final.norm")
    head = tokens.T if tied else weights.take("head/0/unembed.weight", D, V)
    return soft_cap(x @ head, logit_cap)


def qwen3(*step):
    return llama_like(*step, tied=True, qk_norm=True)


def gemma2(*step):
    return llama_like(*step, tied=True, gate=lambda x: F.gelu(x, approximate="tanh"),
                      scaled_embedding=True, sandwich=True, score_cap=50.0, logit_cap=30.0,
                      windowed="local/")


def mixtral(*step):
    def route(scores, k):
        largest, chosen = scores.topk(k)
        return chosen, torch.softmax(largest, dim=-1)
    return llama_like(*step, route=route)


def qwen3_moe(*step):
    def route(scores, k):
        largest, chosen = torch.softmax(scores, dim=-1).topk(k)
        return chosen, largest / largest.sum(-1, keepdim=True)
    return llama_like(*step, qk_norm=True, route=route)


MODELS = {"gpt2": gpt2, "llama-3-8b": llama_like, "qwen3-0.6b": qwen3, "gemma-2-27b": gemma2,
          "mixtral-8x7b": mixtral, "qwen3-30b-a3b": qwen3_moe}


# ---- comparison --------------------------------------------------------------------------------


class Comparison:
    def __init__(self, place):
        self.place = place
        self.worst = 0.0
        self.names = []

    def add(self, name, theirs, ours):
        """theirs: the executor's; ours: torch's."""
        if theirs.shape != ours.shape:
            sys.exit(f"{self.place}: {name} has shape {list(theirs.shape)}, "
                     f"torch {list(ours.shape)}")
        largest = max(1.0, ours.abs().max().item())
        difference = (theirs - ours).abs().max().item()
        if not difference <= TOLERANCE * largest:  # a NaN is a difference
            sys.exit(f"{self.place}: {name}: off by {difference:.3g}, "
                     f"allowed {TOLERANCE * largest:.3g}")
        self.worst = max(self.worst, difference / largest)
        self.names.append(name)


def compare(model, numbers):
    comparison = Comparison(f"{model}, {numbers['kernel']} kernel, {numbers['draw']}")
    weights = Weights(numbers["parameters"])
    ids = tensor_of(numbers["ids"], torch.int64)
    targets = tensor_of(numbers["targets"], torch.int64)
    logits = MODELS[model](weights, numbers["sizes"], numbers["layers"], ids)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()

    comparison.add("logits", tensor_of(numbers["logits"]), logits.detach())
    comparison.add("loss", torch.tensor(numbers["loss"], dtype=torch.float64), loss.detach())
    unused = set(numbers["parameters"]) - set(weights.leaves)
    if unused:
        sys.exit(f"{comparison.place}: torch's model has no {', '.join(sorted(unused))}")
    for key, leaf in sorted(weights.leaves.items()):
        gradient = numbers["gradients"].get(key)
        if gradient is None:
            sys.exit(f"{comparison.place}: the executor has no gradient of {key}")
        if gradient["axes"] != numbers["parameters"][key]["axes"]:
            sys.exit(f"{comparison.place}: the gradient of {key} has axes {gradient['axes']}")
        comparison.add(f"gradient of {key}", tensor_of(gradient), leaf.grad)
    others = set(numbers["gradients"]) - set(weights.leaves)
    if others:
        sys.exit(f"{comparison.place}: a gradient of no parameter: {', '.join(sorted(others))}")
    return comparison


def main(program, model):
    worst = 0.0
    tensors = 0
    for kernel in KERNELS:
        for draw in DRAWS:
            done = subprocess.run([program, model, kernel, str(draw)], check=True,
                                  stdout=subprocess.PIPE)
            comparison = compare(model, json.loads(done.stdout))
            worst = max(worst, comparison.worst)
            tensors += len(comparison.names)
    print(f"{model}: {tensors} tensors of {len(KERNELS) * len(DRAWS)} training steps agree, "
          f"worst difference {worst:.2g} of max(1, largest element)")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in MODELS:
        sys.exit(f"usage: torch_agreement.py REFERENCE_NUMBERS {'|'.join(MODELS)}")
    torch.set_num_threads(1)
    main(*sys.argv[1:])
