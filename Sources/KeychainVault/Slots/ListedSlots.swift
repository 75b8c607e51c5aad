package import KeychainCredentials
internal import KeychainVaultFormat

extension ListedSlot {
  /// Whether it opens everything and is for daily use, unlike a recovery code.
  var isDailyKey: Bool { kind != .device && kind != .recoveryCode }

  /// Whether a device secret alone opens everything with it.
  var isFullDevice: Bool { kind == .device && grant == .administers }
}

extension MemberList {
  /// Returns the rows of all listed slots.
  ///
  /// Fails if one is missing, damaged or another one than the list has, and if one is of a kind that
  /// this release does not know: it could not be carried.
  func rows(in head: VaultHead) throws(KeychainError) -> [ListedSlot] {
    if let unknown { throw .unknownMember(unknown) }
    var listed: [ListedSlot] = []
    for member in members {
      guard let slot = head.slots.first(where: { $0.number == member.number }) else {
        throw .damagedSlot(member.number)
      }
      listed.append(ListedSlot(slot: slot, member: member))
    }
    return listed
  }
}

extension [ListedSlot] {
  var hasPassphrase: Bool { contains { $0.kind == .passphrase } }

  /// Returns this device's slot if it must open everything because no daily key is left.
  ///
  /// - Parameters:
  ///   - ownSlot: The number of this device's slot.
  ///   - recovery: What to do if nothing would be left that opens the vault.
  /// - Returns: The slot, or `nil` if it stays unchanged.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if nothing would be left that
  ///   may administer the vault.
  func deviceToPromote(
    _ ownSlot: UInt32?, orElse recovery: KeychainError.Recovery
  ) throws(KeychainError) -> ListedSlot? {
    let isAdministered = contains { $0.kind != .device && $0.grant == .administers }
    guard !contains(where: \.isDailyKey) else {
      guard isAdministered else { throw .nobodyAdministers(recovery) }
      return nil
    }
    guard let own = first(where: { $0.number == ownSlot }) else {
      // Nobody knows here whether another device still has its secret.
      guard isAdministered else {
        throw KeychainError(.refused, "nothing else would open the vault", recovery: recovery)
      }
      return nil
    }
    return own.grant == .administers ? nil : own
  }
}

extension KeychainError {
  static let slotsChanged = KeychainError(
    .busy, "the slots changed meanwhile", recovery: .tryAgain)

  package static func noSlot(_ number: UInt32) -> Self {
    Self(.notFound, "the vault has no slot \(number)", recovery: .listSlots)
  }

  fileprivate static func nobodyAdministers(_ recovery: Recovery) -> Self {
    Self(.refused, "nobody would be left who administers the vault", recovery: recovery)
  }

  fileprivate static func unknownMember(_ member: Member) -> Self {
    Self(
      .unsupportedFormat,
      "\(member.called) is of a kind that this release does not know, so it cannot change who opens "
        + "the vault",
      recovery: "use the release that made it, or a newer one")
  }
}
