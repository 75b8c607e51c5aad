internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

extension Commit {
  private static let baseKind: UInt8 = 0
  private static let changesKind: UInt8 = 1

  static func body(n: UInt64, time: Int64, writer: UInt32, content: Content) -> [UInt8] {
    FieldWriter.fields(capacity: content.bodyCount) {
      $0.integer(n)
      switch content {
      case .base: $0.integer(baseKind)
      case .changes: $0.integer(changesKind)
      }
      $0.integer(time)
      $0.integer(writer)
      switch content {
      case .base(let base):
        $0.integer(base.serial)
        $0.append(base.headHash)
        $0.append(base.indexHash)
      case .changes(let changes):
        $0.append(changes.boxesHash)
        for part in changes.parts { part.write(to: &$0) }
      }
    }
  }

  static func plaintext(previous: Data, body: [UInt8], proofs: Proofs) -> [UInt8] {
    FieldWriter.fields(capacity: 32 + 4 + body.count + Proofs.maximumCount) {
      $0.append(previous)
      $0.byteString(body)
      for mac in proofs.macs { $0.optional(mac) { $0.append($1) } }
      for signature in [proofs.list, proofs.writer] { $0.optional(signature) { $0.append($1) } }
    }
  }

  /// Reads the padded plaintext of a box; `nil` if it breaks the format or is of another number.
  static func read(_ padded: RawSpan, n: UInt64) throws(KeychainError) -> Commit? {
    guard let range = Padding.range(in: padded),
      let fields = try? Fields(padded.extracting(range), n: n)
    else { return nil }
    let body = padded.extracting(range).extracting(fields.bodyRange)
    let bodyHash = try Derivation.hash("pk3/body", of: body)
    return Commit(
      n: n, previous: fields.previous, time: fields.time, writer: fields.writer,
      content: fields.content, proofs: fields.proofs, bodyHash: bodyHash,
      digest: try digest(after: fields.previous, bodyHash: bodyHash))
  }

  private struct Fields {
    let previous: Data
    let bodyRange: Range<Int>
    let time: Int64
    let writer: UInt32
    let content: Content
    let proofs: Proofs

    init(_ bytes: RawSpan, n: UInt64) throws(FieldReader.Malformed) {
      var reader = FieldReader()
      previous = try reader.data(bytes, count: 32)
      bodyRange = try reader.range(bytes)
      guard bodyRange.count <= Commit.maximumBodyCount else { throw FieldReader.Malformed() }
      proofs = Proofs(
        macs: [
          try reader.optionalData(bytes, count: 32), try reader.optionalData(bytes, count: 32),
          try reader.optionalData(bytes, count: 32),
        ],
        list: try reader.optionalData(bytes, count: Signature.count),
        writer: try reader.optionalData(bytes, count: Signature.count))
      try reader.end(bytes)
      let body = bytes.extracting(bodyRange)
      var bodyReader = FieldReader()
      guard try bodyReader.integer(body, as: UInt64.self) == n else {
        throw FieldReader.Malformed()
      }
      let kind: UInt8 = try bodyReader.integer(body)
      time = try bodyReader.integer(body)
      writer = try bodyReader.integer(body)
      content = try Self.content(kind, &bodyReader, body)
      try bodyReader.end(body)
    }

    private static func content(
      _ kind: UInt8, _ reader: inout FieldReader, _ body: RawSpan
    ) throws(FieldReader.Malformed) -> Content {
      switch kind {
      case baseKind:
        return .base(
          Base(
            serial: try reader.integer(body), headHash: try reader.data(body, count: 32),
            indexHash: try reader.data(body, count: 32)))
      case changesKind:
        let boxesHash = try reader.data(body, count: 32)
        var parts: [Part] = []
        for tier in Tier.allCases { parts.append(try Part(&reader, body, tier: tier)) }
        return .changes(Changes(boxesHash: boxesHash, parts: parts))
      default: throw FieldReader.Malformed()
      }
    }
  }
}
