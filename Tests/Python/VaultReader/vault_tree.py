"""The trees of hashes of vault format 2: how keys make nodes, and how nodes prove a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from vault_notation import Cursor, FormatError, labelled_hash, u8, u32, u64

LEAF_LIMIT = 32
MAXIMUM_DEPTH = 15
ROOT_NODE = 1
NO_HASH = bytes(32)
BRANCHES = 16


class Tree(IntEnum):
  ITEMS = 0
  TOKENS = 1
  GROUPS = 2

  @property
  def table(self) -> str:
    return ("item_node", "token_node", "group_node")[self]

  @property
  def key_count(self) -> int:
    return (32, 16, 17)[self]

  @property
  def value_count(self) -> int:
    return (32, 40, 32)[self]


@dataclass(frozen=True)
class Root:
  """The number of keys of a tree, and the hash of its root."""

  count: int = 0
  hash: bytes = NO_HASH


def node_hash(tree: Tree, prefix: int, content: bytes) -> bytes:
  return labelled_hash("pk2/node", u8(tree) + u64(prefix) + content)


def half_byte(key: bytes, depth: int) -> int:
  """A half byte of a key, the upper one of each byte first."""
  byte = key[depth // 2]
  return byte & 15 if depth % 2 else byte >> 4


def prefix_of(key: bytes, depth: int) -> int:
  """The number of the node that stands for the first half bytes of a key."""
  prefix = ROOT_NODE
  for place in range(depth):
    prefix = prefix * BRANCHES + half_byte(key, place)
  return prefix


def depth_of(prefix: int) -> int:
  """How many half bytes a node stands for."""
  if prefix < 1 or (prefix.bit_length() - 1) % 4 or prefix.bit_length() > 4 * MAXIMUM_DEPTH + 1:
    raise FormatError("a node has a number that no prefix has")
  return (prefix.bit_length() - 1) // 4


def leaf_content(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
  """A leaf's content, of keys with their values."""
  ordered = sorted(entries)
  return u8(0) + u32(len(ordered)) + b"".join(key + value for key, value in ordered)


def inner_content(children: Iterable[Root]) -> bytes:
  """An inner node's content, of its 16 children."""
  return u8(1) + b"".join(u64(child.count) + child.hash for child in children)


def made_nodes(tree: Tree, entries: Mapping[bytes, bytes]) -> dict[int, bytes]:
  """All nodes of a tree, by their numbers."""
  nodes: dict[int, bytes] = {}
  _make(tree, sorted(entries.items()), ROOT_NODE, 0, nodes)
  return nodes


def root_of(tree: Tree, nodes: Mapping[int, bytes], count: int) -> Root:
  if not count:
    return Root()
  return Root(count, node_hash(tree, ROOT_NODE, nodes[ROOT_NODE]))


def _make(tree: Tree, entries: list, prefix: int, depth: int, nodes: dict[int, bytes]) -> Root:
  if not entries:
    return Root()
  if len(entries) <= LEAF_LIMIT or depth == MAXIMUM_DEPTH:
    content = leaf_content(entries)
  else:
    below: list[list] = [[] for _ in range(BRANCHES)]
    for entry in entries:
      below[half_byte(entry[0], depth)].append(entry)
    content = inner_content(
      _make(tree, below[branch], prefix * BRANCHES + branch, depth + 1, nodes)
      for branch in range(BRANCHES))
  nodes[prefix] = content
  return Root(len(entries), node_hash(tree, prefix, content))


@dataclass(frozen=True)
class Node:
  """A node that was decoded and checked against its place."""

  entries: dict[bytes, bytes] | None
  children: list[Root] | None
  count: int

  @staticmethod
  def decoded(tree: Tree, prefix: int, content: bytes) -> Node:
    depth, cursor = depth_of(prefix), Cursor(content)
    kind = cursor.u8()
    if kind == 0:
      node = _leaf(tree, prefix, depth, cursor)
    elif kind == 1:
      node = _inner(depth, cursor)
    else:
      raise FormatError("a node is neither a leaf nor an inner node")
    cursor.end()
    return node


def _leaf(tree: Tree, prefix: int, depth: int, cursor: Cursor) -> Node:
  count = cursor.u32()
  if count == 0 or (count > LEAF_LIMIT and depth < MAXIMUM_DEPTH):
    raise FormatError("a leaf has no keys, or too many")
  entries = [(cursor.take(tree.key_count), cursor.take(tree.value_count)) for _ in range(count)]
  keys = [key for key, _ in entries]
  if any(left >= right for left, right in zip(keys, keys[1:])):
    raise FormatError("the keys of a leaf are not in order")
  if any(prefix_of(key, depth) != prefix for key in keys):
    raise FormatError("a leaf has a key of another prefix")
  return Node(dict(entries), None, count)


def _inner(depth: int, cursor: Cursor) -> Node:
  if depth == MAXIMUM_DEPTH:
    raise FormatError("a node that must be a leaf is an inner node")
  children = [Root(cursor.u64(), cursor.take(32)) for _ in range(BRANCHES)]
  if any((child.count == 0) != (child.hash == NO_HASH) for child in children):
    raise FormatError("an inner node has a child that is half there")
  total = sum(child.count for child in children)
  if total >= 1 << 63:
    raise FormatError("an inner node counts more keys than there can be")
  if total <= LEAF_LIMIT:
    raise FormatError("an inner node has so few keys that it must be a leaf")
  return Node(None, children, total)


def checked_node(tree: Tree, prefix: int, nodes: Mapping[int, bytes], expected: Root) -> Node:
  """A node as the one above it, or the state, says that it is."""
  content = nodes.get(prefix)
  if content is None:
    raise FormatError("a node is missing")
  if node_hash(tree, prefix, content) != expected.hash:
    raise FormatError("a node has another hash")
  node = Node.decoded(tree, prefix, content)
  if node.count != expected.count:
    raise FormatError("a node has another count")
  return node


def looked_up(tree: Tree, root: Root, nodes: Mapping[int, bytes], key: bytes) -> bytes | None:
  """The value of a key, `None` if it is absent; each node on its path is checked."""
  expected, prefix, depth = root, ROOT_NODE, 0
  while expected.count:
    node = checked_node(tree, prefix, nodes, expected)
    if node.entries is not None:
      return node.entries.get(key)
    branch = half_byte(key, depth)
    expected, prefix, depth = node.children[branch], prefix * BRANCHES + branch, depth + 1
  if expected.hash != NO_HASH:
    raise FormatError("a tree without keys has a root")
  return None


def all_entries(tree: Tree, root: Root, nodes: Mapping[int, bytes]) -> dict[bytes, bytes]:
  """All keys and values of a tree; each node is checked."""
  found: dict[bytes, bytes] = {}
  pending = [(ROOT_NODE, root)] if root != Root() else []
  while pending:
    prefix, expected = pending.pop()
    node = checked_node(tree, prefix, nodes, expected)
    found |= node.entries or {}
    pending += [
      (prefix * BRANCHES + branch, child) for branch, child in enumerate(node.children or [])
      if child.count]
  return found
