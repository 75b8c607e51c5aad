"""A server that renews tokens like a real one: a refresh token is valid once, and its second use revokes all."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TokenServer:
  """Answers each refresh token once; requests wait while the server is held."""

  def __init__(self, delay: float = 0.0) -> None:
    self.delay = delay
    self.requests = 0
    self.revoked = False
    self.begun = threading.Semaphore(0)
    self.free = threading.Event()
    self.free.set()
    self.lock = threading.Lock()
    handler = type("Handler", (Handler,), {"tokens": self})
    self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    self.server.daemon_threads = True
    self.server.block_on_close = False
    self.port = str(self.server.server_port)
    self.thread = threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True)

  def __enter__(self):
    self.thread.start()
    return self

  def __exit__(self, *_):
    self.free.set()
    self.server.shutdown()
    self.server.server_close()
    self.thread.join()

  @property
  def access(self) -> str:
    """The newest access token."""
    return f"access-{self.requests}"

  def pair(self, expires: float) -> bytes:
    """The newest pair; `expires` is in seconds since 2001, as JSON has dates in Swift."""
    tokens = {"access": self.access, "refresh": f"refresh-{self.requests}", "expires": expires}
    return json.dumps(tokens).encode()

  def renew(self, refresh: str) -> bytes | None:
    """The next pair, if this is the newest refresh token."""
    with self.lock:
      if self.revoked or refresh != f"refresh-{self.requests}":
        self.revoked = True
        return None
      self.requests += 1
      return self.pair(time.time() - 978_307_200 + 3600)


class Handler(BaseHTTPRequestHandler):
  tokens: TokenServer

  def do_POST(self):
    refresh = self.rfile.read(int(self.headers["Content-Length"])).decode()
    self.tokens.begun.release()
    self.tokens.free.wait()
    time.sleep(self.tokens.delay)
    body = self.tokens.renew(refresh)
    try:
      self.send_response(200 if body else 400)
      self.end_headers()
      self.wfile.write(body or b"")
    except OSError:
      pass  # the client was killed

  def log_message(self, *_):
    pass
