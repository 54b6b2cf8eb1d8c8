"""The committed OpenAPI document: `python -m docs.openapi` writes it, and so does `./mr accept`.

A test compares it with what the application says, so that a change of the API shows in a diff.
"""

from pathlib import Path

import msgspec

from api.http.ledger_service import LedgerService, Settings
from api.serving.app import create_app

PATH = Path(__file__).parent / "openapi.json"


def written() -> str:
    """The document of today."""
    app = create_app(LedgerService(Settings(Path("no-ledger-is-read"))))
    return msgspec.json.format(msgspec.json.encode(app.openapi()), indent=1).decode() + "\n"


if __name__ == "__main__":
    PATH.write_text(written(), "utf-8")
    print(f"{PATH.name} is written")
