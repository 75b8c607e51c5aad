import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func head() throws -> String?? {
    switch vector.operation {
    case "head": try encodedHead().hexadecimal
    case "head hash": try Derivation.hash(vector.data("head")).hexadecimal
    case "decoded head": .some(try decodedHead())
    default: nil
    }
  }

  private func encodedHead() throws -> Data {
    try HeadParts(
      identity: headIdentity(),
      checks: [vector.data("check0"), vector.data("check1"), vector.data("check2")],
      slots: vector.numbered("slot"), list: vector.data("list"),
      administrationBox: vector.data("administrationBox"),
      successions: vector.numbered("succession")
    ).encoded(
      index: vector.number("indexCount"), spine: vector.number("spineCount"),
      log: vector.number("log"))
  }

  private func decodedHead() throws -> String? {
    let bytes = try vector.data("bytes")
    let fileCount: Int = try vector.number("fileCount")
    do throws(KeychainError) {
      let lengths = try VaultHead.lengths(prefix: bytes, fileLength: fileCount, path: "vault")
      let head = try VaultHead(bytes.prefix(lengths.head), path: "vault")
      return head.parts.encoded(
        index: lengths.index, spine: lengths.spine, log: lengths.log
      ).hexadecimal
    } catch {
      #expect([.damaged, .foreign, .unsupportedFormat].contains(error.code))
      return nil
    }
  }

  func log() throws -> String?? {
    switch vector.operation {
    case "frame header":
      try FrameHeader(
        n: vector.number("n"), boxCount: vector.number("boxCount"),
        boxesCount: vector.number("boxesCount")
      ).encoded(epoch: vector.number("epoch"), open: openKeys().open).hexadecimal
    case "decoded frame header": .some(try decodedHeader())
    case "first digest": try Commit.first(id()).hexadecimal
    case "base body", "changes body": try body().hexadecimal
    case "body hash": try Derivation.hash("pk3/body", vector.bytes("body")).hexadecimal
    case "digest":
      try Commit.digest(after: vector.data("previous"), bodyHash: vector.data("bodyHash"))
        .hexadecimal
    case "proof":
      try openKeys("tierKey").proof(.open, of: vector.data("digest"))?.hexadecimal
    case "list signature": try signature(Commit.listLabel)
    case "writer signature": try signature(Commit.writerLabel)
    case "commit box": try sealed("pk3/commit", commitPlaintext())
    default: nil
    }
  }

  private func decodedHeader() throws -> String? {
    let bytes = try vector.bytes("bytes")
    let (lowest, highest): (UInt64, UInt64) = try (
      vector.number("lowest"), vector.number("highest")
    )
    let (epoch, open): (UInt64, SharedSecret) = try (vector.number("epoch"), openKeys().open)
    let header = FrameHeader(
      bytes.span.bytes, at: 0, epoch: epoch, open: open, numbers: lowest...highest)
    return try header?.encoded(epoch: epoch, open: open).hexadecimal
  }

  private func body() throws -> [UInt8] {
    let content: Commit.Content
    if vector.operation == "base body" {
      content = try .base(
        Commit.Base(
          serial: vector.number("serial"), headHash: vector.data("headHash"),
          indexHash: vector.data("indexHash")))
    } else {
      let parts = try Tier.allCases.map { tier in
        let bytes = try vector.bytes("part\(tier.rawValue)")
        return try #require(part(bytes, tier))
      }
      content = try .changes(Commit.Changes(boxesHash: vector.data("boxesHash"), parts: parts))
    }
    let body = try Commit.body(
      n: vector.number("n"), time: vector.number("time"), writer: vector.number("writer"),
      content: content)
    #expect(body.count == content.bodyCount)
    return body
  }

  private func signature(_ label: String) throws -> String {
    try Signing.sign(vector.bytes("digest"), label: label, seed: vector.secret("seed")).hexadecimal
  }

  private func commitPlaintext() throws -> [UInt8] {
    func field(_ name: String) throws -> Data? {
      vector.inputs.hex[name] == nil ? nil : try vector.data(name)
    }
    let proofs = Commit.Proofs(
      macs: [try field("mac0"), try field("mac1"), try field("mac2")],
      list: try field("listSignature"), writer: try field("writerSignature"))
    return try Sealing.padded(
      fields: Commit.plaintext(
        previous: vector.data("previous"), body: vector.bytes("body"), proofs: proofs))
  }

  func sealed(_ label: String, _ plaintext: [UInt8]) throws -> String {
    try SecretBox.seal(
      SecretBytes(copying: plaintext.span.bytes), with: openKeys().boxKey(label).bytes,
      nonce: vector.bytes("nonce")
    ).hexadecimal
  }

  func opened() throws -> String?? {
    switch vector.operation {
    case "opened commit": .some(try openedCommit())
    case "opened index": .some(try openedIndex())
    case "opened page":
      .some(
        try Part.openPage(vector.data("box"), tier: tier(), keys: openKeys()).map {
          fields($0.write)
        })
    case "opened spine": .some(try openedSpine())
    default: nil
    }
  }

  private func openedCommit() throws -> String? {
    let commit = try Commit.open(vector.data("box"), n: vector.number("n"), keys: openKeys())
    guard let commit else { return nil }
    let body = Commit.body(
      n: commit.n, time: commit.time, writer: commit.writer, content: commit.content)
    return Commit.plaintext(previous: commit.previous, body: body, proofs: commit.proofs)
      .hexadecimal
  }

  private func openedIndex() throws -> String? {
    let file: Range<Int> = try vector.number("from")..<vector.number("to")
    return try VaultIndex.open(vector.data("box"), keys: openKeys(), file: file)?.fields
      .hexadecimal
  }

  private func openedSpine() throws -> String? {
    try Spine.open(vector.data("box"), before: vector.number("n"), of: id(), keys: openKeys())?
      .digests().map(\.hexadecimal).joined()
  }

  func base() throws -> String?? {
    switch vector.operation {
    case "index":
      try sealed(
        "pk3/index",
        vector.bytes("spineHash") + vector.bytes("pages0") + vector.bytes("pages1")
          + vector.bytes("pages2"))
    case "page": try sealed("pk3/page", vector.bytes("part"))
    case "spine":
      try sealed(
        "pk3/spine",
        Spine(m: vector.number("m"), digest: vector.data("digest"), hashes: vector.numbered("hash"))
          .fields)
    default: nil
    }
  }
}
