package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// Seals keys into a slot, and opens it.
package enum SlotSealing {
  package static let saltCount = 32

  /// A new slot with its entry for the list of members.
  package struct Sealed: Hashable, Sendable {
    package let slot: SlotRow
    package let member: Member

    package init(slot: SlotRow, member: Member) {
      self.slot = slot
      self.member = member
    }
  }

  /// What a slot gave, and the keys that opened it.
  package struct Opened: Sendable {
    package let granted: GrantedKey
    package let binding: KeyBinding
    package let keys: SlotKeys
  }

  /// Creates a slot that gives keys of a head's vault to whoever has the input key.
  package static func seal(
    _ input: SlotInput, number: UInt32, grant: SlotGrant, granted: GrantedKey,
    head: HeadIdentity, name: String = ""
  ) throws(KeychainError) -> Sealed {
    let vault = head.id
    let header = SlotHeader(
      number: number, kind: input.kind, parameters: input.parameters, salt: input.salt,
      made: head.administration)
    let keys = try header.keys(input.key.bytes, in: vault)
    let slot = SlotRow(
      header: header, grant: grant,
      commitment: try Derivation.tag(input.key.bytes, "pk3/slot.commit", header.fields(in: vault)),
      box: try box(granted, head.binding, to: keys.boxKey))
    return Sealed(
      slot: slot,
      member: try Member(
        slot, boxKey: keys.boxKey, signingKey: input.kind.signs ? try keys.signingKey() : Data(),
        name: name))
  }

  /// Creates a slot that gives keys of a head's vault to whoever has a recipient's identity.
  package static func seal(
    to recipient: VaultRecipient, number: UInt32, grant: SlotGrant, granted: GrantedKey,
    head: HeadIdentity, name: String = ""
  ) throws(KeychainError) -> Sealed {
    let vault = head.id
    let header = SlotHeader(
      number: number, kind: .recipient, parameters: Data(), salt: try SlotInput.randomSalt(),
      made: head.administration)
    let slot = SlotRow(
      header: header, grant: grant, commitment: try commitment(to: granted, header, vault),
      box: try box(granted, head.binding, to: recipient.boxKey))
    return Sealed(
      slot: slot,
      member: try Member(
        slot, boxKey: recipient.boxKey, signingKey: recipient.signingKey, name: name))
  }

  /// Gives new keys to a listed slot, without the secret that opens it.
  ///
  /// The slot must be the one that the list of members has: anybody who can write the file can put a
  /// slot there.
  package static func reseal(
    _ slot: SlotRow, of member: Member, grant: SlotGrant, granted: GrantedKey, head: HeadIdentity
  ) throws(KeychainError) -> Sealed {
    let vault = head.id
    var header = slot.header
    // A recipient has no secret in which an older key could be named.
    if slot.kind == .recipient { header.made = head.administration }
    let new = SlotRow(
      header: header, grant: grant,
      commitment: slot.kind.hasInputKey
        ? slot.commitment : try commitment(to: granted, header, vault),
      box: try box(granted, head.binding, to: member.boxKey))
    return Sealed(
      slot: new,
      member: try Member(
        new, boxKey: member.boxKey, signingKey: member.signingKey, name: member.name))
  }

  /// Opens a slot with the input key of its kind.
  ///
  /// - Returns: What it gave, or `nil` if the slot needs another input key.
  package static func open(
    _ slot: SlotRow, inputKey: borrowing SecretBytes, vault: VaultID
  ) throws(KeychainError) -> Opened? {
    let header = slot.header
    let commitment = try Derivation.tag(
      inputKey, "pk3/slot.commit", header.fields(in: vault))
    guard ConstantTime.equal(commitment.bytes, slot.commitment.bytes) else { return nil }
    let keys = try header.keys(inputKey, in: vault)
    guard let opened = try opened(slot, keys) else { throw .damagedSlot(slot.number) }
    return opened
  }

  /// Opens the slot of a recipient.
  ///
  /// - Returns: What it gave, or `nil` if the box is another recipient's.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if its key is not the committed
  ///   one.
  package static func open(
    _ slot: SlotRow, identity: borrowing VaultIdentity, vault: VaultID
  ) throws(KeychainError) -> Opened? {
    guard let opened = try opened(slot, identity.keys) else { return nil }
    let commitment = try commitment(to: opened.granted, slot.header, vault)
    guard ConstantTime.equal(commitment.bytes, slot.commitment.bytes) else {
      throw .damagedSlot(slot.number)
    }
    return opened
  }

  private static func opened(
    _ slot: SlotRow, _ keys: SlotKeys
  ) throws(KeychainError) -> Opened? {
    let count = slot.grant.keyCount
    guard let plaintext = try keys.open(slot.box), plaintext.count == count + KeyBinding.count
    else { return nil }
    return try translating { () throws(SecretsError) in
      try plaintext.withBytes { bytes throws(SecretsError) in
        Opened(
          granted: try GrantedKey(slot.grant, bytes),
          binding: KeyBinding(
            bytes: Data(bytes.extracting(count..<count + KeyBinding.count).array)),
          keys: keys)
      }
    }
  }

  private static func commitment(
    to granted: GrantedKey, _ header: SlotHeader, _ vault: VaultID
  ) throws(KeychainError) -> Data {
    try Derivation.tag(granted.parts[0].bytes, "pk3/slot.commit", header.fields(in: vault))
  }

  private static func box(
    _ granted: GrantedKey, _ binding: KeyBinding, to boxKey: Data
  ) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      var plaintext = try SecretBuffer()
      for part in granted.parts {
        try part.bytes.withBytes { bytes throws(SecretsError) in try plaintext.append(bytes) }
      }
      for byte in binding.bytes { try plaintext.append(byte) }
      return Data(try SealedBox.seal(plaintext.finish(), to: Array(boxKey)))
    } catch {
      guard error.code == .invalidLength else { throw KeychainError(error) }
      throw KeychainError(
        .invalidArgument, "nothing can be sealed to the public key of that slot",
        recovery: "make an identity with \(.createIdentity)")
    }
  }

  /// Returns the input key of a passphrase slot.
  package static func passphraseKey(
    _ passphrase: borrowing SecretBytes, salt: Data, parameters: PasswordHash.Parameters
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try PasswordHash.key(
        passphrase: passphrase, salt: Array(salt.prefix(PasswordHash.saltCount)),
        parameters: parameters)
    } catch {
      switch error.code {
      case .outOfMemory: throw .passwordHashMemory(parameters)
      case .refusedParameters, .invalidLength:
        throw KeychainError(.damaged, "a passphrase slot of the vault asks for an absurd cost")
      default: throw KeychainError(error)
      }
    }
  }
}
