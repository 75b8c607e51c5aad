internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault

// What is reported if something is not there.
extension Session {
  /// That a credential is not there, with what a person may have meant: a vault that doesn't exist, a
  /// service that has another store than was chosen, or the same account elsewhere.
  func notFound(_ identity: CredentialIdentity) -> KeychainError {
    let failure = explainingMissingVault(.notFound(identity))
    guard failure.recovery == nil, let recovery = wayToWhatIsMeant(by: identity) else {
      return failure
    }
    return KeychainError(failure.code, failure.message, recovery: .advice(recovery))
  }

  /// That nothing has such attributes, with where to search for items of other programs if these may be meant.
  func nothingMatches(_ attributes: CredentialAttributes, mayBeOfOthers: Bool) -> KeychainError {
    let failure = explainingMissingVault(.nothingMatches(attributes))
    guard mayBeOfOthers, failure.recovery == nil, stores.leavesKeyringOut else { return failure }
    return KeychainError(
      failure.code, failure.message, recovery: .advice(StoreText.keyringLeftOut))
  }

  /// That something is not there; because the vault isn't that was named, where that is why.
  func explainingMissingVault(_ failure: KeychainError) -> KeychainError {
    guard let (absence, name) = missingNamedVault() else { return failure }
    return absence.hasFolder
      ? failure.explained(by: absence, named: name) : .noFolder(absence, named: name)
  }

  /// Calls `body` for a credential that must exist, and explains a failure if it does not.
  func expecting<Result>(
    _ identity: CredentialIdentity, _ body: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body()
    } catch {
      throw error.code == .notFound ? notFound(identity) : error
    }
  }

  /// Reports that the vault that was named doesn't exist, if that is so.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if not even its folder does.
  func reportMissingVault() throws(KeychainError) {
    guard let (absence, name) = missingNamedVault() else { return }
    guard absence.hasFolder else { throw .noFolder(absence, named: name) }
    interface.say(AbsenceText.missing(absence))
    interface.hint(AbsenceText.checkPath(of: name))
  }

  /// Hints at a mistake where the state of a vault is shown that was named and doesn't exist.
  func hintAtMissingVault() {
    guard let (_, name) = missingNamedVault() else { return }
    interface.hint(AbsenceText.checkPath(of: name))
  }

  /// How the vault is absent that somebody named and that is used, with what named it.
  ///
  /// The usual vault, or a host's, is absent until something is stored, which is no mistake.
  private func missingNamedVault() -> (VaultAbsence, name: String)? {
    guard let name = nameOfVault, stores.explicitPlace == .vault,
      let absence = try? vault.absence()
    else { return nil }
    return (absence, name)
  }

  private var nameOfVault: String? {
    if options.vault != nil { return "--vault" }
    return Environment.value("KEYCHAIN_VAULT") == nil ? nil : "KEYCHAIN_VAULT"
  }

  private func wayToWhatIsMeant(by identity: CredentialIdentity) -> String? {
    if let place = stores.placePassedOver(of: identity) {
      return StoreText.lookingElsewhere(place)
    }
    let found = elsewhere(identity.account)
    guard !found.isEmpty else {
      return accountResembling(identity).map { AbsenceText.resembling($0) }
    }
    return found.count <= Self.hintLimit
      ? AbsenceText.elsewhere(identity.account, found)
      : AbsenceText.elsewhereOften(identity.account)
  }

  /// The credentials of an account that can be read at once; a host searches its own service only.
  private func elsewhere(_ account: String) -> [CredentialIdentity] {
    let query = context.narrow(CredentialQuery(account: account))
    let found = stores.glance(query, .quick(limit: Self.hintLimit + 1))
    return found?.credentials.map(\.identity) ?? []
  }

  /// The account there that was probably meant, of those that can be read at once.
  private func accountResembling(_ identity: CredentialIdentity) -> String? {
    var query = CredentialQuery(accessGroup: identity.accessGroup)
    switch identity.kind {
    case .genericPassword(let service, _): query.service = service
    case .internetPassword(let password): query.server = password.server
    }
    let found = stores.glance(query, .quick(limit: Self.searchLimit))
    return found?.credentials.map(\.identity.account).resembling(identity.account)
  }

  /// A mistake is not looked for among more accounts.
  private static let searchLimit = 200

  /// More places are not worth their lines.
  private static let hintLimit = 3
}
