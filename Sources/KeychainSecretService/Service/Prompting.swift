internal import KeychainCredentials
internal import PrephirencesFiles

extension ServiceOperation {
  /// What a prompt of the provider would be about.
  enum PromptKind {
    /// A step of the provider's own, which shows nothing where the collection is unlocked: KeePassXC
    /// makes every new item in one.
    case silent

    /// The unlocking of a collection or an item, or the creation of the collection, which later operations
    /// find done. Where questions are postponed, `ask` asks this one later.
    case lasting(ask: @Sendable (ServiceOperation) throws(KeychainError) -> Void)

    /// Something that may show a dialog.
    case dialog

    fileprivate var isSilent: Bool { if case .silent = self { true } else { false } }
    fileprivate var isLasting: Bool { if case .lasting = self { true } else { false } }
  }

  private static let promptInterface = "org.freedesktop.Secret.Prompt"
  private static let patienceForDismissal = Duration.seconds(1)

  /// Lets a prompt run.
  ///
  /// - Parameters:
  ///   - path: The prompt.
  ///   - kind: What it is about.
  ///   - denied: The failure if nobody may be asked.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if a person said no,
  ///   ``KeychainError/Code/timedOut`` if nobody said anything, or `denied`.
  func run(
    prompt path: String, _ kind: PromptKind, ifDenied denied: KeychainError
  ) throws(KeychainError) {
    let canAsk = configuration.canPrompt && (kind.isLasting || !forbidsDialogs)
    guard kind.isSilent || canAsk else {
      dismiss(path)
      throw denied
    }
    if case .lasting(let ask) = kind, let question {
      dismiss(path)
      throw question.postpone { [configuration] () throws(KeychainError) in
        try ServiceOperation.run(configuration, nil, ask)
      }
    }
    let limit = canAsk ? Deadline(after: configuration.promptDeadline) : deadline
    let outcome = wait(forPrompt: path, limit)
    restartDeadline()
    switch outcome {
    case .completed(let isDismissed):
      guard !isDismissed else { throw hasPrompter ? .dismissed : denied }
    case .failed(let error):
      note(error)
      throw KeychainError(error)
    case .timedOut:
      dismiss(path)
      throw KeychainError(
        .timedOut, "nobody answered the question of the desktop keyring",
        recovery: "answer it at the desktop")
    }
  }

  /// Whether others wait until this operation has ended.
  private var forbidsDialogs: Bool { question?.forbidsDialogs ?? false }

  /// Whether a question can have been seen.
  ///
  /// gnome-keyring leaves it to another program to show its questions, and says that they were dismissed if
  /// there is none.
  private var hasPrompter: Bool {
    guard configuration.canPrompt else { return false }
    guard connection.ownerIdentity.name?.hasPrefix("gnome-keyring") ?? false else { return true }
    let name = "org.gnome.keyring.SystemPrompter"
    let bus = connection.bus
    let answers = results(of: [
      bus.busCall("ListNames", [], reply: .values("as")), bus.activatableNames,
    ])
    return answers.contains { (try? $0.get())?.elements.first?.texts.contains(name) ?? false }
  }

  private func dismiss(_ path: String) {
    // Whatever comes of it, the caller has waited long enough.
    _ = connection.bus.results(
      of: [call(path, Self.promptInterface, "Dismiss", reply: .nothing)],
      Deadline(after: Self.patienceForDismissal).limited(by: deadline))
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
    ) { signal in
      outcome = .completed(isDismissed: signal.arguments.elements.first?.bool ?? true)
    }
    // A provider that ends takes its question with it.
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
}
