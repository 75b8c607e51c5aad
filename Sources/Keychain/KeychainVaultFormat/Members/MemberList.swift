package import FoundationEssentials
package import KeychainSecrets

/// Whether a vault has one user, or members who share it.
@nonexhaustive public enum VaultKind: UInt8, Hashable, Sendable, CaseIterable {
  /// A vault of one user. Everybody with the key of a tier can change its items.
  case local = 0

  /// A vault of several members, who sign their changes.
  case shared = 1
}

/// The list of everything that opens a vault, signed by the administration key.
package struct MemberList: Hashable, Sendable {
  package let id: VaultID
  package private(set) var epoch: UInt64
  package private(set) var administration: Data

  /// The hash of the box of the administration key.
  private(set) var administrationHash: Data

  /// The number of this list, counted through all epochs.
  package private(set) var serial: UInt64

  /// The serial of the newest list that accepted a restored file; 0 if there was none.
  package private(set) var accepted: UInt64

  /// The number of the base that brought this list.
  package private(set) var first: UInt64

  /// The digest of the commit before ``first``.
  package private(set) var before: Data

  /// The number of the next slot.
  package var nextNumber: UInt32
  package let vaultKind: VaultKind

  /// The hash of all successions.
  private(set) var successions: Data

  /// The slots, in the order of their numbers.
  package var members: [Member]

  static let label = "pk3/members"
  package static let maximumCount = 32
  package static let maximumPassphraseCount = 8
  package static let greatestSerial: UInt64 = 1 << 48

  /// More commits than any vault has, so that adding numbers cannot overflow.
  package static let greatestFirst: UInt64 = 1 << 62

  /// How far the numbers of commits under a list go above its first one.
  private static let numbersCount: UInt64 = 1 << 40
  static let greatestNumber = greatestFirst + numbersCount

  /// The maximum by which a number that was seen may exceed the file's.
  ///
  /// A removed administrator can choose the numbers of a list, and must not use up those of the
  /// vault.
  private static let greatestStep: UInt64 = 1 << 20

  /// Returns the serial or epoch after both the file's, which is not the greatest, and the seen
  /// one.
  ///
  /// A seen one that is too far above the file's is ignored.
  package static func number(after file: UInt64, seen: UInt64, greatest: UInt64) -> UInt64 {
    let isNear = seen > file && seen - file <= greatestStep && seen < greatest
    return (isNear ? seen : file) + 1
  }

  /// Returns the list after this one, with the base `first` after the digest `before`.
  ///
  /// To accept a restored file, `seen` is the serial that was seen.
  ///
  /// This list is damaged if one of its numbers is the greatest one.
  package func next(
    first: UInt64, before: Data, accepting seen: UInt64? = nil
  ) throws(KeychainError) -> MemberList {
    guard serial < Self.greatestSerial, first <= Self.greatestFirst else {
      throw KeychainError(
        .damaged, "the vault has had the maximum number of changes of what opens it",
        recovery: .restoreBackup)
    }
    var next = self
    (next.first, next.before) = (first, before)
    next.serial = Self.number(after: serial, seen: seen ?? 0, greatest: Self.greatestSerial)
    if seen != nil { next.accepted = next.serial }
    return next
  }

  /// Returns the list with the slots, keys and successions of a head.
  package func of(
    _ head: HeadIdentity, _ slots: [ListedSlot], administrationBox: Data, successions: [Data]
  ) throws(KeychainError) -> MemberList {
    var new = self
    (new.epoch, new.administration) = (head.epoch, head.administration)
    new.administrationHash = try Derivation.hash(administrationBox)
    new.successions = try Succession.hash(of: successions)
    new.members = slots.map(\.member).sorted { $0.number < $1.number }
    new.nextNumber = max(nextNumber, (new.members.last?.number ?? 0) + 1)
    return new
  }

  /// The numbers allowed for commits under this list.
  package var numbers: ClosedRange<UInt64> {
    let first = min(first, Self.greatestFirst)
    return first...(first + Self.numbersCount)
  }

  package func member(_ number: UInt32) -> Member? { members.first { $0.number == number } }

  /// A slot whose kind or grant is unknown to this release, so that it can't be kept.
  package var unknown: Member? { members.first { $0.kind == nil || $0.grant == nil } }

  package var hasPassphrase: Bool { members.contains { $0.kind == .passphrase } }

  package var cutsDevices: Bool { members.contains { $0.kind?.cutsDevices ?? false } }

  /// The signing key of the recovery code with the lowest number, which signs successions.
  package var recoveryKey: Data? { members.first { $0.kind == .recoveryCode }?.signingKey }

  /// `L`: the hash of the list.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash("pk3/list", fields) }

  /// The bytes that the administration key signs.
  package var fields: [UInt8] {
    FieldWriter.fields(capacity: 1024) {
      $0.append(id.bytes)
      $0.integer(epoch)
      $0.append(administration)
      $0.append(administrationHash)
      for number in [serial, accepted, first] { $0.integer(number) }
      $0.append(before)
      $0.integer(nextNumber)
      $0.integer(vaultKind.rawValue)
      $0.append(successions)
      $0.list(members) { writer, member in
        writer.append(member.start)
        writer.append(member.slotHash)
        writer.append(member.boxKey)
        writer.optional(member.signingKey.isEmpty ? nil : member.signingKey) { $0.append($1) }
        writer.text(member.name)
      }
    }
  }
}

extension MemberList {
  /// Creates the first list of a vault; ``of(_:_:administrationBox:successions:)`` adds the slots.
  package init(first head: HeadIdentity, _ kind: VaultKind, before: Data) {
    self.init(
      id: head.id, epoch: head.epoch, administration: head.administration,
      administrationHash: Data(), serial: 1, accepted: 0, first: 1, before: before, nextNumber: 1,
      vaultKind: kind, successions: Data(), members: [])
  }

  /// Reads a list; `nil` if it breaks the format, or has contents that no writer makes.
  init?(_ bytes: RawSpan) {
    guard let list = try? Self.read(bytes), list.isPossible else { return nil }
    self = list
  }

  private static func read(_ bytes: RawSpan) throws(FieldReader.Malformed) -> MemberList {
    var reader = FieldReader()
    let list = MemberList(
      id: VaultID(bytes: try reader.data(bytes, count: VaultID.count)),
      epoch: try reader.integer(bytes), administration: try reader.data(bytes, count: 32),
      administrationHash: try reader.data(bytes, count: 32), serial: try reader.integer(bytes),
      accepted: try reader.integer(bytes), first: try reader.integer(bytes),
      before: try reader.data(bytes, count: 32), nextNumber: try reader.integer(bytes),
      vaultKind: try reader.value(bytes), successions: try reader.data(bytes, count: 32),
      members: try reader.list(bytes, ofSize: 75) {
        reader, bytes throws(FieldReader.Malformed) in
        Member(
          number: try reader.integer(bytes), kindNumber: try reader.integer(bytes),
          grantNumber: try reader.integer(bytes), slotHash: try reader.data(bytes, count: 32),
          boxKey: try reader.data(bytes, count: 32),
          signingKey: try reader.optionalData(bytes, count: 32) ?? Data(),
          name: try reader.text(bytes))
      })
    try reader.end(bytes)
    return list
  }

  /// Whether the format allows the numbers and combinations.
  var isPossible: Bool {
    1...HeadIdentity.greatestEpoch ~= epoch && 1...Self.greatestSerial ~= serial
      && accepted <= serial && 1...Self.greatestFirst ~= first && members.count <= Self.maximumCount
      && zip(members, members.dropFirst()).allSatisfy { $0.number < $1.number }
      && members.allSatisfy { $0.number > 0 && $0.number < nextNumber && isPossible($0) }
      && members.contains { $0.kind != nil && $0.grant == .administers }
      && members.count { $0.kind == .passphrase } <= Self.maximumPassphraseCount
      && isPossibleForKind
  }

  private func isPossible(_ member: Member) -> Bool {
    guard member.name.utf8.count <= Member.maximumNameCount else { return false }
    // The rules for unknown kinds and grants are unknown, too.
    guard let kind = member.kind, let grant = member.grant else { return true }
    return SealedBox.isPublicKey(Array(member.boxKey))
      && (kind.signs
        ? Signature.isPublicKey(Array(member.signingKey)) : member.signingKey.isEmpty)
      && kind.mayHave(grant, in: vaultKind)
  }

  private var isPossibleForKind: Bool {
    switch vaultKind {
    case .local:
      !(cutsDevices && members.contains { $0.kind == .device && $0.grant == .administers })
    case .shared: members.count { $0.kind == .recoveryCode } <= 1
    }
  }

  /// Signs and seals the list for the head.
  package func sealed(by key: AdministrationKey, _ keys: TierKeys) throws(KeychainError) -> Data {
    guard isPossible, administration == key.publicKey else {
      throw KeychainError(.internalFailure, "a list of members was made that no reader accepts")
    }
    let signature = try key.sign(fields, label: Self.label)
    return try Sealing.seal(fields: fields + signature, with: keys.boxKey(Self.label).bytes)
  }

  /// Returns the entry of an opened slot; fails unless the list has it with the keys that opened
  /// it.
  package func requireListed(
    _ slot: SlotRow, openedBy keys: SlotKeys
  ) throws(KeychainError) -> Member {
    let signingKey = slot.kind.signs ? try keys.signingKey() : Data()
    guard let member = member(slot.number), member.boxKey == keys.boxKey,
      member.signingKey == signingKey
    else { throw .unlistedSlot(slot.number) }
    return member
  }
}

extension SlotKind {
  /// Whether a slot of this kind may have a grant in a kind of vault.
  func mayHave(_ grant: SlotGrant, in kind: VaultKind) -> Bool {
    switch (kind, self, grant) {
    case (.local, _, .administers), (.local, .device, .openTier),
      (.shared, .recoveryCode, .administers):
      true
    case (.shared, .recipient, let grant): grant != .openTier
    default: false
    }
  }
}

extension KeychainError {
  package static func damagedMembers(_ reason: String) -> Self {
    Self(.damaged, "the list of members is damaged: \(reason)", recovery: .restoreBackup)
  }

  package static func unlistedSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) opens nothing: the vault's signed list of members does not have it",
      recovery: "somebody put it into the file; restore a backup from before")
  }
}

/// The key that signs the list of members; it changes when an administrator leaves.
package struct AdministrationKey: Sendable {
  private let seed: SharedSecret
  package let publicKey: Data

  init(seed: consuming SecretBytes) throws(KeychainError) {
    publicKey = try Data(Signature.publicKey(of: seed))
    self.seed = SharedSecret(seed)
  }

  package static func random() throws(KeychainError) -> AdministrationKey {
    try AdministrationKey(seed: SecretBytes.random(count: Signature.seedCount))
  }

  /// Opens the box of the seed with the root key; fails if it is damaged or is not of the key
  /// `expected`.
  package init(box: Data, root: borrowing SecretBytes, expected: Data) throws(KeychainError) {
    let key = try Derivation.key(root, "pk3/admin")
    guard let seed = try Sealing.open(box, with: key), seed.count == Signature.seedCount else {
      throw .damagedMembers("its administration key does not open")
    }
    try self.init(seed: seed)
    guard publicKey == expected else {
      throw .damagedMembers("its administration key is another one than its head names")
    }
  }

  /// Seals the seed under a root key.
  package func sealed(under root: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Sealing.seal(seed.bytes, with: try Derivation.key(root, "pk3/admin"))
  }

  package func sign(_ message: [UInt8], label: String) throws(KeychainError) -> Data {
    try Signing.sign(message, label: label, seed: seed.bytes)
  }
}

/// A change of the administration key, because an administrator who left knows the old key; it is
/// signed by the recovery code that opened the vault.
package struct Succession: Hashable, Sendable {
  /// The epoch of the new key.
  package let epoch: UInt64
  package let oldKey: Data
  package let newKey: Data

  /// The hash of the last list under the old key.
  package let lastList: Data

  package let recoveryKey: Data

  private let id: VaultID
  private var signature = Data()

  private static let label = "pk3/succession"
  private static let bodyCount = VaultID.count + 8 + 4 * 32

  /// Creates a succession, signed by the recovery code.
  package init(
    id: VaultID, epoch: UInt64, oldKey: Data, newKey: Data, lastList: Data, recovery: CommitSigner
  ) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.oldKey = oldKey
    self.newKey = newKey
    self.lastList = lastList
    recoveryKey = try recovery.publicKey()
    signature = try recovery.sign(Data(copying: body), label: Self.label)
  }

  /// Reads a succession of a vault; fails if it breaks the format.
  package init(_ bytes: Data, of id: VaultID) throws(KeychainError) {
    let bytes = bytes.bytes
    var reader = FieldReader()
    do throws(FieldReader.Malformed) {
      self.id = VaultID(bytes: try reader.data(bytes, count: VaultID.count))
      epoch = try reader.integer(bytes)
      oldKey = try reader.data(bytes, count: 32)
      newKey = try reader.data(bytes, count: 32)
      lastList = try reader.data(bytes, count: 32)
      recoveryKey = try reader.data(bytes, count: 32)
      signature = try reader.data(bytes, count: Signature.count)
      try reader.end(bytes)
      guard self.id == id, 1...HeadIdentity.greatestEpoch ~= epoch else {
        throw FieldReader.Malformed()
      }
    } catch { throw .damagedMembers("a succession of its administration key breaks the format") }
  }

  private var body: [UInt8] {
    FieldWriter.fields {
      $0.append(id.bytes)
      $0.integer(epoch)
      for field in [oldKey, newKey, lastList, recoveryKey] { $0.append(field) }
    }
  }

  /// The record as the head contains it.
  package var encoded: Data { Data(copying: body) + signature }

  /// Whether the trusted recovery code, by its signing key, signed it; `false` if no code is
  /// trusted.
  package func isFollowed(trustingRecovery recovery: Data?) -> Bool {
    recovery == recoveryKey
      && Signing.isRight(signature, of: body, label: Self.label, publicKey: recoveryKey)
  }

  package static func hash(of records: [Data]) throws(KeychainError) -> Data {
    try Derivation.hash(
      "pk3/successions", FieldWriter.fields { for record in records { $0.byteString(record) } })
  }

  /// Whether valid successions lead from a trusted administration key to the head's.
  package static func lead(
    from isTrusted: (Data) -> Bool, in records: [Data], to head: HeadIdentity,
    trustingRecovery recovery: Data?
  ) throws(KeychainError) -> Bool {
    var reached: Data?
    for record in records {
      let succession = try Succession(record, of: head.id)
      guard succession.oldKey == reached || isTrusted(succession.oldKey),
        succession.isFollowed(trustingRecovery: recovery)
      else { continue }
      if succession.newKey == head.administration { return true }
      reached = succession.newKey
    }
    return false
  }

  /// Fails unless the records are of the head's vault, in the order of rising epochs.
  static func requireOrder(_ records: [Data], _ head: HeadIdentity) throws(KeychainError) {
    var last: UInt64 = 0
    for record in records {
      let succession = try Succession(record, of: head.id)
      guard succession.epoch > last, succession.epoch <= head.epoch else {
        throw .damagedMembers("its successions do not follow each other")
      }
      last = succession.epoch
    }
  }
}
