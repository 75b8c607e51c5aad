internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault

extension UserInterface {
  /// The table of a list; programs get the store of each, a person where there are several.
  static func table(_ listed: [ListedCredential], forPrograms: Bool) -> TextTable {
    let table = table(listed.map(\.credential))
    let hasSeveralStores = Set(listed.map { Array($0.store.utf8) }).count > 1
    guard forPrograms || hasSeveralStores else { return table }
    return TextTable(
      header: table.header + ["STORE"], rows: zip(table.rows, listed).map { $0 + [$1.store] })
  }

  /// That a vault that somebody named is not there.
  static func missing(_ absence: VaultAbsence) -> String {
    "the vault '\(absence.path)' does not exist"
  }

  static func checkPath(of vaultName: String) -> String {
    "check the path that \(vaultName) gives"
  }

  /// Where else an account is, as options that name it.
  static func elsewhere(_ account: String, _ identities: [CredentialIdentity]) -> String {
    let places = identities.map { "with \(options(naming: $0))" }
    return "\(ShellText.quoted(account)) exists " + places.joined(separator: ", and ")
  }

  /// The account that somebody meant.
  static func resembling(_ account: String) -> String {
    "did you mean \(ShellText.quoted(account))?"
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

/// The failures of commands that read.
extension KeychainError {
  /// That nothing is listed because it is locked.
  static func allLocked(_ count: Int, _ kinds: Set<StoreKind>) -> Self {
    Self(
      .locked, "nothing can be listed: \(UserInterface.locked(count))",
      recovery: .advice(UserInterface.unlockToSee(kinds)))
  }

  /// The failure with its cause: a vault was named that is not there.
  func explained(by absence: VaultAbsence, named name: String) -> Self {
    Self(
      code, "\(message): \(UserInterface.missing(absence))",
      recovery: .advice(UserInterface.checkPath(of: name)))
  }

  /// Not even the folder is there of a vault that was named.
  static func noFolder(_ absence: VaultAbsence, named name: String) -> Self {
    Self(
      .noStore,
      "the vault '\(absence.path)' does not exist, nor does its folder '\(absence.folder)'",
      recovery: .advice(UserInterface.checkPath(of: name)) + ", or mount its volume")
  }

  /// No service or server has such an account.
  static func nowhere(_ account: String) -> Self {
    Self(.notFound, "there is no credential '\(account)' of any service or server")
  }

  static func outputExists(_ path: String) -> Self {
    Self(
      .alreadyExists, "'\(path)' exists already, and is not overwritten",
      recovery: "name a new file, or replace this one with --overwrite")
  }

  static func outputOfOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' belongs to another user, who could read the secret",
      recovery: "name a file, pipe or device of your own")
  }

  static func nobodyReads(_ path: String) -> Self {
    Self(
      .timedOut, "nobody reads from '\(path)'",
      recovery: "start what reads it first, or wait longer with --deadline")
  }

  static func nothingToExport(_ name: String) -> Self {
    Self(
      .notFound, "there is nothing to export: the vault has no credential of \(name)",
      recovery: "see what there is with '\(KeychainCommandContext.current.commandPath) list"
        + "\(KeychainCommandContext.current.scopeOption())'")
  }

  static func exportOfKeyring(_ service: ServiceName) -> Self {
    Self(
      .notFound,
      "there is nothing to export: the credentials of \(service) are in the desktop keyring",
      recovery: "move them into the vault first, with "
        + "'\(KeychainCommandContext.current.commandPath) migrate --from secret-service --to vault"
        + "\(KeychainCommandContext.current.scopeOption(reaching: service))'")
  }
}
