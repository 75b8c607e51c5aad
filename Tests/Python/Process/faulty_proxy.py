"""A proxy between a machine and a node of etcd, which fails as a network does.

It counts messages: each request, and each part of an answer that never ends, as that of a watch. A plan
says for each message how it fails, if at all.
"""

from __future__ import annotations

import random
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum

SIZE = 1 << 16


class Fault(Enum):
  """What happens to a message. The outcome of a request is unknown to its sender after most of them."""

  CUT_BEFORE = "the connection is cut, and the node gets nothing"
  CUT_AFTER = "the node performs it, and the connection is cut before the answer"
  UNAVAILABLE_BEFORE = "503, and the node gets nothing"
  UNAVAILABLE_AFTER = "503, although the node has performed it"
  HALF_REQUEST = "the node gets half of it, and the connection is cut"
  HALF_ANSWER = "the node performs it, and half of the answer arrives"
  SLOW = "it takes a while"
  HANG_BEFORE = "the node gets nothing, and no answer ever comes"
  HANG_AFTER = "the node performs it, and no answer ever comes"
  STRANGE_BEFORE = "something else answers in its place, and the node gets nothing"
  STRANGE_AFTER = "the node performs it, and something else answers"


@dataclass(frozen=True)
class Message:
  """What a plan decides about."""

  number: int
  path: str
  # A part of an answer that never ends.
  is_part: bool


Plan = Callable[[Message], Fault | None]

UNAVAILABLE = b'{"error":"etcdserver: request timed out","code":14,"message":"etcdserver: request timed out"}'


# What portals, proxies and other programs say instead of an answer, each with its status.
STRANGE = [
  ("200 OK", b"<html><body>Please accept the terms of this network.</body></html>"),
  ("200 OK", b"{}"), ("200 OK", b"[]"), ("200 OK", b""), ("200 OK", b'{"header":'),
  ("200 OK", b'{"header":{"revision":"-1"}}'), ("200 OK", b'{"header":{"revision":"x"},"kvs":7}'),
  ("200 OK", b'{"kvs":[{"key":"AA=="}]}'), ("200 OK", b"\x00\xff" * 500), ("200 OK", b"[" * 5000),
  ("404 Not Found", b"not found"), ("302 Found", b""), ("407 Proxy Authentication Required", b""),
  ("502 Bad Gateway", b"<html>"), ("504 Gateway Timeout", b""), ("500 Error", b'{"error":"?"}'),
  ("503 Service Unavailable", b'{"code":14,"message":7}'), ("400 Bad Request", b'{"code":99,"message":"new"}'),
]


class Cut(Exception):
  """The connection ends here."""


class FaultyProxy:
  """Listens on a free port of loopback within a `with` block; `plan` may be changed at any time."""

  def __init__(self, host: str, port: int, slowness: float = 0.3, entered=nullcontext) -> None:
    self.target = (host, port)
    # Enters the network of the machine on whose loopback the proxy is.
    self.entered = entered
    self.slowness = slowness
    self.plan: Plan = lambda message: None
    # Called before a request is passed on (false), and before its answer is; it may wait.
    self.passes: Callable[[str, bool], None] = lambda path, is_answer: None
    self.strange = STRANGE
    self.messages: list[Message] = []
    self.failed: list[tuple[Message, Fault]] = []
    # While false, connections are cut, and new ones refused.
    self.is_open = True
    self.lock = threading.Lock()
    self.sockets: set[socket.socket] = set()
    with entered():
      self.listener = socket.create_server(("127.0.0.1", 0))
    self.port = self.listener.getsockname()[1]
    self.thread = threading.Thread(target=self.accept, daemon=True)

  def __enter__(self):
    self.thread.start()
    return self

  def __exit__(self, *_):
    # Wakes `accept`, which `close` alone doesn't.
    self.listener.shutdown(socket.SHUT_RDWR)
    self.listener.close()
    self.close()
    self.thread.join()

  def open(self) -> None:
    self.is_open = True

  def close(self) -> None:
    """Cuts all connections, and those that come until `open`."""
    with self.lock:
      self.is_open = False
      for each in self.sockets:
        shut_down(each)

  def fail_every(self, count: int, fault: Fault, path: str = "", at_most: int | None = None) -> None:
    """Fails each message whose number is a multiple of a count, of those whose path has a text."""
    left = [at_most]
    seen = [0]
    lock = threading.Lock()

    def plan(message: Message) -> Fault | None:
      if path not in message.path:
        return None
      with lock:
        seen[0] += 1
        if seen[0] % count or left[0] == 0:
          return None
        left[0] = left[0] and left[0] - 1
        return fault
    self.plan = plan

  def heal(self) -> None:
    self.plan = lambda message: None

  def fault(self, path: str, is_part: bool = False) -> Fault | None:
    with self.lock:
      message = Message(len(self.messages) + 1, path, is_part)
      self.messages.append(message)
      fault = self.plan(message)
      if fault is not None:
        self.failed.append((message, fault))
      return fault

  def accept(self) -> None:
    while True:
      try:
        client, _ = self.listener.accept()
      except OSError:
        return
      with self.lock:
        if not self.is_open:
          client.close()
          continue
        self.sockets.add(client)
      threading.Thread(target=self.serve, args=[client], daemon=True).start()

  def connection(self) -> socket.socket:
    with self.entered():
      return socket.create_connection(self.target, 5)

  def serve(self, client: socket.socket) -> None:
    try:
      with client, self.connection() as node:
        node.settimeout(None)
        with self.lock:
          if not self.is_open:
            return
          self.sockets.add(node)
        try:
          connection = Connection(self, client, node)
          while connection.pass_one():
            pass
        finally:
          with self.lock:
            self.sockets.discard(node)
    except (Cut, OSError):
      pass
    finally:
      with self.lock:
        self.sockets.discard(client)


class Connection:
  """One connection of a client, and the one to the node that belongs to it."""

  def __init__(self, proxy: FaultyProxy, client: socket.socket, node: socket.socket) -> None:
    self.proxy, self.client, self.node = proxy, client, node
    self.from_client, self.from_node = Reader(client), Reader(node)

  def pass_one(self) -> bool:
    """Passes a request and its answer on; false if the client sends no more."""
    head = self.from_client.head()
    if not head:
      return False
    fields = header_fields(head)
    if fields.get(b"expect", b"").lower() == b"100-continue":
      self.client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
      head = without_field(head, b"expect")
    request = head + self.from_client.exactly(int(fields.get(b"content-length", b"0")))
    path = head.split(b" ", 2)[1].decode()
    fault = self.proxy.fault(path)
    if fault is Fault.SLOW:
      time.sleep(self.proxy.slowness)
    if fault is Fault.CUT_BEFORE:
      raise Cut
    if fault is Fault.HANG_BEFORE:
      self.hang()
    if fault is Fault.UNAVAILABLE_BEFORE:
      return self.refuse()
    if fault is Fault.STRANGE_BEFORE:
      return self.be_strange()
    if fault is Fault.HALF_REQUEST:
      self.node.sendall(request[:len(request) // 2])
      raise Cut
    self.proxy.passes(path, False)
    self.node.sendall(request)
    self.answer(path, fault)
    return True

  def answer(self, path: str, fault: Fault | None) -> None:
    head = self.from_node.head()
    if not head:
      raise Cut
    fields = header_fields(head)
    if b"chunked" in fields.get(b"transfer-encoding", b""):
      if fault in (Fault.CUT_AFTER, Fault.HALF_ANSWER):
        raise Cut
      if fault is Fault.HANG_AFTER:
        self.hang()
      if fault is Fault.STRANGE_AFTER:
        self.be_strange()
        raise Cut
      self.client.sendall(head)
      return self.pass_parts(path)
    answer = head + self.from_node.exactly(int(fields.get(b"content-length", b"0")))
    self.proxy.passes(path, True)
    if fault is Fault.CUT_AFTER:
      raise Cut
    if fault is Fault.HANG_AFTER:
      self.hang()
    if fault is Fault.UNAVAILABLE_AFTER:
      self.refuse()
    elif fault is Fault.STRANGE_AFTER:
      self.be_strange()
    elif fault is Fault.HALF_ANSWER:
      self.client.sendall(answer[:len(head) + (len(answer) - len(head)) // 2])
      raise Cut
    else:
      self.client.sendall(answer)

  def pass_parts(self, path: str) -> None:
    """Passes the chunks of an answer on, until its end or that of the client."""
    while True:
      if not self.from_node.buffer:
        ready, _, _ = select.select([self.node, self.client], [], [])
        if self.client in ready and self.node not in ready:
          # The client sends no request before the end of the answer: it has closed.
          raise Cut
      size = self.from_node.until(b"\r\n")
      count = int(size.split(b";")[0], 16)
      part = size + self.from_node.exactly(count + 2)
      fault = self.proxy.fault(path, is_part=True) if count else None
      if fault is Fault.SLOW:
        time.sleep(self.proxy.slowness)
      elif fault in (Fault.HANG_BEFORE, Fault.HANG_AFTER):
        self.hang()
      elif fault in (Fault.HALF_ANSWER, Fault.HALF_REQUEST):
        self.client.sendall(part[:len(part) // 2])
        raise Cut
      elif fault is not None:
        raise Cut
      self.client.sendall(part)
      if count == 0:
        return

  def refuse(self) -> bool:
    head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    self.client.sendall(f"{head}Content-Length: {len(UNAVAILABLE)}\r\n\r\n".encode() + UNAVAILABLE)
    return True

  def be_strange(self) -> bool:
    status, body = random.SystemRandom().choice(self.proxy.strange)
    self.client.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    return True

  def hang(self) -> None:
    """Waits until the client has given up."""
    while self.client.recv(SIZE):
      pass
    raise Cut


class Reader:
  """What a socket has sent, in lines and counted bytes."""

  def __init__(self, source: socket.socket) -> None:
    self.source = source
    self.buffer = b""

  def more(self) -> bool:
    received = self.source.recv(SIZE)
    self.buffer += received
    return bool(received)

  def take(self, count: int) -> bytes:
    taken, self.buffer = self.buffer[:count], self.buffer[count:]
    return taken

  def exactly(self, count: int) -> bytes:
    parts = []
    while count > 0:
      if not self.buffer and not self.more():
        raise Cut
      parts.append(self.take(count))
      count -= len(parts[-1])
    return b"".join(parts)

  def until(self, end: bytes) -> bytes:
    while end not in self.buffer:
      if not self.more():
        raise Cut
    return self.take(self.buffer.index(end) + len(end))

  def head(self) -> bytes:
    """The first line and the fields; nothing at the end of the connection."""
    if not self.buffer and not self.more():
      return b""
    return self.until(b"\r\n\r\n")


def header_fields(head: bytes) -> dict[bytes, bytes]:
  pairs = (line.split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
  return {name.strip().lower(): value.strip() for name, value in pairs}


def without_field(head: bytes, name: bytes) -> bytes:
  lines = head.split(b"\r\n")
  return b"\r\n".join(line for line in lines if not line.lower().startswith(name + b":"))


def shut_down(each: socket.socket) -> None:
  try:
    each.shutdown(socket.SHUT_RDWR)
  except OSError:
    pass
