internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

struct GitCredentialCommand: HelperCommand, QuickCommand {
  static let quickName: String? = "git-credential"

  static let configuration = CommandConfiguration(
    commandName: "git-credential",
    abstract: "Give credentials to git, and store what it used",
    discussion: """
      git runs this command. Protocol, host and port of a credential must be those of the URL; its \
      path and its account may be left out. Standard input has the request, which an empty line \
      ends. An operation that is not known is ignored.

      Example:
        git config --global credential.helper '!\(keychainPath) git-credential'
        printf %s "$TOKEN" | \(keychainPath) set me --server example.com --protocol https
      """)

  @Argument(help: "What git asks for: get, store, erase or capability")
  var operation: String

  @OptionGroup(title: "Which credential") var helper: HelperOptions

  @Flag(help: "Also erase what any other program stored in the desktop keyring")
  var others = false

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  mutating func read(_ line: inout QuickLine) throws {
    try line.group(&_helper)
    others = try line.flag("others")
    try line.group(&_stores)
    try line.group(&_common)
    operation = try line.argument()
  }

  var storeOptions: StoreChoiceOptions? { stores }

  /// Whether git and its helpers may ask on the terminal; jobs turn that off.
  func mayAskOnTerminal(in environment: EnvironmentVariables) -> Bool {
    guard let setting = environment.text("GIT_TERMINAL_PROMPT") else { return true }
    // Parsed as git does, as a number or word.
    return !["", "false", "no", "off"].contains(setting.lowercased()) && Int(setting) != 0
  }

  func validate() throws {
    if readsRequestTwice { throw ValidationError(UsageText.requestTwice) }
  }

  /// Stops git, which would otherwise ask for a password that this helper would not store.
  static func reply(toWrongUsage arguments: [String]) -> String? {
    // git adds the operation at the end.
    guard arguments.last.flatMap(GitCredentialOperation.init) == .get else { return nil }
    return GitCredentialHelper.stopsGit
  }

  func perform(in session: Session) throws {
    guard let operation = GitCredentialOperation(rawValue: operation) else { return }
    let interface = session.interface
    let helper = GitCredentialHelper(
      store: session.store, accessGroup: helper.accessGroup ?? "", erasesOthers: others
    ) { notice in
      interface.say(notice.message)
      if let recovery = notice.recovery { interface.hint(recovery.commandText) }
    }
    let answer = try helper.answer(operation, to: try request(of: operation, in: session))
    if operation == .get, answer.count == 0 { try session.reportMissingVault() }
    try session.output.write(answer)
  }

  private func request(
    of operation: GitCredentialOperation, in session: Session
  ) throws -> GitCredentialRequest {
    guard operation != .capability else { return GitCredentialRequest() }
    let input = HelperInput(session, "lines such as host=example.com")
    return try GitCredentialRequest(parsing: input.read(to: .emptyLine))
  }

  func reply(to failure: KeychainError, on output: CommandOutput) throws {
    guard let operation = GitCredentialOperation(rawValue: operation) else { return }
    try output.write(GitCredentialHelper.reply(to: failure, of: operation))
  }
}

/// Answers docker and its relatives.
struct DockerCredentialCommand: HelperCommand {
  static let configuration = CommandConfiguration(
    commandName: HelperProgram.docker.command,
    abstract: "Keep the logins of docker, podman and skopeo",
    usage: usage("docker-credential <operation> [--access-group <name>]"),
    discussion: """
      These programs run it as docker-credential-\(KeychainCommandContext.current.hostName), a \
      link that '\(keychainPath) helpers install docker' makes. It reads and writes what they \
      exchange: 'get' and 'erase' read the name of a registry, 'store' a JSON object. Failures are \
      written to standard output, too, and the exit code is 1.

      A login is an internet password with the attribute client=docker.

      Example:
        printf %s registry.example.com | \(keychainPath) docker-credential get
        printf %s "$TOKEN" | \(keychainPath) set robot --server registry.example.com \
      --attribute client=docker
      """)

  /// The client's request, in the words of its protocol.
  enum Operation: String, ExpressibleByArgument, CaseIterable {
    case get, store, erase, list, version
  }

  @Argument(help: "What to do: get, store, erase, list or version")
  var operation: Operation

  @OptionGroup(title: "Which credential") var helper: HelperOptions
  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreChoiceOptions? { stores }

  func validate() throws {
    if readsRequestTwice { throw ValidationError(UsageText.inputTwice) }
  }

  /// Answers the client; each failure has an exit code of the protocol.
  func run() throws {
    do {
      try reportFailures(answer)
    } catch is ExitCode {
      throw ExitCode(Self.failed)
    }
  }

  private static let failed: Int32 = 1

  private func answer(_ context: KeychainCommandContext, _ host: CommandHost) throws {
    let output = CommandOutput(host.console.output)
    guard operation != .version else {
      let name = HelperProgram.docker.linkName(of: context.hostName)
      return try output.write("\(name) (prephirences) \(Release.version)\n")
    }
    let isAnswered: Bool
    do {
      isAnswered = try withSession(context, host, answer(in:))
    } catch let error as KeychainError {
      try output.write(DockerCredentialHelper.text(for: error) + "\n")
      throw error
    }
    // Without a message: a client asks for each registry that it uses, and most need no login.
    guard !isAnswered else { return }
    try output.write(DockerCredentialHelper.absent + "\n")
    throw ExitCode(Self.failed)
  }

  func perform(in session: Session) throws {
    _ = try answer(in: session)
  }
}

// MARK: - The operations

extension DockerCredentialCommand {
  /// Performs the request; returns whether the client got what it asked for.
  private func answer(in session: Session) throws -> Bool {
    let stores = session.builtIn
    let logins = DockerCredentialHelper(
      store: session.store, accessGroup: helper.accessGroup ?? ""
    ) { query throws(KeychainError) in try stores?.makeReadable(query) }
    switch operation {
    case .version: break
    case .list: try session.output.write(DockerCredentialHelper.json(try logins.list()))
    case .get:
      guard let login = try logins.get(server(session)) else { return false }
      try session.output.write(login.json())
    case .store:
      try logins.store(DockerCredential(json: HelperInput(session, "a JSON object").read()))
    case .erase: try logins.erase(server(session))
    }
    return true
  }

  private func server(_ session: Session) throws -> String {
    try DockerCredentialHelper.server(in: HelperInput(session, "the name of a registry").read())
  }
}
