"""A bus of one's own, with the fake provider on it, that misbehaves.

Its arguments are the path of its socket, and a misbehaviour: a method and what it answers with. A flood begins
with the answer to that method. `handshake` misbehaves before there are messages.

An answer ends with ` of SIZE`, in bytes. The system's Python runs it, as the fake provider.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import tempfile
import threading

from jeepney import HeaderFields, new_error, new_method_return
from jeepney.low_level import Parser

from fake_provider import NAME, Provider
from misbehaviour import COLLECTION, SESSION

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
OWNER = ":1.0"


def padded(text: bytes, to: int = 8) -> bytes:
  return text + bytes(-len(text) % to)


def message(kind: int, signature: str, body: bytes, answered: int = 0, count: int | None = None) -> bytes:
  """A message, which may promise more bytes than it has."""
  fields = [(6, "s", ":1.1"), (7, "s", OWNER)]
  if kind in (CALL, SIGNAL):
    fields += [(1, "o", COLLECTION), (2, "s", "org.freedesktop.Secret.Collection"),
               (3, "s", "ItemChanged")]
  if kind == ERROR:
    fields.append((4, "s", "org.example.Error"))
  text = b""
  for code, letter, value in fields:
    text = padded(text) + bytes([code, 1, ord(letter), 0]) + struct.pack("<I", len(value))
    text += value.encode() + b"\0"
  if answered:
    text = padded(text) + struct.pack("<BBcBI", 5, 1, b"u", 0, answered)
  if signature:
    text = padded(text) + bytes([8, 1, ord("g"), 0, len(signature)]) + signature.encode() + b"\0"
  size = len(body) if count is None else count
  return padded(struct.pack("<cBBBIII", b"l", kind, 0, 1, size, 7, len(text)) + text) + body


# The smallest elements of arrays: a path, a signature, a pair of texts.
PATH = struct.pack("<I", 1) + b"/\0"
SIGNATURE = b"\0\0"
PAIR = bytes(13)


def array(element: bytes, size: int, padding: int = 0, alignment: int = 1) -> bytes:
  text = padded(element, alignment) * (size // len(padded(element, alignment)) - 1) + element
  return struct.pack("<I", len(text)) + bytes(padding) + text


ANSWERS = {
  "paths": ("ao", lambda size: array(PATH, size, 0, 4)),
  "signatures": ("ag", lambda size: array(SIGNATURE, size)),
  "signatures in a variant": ("v", lambda size: b"\2ag\0" + array(SIGNATURE, size)),
  "paths in a variant": ("v", lambda size: b"\2ao\0" + array(PATH, size, 0, 4)),
  "pairs in a variant": ("v", lambda size: b"\5a{ss}\0" + bytes(1) + array(PAIR, size, 4, 8)),
  "a secret": ("(oayays)", lambda size: padded(
    struct.pack("<I", len(SESSION)) + SESSION.encode() + b"\0", 4) + bytes(4)
    + array(b"\0", size) + bytes(-size % 4) + bytes(5)),
}

FLOODS = {
  "signals": (SIGNAL, "o", struct.pack("<I", 1) + b"/\0", 0),
  "calls": (CALL, "", b"", 0),
  "answers to nobody": (REPLY, "", b"", 2**31),
  "errors to nobody": (ERROR, "", b"", 2**31),
}


class Client:
  """A connection of a program, which the provider uses as its own."""

  def __init__(self, link: socket.socket, what: str, how: str) -> None:
    self.link, self.what, self.how = link, what, how
    self.parser = Parser()
    self.serial = 0

  def serve(self) -> None:
    try:
      self.greet()
      control = tempfile.NamedTemporaryFile("w+")
      json.dump({"of": "nothing", "as": "honest"}, control)
      control.flush()
      provider = Provider(control.name, self)
      while True:
        call = self.receive()
        method = call.header.fields[HeaderFields.member]
        named = f"Get {call.body[1]}" if method == "Get" else method
        answer = self.of_bus(call) or provider.reply(call)
        if named == self.what:
          self.misbehave(call, answer)
        else:
          self.send(answer)
    except (OSError, EOFError):
      pass

  def greet(self) -> None:
    text = b""
    while True:
      piece = self.link.recv(4096)
      if not piece:
        raise EOFError
      text += piece
      if self.what == "handshake":
        while True:
          self.link.sendall(b"x" * 65536)
      while b"\r\n" in text:
        line, _, text = text.partition(b"\r\n")
        if line == b"BEGIN":
          return self.parser.add_data(text)
        answers = {b"AUTH": b"REJECTED EXTERNAL", b"NEGOTIATE_UNIX_FD": b"ERROR"}
        self.link.sendall(answers.get(line.strip(b"\0"), b"OK " + b"0" * 32) + b"\r\n")

  def receive(self):
    while (found := self.parser.get_next_message()) is None:
      piece = self.link.recv(65536)
      if not piece:
        raise EOFError
      self.parser.add_data(piece)
    found.header.fields[HeaderFields.sender] = ":1.1"
    return found

  def send(self, answer) -> None:
    self.serial += 1
    answer.header.fields[HeaderFields.sender] = OWNER
    self.link.sendall(answer.serialise(self.serial))

  def of_bus(self, call):
    answers = {
      "Hello": ("s", (":1.1",)), "AddMatch": (None, ()), "RemoveMatch": (None, ()),
      "GetNameOwner": ("s", (OWNER,)), "GetConnectionUnixUser": ("u", (os.getuid(),)),
      "GetConnectionUnixProcessID": ("u", (os.getpid(),)), "ListNames": ("as", ([NAME],)),
      "ListActivatableNames": ("as", ([],))}
    method = call.header.fields[HeaderFields.member]
    return new_method_return(call, *answers[method]) if method in answers else None

  def misbehave(self, call, answer) -> None:
    name, _, size = self.how.partition(" of ")
    if name in ANSWERS:
      signature, body = ANSWERS[name]
      self.link.sendall(message(REPLY, signature, body(int(size)), call.header.serial))
    elif name.startswith("error "):
      self.send(new_error(call, name.removeprefix("error ")))
    elif self.how == "an end":
      self.link.shutdown(socket.SHUT_RDWR)
      raise EOFError
    elif self.how == "a promise":
      self.link.sendall(message(REPLY, "ao", bytes(4), call.header.serial, count=2**20))
    elif self.how == "an invalid length":
      self.link.sendall(message(REPLY, "ao", bytes(4), call.header.serial, count=2**32 - 1))
    else:
      kind, signature, body, answered = FLOODS[self.how]
      flood = message(kind, signature, body, answered)
      while True:
        self.link.sendall(flood * 500)


def main(path: str, what: str, how: str) -> None:
  with socket.socket(socket.AF_UNIX) as server:
    server.bind(path)
    server.listen(9)
    print("READY", flush=True)
    while True:
      link, _ = server.accept()
      threading.Thread(target=Client(link, what, how).serve, daemon=True).start()


if __name__ == "__main__":
  main(*sys.argv[1:])
