internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

extension MemberList {
  /// Reads a list; `nil` if it breaks the format or names what no writer makes.
  init?(_ bytes: RawSpan) {
    guard let list = try? Self.read(bytes), list.isPossible else { return nil }
    self = list
  }

  private static func read(_ bytes: RawSpan) throws(FieldReader.Malformed) -> MemberList {
    var reader = FieldReader()
    let id = VaultID(bytes: try reader.data(bytes, count: VaultID.count))
    let epoch: UInt64 = try reader.integer(bytes)
    let administration = try reader.data(bytes, count: 32)
    let administrationHash = try reader.data(bytes, count: 32)
    let serial: UInt64 = try reader.integer(bytes)
    let accepted: UInt64 = try reader.integer(bytes)
    let first: UInt64 = try reader.integer(bytes)
    let before = try reader.data(bytes, count: 32)
    let nextNumber: UInt32 = try reader.integer(bytes)
    guard let kind = VaultKind(rawValue: try reader.integer(bytes)) else {
      throw FieldReader.Malformed()
    }
    let successions = try reader.data(bytes, count: 32)
    let count: UInt32 = try reader.integer(bytes)
    guard count <= maximumCount else { throw FieldReader.Malformed() }
    var members: [Member] = []
    for _ in 0..<count {
      let member = try member(&reader, bytes)
      // Sorting must not hide a wrong order.
      guard member.number > members.last?.number ?? 0 else { throw FieldReader.Malformed() }
      members.append(member)
    }
    try reader.end(bytes)
    return MemberList(
      id: id, epoch: epoch, administration: administration,
      administrationHash: administrationHash, serial: serial, accepted: accepted, first: first,
      before: before, nextNumber: nextNumber, vaultKind: kind, successions: successions,
      members: members)
  }

  private static func member(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> Member {
    Member(
      number: try reader.integer(bytes), kindNumber: try reader.integer(bytes),
      grantNumber: try reader.integer(bytes), slotHash: try reader.data(bytes, count: 32),
      boxKey: try reader.data(bytes, count: 32),
      signingKey: try reader.optionalData(bytes, count: 32) ?? Data(),
      name: try reader.text(bytes))
  }

  /// Whether the lengths, numbers and combinations are those that the format allows.
  var isPossible: Bool {
    id.bytes.count == VaultID.count
      && [administration, administrationHash, before, successions].allSatisfy { $0.count == 32 }
      && 1...HeadIdentity.greatestEpoch ~= epoch && 1...Self.greatestSerial ~= serial
      && accepted <= serial && 1...Self.greatestFirst ~= first && members.count <= Self.maximumCount
      && members.allSatisfy { $0.number < nextNumber && isPossible($0) }
      && members.contains { $0.kind != nil && $0.grant == .administers }
      && members.count { $0.kind == .passphrase } <= Self.maximumPassphraseCount
      && isPossibleForKind
  }

  private func isPossible(_ member: Member) -> Bool {
    guard member.number > 0, member.slotHash.count == 32, member.boxKey.count == 32,
      [0, 32].contains(member.signingKey.count),
      member.name.utf8.count <= Member.maximumNameCount
    else { return false }
    // What an unknown kind or grant needs is not known either.
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
}

extension SlotKind {
  /// Whether a slot of this kind may have a grant in a vault of a kind.
  func mayHave(_ grant: SlotGrant, in kind: VaultKind) -> Bool {
    switch (kind, self, grant) {
    case (.local, _, .administers), (.local, .device, .openTier): true
    case (.shared, .recoveryCode, .administers): true
    case (.shared, .recipient, .administers), (.shared, .recipient, .readsAndWrites),
      (.shared, .recipient, .reads):
      true
    default: false
    }
  }
}
