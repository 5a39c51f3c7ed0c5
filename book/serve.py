"""Serve a built book and open it in the browser: `python book/serve.py _build/html`

Pages can be opened from the disk, too; only Python in the browser needs a server. Port 8000 is taken if it is free, so
that a reader's bookmarks last, and any other one if not.
"""

import contextlib
import functools
import http.server
import os
import sys
import webbrowser
from pathlib import Path

PREFERRED = 8000


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about each. Windows may know other types for these, and browsers insist."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *words):
        pass


def open_server(folder: Path) -> http.server.ThreadingHTTPServer:
    """Return a server of the folder, for this machine alone, at the preferred port or a free one."""

    class Server(http.server.ThreadingHTTPServer):
        allow_reuse_address = os.name == "posix"  # on Windows this would share a port that is in use

    handler = functools.partial(Handler, directory=str(folder))
    with contextlib.suppress(OSError):
        return Server(("127.0.0.1", PREFERRED), handler)
    return Server(("127.0.0.1", 0), handler)


def open_browser(address: str) -> bool:
    """Open an address where there is a browser with a window; return whether there is one."""
    if sys.platform not in ("win32", "darwin") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False  # a browser of the terminal would take the terminal
    return webbrowser.open(address)


def main(folder: str) -> None:
    if not (Path(folder) / "index.html").is_file():
        sys.exit(f"{folder}: there is no book; build it first with `make book`")
    with contextlib.suppress(KeyboardInterrupt), open_server(Path(folder)) as server:
        address = f"http://localhost:{server.server_port}"
        print(f"The book is served at {address} until you press Ctrl-C.", flush=True)
        if not open_browser(address):
            print("There is no browser with a window here: open this address in yours.", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
