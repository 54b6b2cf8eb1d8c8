"""`./mr test --changed`: which tests of a made-up house a change can reach."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import changed
from tests.changed import NoSuchCommit, Tree
from tests.profiles import sized
from tests.test_house import made

FILES = {
    "events/cards.py": "DECK = ()\n",
    "analytics/luck.py": "from events import cards\n",
    "analytics/sql/luck.sql": "SELECT 1",
    "analytics/sql/tables.py": "def read(name: str): ...\n",
    "analytics/results.py": "def late():\n    from analytics.luck import x\n"
    "    import analytics.sql.tables\n",
    "api/main.py": "from importlib import import_module\nimport api.cli.output\n"
    "from api.questions import declared\n",
    "api/questions/declared/__init__.py": "from importlib import import_module\n",
    "api/questions/declared/luck.py": "import analytics.luck\n",
    "api/cli/output.py": "",
    "api/cli/results.py": "import analytics.results\n",
    "api/cli/play.py": "import events.cards\n",
    "api/http/routes/__init__.py": "from api.http.routes.of_luck import router\n"
    "from api.http.routes.health import router as health\n",
    "api/http/routes/of_luck.py": 'router = APIRouter(prefix="/api/luck")\nimport analytics.luck\n'
    'router.get("/players/{player}/winnings")\n',
    "api/http/routes/health.py": 'router = APIRouter()\nrouter.get("/healthz")\n',
    "store/worker.py": "",
    "odds/rank.py": "",
    "odds/luck.py": "",
    "odds/both.py": "from odds.luck import drawn\nimport odds.rank\nBEST = odds.rank.BEST\n"
    "def worst(): return BEST\ndef luck(): return drawn()\n",
    "api/serving/app.py": "from api.pages import home, players\n",
    "api/pages/home.py": "from api.pages.players import clean\nrouter = APIRouter()\n"
    '@router.get("/")\ndef home(): clean()\n',
    "api/pages/players.py": "from odds import luck, rank\nrouter = APIRouter()\n"
    'def clean(): ...\n@router.get("/ranks/{player}")\ndef ranks(): rank\n'
    '@router.get("/lucks/{player}")\ndef lucks(): luck\n',
    "docs/luck.md": "",
    "README": "",
    "pyproject.toml": "",
    "tests/conftest.py": "@pytest.fixture\ndef played():\n    from api.main import main\n"
    '    main(["play"])\n\n@pytest.fixture(autouse=True)\ndef always():\n    import store.worker\n',
    "tests/words.py": 'WORDS = "/api/luck"\n',
    "tests/test_cards.py": "import events.cards\n",
    "tests/test_luck.py": "from analytics import luck\n",
    "tests/test_results.py": 'from api.main import main\nmain(["results"])\n',
    "tests/test_question.py": 'from api.main import main\nmain(["luck"])\n',
    "tests/test_play.py": "def test_it(played): ...\n",
    "tests/test_http.py": 'import api.http.routes\nget("/players/ursa/winnings")\n',
    "tests/test_word.py": "import api.http.routes\nfrom tests import words\n",
    "tests/test_health.py": 'import api.http.routes\nget("/healthz")\n',
    "tests/test_docs.py": 'import api.main\nfor page in glob("*.md"): main(page)\n',
    "tests/test_tidy.py": 'rglob("*.py")\n',
    "tests/test_schema.py": 'TAG = "analytics.luck/1"\n',
    "tests/test_patched.py": 'patch("analytics.luck.x", 1)\n',
    "tests/test_worst.py": "from odds.both import worst\n",
    "tests/test_both.py": "import odds.both\n",
    "tests/test_ranks.py": 'import api.serving.app\nget("/ranks/ursa")\n',
    "tests/test_lucks.py": 'import api.serving.app\nget("/lucks/ursa")\n',
    "tests/test_other.py": '"""Of analytics.luck not a word."""\n',
    "tests/test_process.py": 'import subprocess\nsubprocess.run(["muckrake", "results"])\n',
}


def reached(tmp_path: Path, *changes: str) -> list[str]:
    found = Tree(made(tmp_path, FILES)).reached(changes)
    return [path.removeprefix("tests/test_").removesuffix(".py") for path in found]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("tests/test_other.py", "other tidy"),
        ("tests/words.py", "tidy word"),
        ("analytics/results.py", "docs process results tidy"),
        ("analytics/luck.py", "docs http luck patched process question results tidy word"),
        ("api/cli/play.py", "docs play tidy"),
        ("api/cli/output.py", "docs play process question results tidy"),
        ("api/questions/declared/luck.py", "docs question tidy"),
        ("api/http/routes/health.py", "health tidy"),
        ("analytics/sql/luck.sql", "docs process results"),
        ("docs/luck.md", "docs"),
        ("odds/luck.py", "both lucks tidy"),
        ("odds/rank.py", "both ranks tidy worst"),
        ("api/pages/players.py", "lucks ranks tidy"),
    ],
)
def test_a_change_is_told_by_whoever_reaches_it(change: str, expected: str, tmp_path: Path) -> None:
    """By import, also in a function; by a command, a path, a patch, a process or a pattern; of a
    module by what is imported of it, and of a file of pages by the pages that are asked for."""
    assert expected.split() == sorted(reached(tmp_path, change))


def test_the_nearest_by_imports_come_first(tmp_path: Path) -> None:
    """What reads the file itself, what imports it, then what imports that."""
    assert ["tidy", "luck", "patched"] == reached(tmp_path, "analytics/luck.py")[:3]


@pytest.mark.parametrize("change", ["README", "pyproject.toml", "analytics/gone.py"])
def test_what_nobody_is_known_to_read_may_be_read_by_all(change: str, tmp_path: Path) -> None:
    everybody = sum(path.startswith("tests/test_") for path in FILES)
    assert everybody == len(reached(tmp_path, change))


@pytest.mark.parametrize("change", ["tests/conftest.py", "store/worker.py"])
def test_what_every_test_is_given_is_reached_by_all(change: str, tmp_path: Path) -> None:
    everybody = sum(path.startswith("tests/test_") for path in FILES)
    assert everybody == len(reached(tmp_path, change))


def test_changes_are_those_since_a_branch_left_and_those_not_committed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        named = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True)

    made(tmp_path, {"a.py": "", "b.py": "", "c.py": "", ".gitignore": "ignored.py\n"})
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "begun")
    git("switch", "-c", "branch")
    made(tmp_path, {"a.py": "committed"})
    git("commit", "-am", "a")
    made(tmp_path, {"b.py": "edited", "new.py": "", "ignored.py": ""})
    git("switch", "main")
    made(tmp_path, {"c.py": "of others"})
    git("commit", "-m", "c", "c.py")
    git("switch", "branch")
    assert ["a.py", "b.py", "new.py"] == changed.changed(tmp_path, "main")
    assert ["b.py", "new.py"] == changed.changed(tmp_path, "HEAD")
    with pytest.raises(NoSuchCommit, match="nowhere"):
        changed.changed(tmp_path, "nowhere")


@pytest.mark.parametrize(
    "spread",
    [
        pytest.param((), id="plain"),
        pytest.param(
            ("-p", "xdist.plugin", "-n", "2", "--dist", "loadfile"),
            id="two",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_reached_is_run_and_nothing_else(spread: tuple[str, ...], tmp_path: Path) -> None:
    """In worker processes, too: they are started with the words and not with the files."""
    kept = ("tests/conftest.py", "tests/profiles.py", "tests/changed.py", "tests/chromium.py")
    files = {path: (changed.ROOT / path).read_text() for path in kept}
    ours = {
        "here.py": "A = 1\n",
        "there.py": "B = 1\n",
        "pyproject.toml": "",
        ".gitignore": "__pycache__/\n",
    }
    made(tmp_path, files | ours)
    for name in ("here", "there"):
        text = f"import {name}\n\ndef test_it():\n    assert {name}\n"
        made(tmp_path, {f"tests/test_{name}.py": text})
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "begun"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    (tmp_path / "here.py").write_text("A = 2\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *spread, "--changed", "HEAD"]
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith("MUCKRAKE_")
    }
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # those of no use here take seconds to load
    ran = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "1 files differ from HEAD: 1 test files can tell\n" in ran.stdout, ran
    assert re.search(r"^1 passed", ran.stdout, re.MULTILINE), ran.stdout


def test_the_tables_of_commands_routes_and_pages_are_where_they_are_looked_for() -> None:
    for hub, folder in changed.HUBS.items():
        assert (changed.ROOT / hub).is_file()
        assert list((changed.ROOT / folder).glob("*.py"))


@pytest.mark.slow
def test_in_this_house_a_leaf_is_reached_by_its_tests_and_cards_by_nearly_all() -> None:
    tree = Tree(changed.ROOT)
    tree.tests = [*tree.tests[:: sized(8, 8, 1)], "tests/analytics/test_compared.py"]
    few, many = tree.reached(["analytics/player_comparison.py"]), tree.reached(["events/cards.py"])
    assert "tests/analytics/test_compared.py" in few
    assert len(few) < len(tree.tests) / 4
    assert len(many) > len(tree.tests) / 2
