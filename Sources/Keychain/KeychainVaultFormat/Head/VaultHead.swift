package import FoundationEssentials
package import KeychainSecrets

/// The contents of a head without the lengths of the file's other parts.
package struct HeadParts: Hashable, Sendable {
  package let identity: HeadIdentity

  /// The checks of the tiers, which show whether a key belongs to this vault and epoch.
  package let checks: [Data]

  /// All slots in the order in which they are tried, also those of unknown kinds.
  package var slots: [Data]
  package var list: Data
  package let administrationBox: Data

  /// The changes of the administration key; see ``Succession``.
  package let successions: [Data]

  package init(
    identity: HeadIdentity, checks: [Data], slots: [Data], list: Data, administrationBox: Data,
    successions: [Data]
  ) {
    self.identity = identity
    self.checks = checks
    self.slots = slots
    self.list = list
    self.administrationBox = administrationBox
    self.successions = successions
  }

  /// Returns the bytes of a head before an index and a spine of these lengths, and the place of the
  /// log.
  package func encoded(index: Int = 0, spine: Int = 0, log: Int = 0) -> Data {
    let rest = FieldWriter.fields(capacity: 4096) { writer in
      writer.append(identity.id.bytes)
      writer.integer(identity.epoch)
      for field in checks + [identity.administration] { writer.append(field) }
      // Format 3 defines no features.
      writer.integer(UInt32(0))
      writer.list(slots) { $0.byteString($1) }
      writer.byteString(list)
      writer.byteString(administrationBox)
      writer.list(successions) { $0.byteString($1) }
    }
    let prefix = FieldWriter.fields { writer in
      writer.integer(VaultHead.format)
      for length in [VaultHead.prefixCount + rest.count, index, spine] {
        writer.integer(UInt32(truncatingIfNeeded: length))
      }
      writer.integer(UInt64(truncatingIfNeeded: log))
    }
    return Data(copying: VaultHead.magic + prefix + rest)
  }

  /// Opens the list of members with T0, and checks all of it except the slots.
  func signedList(_ open: SharedSecret) throws(KeychainError) -> MemberList {
    let boxKey = try Derivation.key(open.bytes, MemberList.label)
    guard let plain = try Sealing.openFields(list, with: boxKey), plain.count > Signature.count
    else { throw .damagedMembers("it does not open") }
    let fields = Array(plain.dropLast(Signature.count))
    guard
      Signing.isRight(
        Data(plain.suffix(Signature.count)), of: fields, label: MemberList.label,
        publicKey: identity.administration)
    else { throw .damagedMembers("its signature is not the administration key's") }
    guard let list = unsafe MemberList(fields.span.bytes) else {
      throw .damagedMembers("it breaks the format")
    }
    guard list.id == identity.id, list.epoch == identity.epoch,
      list.administration == identity.administration
    else { throw .damagedMembers("it is of another vault or an older epoch") }
    guard try list.administrationHash == Derivation.hash(administrationBox) else {
      throw .damagedMembers("the box of its administration key is not the one it names")
    }
    guard try list.successions == Succession.hash(of: successions) else {
      throw .damagedMembers("the successions of the administration key are not those it names")
    }
    try Succession.requireOrder(successions, identity)
    return list
  }
}

/// The head of a vault's file; nothing in it is proven before the vault is unlocked.
package struct VaultHead: Hashable, Sendable {
  package let bytes: Data
  package let lengths: Lengths
  package let parts: HeadParts

  /// The slots that this release can try, in the order of the file.
  package private(set) var slots: [SlotRow] = []

  /// The kinds of slots that break the format or have an unknown grant, and that the presented
  /// secret might open; `nil` for an unreadable kind.
  private(set) var malformed: Set<SlotKind?> = []
  package static let maximumCount = 262_144

  // The bytes contain everything.
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  package var identity: HeadIdentity { parts.identity }
  package var id: VaultID { identity.id }
  package var epoch: UInt64 { identity.epoch }

  package var administration: Data { identity.administration }

  /// The bytes to which every key must be bound.
  package var binding: Data { identity.binding }

  /// Reads a complete head; ``lengths(prefix:fileLength:path:)`` checks that its lengths fit in the
  /// file.
  package init(_ bytes: Data, path: String) throws(KeychainError) {
    lengths = try Self.lengths(prefix: bytes, fileLength: .max, path: path)
    guard lengths.head == bytes.count else { throw .damagedHead(path) }
    self.bytes = bytes
    do {
      parts = try Self.parts(bytes.bytes, path)
      try readSlots()
    } catch { throw error as? KeychainError ?? .damagedHead(path) }
  }

  private static func parts(_ bytes: RawSpan, _ path: String) throws -> HeadParts {
    var reader = FieldReader()
    _ = try reader.fixed(bytes, prefixCount)
    let id = VaultID(bytes: try reader.data(bytes, count: VaultID.count))
    let epoch: UInt64 = try reader.integer(bytes)
    var checks: [Data] = []
    for _ in Tier.allCases { checks.append(try reader.data(bytes, count: 16)) }
    let administration = try reader.data(bytes, count: 32)
    let features = try reader.list(bytes, ofSize: 4, String.init)
    let parts = HeadParts(
      identity: try HeadIdentity(id: id, epoch: epoch, administration: administration),
      checks: checks, slots: try reader.list(bytes, ofSize: 4, Data.init),
      list: try reader.data(bytes), administrationBox: try reader.data(bytes),
      successions: try reader.list(bytes, ofSize: 4, Data.init))
    try reader.end(bytes)
    guard 1...HeadIdentity.greatestEpoch ~= epoch, parts.slots.count <= MemberList.maximumCount
    else { throw FieldReader.Malformed() }
    guard features.isEmpty else {
      throw KeychainError(
        .unsupportedFormat, "the vault \(path) needs a feature that this release does not know",
        recovery: "use a newer release")
    }
    return parts
  }

  /// Fails if there are too many passphrases, or two slots with the same number.
  private mutating func readSlots() throws(FieldReader.Malformed) {
    var numbers: Set<UInt32> = []
    var passphraseCount = 0
    for slot in parts.slots {
      guard slot.count >= Member.startCount else {
        malformed.insert(nil)
        continue
      }
      let kind = SlotKind(rawValue: slot.bytes.byte(at: 4))
      if kind == .passphrase { passphraseCount += 1 }
      guard numbers.insert(slot.bytes.littleEndian(at: 0, as: UInt32.self)).inserted,
        passphraseCount <= MemberList.maximumPassphraseCount
      else { throw FieldReader.Malformed() }
      if let row = SlotRow(encoded: slot) {
        slots.append(row)
      } else if let kind {
        malformed.insert(kind)
      }
    }
  }

  /// `H(head)`, by which a base names the head.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash(bytes) }

  /// The check of the vault: people compare it, and identities are pinned to it.
  package func check() throws(KeychainError) -> VaultCheck { try identity.check() }

  package func slots(of kind: SlotKind) -> [SlotRow] { slots.filter { $0.kind == kind } }

  /// Fails if a slot that breaks the format may be the one that a secret of this kind opens.
  package func requireWellFormed(_ kind: SlotKind, path: String) throws(KeychainError) {
    guard malformed.isDisjoint(with: [kind, nil]) else {
      throw .damagedVault(path, "a slot that may be the right one is damaged")
    }
  }

  /// Opens the list of members with T0, and checks that it names exactly the slots of the head.
  package func openList(_ open: SharedSecret) throws(KeychainError) -> MemberList {
    let list = try parts.signedList(open)
    var isExact = parts.slots.count == list.members.count
    // Numbers are unique on both sides, so this meets every member once.
    for slot in parts.slots where isExact {
      let hash = try Derivation.hash("pk3/slot", of: slot.bytes)
      isExact = list.members.contains {
        $0.slotHash == hash && $0.start == slot.prefix(Member.startCount)
      }
    }
    guard isExact else { throw .damagedMembers("the slots of the vault are not those it names") }
    return list
  }

  // The one place that decides whether a key belongs to a vault.

  /// Whether a key is the key of a tier of this vault, according to its check.
  package func owns(_ key: borrowing SecretBytes, _ tier: Tier) throws(KeychainError) -> Bool {
    try TierKeys.check(of: key) == parts.checks[tier]
  }

  /// Whether the checks and the binding say that keys belong to this vault now; if not, they are
  /// old.
  package func owns(_ keys: TierKeys) -> Bool {
    keys.binding == binding && keys.checks == parts.checks
  }
}

extension GrantedKey {
  /// Returns the tier keys that follow, if they belong to a head; otherwise `nil`.
  package func tierKeys(of head: VaultHead) throws(KeychainError) -> TierKeys? {
    let keys: TierKeys
    switch grant {
    case .administers: keys = try TierKeys(root: parts[0].bytes, of: head.identity)
    case .openTier:
      keys = TierKeys(binding: head.binding, checks: head.parts.checks, open: parts[0])
    case .readsAndWrites, .reads: keys = try TierKeys(all: parts, binding: head.binding)
    }
    guard try head.owns(keys.open.bytes, .open), head.owns(keys) else { return nil }
    return keys
  }
}

extension VaultHead {
  /// The places of the parts of a file: head, pages and boxes, index, spine, log.
  package struct Lengths: Hashable, Sendable {
    package let head: Int
    package let index: Int
    package let spine: Int

    /// The place of the first frame.
    package let log: Int

    /// The bytes where pages and boxes of secrets may lie.
    package var pagesRange: Range<Int> { head..<max(head, log - spine - index) }

    package var indexRange: Range<Int> { pagesRange.upperBound..<pagesRange.upperBound + index }

    package var spineRange: Range<Int> { indexRange.upperBound..<indexRange.upperBound + spine }
  }

  /// The number of bytes at the beginning of a file that contain the lengths.
  package static let prefixCount = 32

  static let magic = Array("PKVAULT\n".utf8)
  static let format: UInt32 = 3

  private static let database = Array("SQLite format 3".utf8)

  /// Reads the lengths in the first ``prefixCount`` bytes of a file, and checks that they fit in
  /// it.
  package static func lengths(
    prefix: Data, fileLength: Int, path: String
  ) throws(KeychainError) -> Lengths {
    let prefix = Array(prefix.prefix(prefixCount))
    guard !prefix.starts(with: database) else {
      throw KeychainError(
        .unsupportedFormat,
        "the vault \(path) has format 2, which only development versions read",
        recovery: "export it with that version, move the file away, and import the export here")
    }
    guard prefix.starts(with: magic) else {
      throw KeychainError(
        .foreign, "the file \(path) is not a vault, or its beginning is damaged",
        recovery: "name another path, for example with KEYCHAIN_VAULT, or restore a backup")
    }
    guard prefix.count == prefixCount else { throw .damagedHead(path) }
    let bytes = unsafe prefix.span.bytes
    let found = bytes.littleEndian(at: 8, as: UInt32.self)
    guard found == format else {
      throw KeychainError(
        .unsupportedFormat,
        "the vault \(path) has format \(found); this release reads format \(format)",
        recovery: found > format ? "use a newer release" : .restoreBackup)
    }
    guard
      let log = Int(exactly: bytes.littleEndian(at: 24, as: UInt64.self)), log <= fileLength
    else { throw .damagedHead(path) }
    let lengths = Lengths(
      head: Int(bytes.littleEndian(at: 12, as: UInt32.self)),
      index: Int(bytes.littleEndian(at: 16, as: UInt32.self)),
      spine: Int(bytes.littleEndian(at: 20, as: UInt32.self)), log: log)
    guard prefixCount...maximumCount ~= lengths.head, lengths.index <= VaultIndex.maximumBoxCount,
      lengths.spine <= Spine.maximumBoxCount, lengths.head + lengths.index + lengths.spine <= log
    else { throw .damagedHead(path) }
    return lengths
  }
}

extension KeychainError {
  /// Returns the error for a damaged file.
  package static func damagedVault(_ path: String, _ reason: String) -> Self {
    Self(.damaged, "the vault \(path) is damaged: \(reason)", recovery: .restoreBackup)
  }

  static func damagedHead(_ path: String) -> Self { .damagedVault(path, "its head is damaged") }
}
