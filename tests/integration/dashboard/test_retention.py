"""The retention panel of the Memories page: figures, bars and a table of the same numbers, and no content."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from memories.dashboard.retention import HEIGHT, WIDTH, panel
from memories.domain.retention import Cause, DayCount, Period, RetentionReport, RunReport
from memories.store import retention
from omnia.core.scope import Tier
from policies.models import Workspace
from tests.integration.dashboard.scene import browser_of, workspace

NOW = datetime(2026, 6, 30, 12, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def reported(*days: DayCount, last: RunReport | None = None) -> RetentionReport:
    next_run = NOW + timedelta(minutes=40)
    return RetentionReport(Period.of(None, None, now=NOW), days, last, "0 * * * *", next_run)


def day(ago: int, tier: Tier, **rows: int) -> DayCount:
    return DayCount((NOW - ago * DAY).date(), tier, Counter({Cause(name): count for name, count in rows.items()}))


def test_columns_share_one_scale_from_zero_and_stack_without_gaps() -> None:
    shown = panel(reported(day(29, Tier.AGENT, expired=10), day(0, Tier.AGENT, expired=20, purged=10),
                           day(0, Tier.USER, purged=10)), now=NOW)  # fmt: skip
    first, last = shown.columns
    assert [bar.height for bar in first.bars] == [HEIGHT / 4]
    assert [bar.height for bar in last.bars] == [HEIGHT * 3 / 4, HEIGHT / 4]
    agent, user = last.bars
    assert agent.y + agent.height == HEIGHT
    assert user.y + user.height == agent.y
    assert user.y == 0
    assert 0 <= first.bars[0].x < last.bars[0].x
    assert last.bars[0].x + last.bars[0].width <= WIDTH
    assert (shown.most, last.label) == ("40", "2026-06-30: 40")


def test_the_table_has_every_number_newest_first() -> None:
    shown = panel(reported(day(3, Tier.AGENT, expired=1), day(0, Tier.USER, purged=2_000, consent_revoked=3)), now=NOW)
    assert [(line.tier, line.counts) for line in shown.lines] == [
        ("user", ["0", "2,000", "3"]), ("agent", ["1", "0", "0"]),
    ]  # fmt: skip
    assert shown.totals == [("Expired", "1"), ("Purged from the trash", "2,000"), ("Consent revoked", "3")]
    assert [tier for tier, _ in shown.tiers] == ["agent", "user"]


@pytest.mark.parametrize(
    ("status", "words"), [("ok", "Last run"), ("running", "Running now"), ("failed", "The last run failed")]
)
def test_the_last_run_is_told_as_it_went(status: str, words: str) -> None:
    begun, ended = NOW - timedelta(hours=2), NOW - timedelta(hours=1)
    last = panel(reported(last=RunReport(begun, ended, 7, status)), now=NOW).last
    assert last is not None
    assert last.words.startswith(words)
    assert last.at.distance == ("1 hour ago" if status == "ok" else "2 hours ago")
    assert last.deleted == "7"


@pytest.mark.django_db
class TestPage:
    @pytest.fixture
    def place(self) -> Workspace:
        return workspace("research", ada="viewer")

    def test_a_viewer_sees_the_numbers_of_the_workspace_they_are_in(self, place: Workspace) -> None:
        other = workspace("elsewhere", eve="viewer")
        now = datetime.now(UTC)
        retention.add(Counter({(place.uid, Tier.USER): 1234}), cause=Cause.EXPIRED, now=now)
        retention.add(Counter({(other.uid, Tier.USER): 5678}), cause=Cause.EXPIRED, now=now)
        page = browser_of("ada").get("/memories/").content.decode()
        assert "<dt>Expired</dt><dd>1,234</dd>" in page
        assert "5,678" not in page
        assert len(re.findall('<rect class="bar tier-user"', page)) == 1
        assert f'<th scope="row">{now:%Y-%m-%d}</th>' in page

    def test_where_nothing_was_deleted_it_says_so_without_a_chart(self, place: Workspace) -> None:
        page = browser_of("ada").get("/memories/").content.decode()
        assert "Nothing was deleted." in page
        assert "No run yet" in page
        assert '<svg viewBox="0 0 600' not in page

    def test_the_parts_htmx_asks_for_do_not_look_it_up(self, place: Workspace) -> None:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        client = browser_of("ada")
        with CaptureQueriesContext(connection) as asked:
            client.get("/memories/", headers={"HX-Request": "true", "HX-Target": "results"})
        assert not any("retention" in query["sql"] for query in asked.captured_queries)
