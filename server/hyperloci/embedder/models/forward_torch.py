"""Forward pass of the bundled model in torch: packed, so that linear layers never see padding.

The tokens of a whole batch lie in one `(tokens, hidden)` matrix. Only attention needs texts apart; it runs over runs of
texts of like length, padded within the run. On a CPU the weights are laid out once for oneDNN.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import torch
from safetensors import safe_open
from torch.nn import functional

from hyperloci.embedder.batching import runs_of_like_length
from hyperloci.embedder.models.bert import (
    HEAD_WIDTH,
    HEADS,
    HIDDEN,
    LAYER_NORM_EPSILON,
    WORDS,
    AffineWeights,
    BertWeights,
    LayerWeights,
    read_bert,
    share_words,
)
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPREAD: Final = 16
"""Tokens of padding that a text may get in attention: a run of equal lengths costs a call of its own, padding costs
only attention, which is a tenth of the work."""

_ROWS: Final = 8
"""The packed matrix is filled up to a multiple of so many rows: oneDNN builds and keeps a kernel for each height, half
a megabyte apiece."""

_PACK_TOLERANCE: Final = 1e-5
_PACK_TOLERANCE_ULPS: Final = 4
"""A oneDNN layer that strays from the plain one by more than the larger of both, against its output, is not used."""


class TorchForward:
    """all-MiniLM-L6-v2 on torch. Satisfies `ForwardPass`."""

    def __init__(
        self,
        weights: Path,
        device: torch.device,
        dtype: torch.dtype,
        change: Callable[[str, torch.Tensor], torch.Tensor] = lambda _, weight: weight,
    ) -> None:
        """Load the weights.

        Args:
            weights: the model's file.
            device, dtype: where it is computed, and in which precision.
            change: makes another model of it, weight by weight, each with its name; the table of words stays.
        """
        self._device, self._dtype = device, dtype
        with safe_open(weights, framework="pt", device="cpu") as tensors:

            def get(name: str) -> torch.Tensor:
                return change(name, tensors.get_tensor(name))

            bert: BertWeights[torch.Tensor] = read_bert(get, torch.cat)
        self._words = share_words(weights, f"torch {device}", lambda: _read_words(weights, device))
        self._positions = (bert.positions + bert.token_types[0]).to(device)
        self._embedding_norm = _LayerNorm(bert.embedding_norm, device, torch.float32)
        self._layers = [_TransformerBlock(layer, device, dtype) for layer in bert.layers]

    @torch.inference_mode()
    def __call__(self, token_ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the last hidden states of all tokens, text after text: `(tokens, HIDDEN)`."""
        lengths = [len(ids) for ids in token_ids]
        spare = -sum(lengths) % _ROWS
        ids = torch.tensor([token for text in token_ids for token in text] + [0] * spare, device=self._device)
        positions = torch.cat([self._positions[:length] for length in (*lengths, spare)])
        states = self._embedding_norm(self._words.rows[ids] + positions).to(self._dtype)
        runs = _plan_runs(lengths, self._device)
        for layer in self._layers:
            states = layer(states, runs)
        result: NDArray[np.float32] = states[: sum(lengths)].float().cpu().numpy()
        return result


def _read_words(weights: Path, device: torch.device) -> torch.Tensor:
    with safe_open(weights, framework="pt", device="cpu") as tensors:
        return cast(torch.Tensor, tensors.get_tensor(WORDS).to(device))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PaddedRun:
    """Texts of like length: rows `start:end` of the packed matrix, `count` texts padded to `width` tokens.

    `places` are the rows of the padded matrix that hold a token, `mask` the keys that may be looked at; both None
    where nothing is padded.
    """

    start: int
    end: int
    count: int
    width: int
    places: torch.Tensor | None
    mask: torch.Tensor | None


def _plan_runs(lengths: Sequence[int], device: torch.device) -> list[_PaddedRun]:
    runs: list[_PaddedRun] = []
    row = 0
    for first, last in runs_of_like_length(lengths, _SPREAD):
        members = lengths[first:last]
        width, total = members[0], sum(members)
        places = mask = None
        if members[-1] < width:
            present = torch.arange(width) < torch.tensor(members)[:, None]
            places = present.flatten().nonzero().squeeze(1).to(device)
            mask = present[:, None, None, :].to(device)
        runs.append(_PaddedRun(start=row, end=row + total, count=len(members), width=width, places=places, mask=mask))
        row += total
    return runs


class _TransformerBlock:
    def __init__(self, layer: LayerWeights[torch.Tensor], device: torch.device, dtype: torch.dtype) -> None:
        self._qkv = _LinearLayer(layer.qkv, device, dtype)
        self._attention_out = _LinearLayer(layer.attention_out, device, dtype)
        self._attention_norm = _LayerNorm(layer.attention_norm, device, dtype)
        self._up = _LinearLayer(layer.up, device, dtype, gelu=True)
        self._down = _LinearLayer(layer.down, device, dtype)
        self._output_norm = _LayerNorm(layer.output_norm, device, dtype)

    def __call__(self, states: torch.Tensor, runs: Sequence[_PaddedRun]) -> torch.Tensor:
        qkv = self._qkv(states)
        spare = qkv[runs[-1].end :, :HIDDEN]  # Rows that belong to no text need some value or other.
        context = torch.cat([*(_compute_attention(qkv[run.start : run.end], run) for run in runs), spare])
        states = self._attention_norm(self._attention_out(context).add_(states))
        return self._output_norm(self._down(self._up(states)).add_(states))


def _compute_attention(qkv: torch.Tensor, run: _PaddedRun) -> torch.Tensor:
    if run.places is not None:
        padded = qkv.new_zeros(run.count * run.width, qkv.shape[1])
        padded[run.places] = qkv
        qkv = padded
    query, key, value = qkv.view(run.count, run.width, 3, HEADS, HEAD_WIDTH).permute(2, 0, 3, 1, 4)
    context = functional.scaled_dot_product_attention(query, key, value, attn_mask=run.mask)
    context = context.transpose(1, 2).reshape(run.count * run.width, HIDDEN)
    return context if run.places is None else context[run.places]


def _copy(weight: torch.Tensor, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """Copy a small weight out of its file, of which it would otherwise keep every page that was read."""
    return weight.to(device, dtype, copy=True)


class _LayerNorm:
    def __init__(self, norm: AffineWeights[torch.Tensor], device: torch.device, dtype: torch.dtype) -> None:
        self._weight = _copy(norm.weight, device, dtype)
        self._bias = _copy(norm.bias, device, dtype)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(states, (HIDDEN,), self._weight, self._bias, LAYER_NORM_EPSILON)


class _LinearLayer:
    """A linear layer, with GELU behind it if asked; through oneDNN where that works and agrees with torch."""

    def __init__(
        self, layer: AffineWeights[torch.Tensor], device: torch.device, dtype: torch.dtype, *, gelu: bool = False
    ) -> None:
        self._weight = layer.weight.to(device, dtype)
        self._bias = _copy(layer.bias, device, dtype)
        self._gelu = gelu
        self._packed: torch.Tensor | None = None
        if device.type == "cpu":
            self._pack_weights()

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        if self._packed is not None:
            return self._through_onednn(states, self._packed)
        out = functional.linear(states, self._weight, self._bias)
        return functional.gelu(out) if self._gelu else out

    def _pack_weights(self) -> None:
        """Adopt oneDNN's layout and drop the plain weights, if this build of torch has it and it computes the same.

        The operators are torch's own but not its public interface: where they are gone or changed, nothing is packed.
        """
        with contextlib.suppress(AttributeError, RuntimeError, TypeError), torch.inference_mode():
            packed = torch.ops.mkldnn._reorder_linear_weight(self._weight)
            probe = torch.linspace(-1, 1, self._weight.shape[1], dtype=self._weight.dtype)[None]
            plain, other = self(probe), self._through_onednn(probe, packed)
            allowed = max(_PACK_TOLERANCE, _PACK_TOLERANCE_ULPS * torch.finfo(plain.dtype).eps)
            if (plain - other).abs().max().item() <= allowed * max(1.0, plain.abs().max().item()):
                self._packed = packed
                self._weight = torch.empty(0)

    def _through_onednn(self, states: torch.Tensor, packed: torch.Tensor) -> torch.Tensor:
        activation = "gelu" if self._gelu else "none"
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, packed, self._bias, activation, [], "none")
        return out
