internal import Dispatch
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem

/// The thread that listens to the signals of a collection, until it is stopped.
final class ChangeListener: Sendable {
  /// The result of reading after a signal.
  enum Report {
    case creation(ServiceItem)
    case change(ServiceItem)
    case removal(path: String)
    case all([ServiceItem])
  }

  private typealias Reading = ListenerState.Reading

  private let watch: WeakWatch
  private let configuration: SecretServiceConfiguration
  private let state = PosixMutex<(isStopped: Bool, context: MainContext?)>((false, nil))
  private let ready = DispatchSemaphore(value: 0)

  /// A reference that does not keep the watch alive.
  private final class WeakWatch: @unchecked Sendable {
    // @unchecked Sendable because a weak reference is read atomically, and set once.
    weak var value: ChangeWatch?
    init(_ value: ChangeWatch) { self.value = value }
  }

  init(_ watch: ChangeWatch, _ configuration: SecretServiceConfiguration) {
    self.watch = WeakWatch(watch)
    self.configuration = configuration
  }

  /// Starts to listen, and waits until that succeeds or fails for the first time.
  func start(_ limit: Duration) {
    let begun: Void? = try? DetachedThread.start(named: "keyring signals") { [self] in
      var isFirst = true
      while !isStopped {
        // Later, the user may have stopped the provider to use another one, which needs its name.
        listen(startingProvider: isFirst)
        isFirst = false
        ready.signal()
        // The provider or the bus has ended, and may return.
        pause()
      }
    }
    // Without a thread, only this process's own changes are reported.
    guard begun != nil else { return }
    _ = ready.wait(timeout: .now() + limit / .seconds(1))
  }

  func stop() {
    let context = state.withLock { state in
      state.isStopped = true
      return state.context
    }
    context?.wakeUp()
  }

  private var isStopped: Bool { state.withLock(\.isStopped) || watch.value == nil }

  private func pause() { for _ in 0..<20 where !isStopped { usleep(100_000) } }

  /// Listens until the connection or the provider ends.
  private func listen(startingProvider: Bool) {
    guard let address = try? BusAddress(environment: configuration.environment) else { return }
    let slot = ConnectionPool.slot(for: address)
    let deadline = Deadline(after: configuration.deadline)
    guard let connection = try? slot.connect(deadline, startingProvider: startingProvider),
      listen(connection)
    else { return }
    // Other users of the connection may not notice.
    slot.drop(connection)
  }

  /// Listens on a connection; `true` if the connection's provider has ended.
  private func listen(_ connection: SecretServiceConnection) -> Bool {
    let beginning = operation(connection)
    guard let path = try? beginning.signalPath() else {
      return beginning.failure?.endsConnection ?? false
    }
    guard let context = MainContext(connection.bus.library) else { return false }
    defer { context.end() }
    var hasEnded = false
    var state = ListenerState()
    let bus = connection.bus
    // If the provider ended before its end was listened to, its answers show it.
    func note(_ reading: Reading) {
      state.note(reading)
      hasEnded = hasEnded || reading == .undelivered
    }
    let changes = bus.listen(
      to: BusSignalMatch(
        sender: connection.owner, interface: ServiceOperation.collectionInterface, path: path,
        arguments: .values("o"))
    ) { [self] in note(state.isCurrent ? take($0, connection) : takeAll(connection)) }
    // Unlocking a collection may cause only this signal.
    let unlocking = bus.listen(
      to: BusSignalMatch(
        sender: connection.owner, interface: ServiceOperation.serviceInterface,
        path: ServiceOperation.servicePath, arguments: .values("o"))
    ) { [self] _ in if !state.isCurrent { note(takeAll(connection)) } }
    let gone = bus.listen(to: .endOfOwner(connection.owner)) { _ in hasEnded = true }
    defer { for number in [changes, unlocking, gone] { bus.endListening(number) } }
    // Only after listening has begun: later changes are read here, or reported by a signal.
    note(takeAll(connection))
    guard setContext(context) else { return hasEnded }
    ready.signal()
    context.ticking(1000) {
      while !hasEnded, !isStopped, !bus.isClosed {
        context.waitForEvent()
        if state.mustReadAgain() { note(takeAll(connection)) }
      }
    }
    _ = setContext(nil)
    return hasEnded
  }

  private func setContext(_ context: MainContext?) -> Bool {
    state.withLock { state in
      state.context = context
      return !state.isStopped
    }
  }

  private func operation(_ connection: SecretServiceConnection) -> ServiceOperation {
    ServiceOperation(connection, configuration, Deadline(after: configuration.deadline))
  }

  private func takeAll(_ connection: SecretServiceConnection) -> Reading {
    let operation = operation(connection)
    do throws(KeychainError) {
      guard let items = try ItemFinder(operation).itemsIfUnlocked() else { return .hidden }
      watch.value?.take(self, .all(items))
      return .complete
    } catch { return Reading(failureOf: operation) }
  }

  /// Reads the item of a signal.
  ///
  /// When KeePassXC locks a database, it signals the removal of each item, too.
  private func take(_ signal: BusSignal, _ connection: SecretServiceConnection) -> Reading {
    guard ["ItemCreated", "ItemChanged", "ItemDeleted"].contains(signal.name),
      let path = signal.arguments.elements.first?.text
    else { return .complete }
    let operation = operation(connection)
    do throws(KeychainError) {
      guard let items = try ItemFinder(operation).itemsIfUnlocked([path]) else { return .hidden }
      let report: Report? =
        switch items.first {
        // An item that exists although it was reported as deleted was locked, and is now unlocked.
        case let item?: signal.name == "ItemChanged" ? .change(item) : .creation(item)
        case nil: signal.name == "ItemDeleted" ? .removal(path: path) : nil
        }
      if let report { watch.value?.take(self, report) }
      return .complete
    } catch { return Reading(failureOf: operation) }
  }
}

extension ServiceOperation {
  /// Returns the path of the collection's signals, which is never an alias.
  func signalPath() throws(KeychainError) -> String {
    guard configuration.collection == .default else {
      guard let path = try collectionPath() else { throw noCollection }
      return path
    }
    return try defaultCollectionPath()
  }
}

/// The result of the last reading of a collection, and when it must be read again without a signal.
struct ListenerState {
  /// The result of a reading.
  enum Reading {
    case complete

    /// The collection is locked or missing: the known items are kept, and compared when it is
    /// available again.
    case hidden

    /// The provider lists too many items, or sends invalid replies: reading again would fail in
    /// the same way.
    case unreadable

    /// The provider did not answer, or returned another error.
    case missed

    /// The provider has ended.
    case undelivered

    init(failureOf operation: ServiceOperation) {
      self =
        switch operation.failure {
        case let failure? where failure.isUndelivered: .undelivered
        case let failure? where failure.isMissingObject: .hidden
        case .tooManyElements, .unexpectedType: .unreadable
        default: .missed
        }
    }
  }

  private(set) var reading = Reading.complete
  private var nextAttempt: ContinuousClock.Instant?
  private var pause = shortestPause

  static let shortestPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(64)

  /// Whether the known items are up to date with the last signal; if not, the next one causes a
  /// reading of all items.
  var isCurrent: Bool { reading == .complete }

  mutating func note(_ reading: Reading, at now: ContinuousClock.Instant = .now) {
    self.reading = reading
    guard reading == .missed else {
      (nextAttempt, pause) = (nil, Self.shortestPause)
      return
    }
    // Signals cause their own attempts, which must not delay the next scheduled one.
    if let nextAttempt, now < nextAttempt { return }
    nextAttempt = now + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// Returns whether all items must be read again now, after pauses that grow while reading fails.
  func mustReadAgain(at now: ContinuousClock.Instant = .now) -> Bool {
    nextAttempt.map { $0 <= now } ?? false
  }
}
