internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Changes a credential without its secret.
struct UpdateCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change a credential without its secret",
    discussion: """
      What is not given stays. An empty label, comment or content type removes it.

      Example:
        \(keychainPath) update alice --service example.com --expires 2027-01-31 --label "Work"
      """)

  @Argument(
    help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @OptionGroup(title: "Which credential") var item: ItemOptions
  @OptionGroup(title: "What is known about it") var details: CredentialOptions

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Remove an attribute; may be repeated", valueName: "name"))
  var removeAttribute: [String] = []

  @Option(help: .init("Fail unless the credential has this version", valueName: "number"))
  var expectedVersion: UInt64?

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func validate() throws {
    guard details.isGiven || !removeAttribute.isEmpty else {
      throw ValidationError(UsageText.nothingToUpdate)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    let identity = try session.finder(item).identity(account: account)
    let update = details.update(removing: removeAttribute)
    try session.expecting(identity) { () throws(KeychainError) in
      _ = try session.store.update(identity, with: update, expectedVersion: expectedVersion)
    }
    if let hint = details.hint { session.interface.hint(hint) }
  }
}
