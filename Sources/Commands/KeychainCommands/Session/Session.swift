internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// What a command uses: the store, the console, and the person who may be asked.
struct Session {
  let context: KeychainCommandContext
  let console: Console
  let environment: EnvironmentVariables
  let interface: UserInterface
  let output: CommandOutput
  let options: CommonOptions
  let asking: Asking

  /// The store of the credentials.
  let store: any CredentialStore

  /// The built-in stores; `nil` if the command uses another one.
  let builtIn: AutomaticStore?

  /// Asks a person; `nil` if nobody may be asked.
  let prompt: (any Prompt)?

  /// Prepares the stores that the options choose, unless the context has one.
  ///
  /// Nothing is opened yet. Without options for the choice, the command concerns the vault.
  init(
    _ options: CommonOptions, stores choice: StoreChoiceOptions?, context: KeychainCommandContext,
    asking: Asking, host: CommandHost
  ) throws {
    StandardDescriptors.prepare()
    if options.vault != nil, choice?.choice == .secretService { throw KeychainError.vaultOrKeyring }
    self.context = context
    self.options = options
    self.asking = asking
    (console, environment) = (host.console, host.environment)
    interface = host.interface(context.hostName, isQuiet: options.isQuiet(in: environment))
    output = CommandOutput(
      console.output, by: options.deadline == nil ? nil : asking.deadline)
    try Self.checkVariables(environment)
    let mayAsk = !options.noPrompt && !environment.isSet("KEYCHAIN_NO_PROMPT")
    prompt = mayAsk && asking.onTerminal ? context.prompt(asking.deadline) : nil
    if let given = context.store {
      (store, builtIn) = (given, given as? AutomaticStore)
      return
    }
    let ownVault = environment.isSet("KEYCHAIN_VAULT") ? nil : context.defaultVault
    var configuration = AutomaticStore.Configuration(
      choice: choice?.choice,
      vault: Vault.Configuration(
        path: options.vault ?? ownVault, unlock: try options.unlockSource(by: asking.deadline)),
      secretService: SecretServiceStore.Configuration(
        collection: choice?.secretServiceCollection ?? .default,
        interaction: mayAsk ? .allowed : .denied),
      notice: { [interface] in interface.report($0) })
    configuration.vault.environment = environment
    if let values = environment.values { configuration.secretService.environment = values }
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
      configuration.vault.interaction = .allowed { [interface] request throws(KeychainError) in
        try prompt.unlockingSecret(request.question(from: interface.hostName))
      }
    }
    let stores = AutomaticStore(configuration: configuration)
    (store, builtIn) = (stores, stores)
  }

  /// Reports that a command concerns the vault if the environment chooses the other store.
  func reportOtherStore() {
    if environment.text("KEYCHAIN_STORE") == StoreChoice.secretService.rawValue {
      interface.say(StoreText.onlyOfVault)
    }
  }

  /// The built-in stores, for features that no other store has.
  var stores: AutomaticStore {
    get throws(KeychainError) {
      guard let builtIn else { throw .needsBuiltInStores }
      return builtIn
    }
  }

  /// The vault, for features that only a vault has.
  var vault: Vault {
    get throws(KeychainError) { try stores.vault }
  }

  /// The paths of the vault's files, and of the files that unlock it.
  var vaultPaths: [String] { builtIn?.vault.paths ?? [] }

  /// Who may read files with secrets.
  var secretFileReaders: SecretFileReaders {
    get throws(KeychainError) {
      try builtIn?.vault.secretFileReaders() ?? options.secretFileReaders ?? .owner
    }
  }

  /// Fails if a variable that names a file or a store is not UTF-8.
  ///
  /// All are checked, because some are only read when they are needed.
  private static func checkVariables(_ environment: EnvironmentVariables) throws {
    for name in [
      "KEYCHAIN_VAULT", "KEYCHAIN_STORE", "KEYCHAIN_PASSPHRASE_FILE", "KEYCHAIN_KEY_FILE",
      "KEYCHAIN_IDENTITY_FILE", "KEYCHAIN_TRUSTED_FOLDERS", "CREDENTIALS_DIRECTORY",
    ] {
      _ = try environment.value(name)
    }
  }
}

// Features of the built-in stores; another store has nothing locked, and one place.
extension Session {
  /// Unlocks what a search found locked; may ask a person.
  func unlock(_ query: CredentialQuery) throws(KeychainError) { try builtIn?.makeReadable(query) }

  /// Explains how to unlock the stores of a query.
  func unlocking(_ query: CredentialQuery) throws(KeychainError) -> KeychainError.Recovery {
    guard let builtIn else { return .unlock }
    return UnlockText.unlockToSee(try builtIn.places(for: query), in: builtIn)
  }

  /// Searches, and adds the store of each credential.
  func locatedSearch(_ query: CredentialQuery) throws(KeychainError) -> LocatedSearchResult {
    guard let builtIn else { return LocatedSearchResult(try store.search(query), in: nil) }
    return try builtIn.locatedSearch(query)
  }

  /// Returns what is visible of a query without asking or waiting long, or `nil`.
  func glance(_ query: CredentialQuery) -> CredentialSearchResult? {
    if let builtIn { return builtIn.glance(query, .quick) }
    return try? store.search(query)
  }

  /// Whether the desktop keyring is not searched, because no service has credentials there.
  var leavesKeyringOut: Bool { builtIn?.leavesKeyringOut ?? false }
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
      unlock: unlock, unlocking: unlocking)
  }

  /// Returns a resolver of references, which unlocks as ``finder(_:)`` does.
  func resolver() -> ReferenceResolver {
    ReferenceResolver(
      store: store, defaultService: context.defaultService, unlock: unlock, unlocking: unlocking)
  }
}

extension SecretDestinationOptions {
  func write(_ secret: borrowing SecretBytes, in session: Session) throws {
    if let output = SecretOutput.path(named: output) {
      return try SecretOutput(
        path: output, overwrites: overwrite, keptPaths: overwrite ? session.vaultPaths : [],
        timeout: session.options.deadline ?? .seconds(10),
        readers: session.secretFileReaders
      )
      .write(secret, addingNewline: newline == .always)
    }
    try session.output.write(secret)
    if newline == .always || newline != .never && session.output.stream.isTerminal {
      try session.output.write("\n")
    }
  }
}

// New passphrases, and those of exports, from options or else from the person.
extension Session {
  /// Returns a new passphrase of the vault, which must not be empty.
  func newPassphrase(_ options: NewPassphraseOptions) throws(KeychainError) -> SecretBytes {
    try new(options.source, .newPassphrase, ifEmpty: .emptyPassphrase)
  }

  /// Returns the passphrase of a new export, which must not be empty.
  func newPassphraseOfExport(_ options: ExportPassphraseOptions) throws -> SecretBytes {
    try new(options.source, .newExportPassphrase, ifEmpty: .emptyExportPassphrase)
  }

  private func new(
    _ source: PassphraseSource, _ subject: Questions.Subject, ifEmpty failure: KeychainError
  ) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try source.passphrase(readers: secretFileReaders, by: asking.deadline) {
        given
      } else {
        try askTwice(for: subject)
      }
    guard passphrase.count > 0 else { throw failure }
    return passphrase
  }

  func passphraseOfExport(_ options: ExportPassphraseOptions) throws -> SecretBytes {
    if let given = try options.source.passphrase(readers: secretFileReaders, by: asking.deadline) {
      return given
    }
    return try ask(for: .exportPassphrase)
  }
}

extension Session {
  /// Calls `body`, which resolves a reference, and explains the error if the credential is missing.
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
    switch builtIn?.keyringHoldings(query) {
    case nil, .nothing: return
    case .counted(let credentials, let services):
      interface.say(StoreText.leftInKeyring(credentials, services))
    case .unknown(let services, let failure):
      interface.say(StoreText.leftUncounted(services, failure))
    }
    interface.hint(StoreText.movingOutOfKeyring(ServiceName(query)))
  }
}
