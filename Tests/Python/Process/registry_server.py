"""A stub of a container registry that wants a name and a password."""

from __future__ import annotations

import base64
import hashlib
import json
from http.server import BaseHTTPRequestHandler

from local_server import LocalServer

CONFIG = json.dumps({
  "architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": []},
  "history": []}).encode()
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"


def digest(blob: bytes) -> str:
  return "sha256:" + hashlib.sha256(blob).hexdigest()


MANIFEST = json.dumps({
  "schemaVersion": 2, "mediaType": MANIFEST_TYPE,
  "config": {
    "mediaType": "application/vnd.oci.image.config.v1+json", "size": len(CONFIG),
    "digest": digest(CONFIG)}, "layers": []}).encode()


class Registry(LocalServer):
  """Answers `/v2/` and one image without layers, `app:1`, to who has the password."""

  def __init__(self, username: str = "alice", password: str = "hunter2") -> None:
    self.username, self.password = username, password
    self.authorizations: list[str] = []
    super().__init__(Handler)
    self.name = self.host

  @property
  def expected(self) -> str:
    return "Basic " + base64.b64encode(f"{self.username}:{self.password}".encode()).decode()


class Handler(BaseHTTPRequestHandler):
  owner: Registry
  protocol_version = "HTTP/1.1"

  def do_GET(self):
    given = self.headers.get("Authorization")
    if given is not None:
      self.owner.authorizations.append(given)
    if given != self.owner.expected:
      return self.answer(401, b"{}", {"WWW-Authenticate": 'Basic realm="stub"'})
    pages = {
      "/v2/": (b"{}", "application/json"), "/v2/app/manifests/1": (MANIFEST, MANIFEST_TYPE),
      f"/v2/app/manifests/{digest(MANIFEST)}": (MANIFEST, MANIFEST_TYPE),
      f"/v2/app/blobs/{digest(CONFIG)}": (CONFIG, "application/octet-stream"),
      "/v2/app/tags/list": (b'{"name":"app","tags":["1"]}', "application/json")}
    if self.path.split("?")[0] not in pages:
      return self.answer(404, b"{}", {})
    body, kind = pages[self.path.split("?")[0]]
    self.answer(200, body, {"Content-Type": kind, "Docker-Content-Digest": digest(body)})

  do_HEAD = do_GET

  def answer(self, code: int, body: bytes, headers: dict[str, str]) -> None:
    self.send_response(code)
    for name, value in headers.items():
      self.send_header(name, value)
    self.send_header("Content-Length", str(len(body)))
    self.end_headers()
    if self.command != "HEAD":
      self.wfile.write(body)

  def log_message(self, *_):
    pass
