internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// What a running command works with: the vault, and the person who may be asked.
struct Session {
  let context: KeychainCommandContext
  let interface: UserInterface
  let options: CommonOptions
  let vault: Vault

  /// The terminal, or `nil` if nobody may be asked.
  let prompt: TerminalPrompt?

  /// Prepares the vault that the options choose; nothing is opened yet.
  init(_ options: CommonOptions, context: KeychainCommandContext) throws(KeychainError) {
    StandardDescriptors.prepare()
    try Self.checkStore(options.store ?? Self.environment("KEYCHAIN_STORE"))
    let interface = UserInterface(hostName: context.hostName)
    let mayAsk = !options.noPrompt && Self.environment("KEYCHAIN_NO_PROMPT") == nil
    let prompt = mayAsk && TerminalPrompt.isUsable ? TerminalPrompt() : nil
    var configuration = Vault.Configuration(
      path: options.vault ?? Self.vaultPath(context), unlock: try options.unlockSource(),
      notice: { interface.say(UserInterface.namingCommands(in: $0.message)) })
    if let deadline = options.deadline { configuration.deadline = deadline }
    configuration.leavesConnectionToExit = context.isWholeProgram
    if let prompt {
      configuration.interaction = .allowed { request throws(KeychainError) in
        try prompt.secret(interface.question(for: request))
      }
    }
    self.context = context
    self.interface = interface
    self.options = options
    self.prompt = prompt
    vault = Vault(configuration: configuration)
  }

  /// Where credentials lie.
  var store: any CredentialStore { vault }

  /// An environment variable that is set to something.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name), let text = String(validatingCString: value), !text.isEmpty
    else { return nil }
    return text
  }

  /// The host's own vault, unless the environment names one.
  private static func vaultPath(_ context: KeychainCommandContext) -> String? {
    environment("KEYCHAIN_VAULT") == nil ? context.defaultVault : nil
  }

  private static func checkStore(_ name: String?) throws(KeychainError) {
    switch name {
    case nil, "vault": break
    case "secret-service": throw .onlyVault
    case let name?: throw .unknownStore(name)
    }
  }
}

extension Session {
  /// Asks for a secret.
  func ask(for subject: UserInterface.Subject) throws(KeychainError) -> SecretBytes {
    guard let prompt else { throw .nobodyToAsk(for: subject) }
    return try prompt.secret(UserInterface.question(for: subject))
  }

  /// Asks for a secret twice.
  func askTwice(for subject: UserInterface.Subject) throws(KeychainError) -> SecretBytes {
    guard let prompt else { throw .nobodyToAsk(for: subject) }
    return try prompt.secretTwice(
      UserInterface.question(for: subject), again: UserInterface.questionAgain(for: subject),
      mismatch: UserInterface.answersDiffer)
  }

  /// Asks a person to agree, unless that was said on the command line.
  func confirm(_ question: String, assumingYes: Bool) throws(KeychainError) -> Bool {
    if assumingYes { return true }
    guard let prompt else { throw .needsConfirmation }
    return try prompt.confirm(question)
  }

  /// Finds the credential that options mean.
  func finder(_ options: ItemOptions) -> CredentialFinder {
    CredentialFinder(store: store, options: options, defaultService: context.defaultService) {
      () throws(KeychainError) in
      try vault.ensureReadable(.unlockedNow)
    }
  }
}
