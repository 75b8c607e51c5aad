internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Shows a credential without its secret.
struct ShowCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a credential without its secret",
    discussion: """
      Attributes, accessibility, times and the version number, which --expected-version takes.

      Example:
        \(keychainPath) show alice --service example.com --json
      """)

  @Argument(
    help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func perform(in session: Session) throws(KeychainError) {
    let identity = try session.finder(item).identity(account: account)
    guard let credential = try session.store.credential(for: identity) else {
      throw session.notFound(identity)
    }
    try CommandOutput.write(
      json
        ? try CommandOutput.json(CredentialJSON(credential))
        : CredentialText.description(of: credential))
  }
}
