internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Shows a credential without its secret.
struct ShowCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a credential without its secret",
    discussion: """
      Attributes, accessibility, times and the version number, which --expected-version takes.

      Example:
        \(keychainPath) show alice --service example.com --json
      """)

  @Argument(help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let identity = try session.finder(item).identity(account: account)
    guard let credential = try session.store.credential(for: identity) else {
      throw session.notFound(identity)
    }
    if json { return try session.output.write(json: credential) }
    try session.output.write(facts: CredentialText.facts(of: credential))
  }
}

struct RenameCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Rename a credential, or move it to another service or group",
    discussion: """
      The secret and what is known about it stay. A credential that has the new name already is \
      not replaced. To keep the account, name it twice.

      Example:
        \(keychainPath) rename alice bob --service example.com
        \(keychainPath) rename alice alice --service example.com --to-service example.org
      """,
    aliases: ["mv"])

  @Argument(help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @Argument(help: "The new account", completion: .accounts)
  var newAccount: String

  @OptionGroup(title: "Which credential") var item: ItemOptions
  @OptionGroup(title: "What changes besides the account") var names: NewNameOptions

  @Option(help: .init("Fail unless the credential has this version", valueName: "number"))
  var expectedVersion: UInt64?

  @Flag(help: "Print the renamed credential as JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    // As in 'set', a server alone can name a password.
    let isOfServer = names.toServer != nil || (item.server != nil && names.toService == nil)
    guard !newAccount.isEmpty || isOfServer else {
      throw ValidationError(UsageText.emptyAccount)
    }
  }

  func perform(in session: Session) throws {
    let old = try session.finder(item).identity(account: account)
    let new = try names.identity(insteadOf: old, account: newAccount)
    let renamed = try session.expecting(old) {
      try session.store.rename(old, to: new, expectedVersion: expectedVersion)
    }
    if json { try session.output.write(json: renamed) }
  }
}

struct DeleteCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a credential",
    discussion: """
      What another program stored in the desktop keyring is deleted with --other-programs only; \
      without it, the command ends with 79, also with --if-exists.

      Example:
        \(keychainPath) delete alice --service example.com --if-exists
      """,
    aliases: ["rm"])

  @Argument(help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Flag(help: "Succeed if there is none")
  var ifExists = false

  @Flag(help: "Also delete what another program stored in the desktop keyring")
  var otherPrograms = false

  @Option(help: .init("Fail unless the credential has this version", valueName: "number"))
  var expectedVersion: UInt64?

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let identity = try session.finder(item).identity(account: account)
    guard
      try session.store.remove(
        identity, expectedVersion: expectedVersion, includingOtherPrograms: otherPrograms)
    else {
      if ifExists { return try session.reportMissingVault() }
      throw session.notFound(identity)
    }
  }
}
