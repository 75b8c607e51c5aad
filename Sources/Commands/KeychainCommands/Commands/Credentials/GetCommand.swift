internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Reads a secret.
struct GetCommand: StoreSubcommand, QuickCommand {
  static let quickName: String? = "get"

  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a secret",
    discussion: """
      Exactly the stored bytes are printed; on a terminal a newline follows. With --attribute the \
      one credential is found that has the attribute, or the one item of another program in the \
      desktop keyring, whatever names it has.

      Everybody can see the arguments of a program (ps), so a secret must not be among them. Give \
      it to the program through a pipe; printf is part of the shell. Read it before, so that && \
      starts nothing where it cannot be read. In --config, write a backslash before each quote and \
      backslash of the secret.

      Example:
        \(keychainPath) get alice --service example.com

        token=$(\(keychainPath) get api) &&
          printf 'Authorization: Bearer %s' "$token" |
          curl --fail -H @- https://example.com/

        password=$(\(keychainPath) get alice) &&
          printf 'user = "alice:%s"' "$password" |
          curl --fail --config - https://example.com/
      """)

  @Argument(help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String?

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Find by an attribute; may be repeated", valueName: "name=value"),
    transform: AttributePair.init(parsing:))
  var attribute: [AttributePair] = []

  @Flag(help: "Print the credential with its secret as JSON")
  var json = false

  @Flag(help: "Print a secret that has expired")
  var allowExpired = false

  @OptionGroup var destination: SecretDestinationOptions

  @OptionGroup var scope: ServiceScopeOptions

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  mutating func read(_ line: inout QuickLine) throws {
    try line.group(&_item)
    attribute = try line.options("attribute").map(AttributePair.init(parsing:))
    json = try line.flag("json")
    allowExpired = try line.flag("allow-expired")
    try line.group(&_destination)
    try line.group(&_scope)
    try line.group(&_stores)
    try line.group(&_common)
    account = line.optionalArgument()
  }

  func validate() throws {
    if account == nil && attribute.isEmpty {
      throw ValidationError(UsageText.accountOrAttribute)
    }
    if json && destination.output != nil { throw ValidationError(UsageText.outputIsExact) }
    try scope.check(isServiceNamed: item.service != nil || item.server != nil)
    if json && destination.newline != nil { throw ValidationError(UsageText.newlineWithJSON) }
  }

  func perform(in session: Session) throws {
    if let found = try unlistedItem(in: session) { return try print(found, in: session) }
    let stored = try storedSecret(in: session)
    guard allowExpired || !stored.credential.isExpired() else {
      throw KeychainError.expired(stored.credential)
    }
    if json {
      let secret = stored.secret.withBytes { SecretJSON.members($0) }
      return try session.output.write(json: JSONValue.members(stored.credential.members + secret))
    }
    try destination.write(stored.secret, in: session)
  }

  private func storedSecret(in session: Session) throws -> StoredSecret {
    guard let account, attribute.isEmpty, !scope.allServices else {
      let identity = try search(in: session)
      guard let stored = try session.store.secret(for: identity) else {
        throw session.notFound(identity)
      }
      return stored
    }
    switch try session.finder(item).secret(account: account) {
    case .stored(let stored): return stored
    case .missing(let identity): throw session.notFound(identity)
    }
  }

  /// Finds the only credential with the attributes, or with the account in any service.
  private func search(in session: Session) throws -> CredentialIdentity {
    let attributes = CredentialAttributes(attribute)
    let query = scope.narrow(item.query(account: account, attributes: attributes))
    if let found = try session.finder(item).identity(matching: query) { return found }
    if let account, attribute.isEmpty { throw session.explainingMissingVault(.nowhere(account)) }
    throw session.nothingMatches(
      attributes, mayBeOfOthers: query.service == nil && query.server == nil)
  }
}

// Items of other programs without a credential's names are found by their attributes.
extension GetCommand {
  /// Returns another program's item with the attributes, or `nil`.
  func unlistedItem(in session: Session) throws -> UnlistedItem? {
    guard account == nil, let stores = session.builtIn else { return nil }
    let attributes = CredentialAttributes(attribute)
    let result = try stores.search(
      scope.narrow(item.query(account: nil, attributes: attributes)))
    guard result.unlistedCount > 0 else { return nil }
    let items = try stores.unlistedItems(matching: attributes)
    let credentials = result.credentials.filter(item.matchesDetails(of:))
    guard items.count + credentials.count <= 1 else {
      throw KeychainError.ambiguous(credentials, items)
    }
    return items.first
  }

  func print(_ item: UnlistedItem, in session: Session) throws {
    guard let secret = try session.stores.secret(of: item) else {
      throw KeychainError.unlistedIsGone
    }
    guard json else {
      return try destination.write(secret, in: session)
    }
    let members = secret.withBytes { SecretJSON.members($0) }
    try session.output.write(json: JSONValue.members(item.members + members))
  }
}

struct ReadCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "read",
    abstract: "Print what a reference names",
    discussion: """
      A reference is an address that a configuration file can have in place of a secret: \
      keychain://SERVICE/ACCOUNT, with an empty service for \
      '\(KeychainCommandContext.current.defaultService)', or \
      keychain+https://[ACCOUNT@]HOST[:PORT][/PATH] for the password of a server. Each part is \
      percent-encoded. After '?' follow parameters, with '&' between them: group=NAME, \
      field=secret, username, url, label or attribute:NAME, encoding=base64, optional.

      Put it in quotes: '&' and '?' mean something to the shell. Exactly the bytes are printed; on \
      a terminal a newline follows. With optional, nothing is printed for what does not exist; \
      every other failure stays one.

      Example:
        \(keychainPath) read 'keychain://example.com/alice'
        \(keychainPath) read 'keychain://example.com/alice?field=label&optional'
        \(keychainPath) read 'keychain+https://git.example.com:8443?field=username'
      """)

  @Argument(help: "The reference, in quotes", completion: .references)
  var reference: String

  @Flag(help: "Print a secret that has expired")
  var allowExpired = false

  @OptionGroup var destination: SecretDestinationOptions

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    // Not parsed by the argument parser, whose messages would repeat what may be a secret.
    let reference = try CredentialReference(reference)
    let value = try session.explaining(reference) {
      try read(reference, in: session)
    }
    try destination.write(value, in: session)
  }

  private func read(_ reference: CredentialReference, in session: Session) throws -> SecretBytes {
    var resolver = session.resolver()
    resolver.allowsExpired = allowExpired
    do {
      return try resolver.resolve(reference)
    } catch {
      guard error.code == .expired else { throw error }
      throw KeychainError(
        .expired, error.message,
        recovery: "store a new secret, or read the old one with --allow-expired")
    }
  }
}
