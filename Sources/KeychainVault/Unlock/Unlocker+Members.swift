internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

// What needs more than tier keys, which the cache may hold: a member of the vault.
extension Unlocker {
  /// Opens the vault with a slot that administers, which only changes of members need.
  ///
  /// Its root key is never kept.
  func administrator(
    _ head: VaultHead, path: String, _ deadline: Deadline
  ) throws(KeychainError) -> SlotOpener {
    let opener = try member(head, path: path, deadline)
    guard opener.opened.root != nil else { throw .mayNotAdminister(opener.opened) }
    return opener
  }

  /// Returns the keys with what signs the states of a shared vault.
  ///
  /// The cache holds no key that signs, so a secret is presented again.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if the slot that it opens only
  ///   reads.
  func signingKeys(
    _ head: VaultHead, path: String, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    let opened = try member(head, path: path, deadline).opened
    guard opened.keys.signer != nil else { throw .mayNotWrite(opened) }
    if configuration.unlock != nil { held.hold(opened.keys) }
    return opened.keys
  }

  /// Returns all keys, from a secret that is presented now.
  ///
  /// They are not kept.
  func allKeys(
    _ head: VaultHead, path: String, _ deadline: Deadline
  ) throws(KeychainError) -> TierKeys {
    try member(head, path: path, deadline).opened.keys
  }

  /// Whether the identity at hand is pinned to a check, which a person has compared.
  func isPinned(to check: VaultCheck) throws(KeychainError) -> Bool {
    if let source = configuration.unlock {
      guard case .identityFile = source.kind else { return false }
      return try sources.present(source).pins.contains(check)
    }
    guard sources.ambient.first == .identityFile, let presented = try sources.presentAmbient()
    else { return false }
    return presented.pins.contains(check)
  }

  /// Opens the vault with a secret that is presented now, or with a device slot that administers.
  private func member(
    _ head: VaultHead, path: String, _ deadline: Deadline
  ) throws(KeychainError) -> SlotOpener {
    if let source = configuration.unlock {
      return try open(try present(source, deadline), head, path, deadline)
    }
    if let opener = try device.administrator(head) { return opener }
    if let presented = try sources.presentAmbient() {
      return try open(presented, head, path, deadline)
    }
    return try deadline.excluding { () throws(KeychainError) in try openedByAnswer(head, path) }
  }
}

extension KeychainError {
  fileprivate static func mayNotAdminister(_ opened: OpenedSlot) -> Self {
    Self(
      .refused, "\(opened.member.called) may not change who opens the vault",
      recovery: "open it with an identity that administers it, or with its recovery code: "
        + "\(.listSlots) shows which slots do")
  }

  static func mayNotWrite(_ opened: OpenedSlot) -> Self {
    Self(
      .refused, "\(opened.member.called) reads this shared vault, and may not write to it",
      recovery: "ask a member that administers it for a slot that reads and writes, with "
        + "\(.addSlot(.identity))")
  }
}

extension Member {
  /// The slot as messages call it, such as "slot 3 (alice)".
  var called: String { name.isEmpty ? "slot \(number)" : "slot \(number) (\(name))" }
}
