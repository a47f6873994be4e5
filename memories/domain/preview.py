"""The short form of a long body (spec: recall.inlineThresholdBytes)."""

from __future__ import annotations

LONGEST_PREVIEW = 240


def content_preview(content: str) -> str:
    """At most 240 characters, cut at a word where one ends in the last third."""
    text = " ".join(content[: LONGEST_PREVIEW * 4].split())
    if len(text) <= LONGEST_PREVIEW:
        return text
    cut = text[: LONGEST_PREVIEW - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > LONGEST_PREVIEW * 2 // 3 else cut).rstrip() + "…"


def is_long(size_bytes: int, *, threshold_bytes: int) -> bool:
    """Whether a body of this size is previewed; a threshold of 0 previews every one."""
    return size_bytes > threshold_bytes
