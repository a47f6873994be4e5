"""The progress of a long command: a bar on a terminal, lines elsewhere, and never a name a terminal obeys."""

from __future__ import annotations

import pytest

from memories.management.progress import Progress, drawn, shown


class Screen:
    def __init__(self, *, terminal: bool) -> None:
        self.terminal, self.text = terminal, ""

    def isatty(self) -> bool:
        return self.terminal

    def write(self, msg: str, *, ending: str | None = None) -> None:
        self.text += msg + ("\n" if ending is None else ending)

    def flush(self) -> None:
        pass


def run(screen: Screen) -> str:
    moments = iter([0.0, 10.0, 20.0])
    progress = Progress(screen, total=100, clock=lambda: next(moments))
    progress.begin("a.md")
    progress.advance(25, line="created a.md")
    progress.begin("\x1b[2Jb.md")
    progress.advance(75)
    progress.interrupt()
    return screen.text


def test_a_terminal_sees_a_bar_with_the_time_left() -> None:
    text = run(Screen(terminal=True))
    assert "25%, 0:01:00 left  ?[2Jb.md" in text
    assert "created" not in text
    assert "\n" not in text


def test_elsewhere_each_file_is_a_line() -> None:
    assert run(Screen(terminal=False)) == "created a.md\n"


@pytest.mark.parametrize(
    ("share", "bar"), [(0, "[" + "." * 30 + "]   0%"), (1, "[" + "#" * 30 + "] 100%, 0:00:00 left")]
)
def test_the_ends_of_the_bar(share: float, bar: str) -> None:
    assert drawn(share, elapsed=5) == bar


def test_control_characters_are_not_shown() -> None:
    assert shown("a\x1b]0;x\x07\nb é") == "a?]0;x??b é"
