internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Stores a secret.
struct SetCommand: StoreSubcommand, QuickCommand {
  static let quickName: String? = "set"

  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Store a secret",
    discussion: """
      The secret is read from standard input, every byte of it; on a terminal it is asked for \
      twice, and not shown. An empty one is stored only with --allow-empty. A credential of the \
      same names is updated in place: label, comment, attributes and accessibility stay unless \
      given, but the expiry and the content type belong to the secret, so only those given now \
      count; --keep-expiry keeps the expiry.

      Example:
        printf %s "$TOKEN" | \(keychainPath) set alice --service example.com --expires 90d
      """)

  @Argument(help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @Argument(help: .hidden)
  var rest: [String] = []

  @OptionGroup(title: "Which credential") var item: ItemOptions
  @OptionGroup(title: "What is known about it") var details: CredentialOptions

  @Flag(help: "Remove one newline at the end of standard input")
  var trimNewline = false

  @Flag(help: "Allow an empty secret")
  var allowEmpty = false

  @Flag(help: "Keep the expiry of the secret that is replaced")
  var keepExpiry = false

  @Flag(help: "Fail if the credential exists")
  var createOnly = false

  @Option(help: .init("Fail unless the credential has this version", valueName: "number"))
  var expectedVersion: UInt64?

  @Option(
    parsing: .unconditional,
    help: .init(
      "Take the secret from the command line, where others can see it", valueName: "secret"))
  var insecureValue: String?

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  mutating func read(_ line: inout QuickLine) throws {
    try line.group(&_item)
    try line.group(&_details)
    trimNewline = try line.flag("trim-newline")
    allowEmpty = try line.flag("allow-empty")
    keepExpiry = try line.flag("keep-expiry")
    createOnly = try line.flag("create-only")
    expectedVersion = try line.option("expected-version", as: UInt64.init(argument:))
    insecureValue = try line.option("insecure-value")
    try line.group(&_stores)
    try line.group(&_common)
    account = try line.argument()
    // The parser reports further arguments.
    rest = []
  }

  func validate() throws {
    guard rest.isEmpty else { throw ValidationError(UsageText.secretFromArgument) }
    // A server alone can name a password, for example of a service that accepts a token without an
    // account.
    guard !account.isEmpty || item.server != nil else {
      throw ValidationError(UsageText.emptyAccount)
    }
    // Credentials that were stored so before can still be read and deleted.
    if let server = item.server, item.protocolName?.isEmpty == false, HostName.hasMore(server) {
      throw ValidationError(UsageText.hostAlone)
    }
    if createOnly && expectedVersion != nil {
      throw ValidationError(UsageText.createOrExpect)
    }
    if keepExpiry && details.expires != nil {
      throw ValidationError(UsageText.keptOrNewExpiry)
    }
    if common.unlockDescriptor == STDIN_FILENO, insecureValue == nil {
      throw ValidationError(UsageText.inputTwice)
    }
  }

  func perform(in session: Session) throws {
    let identity = item.identity(account: account, defaultService: session.context.defaultService)
    let input = SecretInput(
      trimsNewline: trimNewline, insecureValue: insecureValue, allowsEmpty: allowEmpty)
    let secret = try input.secret(for: identity, in: session)
    let mode: StoreMode =
      createOnly ? .addOnly : expectedVersion.map { .replace(version: $0) } ?? .addOrReplace
    let merged = try session.store.merge(
      details.updateOfSecret(keepingExpiry: keepExpiry), secret: secret, into: identity, mode: mode)
    report(merged, session.interface)
    let hints = [
      input.hint(about: secret), details.hint, hostHint, dockerHint(merged.credential),
    ]
    for hint in hints.compactMap(\.self) {
      session.interface.hint(hint)
    }
  }

  /// The hint for a host that clients would not find.
  private var hostHint: String? {
    guard let server = item.server, item.protocolName?.isEmpty == false,
      server.utf8.contains(where: (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
    else { return nil }
    return CredentialText.hostInCapitals
  }

  private func dockerHint(_ credential: Credential) -> String? {
    let mark = DockerCredentialHelper.mark
    guard credential.attributes[mark.name]?.hasSameBytes(as: mark.value) ?? false,
      case .internetPassword(let password) = credential.identity.kind,
      password != InternetPassword(server: password.server, account: password.account)
    else { return nil }
    return CredentialText.noLoginOfRegistry
  }

  /// Reports another program's item of the same name, the removed expiry of the old secret, or a
  /// kept expiry that has passed.
  private func report(_ merged: MergedCredential, _ interface: UserInterface) {
    if merged.isNextToOtherPrograms {
      interface.say(CredentialText.isNextToOthers(merged.credential.identity))
    }
    if details.expires == nil, !keepExpiry, let expiry = merged.replaced?.expires {
      interface.say(CredentialText.expiryIsGone(expiry))
      interface.hint(CredentialText.keepingExpiry(expiry))
    }
    if keepExpiry, merged.credential.isExpired() {
      interface.hint(CredentialText.keptExpiryHasPassed)
    }
  }
}

/// Changes a credential without its secret.
struct UpdateCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change a credential without its secret",
    discussion: """
      What is not given stays. An empty label, comment or content type removes it.

      Example:
        \(keychainPath) update alice --service example.com --expires 2027-01-31 --label "Work"
      """)

  @Argument(help: "Whose secret it is; after -- it may begin with a dash", completion: .accounts)
  var account: String

  @OptionGroup(title: "Which credential") var item: ItemOptions
  @OptionGroup(title: "What is known about it") var details: CredentialOptions

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Remove an attribute; may be repeated", valueName: "name"))
  var removeAttribute: [String] = []

  @Option(help: .init("Fail unless the credential has this version", valueName: "number"))
  var expectedVersion: UInt64?

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    guard details.isGiven || !removeAttribute.isEmpty else {
      throw ValidationError(UsageText.nothingToUpdate)
    }
  }

  func perform(in session: Session) throws {
    let identity = try session.finder(item).identity(account: account)
    let update = details.update(removing: removeAttribute)
    try session.expecting(identity) {
      _ = try session.store.update(identity, with: update, expectedVersion: expectedVersion)
    }
    if let hint = details.hint { session.interface.hint(hint) }
  }
}
