internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Deletes a credential.
struct DeleteCommand: KeychainSubcommand {
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

  @Argument(
    help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Flag(help: "Succeed if there is none")
  var ifExists = false

  @Flag(help: "Also delete what another program stored in the desktop keyring")
  var otherPrograms = false

  @Option(help: .init("Fail unless the credential has this version", valueName: "number"))
  var expectedVersion: UInt64?

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func perform(in session: Session) throws(KeychainError) {
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
