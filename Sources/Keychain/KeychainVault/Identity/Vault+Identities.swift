internal import FoundationEssentials
internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesSystem

/// An identity file without its secret.
public struct IdentityDescription: Hashable, Sendable {
  /// The path of the file.
  public let path: String

  /// The public half of the identity.
  public let recipient: VaultRecipient

  /// The checks of the vaults that the identity may open; empty for any vault.
  public let pins: [VaultCheck]
}

extension Vault {
  /// Returns the default path of the user's identity: `$XDG_CONFIG_HOME/keychain/identity`.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if no home folder is known.
  public func defaultIdentityPath() throws(KeychainError) -> String {
    try Locations(environment: configuration.environment).configurationFolder() + "/identity"
  }

  /// Creates a new identity in its own file, which is closed to others.
  ///
  /// If this vault exists and was unlocked here before, the identity is pinned to it.
  ///
  /// - Parameter path: The path of the file, which must not exist.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if the file exists,
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it, or
  ///   ``KeychainError/Code/inputOutput``.
  public func createIdentity(at path: String) throws(KeychainError) -> IdentityDescription {
    let file = try IdentityWriting(path)
    // An identity is useful without a vault, so problems of this vault don't matter.
    let known = try? checkOfVaultHere(trustsOnFirstUse: false)
    let pins = known.map { [$0] } ?? []
    let recipient = try file.create(pins: pins, readers: secretFileReaders())
    return IdentityDescription(path: file.path, recipient: recipient, pins: pins)
  }

  /// Reads an identity file, and returns it without its secret.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` if it is not an
  ///   identity file, ``KeychainError/Code/unsupportedFormat`` if it has a line of a newer release,
  ///   ``KeychainError/Code/insecurePermissions`` if it is open to others, or
  ///   ``KeychainError/Code/inputOutput`` if it cannot be read.
  public func identity(at path: String) throws(KeychainError) -> IdentityDescription {
    let file = try configuration.identityFile(path, path)
    return IdentityDescription(path: path, recipient: file.identity.recipient, pins: file.pins)
  }

  /// Pins an identity to a vault, so that it opens only vaults to which it is pinned; returns the
  /// file without its secret.
  ///
  /// A person who gives a check has compared it. So if it is the check of this vault, a new
  /// administration key of the vault that was seen here is trusted from then on.
  ///
  /// - Parameters:
  ///   - path: The path of the identity file. Everything else in it stays.
  ///   - check: The check of the vault; `nil` for the check of this vault.
  ///   - replacing: Whether to remove all other pins.
  /// - Throws: As ``identity(at:)``; without `check`, ``KeychainError`` with
  ///   ``KeychainError/Code/noStore`` if there is no vault, or ``KeychainError/Code/rolledBack`` if
  ///   it is not the one that was seen here before.
  @discardableResult
  public func pinIdentity(
    at path: String, to check: VaultCheck? = nil, replacing: Bool = false
  ) throws(KeychainError) -> IdentityDescription {
    let pin: VaultCheck
    if let check { pin = check } else { pin = try checkOfVaultHere(trustsOnFirstUse: true) }
    let file = try IdentityWriting(path)
    try file.pin(
      pin, name: path, policy: configuration.secretFilePolicy, dropping: { _ in replacing })
    // The pin does not depend on the vault, whose problems appear when it is used.
    if check != nil { try? trustAdministrationKey(of: pin) }
    return try identity(at: path)
  }

  /// Returns the check of this vault, which must have been seen here unless it is trusted on first
  /// use.
  private func checkOfVaultHere(trustsOnFirstUse: Bool) throws(KeychainError) -> VaultCheck {
    let session = try existingSession()
    let (seen, head) = (session.opened.seen, session.head)
    for record in seen.records {
      guard try record.leads(to: head) else { throw .anotherVault(session.path) }
    }
    let isVouchedFor = try seen.vouches(for: head)
    guard trustsOnFirstUse || isVouchedFor else {
      throw KeychainError(.noStore, "the vault \(session.path) was never unlocked here")
    }
    return try head.check()
  }

  /// Lets the seen records trust a key whose check a person compared: not everybody can accept it
  /// otherwise.
  private func trustAdministrationKey(of check: VaultCheck) throws(KeychainError) {
    guard let session = try session(), try session.head.check() == check else { return }
    let head = session.head
    try session.opened.records.change(session.opened.seen) { record in
      guard head.id == record.id, !record.trusts(head.administration) else { return }
      record.nextAdministration = head.administration
    }
  }
}
