internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// This machine's copy of a shared store, for one command.
final class SharedCopy {
  /// How long a command tries to bring the copy in step before it takes it as it is.
  private static let timeout: Duration = .seconds(5)

  /// How long a command waits until its changes are sent.
  private static let sendingPatience: Duration = .seconds(20)

  /// How long it waits for the threads that have sent them.
  private static let endPatience: Duration = .seconds(1)

  let suite: SharedSuite
  private let notice: (String) -> Void
  private var isRefreshed = false
  private var lost: LostChanges?
  private var keys: Set<[UInt8]> = []

  /// - Parameters:
  ///   - suite: The suite.
  ///   - notice: Gets what a person should know.
  init(_ suite: SharedSuite, notice: @escaping (String) -> Void) {
    self.suite = suite
    self.notice = notice
  }

  // MARK: - Reading

  /// Brings the copy in step, once, unless a process does that all the time.
  func refresh() throws {
    guard !isRefreshed else { return }
    do {
      try bringInStep()
    } catch {
      let state = try? suite.replica.state()
      guard let state, state.revision > 0, let failure = CommandHost.current.failure(of: error)
      else { throw error }
      let age = state.report?.lastContact.map { " of \(DateText.text($0))" } ?? ""
      notice("\(failure.message); this is the copy\(age)")
    }
  }

  private func bringInStep() throws {
    isRefreshed = true
    if try isFollowed() { return }
    try withWorker { try $0.bringInStep(Deadline(after: Self.timeout)) }
  }

  /// Whether a process keeps the copy in step.
  private func isFollowed() throws -> Bool {
    try SyncStatus.of(suite.replica)?.isFollowed ?? false
  }

  // MARK: - Changing

  /// Prepares changes: they are based on what the others have, if that can be found out.
  func prepareChange() {
    if !isRefreshed { try? bringInStep() }
    lost = LostChanges(suite.replica)
  }

  /// Notes a key that the command changes.
  func willChange(_ key: String) { keys.insert(Array(key.utf8)) }

  /// Performs changes where the engine has the store, which alone can decide for all machines.
  func decide(_ body: (any DomainStore) throws -> Void) throws {
    try changeStore {
      try DirectDomain(store: $0, address: suite.configuration.address).change(.conditional, body)
    }
  }

  /// Changes the store where the engine has it, after what is unsent here, and brings the copy in step.
  func changeStore(_ body: (DirectStore) throws -> Void) throws {
    isRefreshed = true
    // What this machine has changed comes first.
    if try !suite.replica.isShared() || suite.replica.state().unsentKeys > 0 {
      do {
        try withWorker { try $0.bringInStep(Deadline(after: Self.sendingPatience)) }
      } catch let error as CommandLineError {
        throw CommandLineError(
          error.exitCode, "\(error.message); this change waits for that, so nothing was changed")
      }
    }
    try body(try suite.direct())
    do {
      try withWorker { try $0.bringInStep(Deadline(after: Self.timeout)) }
    } catch {
      let reason = CommandHost.current.failure(of: error).map { ": \($0.message)" } ?? ""
      notice("the store has the change, but this machine's copy has not got it yet\(reason)")
    }
  }

  /// Waits until the changes are sent.
  func send() throws {
    let shared = SharedPreferences(suiteName: suite.name)
    defer { shared.worker?.stop(Deadline(after: Self.endPatience)) }
    do throws(PreferencesError) {
      guard let worker = shared.worker else {
        return try shared.flush(deadline: Self.sendingPatience)
      }
      try worker.flush(Deadline(after: Self.sendingPatience), endsWhenRefused: true)
    } catch {
      // It may be about changes of others.
      let unsent = try suite.replica.unsent().contains { keys.contains(Array($0.key.utf8)) }
      guard error.code == .conflict, !unsent else { throw error }
    }
    guard let lost = lost?.keys.filter({ keys.contains(Array($0.utf8)) }), !lost.isEmpty else {
      return
    }
    throw CommandLineError(
      ExitCodes.tryAgain,
      "another machine changed \(LostChanges.names(lost)) at the same time: what was written here was "
        + "given up", hint: "read what is there now, and try again")
  }

  private func withWorker(_ body: (SyncWaiting) throws -> Void) throws {
    let shared = SharedPreferences(suiteName: suite.name)
    defer { shared.worker?.stop(Deadline(after: Self.endPatience)) }
    try body(SyncWaiting(suite, shared))
  }
}
