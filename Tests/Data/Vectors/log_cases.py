"""Vectors of the head, the log and the base."""

from __future__ import annotations

from dataclasses import replace

import vault_keys as keys
from item_cases import ID, METADATA, SECRET_BOX, entry
from slot_cases import sample_slot
from vault_base import Index, Page, Spine, opened_page, pages_encoded, sealed_page
from vault_head import Head
from vault_items import Part, inner_half
from vault_log import (
  BASE_LABEL, COMMIT_LABEL, MAXIMUM_BOX_COUNT, MAXIMUM_BOXES_COUNT, BaseBody, ChangesBody,
  Commit, FrameHeader, boxes_hash, first_digest, proof)
from vault_notation import digest, pad, seal, sized, u8, u32, u64
from vault_signing import sign
from vault_slots import SlotKind
from vector_cases import (
  ADMINISTRATION, ADMINISTRATION_SEED, CHECKS, EPOCH, NONCE, OPEN, TIERS, VAULT, Cases, changed,
  numbered, pattern)

SEED = pattern(0xE0, 32)
PREVIOUS = pattern(0x11, 32)
TIME = 1_750_000_000_123_456
SLOTS = tuple(sample_slot(kind).encoded() for kind in (SlotKind.PASSPHRASE, SlotKind.DEVICE))
NUMBERED = (u32(1) + SLOTS[0][4:], u32(2) + SLOTS[1][4:])
HEAD = Head(
  VAULT, EPOCH, CHECKS, ADMINISTRATION, NUMBERED, pattern(1, 500), pattern(2, 72),
  (pattern(3, 240),), 300, 200, 20_000)
INNER = inner_half(TIERS[2], [METADATA["full"].encoded()], NONCE)
PARTS = (Part((bytes(32),)), Part(), Part((entry(), b"\xff" * 32), INNER))
CHANGES = Commit(43, PREVIOUS, TIME, 4, ChangesBody(boxes_hash(SECRET_BOX), PARTS))
EMPTY = Commit(1 << 60, PREVIOUS, -1, 0, ChangesBody(boxes_hash(b""), (Part(),) * 3))
BASE = Commit(42, PREVIOUS, TIME, 0, BaseBody(9, pattern(4, 32), pattern(5, 32)))


def log_cases(cases: Cases) -> None:
  head_cases(cases)
  header_cases(cases)
  body_cases(cases)
  commit_cases(cases)
  page_cases(cases)
  index_cases(cases)
  spine_cases(cases)


def head_cases(cases: Cases) -> None:
  for variant, head in {
    "": HEAD, "no slots": replace(HEAD, slots=(), successions=()),
    "greatest place": replace(HEAD, log=(1 << 63) - 1)}.items():
    cases.add(
      "head", variant, head.encoded(), vault=VAULT, epoch=EPOCH, administration=ADMINISTRATION,
      list=head.list, administrationBox=head.administration_box, indexCount=head.index_count,
      spineCount=head.spine_count, log=head.log, **numbered("check", CHECKS),
      **numbered("slot", head.slots), **numbered("succession", head.successions))
  encoded = HEAD.encoded()
  cases.add("head hash", "", HEAD.hash(), head=encoded)
  unknown = (u32(1) + b"\x09" + NUMBERED[0][5:], u32(2) + b"no slot")
  many = tuple(u32(number) + SLOTS[1][4:] for number in range(1, 33))
  costly = tuple(u32(number) + SLOTS[0][4:] for number in range(1, 9))
  good = {
    "": HEAD, "slots that are passed over": replace(HEAD, slots=unknown), "32 slots":
    replace(HEAD, slots=many), "8 passphrases": replace(HEAD, slots=costly), "greatest epoch":
    replace(HEAD, epoch=1 << 31), "log right behind the spine": replace(HEAD, log=HEAD.count + 500)}
  bad = {
    "epoch 0": replace(HEAD, epoch=0), "epoch above 2^31": replace(HEAD, epoch=(1 << 31) + 1),
    "a feature": replace(HEAD, features=("trees",)), "one number twice":
    replace(HEAD, slots=(NUMBERED[0],) * 2), "33 slots":
    replace(HEAD, slots=(*many, u32(33) + SLOTS[1][4:])), "9 passphrases":
    replace(HEAD, slots=(*costly, u32(9) + SLOTS[0][4:])), "log before the spine's end":
    replace(HEAD, log=HEAD.count + 499), "log behind the file": replace(HEAD, log=20_001),
    "greatest place of the log": replace(HEAD, log=(1 << 64) - 1), "greatest length of the index":
    replace(HEAD, index_count=(1 << 32) - 1), "greatest length of the spine":
    replace(HEAD, spine_count=(1 << 32) - 1)}
  heads = {variant: head.encoded() for variant, head in bad.items()} | {
    "empty": b"", "of format 2": b"SQLite format 3\0" + encoded[16:], "another magic":
    changed(encoded, 0), "of format 4": encoded[:8] + u32(4) + encoded[12:], "a byte is missing":
    encoded[:12] + u32(len(encoded) - 1) + encoded[16:], "a byte follows":
    encoded[:12] + u32(len(encoded) + 1) + encoded[16:] + b"\0", "length 0":
    encoded[:12] + u32(0) + encoded[16:], "greatest length":
    encoded[:12] + b"\xff" * 4 + encoded[16:], "prefix alone": encoded[:32]}
  cases.read(
    "decoded head", {variant: head.encoded() for variant, head in good.items()}, heads,
    lambda data: Head.decoded(data, 20_000).encoded(),
    lambda data: {"bytes": data, "fileCount": 20_000})


def header_cases(cases: Cases) -> None:
  header = FrameHeader(43, 552, 296)
  for variant, one in {
    "": header, "no boxes": replace(header, boxes_count=0), "greatest":
    FrameHeader((1 << 62) + (1 << 40), MAXIMUM_BOX_COUNT, MAXIMUM_BOXES_COUNT)}.items():
    cases.add("frame header", variant, one.encoded(OPEN, EPOCH), tier0=OPEN, epoch=EPOCH,
              n=one.number, boxCount=one.box_count, boxesCount=one.boxes_count)
  encoded = header.encoded(OPEN, EPOCH)
  good = {"": encoded, "bytes follow": encoded + b"\1", "lowest": FrameHeader(
    40, 296, 0).encoded(OPEN, EPOCH), "highest": FrameHeader(
    50, MAXIMUM_BOX_COUNT, MAXIMUM_BOXES_COUNT).encoded(OPEN, EPOCH)}
  other = {
    "box of no padded text": FrameHeader(43, 551, 296), "number below":
    FrameHeader(39, 552, 296), "number above": FrameHeader(51, 552, 296),
    "greatest number": FrameHeader((1 << 64) - 1, 552, 296), "box too short":
    FrameHeader(43, 295, 0), "box too long": FrameHeader(43, MAXIMUM_BOX_COUNT + 1, 0),
    "boxes too long": FrameHeader(43, 552, MAXIMUM_BOXES_COUNT + 1), "greatest lengths":
    FrameHeader(43, (1 << 32) - 1, (1 << 32) - 1)}
  bad = {variant: one.encoded(OPEN, EPOCH) for variant, one in other.items()} | {
    "of another epoch": header.encoded(OPEN, EPOCH + 1), "of another key":
    header.encoded(TIERS[1], EPOCH), "number changed": changed(encoded, 0), "length changed":
    changed(encoded, 12), "mac changed": changed(encoded), "cut short": encoded[:-1], "empty": b""}

  def read(data: bytes) -> bytes | None:
    found = FrameHeader.found(data, OPEN, EPOCH, 40, 50)
    return None if found is None else found.encoded(OPEN, EPOCH)
  cases.read("decoded frame header", good, bad, read, lambda data: {
    "tier0": OPEN, "epoch": EPOCH, "lowest": 40, "highest": 50, "bytes": data})


def body_cases(cases: Cases) -> None:
  cases.add("first digest", "", first_digest(VAULT), vault=VAULT)
  for variant, commit in {"": BASE, "of a member": replace(BASE, writer=4, time=-1)}.items():
    content = commit.content
    cases.add("base body", variant, commit.body(), n=commit.number, time=commit.time,
              writer=commit.writer, serial=content.serial, headHash=content.head,
              indexHash=content.index)
  for variant, commit in {"": CHANGES, "no changes": EMPTY}.items():
    content = commit.content
    cases.add("changes body", variant, commit.body(), n=commit.number, time=commit.time,
              writer=commit.writer, boxesHash=content.boxes,
              **numbered("part", [part.encoded() for part in content.parts]))
  for variant, commit in {"base": BASE, "changes": CHANGES, "no changes": EMPTY}.items():
    cases.add("body hash", variant, commit.body_hash(), body=commit.body())
    found = commit.digest()
    cases.add("digest", variant, found, previous=PREVIOUS, bodyHash=commit.body_hash())
    for tier in keys.TIERS:
      cases.add("proof", f"{variant}, tier {tier}", proof(TIERS[tier], found), tierKey=TIERS[tier],
                digest=found)
    cases.add("list signature", variant, sign(ADMINISTRATION_SEED, BASE_LABEL, found),
              seed=ADMINISTRATION_SEED, digest=found)
    cases.add("writer signature", variant, sign(SEED, COMMIT_LABEL, found), seed=SEED,
              digest=found)


def commit_cases(cases: Cases) -> None:
  """What opens is the digest before, the body and the proofs; whether these hold is not asked."""
  local = dict(enumerate(TIERS))
  commits = {
    "changes, local": CHANGES.proved(local), "changes, T0 alone": CHANGES.proved({0: OPEN}),
    "changes, shared": CHANGES.signed(SEED), "no changes": EMPTY.proved(local),
    "base, local": BASE.proved(local), "base, first of its list":
    BASE.proved(local).signed_by_administration(ADMINISTRATION_SEED),
    "base, shared": BASE.signed(SEED).signed_by_administration(ADMINISTRATION_SEED),
    "without proofs": CHANGES}
  for variant, commit in commits.items():
    macs = {f"mac{t}": mac for t, mac in enumerate(commit.proofs.macs) if mac is not None}
    signatures = {"listSignature": commit.proofs.list_signature,
                  "writerSignature": commit.proofs.signature}
    given = {name: value for name, value in signatures.items() if value is not None}
    cases.add("commit box", variant, commit.sealed(OPEN, NONCE), tier0=OPEN, nonce=NONCE,
              previous=PREVIOUS, body=commit.body(), **macs, **given)
  key, good = keys.box_key(OPEN, "commit"), commits["changes, local"]
  body, proofs = good.body(), good.proofs.encoded()

  def boxed(body_given: bytes, behind: bytes = proofs) -> bytes:
    return seal(key, pad(PREVIOUS + sized(body_given) + behind), NONCE)
  wrong_parts = {
    "class of another tier": (PARTS[2], Part(), Part()), "ids out of order":
    (Part((b"\xff" * 32, bytes(32))), Part(), Part()), "id twice":
    (Part((bytes(32),) * 2), Part(), Part())}
  bad = {variant: boxed(replace(good, content=ChangesBody(bytes(32), parts)).body())
         for variant, parts in wrong_parts.items()} | {
    "another number": replace(good, number=44).sealed(OPEN, NONCE), "kind 2":
    boxed(body[:8] + u8(2) + body[9:]), "base read as changes":
    boxed(BASE.body()[:8] + u8(1) + BASE.body()[9:]), "a byte follows the body":
    boxed(body + b"\0"), "a byte of the body is missing": boxed(body[:-1]), "no body": boxed(b""),
    "a byte follows the proofs": boxed(body, proofs + b"\0"), "a byte of the proofs is missing":
    boxed(body, proofs[:-1]), "no proofs": boxed(body, b""), "proof that begins with 2":
    boxed(body, b"\2" + proofs[1:]), "not padded": seal(key, PREVIOUS + sized(body) + proofs, NONCE),
    "of another key": good.sealed(TIERS[1], NONCE), "changed": changed(good.sealed(OPEN, NONCE)),
    "cut short": good.sealed(OPEN, NONCE)[:-1], "empty": b""}

  def read(given: tuple[int, bytes]) -> bytes:
    commit = Commit.opened(OPEN, *given)
    return commit.previous + sized(commit.body()) + commit.proofs.encoded()
  cases.read(
    "opened commit",
    {variant: (one.number, one.sealed(OPEN, NONCE)) for variant, one in commits.items()},
    {variant: (43, box) for variant, box in bad.items()}, read,
    lambda given: {"tier0": OPEN, "n": given[0], "box": given[1]})


def page_cases(cases: Cases) -> None:
  part = Part((entry(bytes(32)), entry()), INNER)
  cases.add("page", "", sealed_page(OPEN, part, NONCE), tier0=OPEN, nonce=NONCE,
            part=part.encoded())
  box = sealed_page(OPEN, part, NONCE)
  bad = {
    "removal": sealed_page(OPEN, Part((bytes(32), entry()), INNER), NONCE), "no entry":
    sealed_page(OPEN, Part(), NONCE), "class of another tier":
    sealed_page(OPEN, Part((entry(item_class=4),), INNER), NONCE), "a byte follows":
    seal(keys.box_key(OPEN, "page"), part.encoded() + b"\0", NONCE), "of another key":
    sealed_page(TIERS[1], part, NONCE), "changed": changed(box), "cut short": box[:-1], "empty": b""}
  cases.read(
    "opened page", {"": box}, bad, lambda found: opened_page(OPEN, 2, found).encoded(),
    lambda found: {"tier0": OPEN, "tier": 2, "box": found})


PAGES = (
  (Page(bytes(32), 3, 1000, 400, pattern(6, 32), 2000),), (),
  (Page(bytes(32), 1, 1400, 600, pattern(7, 32), 2888),
   Page(ID, 2, 3184, 500, pattern(8, 32), 3684)))


def index_cases(cases: Cases) -> None:
  indexes = {"": Index(pattern(9, 32), PAGES), "no pages": Index(pattern(9, 32))}
  for variant, index in indexes.items():
    cases.add("index", variant, index.sealed(OPEN, NONCE), tier0=OPEN, nonce=NONCE,
              spineHash=index.spine, **numbered("pages", map(pages_encoded, index.pages)))
  first, second = PAGES[2]
  changes = {
    "pages out of order": (second, first), "first id twice": (first, replace(second, first=bytes(32))),
    "page without entries": (replace(first, count=0), second), "page before the pages":
    (replace(first, place=999), second), "page that reaches behind the pages":
    (replace(first, place=4401), second), "greatest place":
    (replace(first, place=(1 << 64) - 1), second), "page longer than 1 MiB":
    (replace(first, length=(1 << 20) + 1), second), "greatest length":
    (replace(first, length=(1 << 32) - 1), second), "boxes before the pages":
    (replace(first, boxes=999), second), "boxes behind the pages": (replace(first, boxes=5001), second),
    "greatest place of boxes": (replace(first, boxes=(1 << 64) - 1), second)}
  index = indexes[""]
  bad = {variant: replace(index, pages=(*PAGES[:2], pages)).sealed(OPEN, NONCE)
         for variant, pages in changes.items()}
  key, box = keys.box_key(OPEN, "index"), index.sealed(OPEN, NONCE)
  bad |= {
    "a byte follows": seal(key, index.encoded() + b"\0", NONCE), "a byte is missing":
    seal(key, index.encoded()[:-1], NONCE), "greatest count":
    seal(key, index.spine + b"\xff" * 4 + index.encoded()[36:], NONCE), "of another key":
    index.sealed(TIERS[1], NONCE), "changed": changed(box), "cut short": box[:-1], "empty": b""}
  good = {variant: one.sealed(OPEN, NONCE) for variant, one in indexes.items()}
  cases.read(
    "opened index", good, bad, lambda found: Index.opened(OPEN, found, 1000, 5000).encoded(),
    lambda found: {"tier0": OPEN, "from": 1000, "to": 5000, "box": found})


def spine_cases(cases: Cases) -> None:
  hashes = tuple(digest(32, u64(number)) for number in range(1024))
  first = first_digest(VAULT)
  spines = {
    "first base": (1, Spine(0, first)), "second commit": (2, Spine(0, first, hashes[:1])),
    "fifth commit": (5, Spine(0, first, hashes[:4]))}
  long = {"commits before it": (5000, Spine(3975, PREVIOUS, hashes))}
  for variant, (number, spine) in spines.items():
    cases.add("spine", variant, spine.sealed(OPEN, NONCE), tier0=OPEN, nonce=NONCE, m=spine.m,
              digest=spine.digest, **numbered("hash", spine.hashes))
  key, (_, good) = keys.box_key(OPEN, "spine"), spines["fifth commit"]
  plain = u64(0) + first + u32(4) + b"".join(hashes[:4])
  bad = {
    "of another base": (6, good), "begins too late": (5, replace(good, m=1)), "too few":
    (5, Spine(1, first, hashes[:3])), "begins with another digest": (5, replace(good, digest=PREVIOUS)), "greatest m":
    (5, replace(good, m=(1 << 64) - 1))}
  boxes = {variant: (number, spine.sealed(OPEN, NONCE)) for variant, (number, spine) in bad.items()}
  box = good.sealed(OPEN, NONCE)
  boxes |= {
    "a byte follows": (5, seal(key, plain + b"\0", NONCE)), "a byte is missing":
    (5, seal(key, plain[:-1], NONCE)), "greatest count":
    (5, seal(key, u64(0) + first + b"\xff" * 4 + b"".join(hashes[:4]), NONCE)), "of another key":
    (5, good.sealed(TIERS[1], NONCE)), "changed": (5, changed(box)), "cut short": (5, box[:-1]),
    "empty": (5, b"")}
  cases.read(
    "opened spine", {variant: (number, spine.sealed(OPEN, NONCE))
                     for variant, (number, spine) in {**spines, **long}.items()}, boxes,
    lambda given: b"".join(Spine.opened(OPEN, given[1], VAULT, given[0]).digests().values()),
    lambda given: {"tier0": OPEN, "vault": VAULT, "n": given[0], "box": given[1]})
