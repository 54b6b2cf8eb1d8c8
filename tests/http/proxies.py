"""A real nginx with the configuration of docs/examples/, before a server of ours."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[2] / "docs/examples/nginx.conf"
PATIENCE_S = 10.0
TAKEN_OUT = re.compile(r"^\s*(ssl_\w+|listen \[::\]).*\n", re.MULTILINE)


def spelled(port: int, behind: int, folder: Path, **timeouts: str) -> str:
    """The documented file for a test: loopback, no certificate, files of its own; else as it is."""
    text = TAKEN_OUT.sub("", CONFIGURATION.read_text("utf-8"))
    text = text.replace("443 ssl", f"127.0.0.1:{port}").replace(
        "127.0.0.1:8000", f"127.0.0.1:{behind}"
    )
    text = text.replace("/run/nginx.pid", str(folder / "pid")).replace("auto;", "1;", 1)
    for name, value in timeouts.items():
        text, count = re.subn(rf"\b{name} \w+;", f"{name} {value};", text)
        assert count == 1, name
    kept = "".join(
        f"    {kind}_temp_path {folder / kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = text.replace("http {\n", "http {\n" + kept, 1)
    return f"daemon off;\nmaster_process off;\nerror_log {folder / 'errors'};\n{text}"


@contextmanager
def proxied(behind: int, folder: Path, **timeouts: str) -> Iterator[int]:
    """The port of a proxy before the server at another one."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        if os.environ.get("MUCKRAKE_NGINX") == "require":
            pytest.fail("there is no nginx here, and MUCKRAKE_NGINX requires one")
        pytest.skip("there is no nginx here (Debian: apt-get install nginx-light)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    written = folder / "nginx.conf"
    written.write_text(spelled(port, behind, folder, **timeouts), "utf-8")
    command = [nginx, "-c", str(written), "-p", str(folder), "-e", str(folder / "errors")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while True:
                with socket.socket() as trial:
                    if trial.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, (folder / "errors").read_text()
                assert time.monotonic() < until
                time.sleep(0.02)
            yield port
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
