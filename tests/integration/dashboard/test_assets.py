"""The committed styles and scripts are the ones their sources make, and name only what is there."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from django.core.management import call_command
from django.template.loader import get_template
from pytest_django.fixtures import Settings

ROOT = Path(__file__).parents[3]
DIST = ROOT / "static" / "dist"
SOURCES = ("build.mjs", "favicon.svg", "package.json", "package-lock.json", "css/*.css", "js/*.js")


def test_the_built_files_are_those_of_the_sources() -> None:
    """Run `npm run build` in assets/ when this fails (see assets/README.md)."""
    lines = [line.split("  ") for line in (DIST / "SOURCES.sha256").read_text().splitlines()]
    written = {path: digest for digest, path in lines}
    found = [path for pattern in SOURCES for path in (ROOT / "assets").glob(pattern)]
    assert written == {str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_the_lockfile_names_no_registry() -> None:
    assert "resolved" not in (ROOT / "assets" / "package-lock.json").read_text()


def test_no_template_holds_inline_script_or_style() -> None:
    """The content security policy would block it, in front of a person."""
    for template in (ROOT / "templates").rglob("*.html"):
        text = template.read_text()
        assert not re.search(r"<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|javascript:|\|safe|hx-on", text), (
            template
        )


def test_every_class_a_template_uses_is_styled() -> None:
    styles = (DIST / "app.css").read_text()
    hooks = {"icon", "busy-hides", "btn"}
    for template in (ROOT / "templates").rglob("*.html"):
        for names in re.findall(r'class="([^"{]*)', template.read_text()):
            for name in set(names.split()) - hooks:
                assert re.search(rf"\.{re.escape(name)}(?![\w-])", styles) or name.endswith("-"), (template.name, name)


def test_every_static_file_is_found_under_its_hashed_name(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"}
    }
    others = ["drf_spectacular_sidecar", "rest_framework", "guardian", "admin"]
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=others)
    page = get_template("login.html").render({})
    assert re.search(r'href="/static/dist/app\.[0-9a-f]+\.css"', page)
    styles = next((tmp_path / "dist").glob("app.*.css")).read_text()
    assert re.search(r"url\([\"']?(\./)?inter\.[0-9a-f]+\.woff2", styles)
