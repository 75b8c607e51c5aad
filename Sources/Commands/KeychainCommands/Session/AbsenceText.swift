internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// The texts about things that do not exist.
enum AbsenceText {
  /// Returns that a vault given by its path does not exist.
  static func missing(_ absence: VaultAbsence) -> String {
    "the vault '\(absence.path)' does not exist"
  }

  static func checkPath(of vaultName: String) -> String {
    "check the path that \(vaultName) gives"
  }

  /// Returns where else an account exists, as options.
  static func elsewhere(_ account: String, _ identities: [CredentialIdentity]) -> String {
    let places = identities.map { "with \(options(naming: $0))" }
    return "\(ShellText.quoted(account)) exists " + places.joined(separator: ", and ")
  }

  /// Returns which command takes a reference.
  static func reference(_ text: String) -> String {
    "a reference is read with '\(KeychainCommandContext.current.commandPath) read "
      + "\(ShellText.quoted(text))'"
  }

  /// Returns the account that the person may have meant.
  static func resembling(_ account: String, insteadOf word: String) -> String {
    "did you mean \(ShellText.quoted(account))\(Words.lookAlike(account, word))?"
  }

  static func elsewhereOften(_ account: String) -> String {
    "\(ShellText.quoted(account)) exists in several other places: "
      + "'\(KeychainCommandContext.current.commandPath) list --account \(ShellText.quoted(account)) "
      + "--all-groups'"
  }

  private static func options(naming identity: CredentialIdentity) -> String {
    var options: [(name: String, value: String)] = []
    switch identity.kind {
    case .genericPassword(let service, _): options.append(("service", service))
    case .internetPassword(let password):
      options = [
        ("server", password.server), ("protocol", password.protocol),
        ("port", password.port == 0 ? "" : String(password.port)), ("path", password.path),
        ("security-domain", password.securityDomain),
        ("authentication-type", password.authenticationType),
      ].filter { !$0.1.isEmpty }
    }
    if !identity.accessGroup.isEmpty { options.append(("access-group", identity.accessGroup)) }
    return options.map { "--\($0.name) \(ShellText.quoted($0.value))" }.joined(separator: " ")
  }
}

extension KeychainError {
  /// Returns the error with its cause: a vault given by its path does not exist.
  func explained(by absence: VaultAbsence, named name: String) -> Self {
    Self(
      code, "\(message): \(AbsenceText.missing(absence))",
      recovery: .advice(AbsenceText.checkPath(of: name)))
  }

  /// The error if not even the folder of a given vault exists.
  static func noFolder(_ absence: VaultAbsence, named name: String) -> Self {
    Self(
      .noStore,
      "the vault '\(absence.path)' does not exist, nor does its folder '\(absence.folder)'",
      recovery: .advice(AbsenceText.checkPath(of: name)) + ", or mount its volume")
  }
}
