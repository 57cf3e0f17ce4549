# ruff: noqa: RUF001  (DeepSeek writes its marks with these characters)
"""A tokenizer without a vocabulary of its own: one token for each byte, and DeepSeek's marks as special tokens.

Every text has tokens, so chat templates, JSON schemas and tool calls work; ids that no text uses decode to a word.
"""

from __future__ import annotations

import json
from pathlib import Path

# The first two are the ids that the configuration calls bos and eos.
SPECIAL = (
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<unk>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<think>",
    "</think>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
)
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'user' %}<｜User｜>{{ message['content'] }}"
    "{% elif message['role'] == 'assistant' %}<｜Assistant｜>{{ message['content'] }}{{ eos_token }}"
    "{% else %}{{ message['content'] }}{% endif %}{% endfor %}"
    "{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %}"
    "{% if add_generation_prompt %}<｜Assistant｜>{% endif %}"
)


def alphabet() -> list[str]:
    """The printable character that stands for each byte, as byte-level tokenizers write it."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    stand_ins = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(stand_ins)) for byte in range(256)]


def vocabulary(size: int) -> dict[str, int]:
    """Token to id: marks, bytes, then words that nothing is encoded to."""
    tokens = [*SPECIAL, *alphabet()]
    tokens += [f"w{index}" for index in range(len(tokens), size)]
    return {token: index for index, token in enumerate(tokens)}


def write(folder: Path, size: int) -> None:
    """``tokenizer.json`` and ``tokenizer_config.json`` of a vocabulary of ``size`` tokens."""
    added = [
        {
            "id": index,
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": not token.endswith("think>"),
        }
        for index, token in enumerate(SPECIAL)
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": vocabulary(size),
            "merges": [],
        },
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL[0],
        "eos_token": SPECIAL[1],
        "unk_token": SPECIAL[2],
        "model_max_length": 163840,
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer.json").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1, ensure_ascii=False), encoding="utf-8")
