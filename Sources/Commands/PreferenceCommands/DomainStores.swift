internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The domains in files of this machine.
struct FileDomains: DomainStores {
  func names() throws -> [String] { try DurablePreferences.storedSuiteNames() }
  func store(named name: String) -> any DomainStore { FileDomain(named: name) }
}

/// The preferences of a domain in a file of this machine, which may be the copy of a shared store.
struct FileDomain: DomainStore {
  let preferences: DurablePreferences
  private let copy: SharedCopy?

  init(named name: String) {
    preferences = DurablePreferences(suiteName: name)
    copy = nil
  }

  init(_ copy: SharedCopy) {
    preferences = DurablePreferences(suiteName: copy.suite.name)
    self.copy = copy
  }

  func storedPath() throws -> String? {
    try copy?.refresh()
    return try preferences.storedPath()
  }

  func expectedPath() throws -> String { try preferences.expectedPath() }

  func isWithoutFile() throws -> Bool {
    guard copy == nil else { return false }
    return try storedPath() != expectedPath()
  }

  func value(forKey key: String) throws -> PreferenceValue? {
    try copy?.refresh()
    return try preferences.fetchValue(forKey: key)
  }

  func pairs() throws -> ReadablePairs {
    try copy?.refresh()
    return try preferences.fetchReadablePairs()
  }

  func set(_ value: PreferenceValue?, forKey key: String) throws {
    copy?.willChange(key)
    try preferences.storeValue(value, forKey: key)
  }

  func removeDamagedKeys() throws { try preferences.removeDamagedKeys() }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    if let copy, kind == .conditional { return try copy.decide(body) }
    copy?.prepareChange()
    try preferences.repeatableTransaction(isBatch: kind != .inPieces) { try body(self) }
  }

  func rehearse(_ changes: [(key: String, value: PreferenceValue?)], _ kind: ChangeKind) throws {
    try preferences.rehearse(changes, inPieces: kind == .inPieces)
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    let watched = keys.isEmpty ? nil : Set(keys.map { Array($0.utf8) })
    let findUnreadable: @Sendable () throws -> Void = { [preferences] in
      let pairs = try preferences.fetchReadablePairs()
      if let failure = pairs.otherKeysFailure { throw failure }
      for (key, failure) in pairs.unreadable
      where watched?.contains(Array(key.utf8)) ?? true {
        changes.add(unreadable: key, failure)
      }
    }
    // Keeps the copy in step with other machines.
    let shared = copy.map { SharedPreferences(suiteName: $0.suite.name) }
    // The first read fails if watching would.
    if try preferences.storedPath() != nil { try findUnreadable() }
    // A set of strings would lose one of two canonically equivalent keys.
    let several: [Set<String>?] = keys.isEmpty ? [nil] : keys.map { [$0] }
    let observations = try several.map { keys in
      try preferences.startObserving(
        PreferenceObserver(keys: keys, initial: initial) { changes.add($0) })
    }
    return observations + [
      preferences.observeFailures { failure in
        // A damaged value does not end the watch.
        guard failure.code == .damaged, (try? findUnreadable()) != nil else {
          return changes.end(with: failure)
        }
      }, PreferenceObservation { withExtendedLifetime(shared) {} },
    ]
  }

  var failureOfImport: PreferencesError? {
    do throws(PreferencesError) {
      try preferences.open()
      return nil
    } catch {
      return error
    }
  }

  func synchronize() throws {
    do throws(PreferencesError) {
      try preferences.synchronize()
    } catch {
      guard error.code != .outcomeUnknown else { throw error }
      throw PreferencesError(
        .outcomeUnknown,
        "the change was made, but it is not known whether it is on the disk: \(error.message)",
        systemCode: error.systemCode)
    }
    try copy?.send()
  }
}

/// A shared store on the engine.
struct DirectDomain: DomainStore {
  let store: DirectStore
  let address: String

  /// This machine's copy, if changes go through it; it has its own rules.
  var copy: FileDomain?

  /// The transaction in which the store is read and changed.
  private var transaction: DirectTransaction?

  init(store: DirectStore, address: String, copy: FileDomain? = nil) {
    (self.store, self.address, self.copy) = (store, address, copy)
  }

  func storedPath() throws -> String? { try store.exists() ? address : nil }

  func expectedPath() throws -> String { address }

  func value(forKey key: String) throws -> PreferenceValue? {
    if let transaction { return try transaction.fetchValue(forKey: key) }
    return try store.fetchValue(forKey: key)
  }

  func pairs() throws -> ReadablePairs {
    if let transaction { return try transaction.fetchReadablePairs() }
    return try store.fetchReadablePairs()
  }

  func set(_ value: PreferenceValue?, forKey key: String) throws {
    if let transaction { return transaction.storeValue(value, forKey: key) }
    try store.change { $0.storeValue(value, forKey: key) }
  }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    guard transaction == nil else { return try body(self) }
    try store.change {
      var domain = self
      domain.transaction = $0
      try body(domain)
    }
  }

  func rehearse(_ changes: [(key: String, value: PreferenceValue?)], _ kind: ChangeKind) throws {
    if kind != .conditional { try copy?.rehearse(changes, kind) }
    try store.change(isRehearsal: true) { transaction in
      // One call reads all rows.
      if changes.count > 1 { _ = try transaction.fetchReadablePairs() }
      for (key, value) in changes { transaction.storeValue(value, forKey: key) }
    }
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    let watch = try DirectWatch(
      store, keys: keys.isEmpty ? nil : keys, initial: initial, until: end,
      failed: changes.end, unreadable: changes.add(unreadable:_:)
    ) { changes.add($0) }
    return [PreferenceObservation { watch.cancel() }]
  }

  /// An engine imports nothing.
  var failureOfImport: PreferencesError? { nil }

  /// A change is on the engine when its call returns.
  func synchronize() {}
}

/// A domain whose changes are recorded instead of made.
final class RehearsedDomain: DomainStore {
  private typealias Change = (key: String, value: PreferenceValue?)

  private let store: any DomainStore

  /// The changes, by the bytes of their keys.
  private var changes: [[UInt8]: Change] = [:]

  init(_ store: any DomainStore) { self.store = store }

  /// Returns what the changes would do, sorted by the bytes of the keys, and why replaced values
  /// cannot be read.
  func differences() throws -> (differences: [ValueDifference], unreadable: [any Error]) {
    let old = try PreferenceDomain(named: "", in: store).contents()
    let values = Dictionary(old.values.map { (Array($0.key.utf8), $0.value) }) { $1 }
    let differences = ordered.compactMap { change -> ValueDifference? in
      let (old, new) = (values[Array(change.key.utf8)], change.value?.withOneNaN)
      return old == new ? nil : ValueDifference(key: change.key, old: old, new: new)
    }
    return (differences, old.unreadable.filter { isChanged($0.key) }.map(\.failure))
  }

  private var ordered: [Change] {
    changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  private func isChanged(_ key: String) -> Bool { changes[Array(key.utf8)] != nil }

  // MARK: - Domain

  func storedPath() throws -> String? { try store.storedPath() }

  func expectedPath() throws -> String { try store.expectedPath() }

  func value(forKey key: String) throws -> PreferenceValue? {
    if let change = changes[Array(key.utf8)] { return change.value }
    return try store.value(forKey: key)
  }

  func pairs() throws -> ReadablePairs {
    var found = try store.pairs()
    found.pairs.removeAll { isChanged($0.key) }
    found.unreadable.removeAll { isChanged($0.key) }
    found.pairs += changes.values.compactMap { key, value in value.map { (key, $0) } }
    return found
  }

  func set(_ value: PreferenceValue?, forKey key: String) {
    changes[Array(key.utf8)] = (key, value)
  }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    try body(self)
    try store.rehearse(ordered, kind)
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    try store.observe(keys, initial: initial, until: end, changes)
  }

  var failureOfImport: PreferencesError? { (try? store.pairs())?.otherKeysFailure }

  func synchronize() {}
}

/// This machine's copy of a shared store, for one command.
final class SharedCopy {
  /// How long a command tries to bring the copy in step before it uses the copy as it is.
  private static let timeout: Duration = .seconds(5)

  /// How long a command waits until its changes are sent.
  private static let sendingPatience: Duration = .seconds(20)

  /// How long it then waits for the sending threads.
  private static let endPatience: Duration = .seconds(1)

  let suite: SharedSuite
  private let notice: (String) -> Void
  private var isRefreshed = false
  private var lost: LostChanges?
  private var keys: Set<[UInt8]> = []

  /// `notice` receives texts for a person.
  init(_ suite: SharedSuite, notice: @escaping (String) -> Void) {
    self.suite = suite
    self.notice = notice
  }

  // MARK: - Reading

  /// Brings the copy in step, once, unless a process does so permanently.
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

  /// Prepares changes: brings the copy in step, if possible, so that they are based on the others'
  /// changes.
  func prepareChange() {
    if !isRefreshed { try? bringInStep() }
    lost = LostChanges(suite.replica)
  }

  func willChange(_ key: String) { keys.insert(Array(key.utf8)) }

  /// Performs changes on the engine, which alone can decide for all machines.
  func decide(_ body: (any DomainStore) throws -> Void) throws {
    try changeStore {
      try DirectDomain(store: $0, address: suite.configuration.address).change(.conditional, body)
    }
  }

  /// Changes the store on the engine, after this machine's unsent changes, and brings the copy in
  /// step.
  func changeStore(_ body: (DirectStore) throws -> Void) throws {
    isRefreshed = true
    // This machine's changes come first.
    if try !suite.replica.isShared() || suite.replica.state().unsentKeys > 0 {
      do {
        try withWorker { try $0.bringInStep(Deadline(after: Self.sendingPatience)) }
      } catch let error as CommandLineError {
        throw CommandLineError(
          error.exitCode,
          "\(error.message); this change must wait for that, so nothing was changed")
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
      // The failure may be about changes of others.
      let unsent = try suite.replica.unsent().contains { keys.contains(Array($0.key.utf8)) }
      guard error.code == .conflict, !unsent else { throw error }
    }
    guard let lost = lost?.keys.filter({ keys.contains(Array($0.utf8)) }), !lost.isEmpty else {
      return
    }
    throw CommandLineError(
      ExitCodes.tryAgain,
      "another machine changed \(Words.names(lost)) at the same time: this machine's change was "
        + "given up", hint: "read what is there now, and try again")
  }

  private func withWorker(_ body: (SyncWaiting) throws -> Void) throws {
    let shared = SharedPreferences(suiteName: suite.name)
    defer { shared.worker?.stop(Deadline(after: Self.endPatience)) }
    try body(SyncWaiting(suite, shared))
  }
}
