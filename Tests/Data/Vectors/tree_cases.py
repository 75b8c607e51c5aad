"""Vectors of the trees: nodes, hashes and roots, and what a reader refuses."""

from __future__ import annotations

from vault_notation import FormatError, digest, u8, u32, u64
from vault_tree import (
  LEAF_LIMIT, Node, Root, Tree, half_byte, inner_content, leaf_content, looked_up, made_nodes,
  node_hash, prefix_of, root_of)
from vector_cases import Cases, pattern

COUNTS = (0, 1, 2, 31, 32, 33, 34, 100, 512, 513, 1000, 5000)


def entries_of(tree: Tree, count: int, shared: bytes = b"") -> dict[bytes, bytes]:
  """The keys and values that the README describes; all keys begin with `shared`."""
  return {
    (shared + digest(32, u8(tree) + u64(number)))[: tree.key_count]:
    digest(tree.value_count, u64(number)) for number in range(count)}


def encoded_root(root: Root) -> bytes:
  return u64(root.count) + root.hash


def encoded_nodes(nodes: dict[int, bytes]) -> bytes:
  """All nodes in the order of their numbers."""
  return b"".join(u64(prefix) + u32(len(nodes[prefix])) + nodes[prefix] for prefix in sorted(nodes))


def tree_cases(cases: Cases) -> None:
  prefix_cases(cases)
  root_cases(cases)
  node_cases(cases)
  lookup_cases(cases)


def prefix_cases(cases: Cases) -> None:
  key = bytes.fromhex("0123456789abcdef") + pattern(0xF0, 24)
  for depth in range(16):
    cases.add("prefix", f"{depth} half bytes", u64(prefix_of(key, depth)), key=key, depth=depth)
  cases.add("prefix", "greatest", u64(prefix_of(b"\xff" * 32, 15)), key=b"\xff" * 32, depth=15)


def root_cases(cases: Cases) -> None:
  for tree in Tree:
    for count in COUNTS:
      made = entries_of(tree, count)
      nodes = made_nodes(tree, made)
      cases.add("tree root", f"{tree.name.lower()}, {count}",
                encoded_root(root_of(tree, nodes, count)), tree=int(tree), count=count)
    for count in (1, 33, 100):
      nodes = made_nodes(tree, entries_of(tree, count))
      cases.add("tree nodes", f"{tree.name.lower()}, {count}", digest(32, encoded_nodes(nodes)),
                tree=int(tree), count=count)
    # Keys that differ after 15 half bytes, and a little before.
    for shared in ("0123456789abcdef", "0123456789abcd", "01"):
      made = entries_of(tree, 40, bytes.fromhex(shared))
      nodes = made_nodes(tree, made)
      variant = f"{tree.name.lower()}, 40, all under {shared}"
      cases.add("tree root", variant, encoded_root(root_of(tree, nodes, 40)), tree=int(tree),
                count=40, shared=bytes.fromhex(shared))
      cases.add("tree nodes", variant, digest(32, encoded_nodes(nodes)), tree=int(tree), count=40,
                shared=bytes.fromhex(shared))


def node_cases(cases: Cases) -> None:
  nodes = made_nodes(Tree.ITEMS, entries_of(Tree.ITEMS, 40))
  for prefix in (1, 16, 31):
    if prefix in nodes:
      cases.add("node hash", str(prefix), node_hash(Tree.ITEMS, prefix, nodes[prefix]), tree=0,
                prefix=prefix, content=nodes[prefix])
  cases.add("node hash", "another tree", node_hash(Tree.TOKENS, 1, b"abc"), tree=1, prefix=1,
            content=b"abc")
  cases.add("node hash", "at the greatest depth", node_hash(Tree.GROUPS, (1 << 61) - 1, b""), tree=2,
            prefix=(1 << 61) - 1, content=b"")
  for variant, (tree, prefix, content) in contents().items():
    good = is_node(tree, prefix, content)
    cases.add("decoded node", variant, content if good else None, tree=int(tree), prefix=prefix,
              content=content)
    assert good == variant.startswith("right"), variant


def is_node(tree: Tree, prefix: int, content: bytes) -> bool:
  try:
    Node.decoded(tree, prefix, content)
  except FormatError:
    return False
  return True


def contents() -> dict[str, tuple[Tree, int, bytes]]:
  """Contents of nodes, right and wrong."""
  def leaf(count: int, tree: Tree = Tree.ITEMS, shared: bytes = b"") -> bytes:
    return leaf_content(entries_of(tree, count, shared).items())

  def inner(*counts: int) -> bytes:
    children = [Root(count, pattern(count % 7 + 1, 32) if count else bytes(32)) for count in counts]
    return inner_content(children + [Root()] * (16 - len(children)))

  deep = bytes.fromhex("0123456789abcdef")
  deepest = prefix_of(deep, 15)
  good, two = leaf(2), sorted(entries_of(Tree.ITEMS, 2).items())
  (first, value), (second, other) = two
  return {
    "right: leaf": (Tree.ITEMS, 1, good), "right: leaf of one": (Tree.ITEMS, 1, leaf(1)),
    "right: full leaf": (Tree.ITEMS, 1, leaf(32)),
    "right: leaf of tokens": (Tree.TOKENS, 1, leaf(3, Tree.TOKENS)),
    "right: leaf of groups": (Tree.GROUPS, 1, leaf(3, Tree.GROUPS)),
    "right: leaf of a prefix": (Tree.ITEMS, 0x101, leaf(3, shared=b"\x01")),
    "right: leaf of 33 at depth 15": (Tree.ITEMS, deepest, leaf(33, shared=deep)),
    "right: inner node": (Tree.ITEMS, 1, inner(20, 0, 13)),
    "right: inner node of one child": (Tree.ITEMS, 1, inner(0, 33)),
    "right: inner node of many": (Tree.ITEMS, 1, inner((1 << 63) - 2, 1)),
    "leaf of 33": (Tree.ITEMS, 1, leaf(33)), "leaf of 33 at depth 14": (
      Tree.ITEMS, prefix_of(deep, 14), leaf(33, shared=deep)),
    "leaf of none": (Tree.ITEMS, 1, u8(0) + u32(0)),
    "leaf out of order": (Tree.ITEMS, 1, u8(0) + u32(2) + second + other + first + value),
    "leaf with a key twice": (Tree.ITEMS, 1, u8(0) + u32(2) + (first + value) * 2),
    "leaf of another prefix": (Tree.ITEMS, 0x102, leaf(3, shared=b"\x01")),
    "leaf of an inner node's prefix": (Tree.ITEMS, 0x11, leaf(3, shared=b"\x01")),
    "leaf of another tree": (Tree.TOKENS, 1, good),
    "leaf cut short": (Tree.ITEMS, 1, good[:-1]), "leaf with a byte more": (
      Tree.ITEMS, 1, good + b"\0"),
    "leaf with a key more than counted": (Tree.ITEMS, 1, u8(0) + u32(1) + good[5:]),
    "leaf with the greatest count": (Tree.ITEMS, deepest, u8(0) + u32((1 << 32) - 1) + good[5:]),
    "inner node of 32": (Tree.ITEMS, 1, inner(20, 12)), "inner node of none": (
      Tree.ITEMS, 1, inner()),
    "inner node at depth 15": (Tree.ITEMS, deepest, inner(20, 13)),
    "inner node of 15 children": (Tree.ITEMS, 1, inner(20, 13)[:-40]),
    "inner node with a byte more": (Tree.ITEMS, 1, inner(20, 13) + b"\0"),
    "child of none with a hash": (Tree.ITEMS, 1, inner(40)[:41] + u64(0) + pattern(1, 32)
                                  + inner(40)[81:]),
    "child without a hash": (Tree.ITEMS, 1, inner(40)[:41] + u64(1) + bytes(32) + inner(40)[81:]),
    "count of 2^63": (Tree.ITEMS, 1, inner(1 << 63)),
    "counts of 2^63": (Tree.ITEMS, 1, inner((1 << 63) - 1, 1)),
    "counts beyond 2^64": (Tree.ITEMS, 1, inner((1 << 64) - 1, 34)),
    "kind 2": (Tree.ITEMS, 1, u8(2) + good[1:]), "empty": (Tree.ITEMS, 1, b"")}


def lookup_cases(cases: Cases) -> None:
  """A tree with the nodes that a lookup needs; the result is the value, or 0 for an absent key."""
  tree, count = Tree.ITEMS, 200
  entries = entries_of(tree, count)
  nodes = made_nodes(tree, entries)
  root = root_of(tree, nodes, count)
  key = digest(32, u8(tree) + u64(7))
  path = [prefix_of(key, depth) for depth in range(16) if prefix_of(key, depth) in nodes]
  absent = key[:-1] + bytes([key[-1] ^ 1])
  below = path[-1]
  other = next(
    prefix for prefix in sorted(nodes)
    if len(path) > 1 and prefix // 16 == below // 16 and prefix != below)
  smaller = dict(list(entries.items())[:-1])
  changed = dict(entries) | {key: bytes(32)}
  variants = {
    "present": (key, root, nodes), "absent": (absent, root, nodes),
    "root missing": (key, root, {below: nodes[below]}),
    "leaf missing": (key, root, without(nodes, below)),
    "leaf missing, absent key": (absent, root, without(nodes, below)),
    "leaf of another child": (key, root, nodes | {below: nodes[other]}),
    "leaf with another value": (key, root, nodes | {below: made_nodes(tree, changed)[below]}),
    "another count": (key, Root(count + 1, root.hash), nodes),
    "another hash": (key, Root(count, bytes(32)), nodes),
    "nodes of a tree with a key less": (key, root, made_nodes(tree, smaller))}
  for variant, (sought, top, given) in variants.items():
    on_path = [prefix for prefix in path if prefix in given]
    cases.add("looked up", variant, found(tree, top, given, sought), tree=int(tree),
              count=top.count, root=top.hash, key=sought,
              **{f"prefix{place}": prefix for place, prefix in enumerate(on_path)},
              **{f"content{place}": given[prefix] for place, prefix in enumerate(on_path)})
  cases.add("looked up", "tree without keys", b"\0", tree=0, count=0, root=bytes(32), key=key)
  assert LEAF_LIMIT == 32 and half_byte(key, 0) == key[0] >> 4


def without(nodes: dict[int, bytes], prefix: int) -> dict[int, bytes]:
  return {number: content for number, content in nodes.items() if number != prefix}


def found(tree: Tree, root: Root, nodes: dict[int, bytes], key: bytes) -> bytes | None:
  try:
    value = looked_up(tree, root, nodes, key)
  except FormatError:
    return None
  return b"\0" if value is None else value
