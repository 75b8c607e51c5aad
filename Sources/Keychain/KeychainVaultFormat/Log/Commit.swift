package import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets

/// A change of a vault, with its place in the history and its proofs.
package struct Commit: Sendable {
  /// Everything before the log, as the first commit of a log names it.
  package struct Base: Hashable, Sendable {
    /// The serial of the list of members.
    package let serial: UInt64
    package let headHash: Data
    package let indexHash: Data

    package init(serial: UInt64, headHash: Data, indexHash: Data) {
      self.serial = serial
      self.headHash = headHash
      self.indexHash = indexHash
    }
  }

  package struct Changes: Sendable {
    package let boxesHash: Data

    /// One part for each tier, in their order.
    package let parts: [Part]

    package init(boxesHash: Data, parts: [Part]) {
      self.boxesHash = boxesHash
      self.parts = parts
    }

    /// The number of bytes of the boxes of all secrets.
    package var boxesCount: Int { parts.reduce(0) { $0 + $1.boxesCount } }
  }

  package enum Content: Sendable {
    case base(Base)
    case changes(Changes)

    fileprivate var isBase: Bool { if case .base = self { true } else { false } }

    /// The number of bytes of a body with this content.
    package var bodyCount: Int {
      let fixed = 8 + 1 + 8 + 4
      return switch self {
      case .base: fixed + 8 + 32 + 32
      case .changes(let changes): changes.parts.reduce(fixed + 32) { $0 + $1.count }
      }
    }
  }

  /// The proofs of a commit, which are stored next to its body.
  package struct Proofs: Hashable, Sendable {
    /// For each tier, a mac of the digest; `nil` if the writer did not have the key.
    package let macs: [Data?]

    /// The signature of the administration key, on a base with a new list.
    package let list: Data?

    /// The signature of the writer, in a shared vault.
    package let writer: Data?

    static let maximumCount = 3 * (1 + 32) + 2 * (1 + Signature.count)
  }

  /// The maximum number of bytes of a body; a larger change is written as a new base.
  package static let maximumBodyCount = 1 << 20

  /// The number, which rises by one with each commit.
  package let n: UInt64
  package let previous: Data

  /// The writer's clock in microseconds since 1970, for information only.
  package let time: Int64

  /// The number of the writer's slot in a shared vault; 0 in a local one.
  package let writer: UInt32
  package let content: Content
  package let proofs: Proofs

  /// `h_n`.
  package let bodyHash: Data

  /// `d_n`: identifies this commit and all before it.
  package let digest: Data

  package var base: Base? { if case .base(let base) = content { base } else { nil } }

  package var changes: Changes? { if case .changes(let changes) = content { changes } else { nil } }

  /// Returns `d_0`, the digest before the first commit of a vault.
  package static func first(_ id: VaultID) throws(KeychainError) -> Data {
    try Derivation.hash("pk3/first", FieldWriter.fields { $0.byteString(id.bytes) })
  }

  /// Returns the witness of a state for people to compare: 32 characters.
  package static func witness(_ digest: Data) throws(KeychainError) -> String {
    let text = try Text32.text(SecretBytes(copying: digest.prefix(20).bytes), sumCount: 0)
    return text.withBytes { $0.text ?? "" }.uppercased()
  }

  /// Returns `d_n`.
  package static func digest(after previous: Data, bodyHash: Data) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields(capacity: 64) {
      $0.append(previous)
      $0.append(bodyHash)
    }
    return try Derivation.hash("pk3/digest", fields)
  }

  static let listLabel = "pk3/base"
  static let writerLabel = "pk3/commit"

  /// Whether the commit has exactly the kinds of proofs that the vault's list of members requires
  /// for its number and kind; this does not check the proofs.
  package func hasExpectedProofs(in list: MemberList) -> Bool {
    guard (proofs.list != nil) == (base != nil && n == list.first) else { return false }
    switch list.vaultKind {
    case .local:
      return writer == 0 && proofs.writer == nil && (base == nil || !proofs.macs.contains(nil))
    case .shared: return proofs.writer != nil && proofs.macs.allSatisfy { $0 == nil }
    }
  }

  /// Whether a member who may write signed the commit of a shared vault.
  package func isSigned(in list: MemberList) -> Bool {
    guard let signature = proofs.writer, let member = list.member(writer), member.writes else {
      return false
    }
    return Signing.isRight(
      signature, of: Array(digest), label: Self.writerLabel, publicKey: member.signingKey)
  }

  /// Whether the administration key signed the commit, as a base with a new list needs.
  package func isSignedByAdministration(_ key: Data) -> Bool {
    guard let signature = proofs.list else { return false }
    return Signing.isRight(signature, of: Array(digest), label: Self.listLabel, publicKey: key)
  }
}

extension Commit {
  /// Creates a commit.
  ///
  /// `signer` proves it in a shared vault; in a local one, macs under the available keys do, of
  /// which a base needs all. `administration` signs a base with a new list.
  package static func seal(
    n: UInt64, previous: Data, time: Int64, writer: UInt32, content: Content, keys: TierKeys,
    signer: CommitSigner?, administration: AdministrationKey?
  ) throws(KeychainError) -> (commit: Commit, box: Data) {
    guard content.bodyCount <= maximumBodyCount else {
      throw KeychainError(.internalFailure, "a change of a vault is longer than a commit can be")
    }
    let body = body(n: n, time: time, writer: writer, content: content)
    let bodyHash = try Derivation.hash("pk3/body", body)
    let digest = try digest(after: previous, bodyHash: bodyHash)
    var macs: [Data?] = [nil, nil, nil]
    if signer == nil {
      for tier in Tier.allCases { macs[tier] = try keys.proof(tier, of: digest) }
      if content.isBase, macs.contains(nil) {
        throw KeychainError(.internalFailure, "a base of a vault was made without all keys")
      }
    }
    let proofs = Proofs(
      macs: macs,
      list: try administration.map { key throws(KeychainError) in
        try key.sign(Array(digest), label: listLabel)
      },
      writer: try signer.map { signer throws(KeychainError) in
        try signer.sign(digest, label: writerLabel)
      })
    let commit = Commit(
      n: n, previous: previous, time: time, writer: writer, content: content, proofs: proofs,
      bodyHash: bodyHash, digest: digest)
    let plain = plaintext(previous: previous, body: body, proofs: proofs)
    let box = try Sealing.seal(
      fields: Sealing.padded(fields: plain), with: keys.boxKey("pk3/commit").bytes)
    return (commit, box)
  }

  /// Opens the box of a frame; `nil` if it does not open, breaks the format, or has another number.
  ///
  /// The caller checks the digest and the proofs.
  package static func open(
    _ box: Data, n: UInt64, keys: TierKeys
  ) throws(KeychainError) -> Commit? {
    guard let padded = try Sealing.openFields(box, with: keys.boxKey("pk3/commit").bytes) else {
      return nil
    }
    return try read(unsafe padded.span.bytes, n: n)
  }

  static func body(n: UInt64, time: Int64, writer: UInt32, content: Content) -> [UInt8] {
    FieldWriter.fields(capacity: content.bodyCount) {
      $0.integer(n)
      $0.integer(UInt8(content.isBase ? 0 : 1))
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
      for proof in proofs.macs + [proofs.list, proofs.writer] {
        $0.optional(proof) { $0.append($1) }
      }
    }
  }

  /// Reads the padded plaintext of a box; `nil` if it breaks the format or has another number.
  static func read(_ padded: RawSpan, n: UInt64) throws(KeychainError) -> Commit? {
    guard let range = Padding.range(in: padded) else { return nil }
    do {
      return try Commit(padded.extracting(range), n: n)
    } catch {
      guard let error = error as? KeychainError else { return nil }
      throw error
    }
  }

  private init(_ bytes: RawSpan, n: UInt64) throws {
    self.n = n
    var reader = FieldReader()
    previous = try reader.data(bytes, count: 32)
    let body = bytes.extracting(try reader.range(bytes))
    var macs: [Data?] = []
    for _ in Tier.allCases { macs.append(try reader.optionalData(bytes, count: 32)) }
    proofs = Proofs(
      macs: macs, list: try reader.optionalData(bytes, count: Signature.count),
      writer: try reader.optionalData(bytes, count: Signature.count))
    try reader.end(bytes)
    reader = FieldReader()
    let (number, kind): (UInt64, UInt8) = (try reader.integer(body), try reader.integer(body))
    guard number == n, body.byteCount <= Self.maximumBodyCount else {
      throw FieldReader.Malformed()
    }
    time = try reader.integer(body)
    writer = try reader.integer(body)
    switch kind {
    case 0:
      content = .base(
        Base(
          serial: try reader.integer(body), headHash: try reader.data(body, count: 32),
          indexHash: try reader.data(body, count: 32)))
    case 1:
      let boxesHash = try reader.data(body, count: 32)
      var parts: [Part] = []
      for tier in Tier.allCases { parts.append(try Part(&reader, body, tier: tier)) }
      content = .changes(Changes(boxesHash: boxesHash, parts: parts))
    default: throw FieldReader.Malformed()
    }
    try reader.end(body)
    bodyHash = try Derivation.hash("pk3/body", of: body)
    digest = try Self.digest(after: previous, bodyHash: bodyHash)
  }
}

/// The beginning of a frame; a mac under T0 shows that a writer of this epoch made it.
package struct FrameHeader: Hashable, Sendable {
  package static let count = fieldsCount + macCount
  private static let fieldsCount = 8 + 4 + 4
  private static let macCount = 16

  /// The maximum number of bytes of a commit's box.
  package static let maximumBoxCount = Sealing.greatestBoxCount(
    limit: 32 + 4 + Commit.maximumBodyCount + Commit.Proofs.maximumCount)
  private static let minimumBoxCount = Sealing.greatestBoxCount(limit: 0)

  /// The maximum number of bytes of all boxes of secrets of a commit.
  package static let maximumBoxesCount = 32 << 20

  package let n: UInt64

  /// The number of bytes of the commit's box.
  package let boxCount: Int

  /// The number of bytes of all boxes of secrets.
  package let boxesCount: Int

  package init(n: UInt64, boxCount: Int, boxesCount: Int) {
    self.n = n
    self.boxCount = boxCount
    self.boxesCount = boxesCount
  }

  /// Reads the header at an offset; `nil` if there is no header with one of the numbers.
  package init?(
    _ bytes: RawSpan, at offset: Int, epoch: UInt64, open: SharedSecret,
    numbers: ClosedRange<UInt64>
  ) {
    guard offset >= 0, bytes.byteCount >= Self.count, offset <= bytes.byteCount - Self.count else {
      return nil
    }
    // First, so that most other offsets cost almost nothing: no mac is computed.
    self.init(unproved: bytes, at: offset, numbers)
    guard let mac = try? mac(epoch: epoch, open: open),
      ConstantTime.equal(
        mac.bytes,
        bytes.extracting(offset + Self.fieldsCount..<offset + Self.count))
    else { return nil }
  }

  /// Returns the first offset whose number and lengths a header may have; the mac is not checked.
  package static func firstOffset(in bytes: RawSpan, _ numbers: ClosedRange<UInt64>) -> Int? {
    (0..<max(0, bytes.byteCount - count + 1)).first {
      Self(unproved: bytes, at: $0, numbers) != nil
    }
  }

  private init?(unproved bytes: RawSpan, at offset: Int, _ numbers: ClosedRange<UInt64>) {
    n = bytes.littleEndian(at: offset, as: UInt64.self)
    guard numbers.contains(n) else { return nil }
    boxCount = Int(bytes.littleEndian(at: offset + 8, as: UInt32.self))
    boxesCount = Int(bytes.littleEndian(at: offset + 12, as: UInt32.self))
    let padded = boxCount - SecretBox.overhead
    guard Self.minimumBoxCount...Self.maximumBoxCount ~= boxCount,
      boxesCount <= Self.maximumBoxesCount,
      Padding.paddedCount(for: padded - Padding.headerCount) == padded
    else { return nil }
  }

  /// The number of bytes of the header and the commit's box.
  package var frameCount: Int { Self.count + boxCount }

  /// The number of bytes of the frame with the boxes of secrets.
  package var totalCount: Int { frameCount + boxesCount }

  package func encoded(epoch: UInt64, open: SharedSecret) throws(KeychainError) -> Data {
    Data(copying: FieldWriter.fields(capacity: Self.count, write(to:)))
      + (try mac(epoch: epoch, open: open))
  }

  private func write(to writer: inout FieldWriter) {
    writer.integer(n)
    writer.integer(UInt32(truncatingIfNeeded: boxCount))
    writer.integer(UInt32(truncatingIfNeeded: boxesCount))
  }

  private func mac(epoch: UInt64, open: SharedSecret) throws(KeychainError) -> Data {
    let fields = FieldWriter.fields(capacity: 8 + Self.fieldsCount) {
      $0.integer(epoch)
      write(to: &$0)
    }
    return try Derivation.tag(open.bytes, "pk3/frame", fields).prefix(Self.macCount)
  }
}
