internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesCommandLine

/// Gives credentials to git.
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

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  mutating func read(_ line: inout QuickLine) throws {
    try line.group(&_helper)
    others = try line.flag("others")
    try line.group(&_stores)
    try line.group(&_common)
    operation = try line.argument()
  }

  var storeOptions: StoreOptions? { stores }

  /// Asking on the terminal is turned off for git and its helpers, as in a job.
  var mayAskOnTerminal: Bool {
    guard let setting = Environment.value("GIT_TERMINAL_PROMPT") else { return true }
    // As git reads numbers and words.
    return !["", "false", "no", "off"].contains(setting.lowercased()) && Int(setting) != 0
  }

  func validate() throws {
    if readsRequestTwice { throw ValidationError(UsageText.requestTwice) }
  }

  /// Stops git, which otherwise asks for a password that this helper would not store, either.
  static func reply(toWrongUsage arguments: [String]) -> String? {
    // git adds the operation at the end.
    guard arguments.last.flatMap(GitCredentialOperation.init) == .get else { return nil }
    return GitCredentialHelper.stopsGit
  }

  func perform(in session: Session) throws(KeychainError) {
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
    try CommandOutput.write(answer)
  }

  private func request(
    of operation: GitCredentialOperation, in session: Session
  ) throws(KeychainError) -> GitCredentialRequest {
    guard operation != .capability else { return GitCredentialRequest() }
    let input = HelperInput(session, "lines such as host=example.com")
    return try GitCredentialRequest(parsing: input.read(to: .emptyLine))
  }

  func reply(to failure: KeychainError) throws(KeychainError) {
    guard let operation = GitCredentialOperation(rawValue: operation) else { return }
    try CommandOutput.write(GitCredentialHelper.reply(to: failure, of: operation))
  }
}
