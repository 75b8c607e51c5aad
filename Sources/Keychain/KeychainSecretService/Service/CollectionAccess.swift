internal import KeychainCredentials
internal import PrephirencesSystem

extension ServiceOperation {
  /// Returns the path of the store's collection; for the default one, its alias, which always
  /// works.
  func collectionPath() throws(KeychainError) -> String? {
    switch configuration.collection {
    case .default: Self.defaultAlias
    case .session: SecretServiceCollection.sessionPath
    case .named(let name): try ServiceOperation.isPath(name) ? name : collectionPath(label: name)
    }
  }

  private static let defaultAlias = servicePath + "/aliases/default"

  var defaultCollectionQuestion: BusCall {
    service("ReadAlias", [.string("default")], reply: .values("o"))
  }

  /// Returns the path of the default collection itself, instead of its alias.
  ///
  /// While gnome-keyring registers its objects again, it may report that there is none.
  func defaultCollectionPath() throws(KeychainError) -> String {
    var path = try answer(to: defaultCollectionQuestion).elements.first?.text
    try whileMissing({ path == "/" }) { () throws(KeychainError) in
      path = try answer(to: defaultCollectionQuestion).elements.first?.text
    }
    guard let path, path != "/" else { throw noCollection }
    return path
  }

  /// Returns whether the name of a collection is an object path, which labels never look like.
  static func isPath(_ name: String) -> Bool {
    name.hasPrefix(servicePath + "/") && !name.hasSuffix("/") && !name.contains("//")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }

  private func collectionPath(label: String) throws(KeychainError) -> String? {
    guard !label.isEmpty else {
      throw KeychainError(
        .invalidArgument, "the name of the collection is empty",
        recovery: "use its label or object path")
    }
    let list = try answer(
      to: getProperty(Self.servicePath, Self.serviceInterface, "Collections", "ao"))
    // The collection that ends with the session cannot be found by a label: gnome-keyring's has
    // none.
    let paths = (list.elements.first?.texts ?? []).filter {
      $0 != SecretServiceCollection.sessionPath
    }
    let labels = results(
      of: paths.map { getProperty($0, Self.collectionInterface, "Label", "s") })
    let found = zip(paths, labels).filter { _, answer in
      (try? answer.get())?.elements.first?.text?.hasSameBytes(as: label) ?? false
    }
    guard found.count < 2 else {
      throw KeychainError(
        .ambiguous,
        "\(found.count) collections are called '\(label)': "
          + found.map(\.0).joined(separator: ", "),
        recovery: "name one by its object path")
    }
    return found.first?.0
  }

  var noCollection: KeychainError {
    switch configuration.collection {
    case .default:
      KeychainError(
        .noStore, "the desktop keyring has no default collection",
        recovery: "make a keyring or open a database at the desktop, or use the vault")
    case .session:
      KeychainError(
        .noStore, "this provider of the Secret Service has no collection for the session only",
        recovery: "use the default collection")
    case .named(let label):
      KeychainError(
        .noStore, "the desktop keyring has no collection '\(label)'",
        recovery: "make it at the desktop, or use the default collection")
    }
  }

  /// Unlocks a collection or an item; that may need a person.
  func unlock(_ path: String) throws(KeychainError) {
    // Providers unlock objects, not aliases.
    let object = path == Self.defaultAlias ? try defaultCollectionPath() : path
    let answer = try answer(
      to: service("Unlock", [.objectPaths([object])], reply: .values("aoo"))
    ).elements
    guard answer.count == 2, let prompt = answer[1].text else { throw .lockedKeyring }
    guard prompt != "/" else {
      guard !answer[0].texts.isEmpty else { throw .lockedKeyring }
      return
    }
    try run(
      prompt: prompt,
      .lasting { operation throws(KeychainError) in try operation.unlock(path) },
      ifDenied: .lockedKeyring)
  }

  /// The purpose of a provider's prompt.
  enum PromptKind {
    /// An internal step, which shows nothing if the collection is unlocked: KeePassXC creates every
    /// new item in a prompt.
    case silent

    /// Unlocks a collection or an item, or creates the collection. Later operations need not repeat
    /// it.
    ///
    /// For a quiet operation, `ask` asks it later.
    case lasting(ask: @Sendable (ServiceOperation) throws(KeychainError) -> Void)

    /// Something that may show a dialog.
    case dialog

    fileprivate var isSilent: Bool { if case .silent = self { true } else { false } }
    fileprivate var isLasting: Bool { if case .lasting = self { true } else { false } }
  }

  private static let promptInterface = "org.freedesktop.Secret.Prompt"
  private static let dismissalTimeout = Duration.seconds(1)

  func run(
    prompt path: String, _ kind: PromptKind, ifDenied denied: KeychainError
  ) throws(KeychainError) {
    let canAsk = configuration.canPrompt && (kind.isLasting || quietness != .withoutDialogs)
    guard kind.isSilent || canAsk else {
      dismiss(path)
      throw denied
    }
    if case .lasting(let ask) = kind, quietness != nil {
      dismiss(path)
      throw KeychainError(
        .busy, "the desktop keyring must be unlocked first",
        need: Need { [configuration] () throws(KeychainError) in
          try ServiceOperation.run(configuration, nil, ask)
        })
    }
    let limit = canAsk ? Deadline(after: configuration.promptDeadline) : deadline
    let outcome = wait(forPrompt: path, limit)
    restartDeadline()
    switch outcome {
    case .completed(let isDismissed):
      guard isDismissed else { return }
      guard configuration.canPrompt else { throw denied }
      throw reasonOfMissingDialog.map(denied.withoutDialog) ?? .dismissed
    case .failed(let error):
      note(error)
      throw KeychainError(error)
    case .timedOut:
      // A silent prompt may still be at work, as may one that cannot be dismissed.
      if !dismiss(path) || kind.isSilent { note(.timedOut) }
      throw KeychainError(
        .timedOut, "nobody answered the question of the desktop keyring",
        recovery: "answer it at the desktop")
    }
  }

  /// Why no person can have seen the question; `nil` if one can.
  ///
  /// gnome-keyring lets another program show its questions, and reports them as dismissed if that
  /// program does not start, for example without a display. The bus reports this.
  private var reasonOfMissingDialog: String? {
    guard connection.ownerIdentity.name?.hasPrefix("gnome-keyring") ?? false else { return nil }
    let name = "org.gnome.keyring.SystemPrompter"
    do throws(BusError) {
      try connection.bus.activate(name, deadline)
      return nil
    } catch {
      guard case .remote(let answer) = error else { return nil }
      let reason = answer.split(separator: ".").suffix(2).joined(separator: ".")
      return "\(name) does not start (\(reason))"
    }
  }

  /// Ends a prompt; `true` if the provider answered.
  ///
  /// A caller that has waited long enough does not wait long for that.
  @discardableResult
  private func dismiss(_ path: String) -> Bool {
    let answers = connection.bus.results(
      of: [call(path, Self.promptInterface, "Dismiss", reply: .nothing)],
      Deadline(after: Self.dismissalTimeout).limited(by: deadline))
    return answers.allSatisfy { $0.error == nil }
  }

  private enum PromptOutcome {
    case completed(isDismissed: Bool)
    case failed(BusError)
    case timedOut
  }

  private func wait(forPrompt path: String, _ limit: Deadline) -> PromptOutcome {
    let bus = connection.bus
    guard let context = MainContext(bus.library) else { return .failed(.failed) }
    defer { context.end() }
    var outcome: PromptOutcome?
    let completed = bus.listen(
      to: BusSignalMatch(
        sender: connection.owner, interface: Self.promptInterface, name: "Completed", path: path,
        arguments: .values("bv"))
    ) { signal in outcome = .completed(isDismissed: signal.arguments.elements.first?.bool ?? true) }
    // The prompt ends with its provider.
    let gone = bus.listen(
      to: .endOfOwner(connection.owner)
    ) { _ in outcome = outcome ?? .failed(.closed) }
    defer {
      bus.endListening(completed)
      bus.endListening(gone)
    }
    let started = bus.results(
      of: [call(path, Self.promptInterface, "Prompt", [.string("")], reply: .nothing)], deadline)
    if case .failure(let error)? = started.first { return .failed(error) }
    return context.ticking(200) {
      while outcome == nil, !limit.hasPassed, !bus.isClosed { context.waitForEvent() }
      return outcome ?? (bus.isClosed ? .failed(.closed) : .timedOut)
    }
  }
}

extension KeychainError {
  static let dismissed = KeychainError(
    .cancelled, "the question of the desktop keyring was dismissed; nothing was changed")

  /// Returns this error for a question that nobody saw.
  fileprivate func withoutDialog(_ reason: String) -> Self {
    Self(
      code, "\(message), and its dialog cannot open: \(reason)",
      recovery: "look whether the desktop's display works (DISPLAY, WAYLAND_DISPLAY); "
        + "\(.useVault) or KEYCHAIN_STORE=vault uses the vault without it")
  }
}
