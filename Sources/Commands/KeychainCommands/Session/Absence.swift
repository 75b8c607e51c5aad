internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

// The errors and hints for something that does not exist.
extension Session {
  /// Returns the error for a missing credential; it mentions what the person may have meant: a
  /// missing vault, a service in another store, or the same account elsewhere.
  func notFound(_ identity: CredentialIdentity) -> KeychainError {
    let failure = explainingMissingVault(.notFound(identity))
    guard failure.recovery == nil, let recovery = wayToWhatIsMeant(by: identity) else {
      return failure
    }
    return KeychainError(failure.code, failure.message, recovery: .advice(recovery))
  }

  /// Returns the error if no item has the attributes, and explains how to search other programs'
  /// items if they may be meant.
  func nothingMatches(_ attributes: CredentialAttributes, mayBeOfOthers: Bool) -> KeychainError {
    let failure = explainingMissingVault(.nothingMatches(attributes))
    guard mayBeOfOthers, failure.recovery == nil, leavesKeyringOut else { return failure }
    return KeychainError(failure.code, failure.message, recovery: .advice(StoreText.keyringLeftOut))
  }

  /// Adds to a failure that the given vault does not exist.
  func explainingMissingVault(_ failure: KeychainError) -> KeychainError {
    guard let (absence, name) = missingNamedVault() else { return failure }
    return absence.hasFolder
      ? failure.explained(by: absence, named: name) : .noFolder(absence, named: name)
  }

  /// Calls `body` for a credential that must exist, and explains the error if it does not.
  func expecting<Result>(
    _ identity: CredentialIdentity, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as KeychainError {
      throw error.code == .notFound ? notFound(identity) : error
    }
  }

  /// Throws if the given vault does not exist.
  func reportMissingVault() throws {
    guard let (absence, name) = missingNamedVault() else { return }
    guard absence.hasFolder else { throw KeychainError.noFolder(absence, named: name) }
    interface.say(AbsenceText.missing(absence))
    interface.hint(AbsenceText.checkPath(of: name))
  }

  /// Hints at a possible mistake if the given vault does not exist.
  func hintAtMissingVault() {
    guard let (_, name) = missingNamedVault() else { return }
    interface.hint(AbsenceText.checkPath(of: name))
  }

  /// Returns how the given vault is missing, and the option or variable that names it.
  ///
  /// The default vault, or a host's, may be missing until something is stored.
  private func missingNamedVault() -> (VaultAbsence, name: String)? {
    guard let name = nameOfVault, let builtIn, builtIn.explicitPlace == .vault,
      let absence = try? builtIn.vault.absence()
    else { return nil }
    return (absence, name)
  }

  private var nameOfVault: String? {
    if options.vault != nil { return "--vault" }
    return environment.isSet("KEYCHAIN_VAULT") ? "KEYCHAIN_VAULT" : nil
  }

  private func wayToWhatIsMeant(by identity: CredentialIdentity) -> String? {
    if CredentialReference.isReference(identity.account) {
      return AbsenceText.reference(identity.account)
    }
    if let place = builtIn?.placePassedOver(of: identity) {
      return StoreText.lookingElsewhere(place)
    }
    let found = elsewhere(identity.account)
    guard !found.isEmpty else {
      return accountResembling(identity).map {
        AbsenceText.resembling($0, insteadOf: identity.account)
      }
    }
    return found.count <= Self.hintLimit
      ? AbsenceText.elsewhere(identity.account, found)
      : AbsenceText.elsewhereOften(identity.account)
  }

  /// Returns the readable credentials of an account; a host searches only its own service.
  private func elsewhere(_ account: String) -> [CredentialIdentity] {
    let query = context.narrow(CredentialQuery(account: account))
    let found = glance(query)
    return found?.credentials.map(\.identity) ?? []
  }

  /// Returns the readable account of the service that is most similar to the given one.
  private func accountResembling(_ identity: CredentialIdentity) -> String? {
    var query = ServiceName(identity).query
    query.accessGroup = identity.accessGroup
    let found = glance(query)?.credentials.prefix(Self.searchLimit) ?? []
    return found.map(\.identity.account).resembling(identity.account)
  }

  /// Beyond this number, similar accounts are not searched for.
  private static let searchLimit = 200

  /// Hints list at most this many places.
  private static let hintLimit = 3
}

enum AbsenceText {
  static func missing(_ absence: VaultAbsence) -> String {
    "the vault '\(absence.path)' does not exist"
  }

  static func checkPath(of vaultName: String) -> String {
    "check the path that \(vaultName) gives"
  }

  /// Lists where else an account exists, as options.
  static func elsewhere(_ account: String, _ identities: [CredentialIdentity]) -> String {
    let places = identities.map { identity in
      "with " + identity.options.map(ShellText.quoted).joined(separator: " ")
    }
    return "\(ShellText.quoted(account)) exists " + places.joined(separator: ", and ")
  }

  static func reference(_ text: String) -> String {
    "a reference is read with '\(KeychainCommandContext.current.commandPath) read "
      + "\(ShellText.quoted(text))'"
  }

  /// Names the account that the person may have meant.
  static func resembling(_ account: String, insteadOf word: String) -> String {
    "did you mean \(ShellText.quoted(account))\(Words.lookAlike(account, word))?"
  }

  static func elsewhereOften(_ account: String) -> String {
    "\(ShellText.quoted(account)) exists in several other places: "
      + "'\(KeychainCommandContext.current.commandPath) list --account "
      + "\(ShellText.quoted(account)) --all-groups'"
  }
}

extension KeychainError {
  /// Adds the cause: a vault given by its path does not exist.
  func explained(by absence: VaultAbsence, named name: String) -> Self {
    Self(
      code, "\(message): \(AbsenceText.missing(absence))",
      recovery: .advice(AbsenceText.checkPath(of: name)))
  }

  /// The error if even the folder of a given vault does not exist.
  static func noFolder(_ absence: VaultAbsence, named name: String) -> Self {
    Self(
      .noStore,
      "the vault '\(absence.path)' does not exist, nor does its folder '\(absence.folder)'",
      recovery: .advice(AbsenceText.checkPath(of: name)) + ", or mount its volume")
  }
}
