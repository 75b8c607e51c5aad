"""The calls of etcd's JSON gateway that tests need, without any code of the product."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass


class EtcdRefusal(Exception):
  """An answer other than 200."""

  def __init__(self, status: int, text: str) -> None:
    super().__init__(f"{status}: {text}")
    self.status = status


@dataclass(frozen=True)
class Row:
  """A row as the engine has it, or the removal of one: then `value` is nothing."""

  key: bytes
  value: bytes | None
  revision: int


def encoded(data: bytes) -> str:
  return base64.b64encode(data).decode()


def after(prefix: bytes) -> bytes:
  """Returns the end of the keys with a prefix."""
  return prefix[:-1] + bytes([prefix[-1] + 1]) if prefix else b"\0"


class EtcdCalls:
  """Calls of one node."""

  def __init__(
    self, host: str, port: int, certificates=None, token: str | None = None, entered=nullcontext,
    renewed=None
  ) -> None:
    self.host, self.port, self.token = host, port, token
    # Returns another token; members that were started anew don't know the old one.
    self.renewed = renewed
    # Enters the network of the node while a connection is made.
    self.entered = entered
    self.context = certificates and ssl.create_default_context(cafile=certificates.authority)

  def connection(self, limit: float) -> http.client.HTTPConnection:
    if self.context:
      return http.client.HTTPSConnection(self.host, self.port, timeout=limit, context=self.context)
    return http.client.HTTPConnection(self.host, self.port, timeout=limit)

  def request(self, path: str, body: dict, limit: float):
    connection = self.connection(limit)
    headers = {"Authorization": self.token} if self.token else {}
    with self.entered():
      connection.connect()
    connection.request("POST", f"/v3/{path}", json.dumps(body), headers)
    response = connection.getresponse()
    if response.status != 200:
      text = response.read().decode(errors="replace")
      connection.close()
      if self.token and self.renewed and "invalid auth token" in text:
        renewed, self.renewed, self.token = self.renewed, None, None
        self.token = renewed(self)
        return self.request(path, body, limit)
      raise EtcdRefusal(response.status, text)
    return connection, response

  def call(self, path: str, body: dict, limit: float = 10) -> dict:
    connection, response = self.request(path, body, limit)
    with closing(connection):
      return json.loads(response.read())

  def stream(self, path: str, body: dict, limit: float = 10) -> Iterator[dict]:
    """Yields the results of a call that has many; no two may be further apart than the limit."""
    connection, response = self.request(path, body, limit)
    with closing(connection):
      while line := response.readline():
        yield json.loads(line)["result"]

  def login(self, name: str, password: str) -> str:
    return self.call("auth/authenticate", {"name": name, "password": password})["token"]

  # Rows

  def check(self) -> None:
    """Fails unless a leader answers."""
    self.call("kv/range", {"key": encoded(b"\0"), "count_only": True}, 2)

  def revision(self) -> int:
    answer = self.call("kv/range", {"key": encoded(b"\0"), "count_only": True})
    return int(answer["header"]["revision"])

  def put(self, key: bytes, value: bytes) -> int:
    answer = self.call("kv/put", {"key": encoded(key), "value": encoded(value)})
    return int(answer["header"]["revision"])

  def delete(self, key: bytes, prefix: bool = False) -> int:
    body = {"key": encoded(key)} | ({"range_end": encoded(after(key))} if prefix else {})
    return int(self.call("kv/deleterange", body)["header"]["revision"])

  def get(self, key: bytes) -> bytes | None:
    found = self.call("kv/range", {"key": encoded(key)}).get("kvs", [])
    return base64.b64decode(found[0].get("value", "")) if found else None

  def rows(self, prefix: bytes, revision: int | None = None) -> list[Row]:
    """Returns all rows with a prefix, at one revision."""
    body = {"key": encoded(prefix), "range_end": encoded(after(prefix))}
    if revision is not None:
      body["revision"] = str(revision)
    return [read_row(found) for found in self.call("kv/range", body, 30).get("kvs", [])]

  def history(self, prefix: bytes, first: int, last: int) -> Iterator[list[Row]]:
    """Yields the changes of each revision, in order; none of them may be compacted."""
    if first > last:
      return
    # A row of its own, at whose event the watch has told everything before.
    mark = self.put(b"\0history", b"")
    body = {"create_request": {
      "key": encoded(b"\0"), "range_end": encoded(b"\0"), "start_revision": str(first)}}
    group: list[Row] = []
    for result in self.stream("watch", body, 30):
      assert not result.get("canceled"), f"the watch from {first} was refused: {result}"
      for event in result.get("events", []):
        row = read_row(event["kv"], event.get("type") == "DELETE")
        if group and group[0].revision != row.revision:
          yield group
          group = []
        if row.revision >= mark or row.revision > last:
          return
        if row.key.startswith(prefix):
          group.append(row)


def read_row(found: dict, is_removal: bool = False) -> Row:
  value = None if is_removal else base64.b64decode(found.get("value", ""))
  return Row(base64.b64decode(found["key"]), value, int(found["mod_revision"]))
