internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Answers docker and its relatives.
struct DockerCredentialCommand: HelperCommand, QuickCommand {
  static let spellings = [HelperProgram.docker.command]

  static let configuration = CommandConfiguration(
    commandName: HelperProgram.docker.command,
    abstract: "Keep the logins of docker, podman and skopeo",
    usage: usage("docker-credential <operation> [--access-group <name>]"),
    discussion: """
      These programs run it as docker-credential-\(KeychainCommandContext.current.hostName), a link \
      that '\(keychainPath) helpers install docker' makes. It reads and writes what \
      they exchange: 'get' and 'erase' read the name of a registry, 'store' a JSON object. Failures \
      are written to standard output, too, and the exit code is 1.

      A login is an internet password with the attribute client=docker.

      Example:
        printf %s registry.example.com | \(keychainPath) docker-credential get
        printf %s "$TOKEN" | \(keychainPath) set robot --server registry.example.com \
      --attribute client=docker
      """)

  /// What a client asks for, by the words of its protocol.
  enum Operation: String, ExpressibleByArgument, CaseIterable {
    case get, store, erase, list, version
  }

  @Argument(help: "What to do: get, store, erase, list or version")
  var operation: Operation

  @OptionGroup(title: "Which credential") var helper: HelperOptions
  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  mutating func read(_ line: inout QuickLine) throws {
    let word = try line.argument("operation")
    if let operation = Operation(rawValue: word) {
      self.operation = operation
    } else if !line.isDefining {
      throw QuickLine.Declined()
    }
    try line.group(&_helper)
    try line.group(&_stores)
    try line.group(&_common)
  }

  var storeOptions: StoreOptions? { stores }

  func validate() throws {
    if readsRequestTwice { throw ValidationError(UsageText.inputTwice) }
  }

  /// Answers the client; each failure has the exit code that the protocol knows.
  func run() throws {
    let context = KeychainCommandContext.current
    do {
      try reportFailures(as: context.hostName, isQuiet: common.isQuiet) { try answer(context) }
    } catch is ExitCode {
      throw ExitCode(Self.failed)
    }
  }

  private static let failed: Int32 = 1

  private func answer(_ context: KeychainCommandContext) throws {
    guard operation != .version else {
      let name = HelperProgram.docker.linkName(of: context.hostName)
      return try CommandOutput.write("\(name) (prephirences) \(Release.version)\n")
    }
    let isAnswered: Bool
    do throws(KeychainError) {
      isAnswered = try withSession(context, answer(in:))
    } catch {
      try CommandOutput.write(DockerCredentialHelper.text(for: error) + "\n")
      throw error
    }
    // No message: a client asks for each registry that it uses, and most need no login.
    guard !isAnswered else { return }
    try CommandOutput.write(DockerCredentialHelper.absent + "\n")
    throw ExitCode(Self.failed)
  }

  func perform(in session: Session) throws(KeychainError) {
    _ = try answer(in: session)
  }
}

// MARK: - The operations

extension DockerCredentialCommand {
  /// Does what the client asks for; returns whether there is what it wants.
  private func answer(in session: Session) throws(KeychainError) -> Bool {
    let stores = session.stores
    let logins = DockerCredentialHelper(store: stores, accessGroup: helper.accessGroup ?? "") {
      query throws(KeychainError) in try stores.makeReadable(query)
    }
    switch operation {
    case .version: break
    case .list: try CommandOutput.write(DockerCredentialHelper.json(try logins.list()))
    case .get:
      guard let login = try logins.get(server(session)) else { return false }
      try CommandOutput.write(login.json())
    case .store:
      try logins.store(DockerCredential(json: HelperInput(session, "a JSON object").read()))
    case .erase: try logins.erase(server(session))
    }
    return true
  }

  private func server(_ session: Session) throws(KeychainError) -> String {
    try DockerCredentialHelper.server(in: HelperInput(session, "the name of a registry").read())
  }
}
