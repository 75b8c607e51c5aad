internal import CPrephirencesLibsecret
internal import Dispatch
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// A connection to the session bus, and the provider of the Secret Service there.
///
/// Calls go to the provider that was checked, by its unique name: a program that takes the
/// well-known name later does not receive them.
final class SecretServiceConnection: Sendable {
  let bus: BusConnection
  let owner: String
  let ownerIdentity: ProcessIdentity
  private let openedSession = PosixMutex<SecretSession?>(nil)

  static let name = "org.freedesktop.secrets"

  /// Connects, and starts the provider if that is requested and the bus can do it.
  init(_ address: BusAddress, _ deadline: Deadline, startingProvider: Bool) throws(KeychainError) {
    bus = try BusConnection(address, deadline)
    do throws(BusError) {
      var found = try bus.owner(of: Self.name, deadline)
      if found == nil, startingProvider {
        try bus.activate(Self.name, deadline)
        found = try bus.owner(of: Self.name, deadline)
      }
      guard let found else { throw startingProvider ? .closed : .noOwner }
      (owner, ownerIdentity) = (found.name, found.identity)
    } catch { throw Self.noProvider(error, address) }
    guard ownerIdentity.isOurs else { throw .providerOfAnotherUser(ownerIdentity.user) }
  }

  /// Returns the session that encrypts secrets in transit; the first call opens it.
  func session(_ deadline: Deadline) throws(KeychainError) -> SecretSession {
    try openedSession.withLock { session -> Result<SecretSession, KeychainError> in
      if let session { return .success(session) }
      do throws(KeychainError) {
        let opened = try SecretSession(bus, owner, deadline)
        session = opened
        return .success(opened)
      } catch { return .failure(error) }
    }.get()
  }

  private static func noProvider(_ error: BusError, _ address: BusAddress) -> KeychainError {
    switch error {
    case .noOwner, .remote("org.freedesktop.DBus.Error.ServiceUnknown"),
      .remote("org.freedesktop.DBus.Error.Spawn.ServiceNotFound"):
      .noProvider
    case .remote(let name) where name.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
      KeychainError(
        .busy, "the session bus cannot start the program of the desktop keyring: \(name)",
        recovery: "look why it does not start; \(.useVault) uses the vault without it")
    case .failed: .busyBus(address)
    default: KeychainError(error)
    }
  }
}

extension KeychainError {
  static let noProvider = KeychainError(
    .noStore, "no program on the session bus provides the Secret Service",
    recovery: "start gnome-keyring or KeePassXC's Secret Service integration, or use the vault")

  static func providerOfAnotherUser(_ user: UInt32) -> Self {
    Self(
      .noStore, "the Secret Service on the session bus runs as another user (\(user))",
      recovery: "use the vault")
  }

  static let timedOut = KeychainError(
    .timedOut, "the desktop keyring does not answer",
    recovery: "look whether its program hangs or asks something; \(.useVault) uses the vault "
      + "without it")
}

extension BusConnection {
  private static let bus = "org.freedesktop.DBus"

  func busCall(_ method: String, _ arguments: [BusValue], reply: BusType) -> BusCall {
    BusCall(
      destination: Self.bus, path: "/org/freedesktop/DBus", interface: Self.bus, method: method,
      arguments: arguments, reply: reply)
  }

  /// The call for the names of programs that the bus can start.
  var activatableNames: BusCall { busCall("ListActivatableNames", [], reply: .values("as")) }

  /// Returns the unique name of the owner of a name, with its user and process, which the bus knows
  /// from the kernel; `nil` if there is no owner.
  ///
  /// All calls are sent at once. The last one asks for the owner again, because it may change while
  /// the bus answers.
  func owner(
    of name: String, _ deadline: Deadline
  ) throws(BusError) -> (name: String, identity: ProcessIdentity)? {
    let methods = [
      ("GetNameOwner", "s"), ("GetConnectionUnixUser", "u"), ("GetConnectionUnixProcessID", "u"),
      ("GetNameOwner", "s"),
    ]
    let answers = results(
      of: methods.map { busCall($0.0, [.string(name)], reply: .values($0.1)) }, deadline)
    // The owner may have ended between two answers.
    if answers.contains(where: { $0.error == .noOwner }) { return nil }
    let values = try answers.map { answer throws(BusError) in try answer.get().elements.first }
    guard values.count == methods.count, let owner = values[0]?.text, let user = values[1]?.number,
      let process = values[2]?.number, owner == values[3]?.text
    else { throw .closed }
    let identity = ProcessIdentity(
      user: UInt32(truncatingIfNeeded: user), process: Int32(truncatingIfNeeded: process))
    return (owner, identity)
  }

  func activate(_ name: String, _ deadline: Deadline) throws(BusError) {
    _ = try result(
      of: busCall("StartServiceByName", [.string(name), .uint32(0)], reply: .values("u")),
      deadline)
  }
}

/// The connections of the process: one for each bus, opened by the first call that needs it.
///
/// A provider that asks a person about each new program would ask about each connection.
enum ConnectionPool {
  /// A list, because a process rarely has a second bus, and the first use of a dictionary takes
  /// longer.
  private static let slots = PosixMutex<[ConnectionSlot]>([])

  static func slot(for address: BusAddress) -> ConnectionSlot {
    slots.withLock { slots in
      if let slot = slots.first(where: { $0.address == address }) { return slot }
      let slot = ConnectionSlot(address)
      slots.append(slot)
      return slot
    }
  }
}

/// One connection: while one thread opens it, others wait.
final class ConnectionSlot: Sendable {
  private enum State {
    case none

    /// A thread opens a connection; others wait for the group.
    case connecting(DispatchGroup)
    case open(SecretServiceConnection)
  }

  let address: BusAddress
  private let state = PosixMutex<State>(.none)

  init(_ address: BusAddress) { self.address = address }

  /// Returns the connection, and opens a new one if there is none or it has ended.
  ///
  /// A new connection starts the provider, too, unless the caller forbids it.
  func connect(
    _ deadline: Deadline, startingProvider: Bool = true
  ) throws(KeychainError) -> SecretServiceConnection {
    let attempt = DispatchGroup()
    while true {
      switch step(attempt) {
      case .open(let existing):
        try existing.bus.checkProcess()
        return existing
      case .connecting(let other):
        guard other.wait(timeout: .now() + deadline.seconds) == .success else { throw .timedOut }
      case .none: return try open(attempt, deadline, startingProvider: startingProvider)
      }
    }
  }

  /// Forgets a connection that no longer works; its current users keep it.
  func drop(_ failed: SecretServiceConnection) {
    state.withLock { state in
      if case .open(let connection) = state, connection === failed { state = .none }
    }
  }

  /// Returns the state: a connection, another thread's attempt to open one, or nothing.
  ///
  /// If there is nothing, the caller must open a connection, and others wait for its attempt.
  private func step(_ attempt: DispatchGroup) -> State {
    state.withLock { state in
      switch state {
      case .open(let connection) where !connection.bus.isClosed: return state
      case .connecting: return state
      case .none, .open:
        attempt.enter()
        state = .connecting(attempt)
        return .none
      }
    }
  }

  private func open(
    _ attempt: DispatchGroup, _ deadline: Deadline, startingProvider: Bool
  ) throws(KeychainError) -> SecretServiceConnection {
    var made: SecretServiceConnection?
    defer {
      state.withLock { $0 = made.map { .open($0) } ?? .none }
      attempt.leave()
    }
    let connection = try SecretServiceConnection(
      address, deadline, startingProvider: startingProvider)
    made = connection
    return connection
  }
}
