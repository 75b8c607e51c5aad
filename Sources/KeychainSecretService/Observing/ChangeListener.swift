internal import Foundation
internal import KeychainCredentials
internal import Synchronization

/// The thread that listens to the signals of a collection, until it is stopped.
final class ChangeListener: Sendable {
  /// What was read after a signal.
  enum Report {
    case item(ServiceItem)
    case removal(path: String)
    case all([ServiceItem])
  }

  private let watch: WeakWatch
  private let configuration: SecretServiceStore.Configuration
  private let state = Mutex<(isStopped: Bool, context: MainContext?)>((false, nil))
  private let ready = DispatchSemaphore(value: 0)

  /// A watch must not live for its listener's sake.
  private final class WeakWatch: @unchecked Sendable {
    // @unchecked Sendable because a weak reference is read atomically, and set once.
    weak var value: ChangeWatch?
    init(_ value: ChangeWatch) { self.value = value }
  }

  init(_ watch: ChangeWatch, _ configuration: SecretServiceStore.Configuration) {
    self.watch = WeakWatch(watch)
    self.configuration = configuration
  }

  /// Begins to listen, and waits until that works, or cannot for now.
  func start(_ limit: Duration) {
    let thread = Thread { [self] in
      var isFirst = true
      while !isStopped {
        // Later, somebody may have ended the provider to use another, which needs its name.
        listen(startingProvider: isFirst)
        isFirst = false
        ready.signal()
        // The provider or the bus ended: it may come back.
        pause()
      }
    }
    thread.name = "keyring signals"
    thread.start()
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

  private func pause() {
    for _ in 0..<20 where !isStopped { usleep(100_000) }
  }

  /// Listens until the connection or the provider ends.
  private func listen(startingProvider: Bool) {
    guard let address = try? BusAddress(environment: configuration.environment) else { return }
    let slot = ConnectionPool.slot(for: address)
    let deadline = Deadline(after: configuration.deadline)
    guard let connection = try? slot.connect(deadline, startingProvider: startingProvider),
      listen(connection)
    else { return }
    // Nobody else may be using it who would notice.
    slot.drop(connection)
  }

  /// Listens on a connection.
  ///
  /// - Returns: Whether it leads to no provider any more.
  private func listen(_ connection: SecretServiceConnection) -> Bool {
    let beginning = operation(connection)
    guard let path = try? beginning.signalPath() else {
      return beginning.failure?.endsConnection ?? false
    }
    guard let context = MainContext(connection.bus.library) else { return false }
    defer { context.end() }
    var hasEnded = false
    var hasMissed = false
    let bus = connection.bus
    // What ends before its end is listened to shows by its answers.
    func note(_ reading: Reading) {
      hasMissed = hasMissed || reading != .complete
      hasEnded = hasEnded || reading == .undelivered
    }
    let changes = bus.listen(
      to: BusSignalMatch(
        sender: connection.owner, interface: ServiceOperation.collectionInterface, path: path)
    ) { [self] in note(take($0, connection)) }
    let gone = bus.listen(
      to: BusSignalMatch(
        sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus",
        name: "NameOwnerChanged", firstArgument: connection.owner)
    ) { _ in hasEnded = true }
    defer {
      bus.endListening(changes)
      bus.endListening(gone)
    }
    // After listening began: what changes meanwhile is seen here, or told by a signal.
    note(takeAll(connection))
    guard setContext(context) else { return hasEnded }
    ready.signal()
    context.ticking(1000) {
      while !hasEnded, !isStopped, !bus.isClosed {
        context.waitForEvent()
        guard hasMissed else { continue }
        hasMissed = false
        note(takeAll(connection))
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

  /// What came of reading.
  private enum Reading {
    case complete

    /// The provider did not answer.
    case missed

    /// It is gone.
    case undelivered

    init(failureOf operation: ServiceOperation) {
      self = operation.failure?.isUndelivered ?? false ? .undelivered : .missed
    }
  }

  /// Reads all items.
  private func takeAll(_ connection: SecretServiceConnection) -> Reading {
    let operation = operation(connection)
    guard let finder = try? ItemFinder(operation),
      let items = try? finder.items(finder.allPaths())
    else { return Reading(failureOf: operation) }
    watch.value?.take(self, .all(items))
    return .complete
  }

  /// Reads what a signal is about.
  private func take(_ signal: BusSignal, _ connection: SecretServiceConnection) -> Reading {
    guard let path = signal.arguments.elements.first?.text else { return .complete }
    switch signal.name {
    case "ItemDeleted": watch.value?.take(self, .removal(path: path))
    case "ItemCreated", "ItemChanged":
      let operation = operation(connection)
      guard let finder = try? ItemFinder(operation), let items = try? finder.items([path]) else {
        return Reading(failureOf: operation)
      }
      for item in items { watch.value?.take(self, .item(item)) }
    default: break
    }
    return .complete
  }
}

extension ServiceOperation {
  /// The path that signals of the collection come from, which is never an alias.
  func signalPath() throws(KeychainError) -> String {
    guard configuration.collection == .default else {
      guard let path = try collectionPath() else { throw noCollection }
      return path
    }
    let answer = try answer(to: service("ReadAlias", [.string("default")]))
    guard let path = answer.elements.first?.text, path != "/" else { throw noCollection }
    return path
  }
}
