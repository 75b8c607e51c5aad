package import FoundationEssentials
package import KeychainSecrets

/// The secret of a new slot; it is computed before the vault is locked for writing, because a
/// password hash takes time.
package struct SlotInput: Sendable {
  package let kind: SlotKind
  var parameters = Data()
  let salt: Data
  let key: SharedSecret

  package static func passphrase(
    _ passphrase: borrowing SecretBytes, _ parameters: PasswordHash.Parameters
  ) throws(KeychainError) -> SlotInput {
    guard parameters.isSlotCost else {
      throw KeychainError(
        .invalidArgument, "a passphrase of a vault cannot have this cost",
        recovery: "choose 256 MiB and 3 passes, or 64 MiB and 2 passes")
    }
    let salt = try Data.random(count: 32)
    let key = try SlotSealing.passphraseKey(passphrase, salt: salt, parameters: parameters)
    return SlotInput(
      kind: .passphrase, parameters: parameters.encoded, salt: salt, key: SharedSecret(key))
  }

  package static func keyFile(_ contents: borrowing SecretBytes) throws(KeychainError) -> SlotInput
  {
    try SlotInput(.keyFile, KeyFile.inputKey(contents))
  }

  package static func device(_ device: DeviceSecret) throws(KeychainError) -> SlotInput {
    try SlotInput(.device, device.secret.copy())
  }

  package static func recoveryCode(_ code: borrowing RecoveryCode) throws(KeychainError)
    -> SlotInput
  {
    try SlotInput(.recoveryCode, code.bytes.copy())
  }
}

extension SlotInput {
  private init(_ kind: SlotKind, _ key: consuming SecretBytes) throws(KeychainError) {
    self.init(kind: kind, salt: try .random(count: 32), key: SharedSecret(key))
  }
}

/// Key files: 32 bytes to 64 KiB, all of which count.
package enum KeyFile {
  package static let counts = 32...65536

  package static func inputKey(_ contents: borrowing SecretBytes) throws(KeychainError)
    -> SecretBytes
  {
    try Blake2b.key(hashing: contents)
  }
}

/// The keys that a slot gives.
package struct GrantedKey: Sendable {
  package let grant: SlotGrant

  /// The root key, or that of T0, or those of all tiers in their order.
  let parts: [SharedSecret]

  /// Creates the part of a vault's keys that a grant gives.
  package init(_ grant: SlotGrant, root: SharedSecret, keys: TierKeys) throws(KeychainError) {
    self.grant = grant
    switch grant {
    case .administers: parts = [root]
    case .openTier: parts = [keys.open]
    case .readsAndWrites, .reads:
      guard let first = keys.first, let unlocked = keys.unlocked else {
        throw KeychainError(.internalFailure, "a slot was made without all keys")
      }
      parts = [keys.open, first, unlocked]
    }
  }

  /// Reads the keys at the beginning of a slot's contents.
  fileprivate init(_ grant: SlotGrant, in bytes: borrowing SecretBytes) throws(KeychainError) {
    var parts: [SharedSecret] = []
    for start in stride(from: 0, to: grant.keyCount, by: 32) {
      parts.append(SharedSecret(try bytes.copy(of: start..<start + 32)))
    }
    self.grant = grant
    self.parts = parts
  }

  /// The root key; `nil` if the slot does not give it.
  package var root: SharedSecret? { grant == .administers ? parts[0] : nil }
}

/// Seals keys into a slot, and opens it.
package enum SlotSealing {
  /// The contents of a slot, and the keys that opened it.
  package struct Opened: Sendable {
    package let granted: GrantedKey
    package let binding: Data
    package let keys: SlotKeys
  }

  /// Creates a slot that an input key opens.
  package static func seal(
    _ input: SlotInput, number: UInt32, granted: GrantedKey, head: HeadIdentity,
    name: String = ""
  ) throws(KeychainError) -> ListedSlot {
    var slot = SlotRow(
      number: number, kind: input.kind, grant: granted.grant, parameters: input.parameters,
      salt: input.salt, made: head.administration)
    let keys = try slot.keys(input.key.bytes, in: head.id)
    slot.commitment = try slot.commitment(to: input.key.bytes, in: head.id)
    return try listed(
      slot, granted, head, boxKey: keys.boxKey,
      signingKey: input.kind.signs ? try keys.signingKey() : Data(), name)
  }

  /// Creates a slot that a recipient's identity opens.
  package static func seal(
    to recipient: VaultRecipient, number: UInt32, granted: GrantedKey, head: HeadIdentity,
    name: String = ""
  ) throws(KeychainError) -> ListedSlot {
    var slot = SlotRow(
      number: number, kind: .recipient, grant: granted.grant, salt: try .random(count: 32),
      made: head.administration)
    slot.commitment = try slot.commitment(to: granted.parts[0].bytes, in: head.id)
    return try listed(
      slot, granted, head, boxKey: recipient.boxKey, signingKey: recipient.signingKey, name)
  }

  /// Gives new keys to a slot, which must be the one in the list of members; if its secret was
  /// presented, and gave `inputKey`, the slot names the present administration key.
  package static func reseal(
    _ old: SlotRow, of member: Member, granted: GrantedKey, head: HeadIdentity,
    inputKey: SharedSecret? = nil
  ) throws(KeychainError) -> ListedSlot {
    if let inputKey {
      let input = SlotInput(
        kind: old.kind, parameters: old.parameters, salt: old.salt, key: inputKey)
      return try seal(input, number: old.number, granted: granted, head: head, name: member.name)
    }
    var slot = old
    slot.grant = granted.grant
    // A recipient's slot has no secret, so it cannot name an older key.
    if slot.kind == .recipient {
      slot.made = head.administration
      slot.commitment = try slot.commitment(to: granted.parts[0].bytes, in: head.id)
    }
    return try listed(
      slot, granted, head, boxKey: member.boxKey, signingKey: member.signingKey, member.name)
  }

  private static func listed(
    _ slot: SlotRow, _ granted: GrantedKey, _ head: HeadIdentity, boxKey: Data,
    signingKey: Data, _ name: String
  ) throws(KeychainError) -> ListedSlot {
    var slot = slot
    slot.box = try box(granted, head.binding, to: boxKey)
    return ListedSlot(
      slot: slot,
      member: Member(
        number: slot.number, kindNumber: slot.kind.rawValue, grantNumber: slot.grant.rawValue,
        slotHash: try slot.hash(), boxKey: boxKey, signingKey: signingKey, name: name))
  }

  /// Opens a slot with the input key of its kind; `nil` if it needs another one.
  package static func open(
    _ slot: SlotRow, inputKey: borrowing SecretBytes, vault: VaultID
  ) throws(KeychainError) -> Opened? {
    let commitment = try slot.commitment(to: inputKey, in: vault)
    guard ConstantTime.equal(commitment.bytes, slot.commitment.bytes) else { return nil }
    guard let opened = try opened(slot, slot.keys(inputKey, in: vault)) else {
      throw .damagedSlot(slot.number)
    }
    return opened
  }

  /// Opens the slot of a recipient; `nil` if it belongs to another one.
  package static func open(
    _ slot: SlotRow, identity: borrowing VaultIdentity, vault: VaultID
  ) throws(KeychainError) -> Opened? {
    guard let opened = try opened(slot, identity.keys) else { return nil }
    let commitment = try slot.commitment(to: opened.granted.parts[0].bytes, in: vault)
    guard ConstantTime.equal(commitment.bytes, slot.commitment.bytes) else {
      throw .damagedSlot(slot.number)
    }
    return opened
  }

  private static func opened(_ slot: SlotRow, _ keys: SlotKeys) throws(KeychainError) -> Opened? {
    let count = slot.grant.keyCount
    guard let plaintext = try keys.open(slot.box),
      plaintext.count == count + HeadIdentity.bindingCount
    else { return nil }
    return Opened(
      granted: try GrantedKey(slot.grant, in: plaintext),
      binding: plaintext.withBytes { Data(copying: $0.extracting(count..<$0.byteCount)) },
      keys: keys)
  }

  private static func box(
    _ granted: GrantedKey, _ binding: Data, to boxKey: Data
  ) throws(KeychainError) -> Data {
    do throws(KeychainError) {
      var plaintext = try SecretBuffer()
      for part in granted.parts {
        try plaintext.append(part.bytes)
      }
      try plaintext.append(binding.bytes)
      return Data(try SealedBox.seal(plaintext.finish(), to: Array(boxKey)))
    } catch {
      guard error == .wrongLength else { throw error }
      throw KeychainError(
        .invalidArgument, "nothing can be sealed to the public key of that slot",
        recovery: "make an identity with \(.createIdentity)")
    }
  }

  package static func passphraseKey(
    _ passphrase: borrowing SecretBytes, salt: Data, parameters: PasswordHash.Parameters
  ) throws(KeychainError) -> SecretBytes {
    do throws(KeychainError) {
      return try PasswordHash.key(
        passphrase: passphrase, salt: Array(salt.prefix(PasswordHash.saltCount)),
        parameters: parameters)
    } catch {
      if error.code == .insufficientMemory { throw .passwordHashMemory(parameters) }
      guard [.wrongLength, .refusedParameters].contains(error) else { throw error }
      throw KeychainError(.damaged, "a passphrase slot of the vault asks for an absurd cost")
    }
  }
}

extension KeychainError {
  package static func damagedSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) of the vault is damaged",
      recovery: "another slot may open the vault; to change slots, restore a backup")
  }

  package static func strangeSlot(_ number: UInt32) -> Self {
    Self(
      .damaged,
      "slot \(number) of the vault opens, but to a key of another vault or an older epoch",
      recovery: .restoreBackup)
  }

  package static func passwordHashMemory(_ parameters: PasswordHash.Parameters) -> Self {
    Self(
      .insufficientMemory,
      "there is not enough memory to check the passphrase: \(parameters.memory >> 20) MiB are "
        + "needed",
      recovery:
        "free memory, or raise the limit of the container; or unlock with a key file, which needs "
        + "no more than any command: 32 random bytes, named by KEYCHAIN_KEY_FILE, or as "
        + "keychain.key in $CREDENTIALS_DIRECTORY")
  }
}
