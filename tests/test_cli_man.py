"""The manual page has every command and every option, and roff takes all of it."""

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from api.main import main, muckrake


def test_the_manual_page_has_every_command_and_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["man"]) == 0
    text = capsys.readouterr().out
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main(["man", "--install"]) == 0
    file = tmp_path / "man" / "man1" / "muckrake.1"
    assert text == file.read_text("utf-8")
    shown = text.replace("\\-", "-")
    context = click.Context(muckrake, info_name="muckrake")
    for name in muckrake.list_commands(context):
        command = muckrake.get_command(context, name)
        assert command is not None
        assert f".SS muckrake {name}" in shown
        for option in command.params:
            hidden = isinstance(option, click.Option) and option.hidden
            assert hidden or option.opts[0] in shown or option.human_readable_name.upper() in shown


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
def test_man_shows_it_without_a_complaint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man"]) == 0
    page = capsys.readouterr().out
    done = subprocess.run(
        ["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True, check=False
    )
    faults = [line for line in done.stderr.splitlines() if not line.endswith(" line")]
    assert (0, []) == (done.returncode, faults), "but for words longer than a line"
    assert "muckrake play" in done.stdout
