"""Servers for real clients: each lets in who knows a password, and records what it was sent."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import socket
import socketserver
import ssl
import struct
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from etcd_certificates import Certificates

# Where the tests' servers are, for clients and in items.
HOST = "127.0.0.1"


def basic(user: str, password: str) -> str:
  return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@contextmanager
def running(server: socketserver.BaseServer):
  """Serves in the background until the end of the block."""
  thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
  thread.start()
  try:
    yield server
  finally:
    server.shutdown()
    thread.join()
    server.server_close()


class WebServer(ThreadingHTTPServer):
  """Gives `pages` to requests whose header `Authorization` is `authorization`."""

  daemon_threads = True

  def __init__(self, authorization: str, pages: dict[str, tuple[str, bytes]] | None = None) -> None:
    super().__init__((HOST, 0), WebRequest)
    self.authorization = authorization
    self.pages = pages or {"/": ("text/plain", b"welcome\n")}
    # SwiftPM tries the same wrong password for ever if it is challenged.
    self.challenge: str | None = None
    self.authorizations: list[str | None] = []
    self.port = self.server_address[1]
    self.url = f"http://{HOST}:{self.port}"


class Answering(ThreadingHTTPServer):
  """Records the header `Authorization`, and gives everybody who has one the same answer."""

  daemon_threads = True

  def __init__(
      self, body: bytes, kind: str = "application/json", challenge: str = "Basic",
      certificates: Certificates | None = None) -> None:
    super().__init__((HOST, 0), AnsweringRequest)
    if certificates is not None:
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain(certificates.certificate, certificates.key)
      self.socket = context.wrap_socket(self.socket, server_side=True)
    self.body, self.kind, self.challenge = body, kind, challenge
    self.given: list[str] = []
    self.host = f"{HOST}:{self.server_address[1]}"
    self.url = f"http://{self.host}/"


class AnsweringRequest(BaseHTTPRequestHandler):
  server: Answering
  protocol_version = "HTTP/1.1"

  def do_GET(self) -> None:
    self.rfile.read(int(self.headers.get("Content-Length") or 0))
    given = self.headers.get("Authorization")
    if given is not None:
      self.server.given.append(given)
    body = self.server.body if given is not None else b"no\n"
    self.send_response(401 if given is None else 200)
    if given is None:
      self.send_header("WWW-Authenticate", self.server.challenge)
    self.send_header("Content-Type", self.server.kind)
    self.send_header("Content-Version", "1")
    self.send_header("Content-Length", str(len(body)))
    self.end_headers()
    self.wfile.write(body)

  do_POST = do_HEAD = do_GET

  def log_message(self, *arguments) -> None:
    pass


class WebRequest(BaseHTTPRequestHandler):
  server: WebServer
  protocol_version = "HTTP/1.1"

  def do_GET(self) -> None:
    given = self.headers.get("Authorization")
    self.server.authorizations.append(given)
    if given != self.server.authorization:
      return self.answer(401, "text/plain", b"no\n")
    if self.path not in self.server.pages:
      return self.answer(404, "text/plain", b"not here\n")
    return self.answer(200, *self.server.pages[self.path])

  def answer(self, status: int, kind: str, content: bytes) -> None:
    self.send_response(status)
    self.send_header("Content-Type", kind)
    self.send_header("Content-Version", "1")
    self.send_header("Content-Length", str(len(content)))
    if status == 401 and self.server.challenge:
      self.send_header("WWW-Authenticate", self.server.challenge)
    self.end_headers()
    self.wfile.write(content)

  def log_message(self, *arguments) -> None:
    pass


MANIFEST = b"""// swift-tools-version: 5.9
import PackageDescription

let package = Package(
  name: "Tool", products: [.library(name: "Tool", targets: ["Tool"])], targets: [.target(name: "Tool")])
"""


def registry_pages() -> dict[str, tuple[str, bytes]]:
  """The pages of a Swift registry that has version 1.0.0 of the package `example.Tool`."""
  archive = io.BytesIO()
  with zipfile.ZipFile(archive, "w") as file:
    file.writestr("example.Tool/Package.swift", MANIFEST)
    file.writestr("example.Tool/Sources/Tool/Tool.swift", "public let tool = 1\n")
  content = archive.getvalue()
  release = {
    "id": "example.Tool", "version": "1.0.0", "metadata": {}, "resources": [{
      "name": "source-archive", "type": "application/zip",
      "checksum": hashlib.sha256(content).hexdigest()}]}
  return {
    "/example/Tool": ("application/json", json.dumps({"releases": {"1.0.0": {}}}).encode()),
    "/example/Tool/1.0.0": ("application/json", json.dumps(release).encode()),
    "/example/Tool/1.0.0/Package.swift": ("text/x-swift", MANIFEST),
    "/example/Tool/1.0.0.zip": ("application/zip", content)}


class DatabaseServer(socketserver.ThreadingTCPServer):
  """Lets a user of a database in; `accepted` counts the logins that succeeded."""

  daemon_threads = True
  allow_reuse_address = True

  def __init__(self, handler, user: str, password: str) -> None:
    super().__init__((HOST, 0), handler)
    self.user, self.password = user, password
    self.port = self.server_address[1]
    self.accepted = 0


def exactly(connection: socket.socket, count: int) -> bytes:
  data = b""
  while len(data) < count:
    part = connection.recv(count - len(data))
    if not part:
      raise EOFError
    data += part
  return data


class PostgreSQLRequest(socketserver.BaseRequestHandler):
  """PostgreSQL's protocol 3.0, with a password that is hashed with MD5."""

  server: DatabaseServer
  SALT = b"salt"

  def handle(self) -> None:
    try:
      self.converse()
    except (EOFError, ConnectionError):
      pass

  def converse(self) -> None:
    while True:
      (length,) = struct.unpack("!I", exactly(self.request, 4))
      start = exactly(self.request, length - 4)
      if struct.unpack("!I", start[:4])[0] == 196608:
        break
      self.request.sendall(b"N")  # neither TLS nor GSSAPI
    names = start[4:].split(b"\0")
    user = dict(zip(names[::2], names[1::2]))[b"user"].decode()
    self.send(b"R", struct.pack("!I", 5) + self.SALT)
    inner = hashlib.md5((self.server.password + user).encode()).hexdigest()
    right = b"md5" + hashlib.md5(inner.encode() + self.SALT).hexdigest().encode() + b"\0"
    if self.receive() != (b"p", right) or user != self.server.user:
      return self.send(b"E", b"SFATAL\0C28P01\0Mpassword authentication failed\0\0")
    self.server.accepted += 1
    self.send(b"R", struct.pack("!I", 0))
    self.send(b"Z", b"I")
    while True:
      kind, _ = self.receive()
      if kind == b"X":
        return None
      column = b"answer\0" + struct.pack("!IHIHIH", 0, 0, 25, 0xFFFF, 0xFFFFFFFF, 0)
      self.send(b"T", struct.pack("!H", 1) + column)
      self.send(b"D", struct.pack("!HI", 1, 7) + b"welcome")
      self.send(b"C", b"SELECT 1\0")
      self.send(b"Z", b"I")

  def send(self, kind: bytes, content: bytes) -> None:
    self.request.sendall(kind + struct.pack("!I", len(content) + 4) + content)

  def receive(self) -> tuple[bytes, bytes]:
    kind, length = struct.unpack("!cI", exactly(self.request, 5))
    return kind, exactly(self.request, length - 4)


class MySQLRequest(socketserver.BaseRequestHandler):
  """MySQL's protocol 10 with `mysql_native_password`."""

  server: DatabaseServer
  SALT = b"0123456789abcdefghij"
  OK = bytes([0, 0, 0, 2, 0, 0, 0])

  def handle(self) -> None:
    try:
      self.converse()
    except (EOFError, ConnectionError):
      pass

  def converse(self) -> None:
    capabilities = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000
    self.send(0, b"\x0a5.7.0\0" + struct.pack("<I", 1) + self.SALT[:8] + b"\0"
      + struct.pack("<HBHHB", capabilities & 0xFFFF, 33, 2, capabilities >> 16, 21) + bytes(10)
      + self.SALT[8:] + b"\0mysql_native_password\0")
    number, response = self.receive()
    user, rest = response[32:].split(b"\0", 1)
    stage = hashlib.sha1(self.server.password.encode()).digest()
    mask = hashlib.sha1(self.SALT + hashlib.sha1(stage).digest()).digest()
    right = bytes(one ^ other for one, other in zip(stage, mask))
    if user.decode() != self.server.user or rest[1:1 + rest[0]] != right:
      return self.send(number + 1, b"\xff" + struct.pack("<H", 1045) + b"#28000Access denied")
    self.server.accepted += 1
    self.send(number + 1, self.OK)
    while True:
      _, command = self.receive()
      if command[:1] == b"\x01":
        return None
      self.send(1, self.OK)

  def send(self, number: int, content: bytes) -> None:
    self.request.sendall(struct.pack("<I", len(content))[:3] + bytes([number]) + content)

  def receive(self) -> tuple[int, bytes]:
    header = exactly(self.request, 4)
    return header[3], exactly(self.request, int.from_bytes(header[:3], "little"))
