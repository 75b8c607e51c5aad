internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Creates a vault that several members share.
  ///
  /// Identities open it, and one recovery code. Each member may administer, read and write, or only
  /// read; members sign what they write. No passphrase, key file or device secret opens it, and it
  /// has no items that are bound to a device.
  ///
  /// - Parameters:
  ///   - identityFile: The path of the identity file of the first member, who administers the vault.
  ///   - name: What people call this member: at most 256 bytes of UTF-8, which the vault encrypts.
  ///   - startingAnew: Whether an empty vault may replace one that was seen here and is gone.
  ///   - confirm: Receives the recovery code, shows it, and returns whether it was written down.
  /// - Throws: As ``create(passphrase:keyFile:identityFile:device:startingAnew:)``; ``KeychainError``
  ///   with ``KeychainError/Code/cancelled`` if `confirm` returns `false`, or what it throws. Nothing
  ///   is created then.
  public func createShared(
    identityFile: String, name: String = "", startingAnew: Bool = false,
    confirmingCode confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    guard name.utf8.count <= Member.maximumNameCount else {
      throw KeychainError(
        .invalidArgument, "the name of a slot has at most \(Member.maximumNameCount) bytes")
    }
    try requireNoVault(startingAnew: startingAnew)
    let identity = try identity(
      unlocker.sources.present(.identityFile(identityFile, named: "the identity file")))
    let code = try Self.confirmedCode(confirm)
    let epoch = try VaultEpoch(signer: identity.keys.signer(1))
    let slots = [
      try epoch.seal(to: identity.recipient, number: 1, name: name),
      try epoch.seal(code, number: 2),
    ]
    guard try create(epoch, kind: .shared, slots, hasDeviceSlot: false) else {
      throw .madeMeanwhile(try path())
    }
  }

  /// Makes a recovery code that a person confirms.
  static func confirmedCode(
    _ confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> SlotInput {
    let code = try RecoveryCode.random()
    guard try confirm(code) else {
      throw KeychainError(.cancelled, "the recovery code was not confirmed; nothing was changed")
    }
    return try SlotInput.recoveryCode(code)
  }
}
