internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets

/// Reads a secret.
struct GetCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a secret",
    discussion: """
      Exactly the stored bytes are printed; on a terminal a newline follows. With --attribute the \
      one credential is found that has the attribute.

      Example:
        curl -H "Authorization: Bearer $(\(keychainPath) get alice --service example.com)" …
      """)

  /// When a newline is added to the secret.
  enum Newline: String, ExpressibleByArgument, CaseIterable {
    case always, never, auto
  }

  @Argument(
    help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String?

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Find by an attribute; may be given again", valueName: "name=value"),
    transform: AttributePair.init(parsing:))
  var attribute: [AttributePair] = []

  @Flag(help: "Print the credential with its secret as JSON")
  var json = false

  @Option(help: "Whether a newline follows the secret (default: auto, on a terminal)")
  var newline: Newline?

  @Flag(help: "Print a secret that has expired")
  var allowExpired = false

  @Option(
    help: .init("Write the secret to a file that only you can read", valueName: "path"),
    completion: .file())
  var output: String?

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  func validate() throws {
    if account == nil && attribute.isEmpty {
      throw ValidationError(UserInterface.Usage.accountOrAttribute)
    }
    if json && output != nil { throw ValidationError(UserInterface.Usage.outputIsExact) }
    if json && newline != nil { throw ValidationError(UserInterface.Usage.newlineWithJSON) }
  }

  func perform(in session: Session) throws(KeychainError) {
    let identity = try session.finder(item).identity(account: account, attributes: attribute)
    guard let stored = try session.store.secret(for: identity) else {
      throw session.notFound(identity)
    }
    guard allowExpired || !stored.credential.isExpired() else { throw .expired(stored.credential) }
    if json {
      var answer = CredentialJSON(stored.credential)
      stored.secret.withBytes { answer.reveal($0) }
      return try StandardOutput.write(try JSONText.text(answer))
    }
    if let output {
      return try SecretFile.replace(output) { descriptor throws(SecretsError) in
        try stored.secret.write(toFileDescriptor: descriptor)
        if newline == .always { try Self.newlineBytes().write(toFileDescriptor: descriptor) }
      }
    }
    try StandardOutput.write(stored.secret)
    if newline == .always || newline != .never && StandardOutput.isTerminal {
      try StandardOutput.write("\n")
    }
  }

  private static func newlineBytes() throws(SecretsError) -> SecretBytes {
    try SecretBytes(copying: "\n")
  }
}

extension CredentialFinder {
  /// The credential that an account, attributes or both name.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/notFound`` if there is none.
  fileprivate func identity(
    account: String?, attributes: [AttributePair]
  ) throws(KeychainError) -> CredentialIdentity {
    if let account, attributes.isEmpty { return try existing(account: account) }
    let pairs = CredentialAttributes(attributes)
    guard let found = try identity(attributes: pairs, account: account) else {
      throw .nothingMatches(pairs)
    }
    return found
  }
}
