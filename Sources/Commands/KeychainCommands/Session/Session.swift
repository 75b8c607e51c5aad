internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// What a command works with: the stores, and the person who may be asked.
struct Session {
  let context: KeychainCommandContext
  let interface: UserInterface
  let options: CommonOptions
  let asking: Asking

  let stores: AutomaticStore

  /// The terminal; `nil` if nobody may be asked.
  let prompt: TerminalPrompt?

  /// Prepares the stores that the options choose.
  ///
  /// Nothing is opened yet.
  ///
  /// Without options for the choice, the command concerns the vault.
  init(
    _ options: CommonOptions, stores choice: StoreOptions?, context: KeychainCommandContext,
    asking: Asking
  ) throws {
    StandardDescriptors.prepare()
    if options.vault != nil, choice?.choice == .secretService { throw KeychainError.vaultOrKeyring }
    let interface = UserInterface(hostName: context.hostName, isQuiet: options.isQuiet)
    try Self.checkVariables()
    let mayAsk = !options.noPrompt && !EnvironmentVariables.process.isSet("KEYCHAIN_NO_PROMPT")
    let prompt =
      mayAsk && asking.onTerminal && TerminalPrompt.isUsable
      ? TerminalPrompt(deadline: asking.deadline) : nil
    let vaultPath = options.vault ?? Self.vaultPath(context)
    var configuration = AutomaticStore.Configuration(
      choice: choice?.choice,
      vault: Vault.Configuration(
        path: vaultPath, unlock: try options.unlockSource(by: asking.deadline)),
      secretService: SecretServiceStore.Configuration(
        collection: choice?.secretServiceCollection ?? .default,
        interaction: mayAsk ? .allowed : .denied),
      notice: { interface.report($0) })
    configuration.vault.secretFileReaders = options.secretFileReaders
    configuration.vault.makesFolder = options.vault == nil
    configuration.hasFallbackPath = options.vault == nil
    if let deadline = options.deadline {
      configuration.vault.deadline = deadline
      configuration.secretService.deadline = deadline
    }
    configuration.vault.commonDeadline = asking.deadline
    if let deadline = asking.deadline {
      configuration.secretService.promptDeadline = deadline.left
    }
    if let prompt {
      configuration.vault.interaction = .allowed { request throws(KeychainError) in
        try prompt.unlockingSecret(request.question(from: interface.hostName))
      }
    }
    self.context = context
    self.interface = interface
    self.options = options
    self.asking = asking
    self.prompt = prompt
    stores = AutomaticStore(configuration: configuration)
  }

  /// Reports that a command concerns the vault if the environment chooses the other store.
  func reportOtherStore() {
    if Environment.value("KEYCHAIN_STORE") == StoreChoice.secretService.rawValue {
      interface.say(StoreText.onlyOfVault)
    }
  }

  /// The vault, for what only a vault can do.
  var vault: Vault { stores.vault }

  /// The paths of the vault's files and of what unlocks it.
  var vaultPaths: [String] { vault.paths }

  var store: any CredentialStore { stores }

  /// Fails if a variable that names a file or a store is not UTF-8.
  ///
  /// Also those that this command may not need: what unlocks is looked for when it is needed only.
  private static func checkVariables() throws {
    for name in [
      "KEYCHAIN_VAULT", "KEYCHAIN_STORE", "KEYCHAIN_PASSPHRASE_FILE", "KEYCHAIN_KEY_FILE",
      "KEYCHAIN_IDENTITY_FILE", "KEYCHAIN_TRUSTED_FOLDERS", "CREDENTIALS_DIRECTORY",
    ] {
      _ = try EnvironmentVariables.process.value(name)
    }
  }

  /// Returns the host's own vault, unless the environment gives one.
  private static func vaultPath(_ context: KeychainCommandContext) -> String? {
    Environment.value("KEYCHAIN_VAULT") == nil ? context.defaultVault : nil
  }
}

extension Session {
  func ask(for subject: Questions.Subject) throws(KeychainError) -> SecretBytes {
    guard let prompt else { throw .nobodyToAsk(for: subject) }
    return try prompt.secret(Questions.question(for: subject))
  }

  func askTwice(for subject: Questions.Subject) throws(KeychainError) -> SecretBytes {
    guard let prompt else { throw .nobodyToAsk(for: subject) }
    return try prompt.secretTwice(
      Questions.question(for: subject), again: Questions.questionAgain(for: subject),
      mismatch: Questions.answersDiffer)
  }

  /// Asks a person to agree, unless the command line does.
  func confirm(_ question: String, assumingYes: Bool) throws(KeychainError) -> Bool {
    if assumingYes { return true }
    guard let prompt else { throw .needsConfirmation }
    return try prompt.confirm(question)
  }

  func finder(_ options: ItemOptions) -> CredentialFinder {
    CredentialFinder(
      store: store, options: options, defaultService: context.defaultService,
      unlock: stores.unlock, unlocking: stores.unlocking)
  }

  /// Returns a resolver of references, which unlocks as ``finder(_:)`` does.
  func resolver() -> ReferenceResolver {
    ReferenceResolver(
      store: store, defaultService: context.defaultService,
      unlock: stores.unlock, unlocking: stores.unlocking)
  }

}

extension SecretDestinationOptions {
  func write(_ secret: borrowing SecretBytes, in session: Session) throws {
    if let output = SecretOutput.path(named: output) {
      return try SecretOutput(
        path: output, overwrites: overwrite, keptPaths: overwrite ? session.vaultPaths : [],
        timeout: session.options.deadline ?? .seconds(10),
        readers: session.vault.secretFileReaders()
      )
      .write(secret, addingNewline: newline == .always)
    }
    try CommandOutput.write(secret)
    if newline == .always || newline != .never && StandardOutput.isTerminal {
      try CommandOutput.write("\n")
    }
  }
}

extension AutomaticStore {
  fileprivate func unlock(_ query: CredentialQuery) throws(KeychainError) {
    try makeReadable(query)
  }

  /// Returns how a person unlocks the stores of a query.
  fileprivate func unlocking(
    _ query: CredentialQuery
  ) throws(KeychainError) -> KeychainError.Recovery {
    UnlockText.unlockToSee(try places(for: query), in: self)
  }
}

/// Whom a command may ask, and until when it waits for answers and input.
struct Asking {
  /// Whether questions may be asked on the terminal, if there is one.
  var onTerminal = true

  /// When the last question and the input end; `nil` for the usual time of each answer, and for input
  /// for as long as it comes.
  var deadline: Deadline?
}

// New passphrases and passphrases of exports, from options or otherwise from the person.
extension Session {
  /// Returns a new passphrase of the vault; an empty one is refused.
  func newPassphrase(_ options: NewPassphraseOptions) throws(KeychainError) -> SecretBytes {
    try new(options.source, .newPassphrase, ifEmpty: .emptyPassphrase)
  }

  /// Returns the passphrase of a new export; an empty one is refused.
  func newPassphraseOfExport(_ options: ExportPassphraseOptions) throws -> SecretBytes {
    try new(options.source, .newExportPassphrase, ifEmpty: .emptyExportPassphrase)
  }

  private func new(
    _ source: PassphraseSource, _ subject: Questions.Subject, ifEmpty failure: KeychainError
  ) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try source.passphrase(for: vault, by: asking.deadline) { given } else {
        try askTwice(for: subject)
      }
    guard passphrase.count > 0 else { throw failure }
    return passphrase
  }

  func passphraseOfExport(_ options: ExportPassphraseOptions) throws -> SecretBytes {
    if let given = try options.source.passphrase(for: vault, by: asking.deadline) { return given }
    return try ask(for: .exportPassphrase)
  }
}

extension Session {
  /// Calls `body`, which resolves a reference, and explains the error if the credential is absent.
  func explaining<Result: ~Copyable>(
    _ reference: CredentialReference, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as KeychainError {
      guard error.code == .notFound else { throw error }
      guard let identity = try? resolver().identity(of: reference), error == .notFound(identity)
      else { throw explainingMissingVault(error) }
      throw notFound(identity)
    }
  }
}

extension Session {
  /// Calls `body` with a closure that shows progress.
  func withProgress<Result>(
    _ body: (@escaping (VaultProgress) -> Void) throws -> Result
  ) throws -> Result {
    var shown = 0
    defer { if shown > 0 { interface.endProgress() } }
    return try body { progress in
      // A hundred updates are enough for any vault, and a small one needs none.
      let step = max(progress.total / 100, 100)
      guard progress.completed >= shown + step else { return }
      shown = progress.completed
      interface.progress("\(progress.completed) of \(Words.items(progress.total))")
    }
  }

  /// Reports credentials in the desktop keyring, which a copy or export of the vault does not
  /// contain.
  func reportKeyring(_ query: CredentialQuery = CredentialQuery()) {
    switch stores.keyringHoldings(query) {
    case .nothing: return
    case .counted(let credentials, let services):
      interface.say(StoreText.leftInKeyring(credentials, services))
    case .unknown(let services, let failure):
      interface.say(StoreText.leftUncounted(services, failure))
    }
    interface.hint(StoreText.movingOutOfKeyring(ServiceName(query)))
  }
}

/// Finds the one credential that a command line refers to.
struct CredentialFinder {
  let store: any CredentialStore
  let options: ItemOptions
  let defaultService: String

  let unlock: (CredentialQuery) throws(KeychainError) -> Void

  /// Returns how a person unlocks the stores of a query.
  let unlocking: (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery

  /// Returns the identity of an account's credential.
  ///
  /// Its names are exactly the options', unless these leave names of an internet password open.
  /// Then it is the only internet password with the given names; if there is none, the names are
  /// the options', and no credential will be found.
  func identity(account: String) throws -> CredentialIdentity {
    let exact = options.identity(account: account, defaultService: defaultService)
    guard options.leavesNamesOpen, try store.credential(for: exact) == nil else { return exact }
    return try identity(matching: options.query(account: account)) ?? exact
  }

  /// Returns the secret of an account's credential, found as ``identity(account:)`` finds it, or the
  /// identity if there is none.
  ///
  /// Usually it reads the credential once.
  func secret(account: String) throws -> FoundSecret {
    let exact = options.identity(account: account, defaultService: defaultService)
    if let stored = try store.secret(for: exact) { return .stored(stored) }
    guard options.leavesNamesOpen,
      let identity = try identity(matching: options.query(account: account))
    else { return .missing(exact) }
    guard let stored = try store.secret(for: identity) else { return .missing(identity) }
    return .stored(stored)
  }

  /// Searches for the only credential that matches a query, and the options.
  ///
  /// Returns the identity, or `nil` if there is none.
  func identity(matching query: CredentialQuery) throws -> CredentialIdentity? {
    let searcher = CredentialSearcher(store: store, unlock: unlock, unlocking: unlocking)
    let found = CredentialIdentity.withoutReplaced(
      try searcher.credentials(matching: query, where: options.matchesDetails))
    guard found.count <= 1 else { throw KeychainError.ambiguous(found.map(\.identity)) }
    return found.first?.identity
  }
}

/// What reading the secret of a credential found.
enum FoundSecret: ~Copyable {
  case stored(StoredSecret)
  case missing(CredentialIdentity)
}
