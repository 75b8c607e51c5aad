internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// Seals a key into a slot, and opens it again.
enum SlotSealing {
  static let saltCount = 32
  static let keyFileCounts = 32...65536

  /// Makes a slot that gives `granted` to whoever has the input key; `root` is for its mac.
  static func seal(
    _ input: borrowing SlotInput, number: UInt32, grant: SlotGrant,
    granted: borrowing SecretBytes, root: borrowing SecretBytes
  ) throws(KeychainError) -> SlotRow {
    let header = SlotRow.header(
      kind: input.kind, grant: grant, parameters: input.parameters, salt: input.salt)
    let wrappingKey = try Derivation.key(input.key, "pk1/slot.kek", header)
    let row = SlotRow(
      number: number, kind: input.kind, grant: grant, parameters: input.parameters,
      salt: input.salt, commitment: try Derivation.tag(input.key, "pk1/slot.commit", header),
      box: try Sealing.seal(granted, with: wrappingKey))
    return try row.authenticated(by: root)
  }

  /// Opens a slot.
  ///
  /// - Returns: The granted key, or `nil` if the input key is not the slot's.
  static func open(
    _ slot: SlotRow, inputKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    let header = slot.header
    let commitment = try Derivation.tag(inputKey, "pk1/slot.commit", header)
    guard ConstantTime.equal(commitment.bytes, slot.commitment.bytes) else { return nil }
    let wrappingKey = try Derivation.key(inputKey, "pk1/slot.kek", header)
    guard let granted = try Sealing.open(slot.box, with: wrappingKey), granted.count == 32 else {
      throw .damagedSlot(slot.number)
    }
    return granted
  }

  /// The input key of a passphrase slot.
  static func passphraseKey(
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

/// What a new slot is sealed under: computed before the vault is locked for writing, since a
/// password hash takes its time.
struct SlotInput: ~Copyable {
  let kind: SlotKind
  let parameters: Data
  let salt: Data
  let key: SecretBytes

  static func passphrase(
    _ passphrase: borrowing SecretBytes, _ parameters: PasswordHash.Parameters
  ) throws(KeychainError) -> SlotInput {
    let salt = try randomSalt()
    return SlotInput(
      kind: .passphrase, parameters: parameters.encoded, salt: salt,
      key: try SlotSealing.passphraseKey(passphrase, salt: salt, parameters: parameters))
  }

  static func keyFile(_ contents: borrowing SecretBytes) throws(KeychainError) -> SlotInput {
    SlotInput(
      kind: .keyFile, parameters: Data(), salt: try randomSalt(),
      key: try KeyFile.inputKey(contents))
  }

  static func device(_ device: DeviceSecret) throws(KeychainError) -> SlotInput {
    SlotInput(
      kind: .device, parameters: Data(), salt: try randomSalt(), key: try device.secret.copy())
  }

  static func recoveryCode(_ code: borrowing RecoveryCode) throws(KeychainError) -> SlotInput {
    try recoveryCode(bytes: code.bytes)
  }

  static func recoveryCode(bytes: borrowing SecretBytes) throws(KeychainError) -> SlotInput {
    let salt = try randomSalt()
    do throws(SecretsError) {
      return SlotInput(
        kind: .recoveryCode, parameters: Data(), salt: salt, key: try bytes.copy())
    } catch {
      throw KeychainError(error)
    }
  }

  static func randomSalt() throws(KeychainError) -> Data {
    do throws(SecretsError) {
      let salt = try SecretBytes.random(count: SlotSealing.saltCount)
      return Data(salt.withBytes { $0.array })
    } catch {
      throw KeychainError(error)
    }
  }
}

/// Boxes with the errors of this module.
enum Sealing {
  static func seal(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(try SecretBox.seal(message, with: key))
    } catch {
      throw KeychainError(error)
    }
  }

  /// Opens a box; `nil` if it was not sealed under this key or was changed.
  static func open(
    _ box: Data, with key: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try SecretBox.open(box.bytes, with: key)
    } catch {
      guard error.code == .authenticationFailed else { throw KeychainError(error) }
      return nil
    }
  }

  static func sealPadded(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(try SecretBox.seal(Padding.pad(message), with: key))
    } catch {
      throw KeychainError(error)
    }
  }

  /// Opens a box and takes the padding off; `nil` if either is not as the format says, or there are more
  /// bytes than `limit`.
  static func openPadded(
    _ box: Data, with key: borrowing SecretBytes, limit: Int
  ) throws(KeychainError) -> SecretBytes? {
    // A box that is too long is not given the memory to open it.
    guard box.count <= greatestBoxCount(limit: limit),
      let padded = try open(box, with: key)
    else { return nil }
    do throws(SecretsError) {
      let message = try Padding.unpad(padded)
      guard message.count <= limit else { return nil }
      return message
    } catch {
      guard error.code == .invalidLength else { throw KeychainError(error) }
      return nil
    }
  }

  /// The most bytes of a box that holds a padded message.
  static func greatestBoxCount(limit: Int) -> Int {
    SecretBox.overhead + Padding.paddedCount(for: limit)
  }
}
