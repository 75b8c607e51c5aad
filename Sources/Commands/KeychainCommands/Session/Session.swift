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

  /// The automatic choice of store.
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
  ) throws(KeychainError) {
    StandardDescriptors.prepare()
    if options.vault != nil, choice?.choice == .secretService { throw .vaultOrKeyring }
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
        try prompt.secret(request.question(from: interface.hostName))
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

  /// The store of credentials.
  var store: any CredentialStore { stores }

  /// Fails if a variable that names a file or a store is not UTF-8.
  ///
  /// Also those that this command may not need: what unlocks is looked for when it is needed only.
  private static func checkVariables() throws(KeychainError) {
    for name in [
      "KEYCHAIN_VAULT", "KEYCHAIN_STORE", "KEYCHAIN_PASSPHRASE_FILE", "KEYCHAIN_KEY_FILE",
      "KEYCHAIN_IDENTITY_FILE", "KEYCHAIN_TRUSTED_FOLDERS", "CREDENTIALS_DIRECTORY",
    ] {
      _ = try translated(EnvironmentVariables.process.value(name))
    }
  }

  /// Returns the host's own vault, unless the environment gives one.
  private static func vaultPath(_ context: KeychainCommandContext) -> String? {
    Environment.value("KEYCHAIN_VAULT") == nil ? context.defaultVault : nil
  }
}

extension Session {
  /// Asks for a secret.
  func ask(for subject: Questions.Subject) throws(KeychainError) -> SecretBytes {
    guard let prompt else { throw .nobodyToAsk(for: subject) }
    return try prompt.secret(Questions.question(for: subject))
  }

  /// Asks for a secret twice.
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

  /// Returns a finder for the credential of the options.
  func finder(_ options: ItemOptions) -> CredentialFinder {
    CredentialFinder(
      store: store, options: options, defaultService: context.defaultService,
      unlock: { [stores] query throws(KeychainError) in try stores.makeReadable(query) },
      unlocking: { [stores] query throws(KeychainError) in try Self.unlocking(stores, query) })
  }

  /// Returns a resolver of references, which unlocks as ``finder(_:)`` does.
  func resolver() -> ReferenceResolver {
    ReferenceResolver(
      store: store, defaultService: context.defaultService,
      unlock: { [stores] query throws(KeychainError) in try stores.makeReadable(query) },
      unlocking: { [stores] query throws(KeychainError) in try Self.unlocking(stores, query) })
  }

  private static func unlocking(
    _ stores: AutomaticStore, _ query: CredentialQuery
  ) throws(KeychainError) -> KeychainError.Recovery {
    UnlockText.unlockToSee(try stores.places(for: query), in: stores)
  }
}
