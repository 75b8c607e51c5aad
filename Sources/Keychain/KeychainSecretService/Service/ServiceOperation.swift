internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// The questions that an operation does not ask while it holds a lock that others wait for.
enum Quietness {
  /// Those that unlock or create the collection, because they can be asked before.
  case withoutUnlocking

  /// All.
  case withoutDialogs
}

/// One call of a store: its messages share a deadline and a connection.
final class ServiceOperation {
  let connection: SecretServiceConnection
  let configuration: SecretServiceConfiguration

  /// The deadline of the next messages.
  private(set) var deadline: Deadline

  /// The latest deadline for a call about many items.
  private var limit: Deadline

  /// The questions that must not be asked now; `nil` if all may be.
  let quietness: Quietness?

  /// The last failure on the bus; `nil` if there was none.
  private(set) var failure: BusError?

  /// Whether a second attempt would repeat something: a change, or passing on a secret.
  var mustNotRepeat = false

  init(
    _ connection: SecretServiceConnection, _ configuration: SecretServiceConfiguration,
    _ deadline: Deadline, _ quietness: Quietness? = nil
  ) {
    self.quietness = quietness
    self.connection = connection
    self.configuration = configuration
    self.deadline = deadline
    limit = deadline.postponed(by: configuration.deadline)
  }

  /// Restarts the deadline after waiting for a person or another writer.
  func restartDeadline() {
    deadline = Deadline(after: configuration.deadline)
    limit = deadline.postponed(by: configuration.deadline)
  }

  /// Extends the deadline for more items, to at most twice that of a call: a provider that lists
  /// many items must not make a call arbitrarily long.
  func extendDeadline() { deadline = Deadline(after: configuration.deadline).limited(by: limit) }

  /// Excludes the time that the caller has used.
  func giveBackTime(since start: ContinuousClock.Instant) {
    let taken = start.duration(to: .now)
    deadline = deadline.postponed(by: taken)
    limit = limit.postponed(by: taken)
  }

  /// Makes any number of independent calls, many at a time.
  ///
  /// A large keyring takes longer than the deadline of one call. A bus limits the number of calls
  /// that wait for answers. Refused calls are repeated after the others were answered.
  func manyResults(of calls: [BusCall]) throws(KeychainError) -> [BusAnswer] {
    var answers: [BusAnswer] = calls.map { _ in .failure(.limitExceeded) }
    var open = Array(calls.indices)
    while let first = open.first {
      let batch = open.prefix(Self.batchCount)
      let results = results(of: batch.map { calls[$0] }, areIndependent: true)
      if let failure, failure.endsConnection { throw KeychainError(failure) }
      for (index, result) in zip(batch, results) { answers[index] = result }
      let refused = zip(batch, results).filter { $0.1.error == .limitExceeded }.map(\.0)
      guard refused.first != first else { throw KeychainError(.limitExceeded) }
      open = refused + open.dropFirst(batch.count)
      if !open.isEmpty { extendDeadline() }
    }
    return answers
  }

  static let batchCount = 1000

  func result(of call: BusCall) throws(BusError) -> BusValue {
    guard let result = results(of: [call]).first else { throw .failed }
    return try result.get()
  }

  /// Makes a call whose failures are all errors of the store.
  func answer(to call: BusCall) throws(KeychainError) -> BusValue {
    try translated(bus: result(of: call))
  }

  // If two calls are sent together, the first may have been done even if the second was not
  // delivered: an open outcome stays open.
  func note(_ error: BusError) {
    let staysOpen = failure?.leavesOutcomeOpen == true && !error.leavesOutcomeOpen
    if failure == nil || error.endsConnection && !staysOpen { failure = error }
  }

  /// Sends a change of an item.
  func changing(
    _ identity: CredentialIdentity, _ body: () throws(KeychainError) -> Void
  ) throws(KeychainError) {
    // Nothing is sent after the deadline.
    guard !deadline.hasPassed else { throw .timedOut }
    mustNotRepeat = true
    failure = nil
    do throws(KeychainError) {
      try body()
    } catch let error where failure?.leavesOutcomeOpen == true {
      throw .outcomeUnknown(
        ofChanging: "\(identity) in the desktop keyring", because: error.message,
        recovery: "look with \(.read) before you repeat it")
    }
  }

  /// Returns the session for secrets; if it cannot be opened, the connection is useless.
  func session() throws(KeychainError) -> SecretSession {
    do throws(KeychainError) {
      return try connection.session(deadline)
    } catch {
      note(.failed)
      throw error
    }
  }
}

extension ServiceOperation {
  static let servicePath = "/org/freedesktop/secrets"
  static let serviceInterface = "org.freedesktop.Secret.Service"
  static let collectionInterface = "org.freedesktop.Secret.Collection"
  static let itemInterface = "org.freedesktop.Secret.Item"
  private static let properties = "org.freedesktop.DBus.Properties"

  func call(
    _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = [],
    reply: BusType
  ) -> BusCall {
    BusCall(
      destination: connection.owner, path: path, interface: interface, method: method,
      arguments: arguments, reply: reply)
  }

  func service(_ method: String, _ arguments: [BusValue], reply: BusType) -> BusCall {
    call(Self.servicePath, Self.serviceInterface, method, arguments, reply: reply)
  }

  func getProperty(_ path: String, _ interface: String, _ name: String, _ type: String) -> BusCall {
    call(path, Self.properties, "Get", [.string(interface), .string(name)], reply: .property(type))
  }

  func getProperties(ofItem path: String) -> BusCall {
    call(
      path, Self.properties, "GetAll", [.string(Self.itemInterface)],
      reply: .properties(
        required: ["Attributes": "a{ss}"],
        optional: ["Created": "t", "Label": "s", "Locked": "b", "Modified": "t"]))
  }

  func setProperty(_ path: String, _ name: String, _ value: BusValue) -> BusCall {
    call(
      path, Self.properties, "Set",
      [.string(Self.itemInterface), .string(name), .variant(value)], reply: .nothing)
  }
}

func translated<Result>(
  bus result: @autoclosure () throws(BusError) -> Result
) throws(KeychainError) -> Result {
  do { return try result() } catch { throw KeychainError(error) }
}

extension KeychainError {
  init(_ error: BusError) {
    switch error {
    case .timedOut: self = .timedOut
    case .isLocked: self = .lockedKeyring
    case .remote("org.freedesktop.DBus.Error.AccessDenied"): self = .deniedByBus
    case .unexpectedType:
      self.init(
        .inputOutput,
        "the desktop keyring sent a reply that is not valid in the Secret Service protocol",
        recovery: "restart or update its program, or use the vault")
    case .tooManyElements: self = .tooManyItems
    case .noSession:
      self.init(
        .inputOutput, "the desktop keyring gave a secret that cannot be decrypted",
        recovery: "start its program again, or use the vault")
    case .limitExceeded:
      self.init(
        .busy, "the session bus takes no more calls now",
        recovery: "try again; \(.useVault) uses the vault without it")
    case .remote(let name) where !error.endsConnection:
      self.init(.inputOutput, "the desktop keyring answered with an error: \(name)")
    default: self = .providerEnded
    }
  }

  static let providerEnded = KeychainError(
    .noStore, "the program behind the desktop keyring ended",
    recovery: "start it again, or use the vault")

  static let deniedByBus = KeychainError(
    .refused, "the session bus does not let this program use the desktop keyring",
    recovery: "allow it in the sandbox or policy of this program, or use the vault")

  static let tooManyItems = KeychainError(
    .refused,
    "the desktop keyring lists more than \(BusValue.maximumElementCount) items, "
      + "which takes too long to read",
    recovery: "remove items at the desktop, or use another collection or the vault")

  static let lockedKeyring = KeychainError(
    .locked, "the desktop keyring is locked",
    recovery: "unlock it at the desktop, or allow questions there")
}

extension ServiceOperation {
  /// Runs an operation on the connection of the process.
  ///
  /// If the provider has ended since the last call, only the first message shows it. A second
  /// attempt then uses a new connection, unless something may have been written.
  static func run<Result: ~Copyable>(
    _ configuration: SecretServiceConfiguration, _ quietness: Quietness? = nil,
    _ body: (ServiceOperation) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let address = try BusAddress(environment: configuration.environment)
    let slot = ConnectionPool.slot(for: address)
    let deadline = Deadline(after: configuration.deadline)
    let first = ServiceOperation(try slot.connect(deadline), configuration, deadline, quietness)
    do throws(KeychainError) {
      return try body(first)
    } catch {
      guard let failure = first.failure, failure.endsConnection else { throw error }
      slot.drop(first.connection)
      guard failure.isUndelivered, !first.mustNotRepeat else { throw error }
    }
    let second = ServiceOperation(try slot.connect(deadline), configuration, deadline, quietness)
    do throws(KeychainError) {
      return try body(second)
    } catch {
      if second.failure?.endsConnection ?? false { slot.drop(second.connection) }
      throw error
    }
  }

  // When its files have changed, gnome-keyring registers its objects again, and meanwhile answers
  // that they don't exist.

  /// Microseconds.
  private static let pausesForMissingObjects: [UInt32] = [5_000, 50_000]

  /// Calls `body`, and repeats it up to two times after a short pause while an object is missing.
  func whileMissing<E: Error>(_ isMissing: () -> Bool, _ body: () throws(E) -> Void) throws(E) {
    for pause in Self.pausesForMissingObjects {
      guard isMissing(), !deadline.hasPassed else { return }
      usleep(pause)
      try body()
    }
  }

  /// Makes calls, which are sent together.
  ///
  /// A call whose object is missing has done nothing, and is repeated after a short pause. The
  /// calls after it are repeated, too, unless the calls are independent: a secret must not be read
  /// before its version, or written after it. All calls that are sent together can be repeated,
  /// because they read or set values; calls that create or remove an object are sent separately.
  func results(of calls: [BusCall], areIndependent: Bool = false) -> [BusAnswer] {
    var results = connection.bus.results(of: calls, deadline)
    var missing: [Int] { results.indices.filter { results[$0].error?.isMissingObject ?? false } }
    whileMissing({ !missing.isEmpty }) {
      let repeated = areIndependent ? missing : Array(missing[0]..<calls.count)
      let answers = connection.bus.results(of: repeated.map { calls[$0] }, deadline)
      for (index, answer) in zip(repeated, answers) { results[index] = answer }
    }
    for case .failure(let error) in results { note(error) }
    return results
  }
}
