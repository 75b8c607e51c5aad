internal import Dispatch
internal import KeychainCredentials
internal import PrephirencesSystem
internal import Synchronization

/// One connection: while one thread opens it, others wait.
final class ConnectionSlot: Sendable {
  private enum State {
    case none

    /// A thread opens a connection; others wait for the group.
    case connecting(DispatchGroup)
    case open(SecretServiceConnection)
  }

  let address: BusAddress
  private let state = Mutex<State>(.none)

  init(_ address: BusAddress) { self.address = address }

  /// Returns the connection, and opens a new one if there is none or it has ended.
  ///
  /// Then the provider is started, too, unless the caller forbids it.
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
      case .none:
        return try open(attempt, deadline, startingProvider: startingProvider)
      }
    }
  }

  /// Forgets a connection that no longer works; its current users keep it.
  func drop(_ failed: SecretServiceConnection) {
    state.withLock { state in
      if case .open(let connection) = state, connection === failed { state = .none }
    }
  }

  /// Returns what there is: a connection, another thread's attempt to open one, or nothing.
  ///
  /// With nothing, the caller must open it, and others wait for its attempt.
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
