"""A server that renews tokens like a real one: a refresh token is valid once, and its second use revokes all."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler

from local_server import LocalServer


class TokenServer(LocalServer):
  """Answers each refresh token once; requests wait while the server is held."""

  def __init__(self, delay: float = 0.0) -> None:
    self.delay = delay
    self.requests = 0
    self.revoked = False
    self.begun = threading.Semaphore(0)
    self.free = threading.Event()
    self.free.set()
    self.lock = threading.Lock()
    super().__init__(Handler)

  def __exit__(self, *error):
    self.free.set()
    super().__exit__(*error)

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
  owner: TokenServer

  def do_POST(self):
    refresh = self.rfile.read(int(self.headers["Content-Length"])).decode()
    self.owner.begun.release()
    self.owner.free.wait()
    time.sleep(self.owner.delay)
    body = self.owner.renew(refresh)
    try:
      self.send_response(200 if body else 400)
      self.end_headers()
      self.wfile.write(body or b"")
    except OSError:
      pass  # the client was killed

  def log_message(self, *_):
    pass
