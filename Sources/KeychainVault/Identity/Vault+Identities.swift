internal import Foundation
internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesFiles

/// What an identity file tells without its secret.
public struct IdentityDescription: Hashable, Sendable {
  /// The path of the file.
  public let path: String

  /// The public half of the identity.
  public let recipient: VaultRecipient

  /// The checks of the vaults that the identity may open; none means any vault.
  public let pins: [VaultCheck]
}

extension Vault {
  /// Returns where the identity of the user lies if no place is named:
  /// `$XDG_CONFIG_HOME/keychain/identity`.
  ///
  /// - Returns: The path, whether there is a file or not.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if no home folder is known.
  public func defaultIdentityPath() throws(KeychainError) -> String {
    try Locations(environment: configuration.environment).configurationFolder() + "/identity"
  }

  /// Makes a new identity, in a file of its own that is closed to others.
  ///
  /// If this vault is there, and was seen here before, the identity is pinned to it.
  ///
  /// - Parameter path: The path of the file, which must not be there.
  /// - Returns: What is in the file.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a file,
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it, or
  ///   ``KeychainError/Code/inputOutput``.
  public func createIdentity(at path: String) throws(KeychainError) -> IdentityDescription {
    let file = try IdentityWriting(path)
    // An identity is of use without any vault, whatever is the matter with this one.
    let known = try? checkOfVaultHere(firstSight: false)
    let pins = known.map { [$0] } ?? []
    let recipient = try file.create(pins: pins)
    return IdentityDescription(path: file.path, recipient: recipient, pins: pins)
  }

  /// Reads what an identity file tells without its secret.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: What is in it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if it is no identity file,
  ///   ``KeychainError/Code/insecurePermissions`` if it is open to others, or
  ///   ``KeychainError/Code/inputOutput`` if it cannot be read.
  public func identity(at path: String) throws(KeychainError) -> IdentityDescription {
    let file = try unlocker.sources.identityFile(path, path)
    return IdentityDescription(path: path, recipient: file.identity.recipient, pins: file.pins)
  }

  /// Pins an identity to a vault: it then opens no vault to which it is not pinned.
  ///
  /// - Parameters:
  ///   - path: The path of the identity file. Everything else in it stays as it is.
  ///   - check: The check of the vault; `nil` for that of this vault as it lies here.
  ///   - replacing: Whether all other pins go.
  /// - Returns: What is in the file now.
  /// - Throws: As ``identity(at:)``; without `check`, ``KeychainError`` with
  ///   ``KeychainError/Code/noStore`` if there is no vault, or ``KeychainError/Code/rolledBack`` if it is not
  ///   the one that was seen here before.
  @discardableResult
  public func pinIdentity(
    at path: String, to check: VaultCheck? = nil, replacing: Bool = false
  ) throws(KeychainError) -> IdentityDescription {
    let pin: VaultCheck
    if let check { pin = check } else { pin = try checkOfVaultHere(firstSight: true) }
    let file = try IdentityWriting(path)
    let text = try SecretFile.named(path, name: path, policy: nil)
    try file.replace(text, pin: pin, dropping: { _ in replacing })
    return try identity(at: path)
  }

  /// The check of this vault; one that was never seen here before is believed only at `firstSight`.
  private func checkOfVaultHere(firstSight: Bool) throws(KeychainError) -> VaultCheck {
    let session = try existingSession()
    let check = try session.readHead().row.checks.open
    if let record = session.opened.seen.record {
      guard record.checks.contains(check) else { throw .anotherVault(session.opened.path) }
    } else if !firstSight {
      throw KeychainError(.noStore, "the vault \(session.opened.path) was never seen here")
    }
    return VaultCheck(bytes: check)
  }
}
