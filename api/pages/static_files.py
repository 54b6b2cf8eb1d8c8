"""Static files under names that hold their digest, so that whoever has one never asks again."""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from api.http.compression import PACKERS, encoding_of

STATIC = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"(?P<stem>.+)\.[0-9a-f]{12}(?P<kind>\.[a-z0-9]+)")


@cache
def hashed(name: str) -> str:
    """The address of a static file: `/static/style.<digest>.css`."""
    file = STATIC / name
    digest = sha256(file.read_bytes()).hexdigest()[:12]
    return f"/static/{Path(name).with_suffix('')}.{digest}{file.suffix}"


@cache
def packed(name: str, how: str) -> bytes:
    """A file in fewer bytes: packed once, for it is the same for everybody."""
    return PACKERS[how]()((STATIC / name).read_bytes(), True)


class Files(StaticFiles):
    """Static files; one that is asked for by its digest never changes."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        named = _HASHED.fullmatch(path)
        plain = f"{named['stem']}{named['kind']}" if named else path
        current = named is not None and (STATIC / plain).is_file() and hashed(plain).endswith(path)
        answer = await super().get_response(plain if current else path, scope)
        answer.headers["Cache-Control"] = _FOREVER if current else "no-cache"
        answer.headers["Vary"] = "Accept-Encoding"
        how = encoding_of(Headers(scope=scope).get("accept-encoding", ""))
        if not current or how is None or scope["method"] != "GET" or answer.status_code != 200:
            return answer
        headers = {name: answer.headers[name] for name in ("Cache-Control", "Content-Type", "Vary")}
        return Response(packed(plain, how), headers={**headers, "Content-Encoding": how})
