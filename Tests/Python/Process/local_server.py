"""A web server of a test, on a free port of this machine."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer:
  """Serves in the background within a `with` block; its handlers have it as `owner`."""

  def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
    self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"owner": self}))
    self.server.daemon_threads = True
    # A client that went away must not keep the test waiting.
    self.server.block_on_close = False
    self.port = self.server.server_port
    self.host = f"127.0.0.1:{self.port}"
    self.thread = threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True)

  def __enter__(self):
    self.thread.start()
    return self

  def __exit__(self, *_):
    self.server.shutdown()
    self.server.server_close()
    self.thread.join()
