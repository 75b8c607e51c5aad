internal import Foundation
internal import KeychainCredentials
internal import PrephirencesFiles
internal import Synchronization

/// The connections of the process: one for each bus, opened by the first call that needs it.
///
/// A provider that asks a person about each new program would ask about each connection.
enum ConnectionPool {
  private static let slots = Mutex<[BusAddress: ConnectionSlot]>([:])

  static func slot(for address: BusAddress) -> ConnectionSlot {
    slots.withLock { slots in
      if let slot = slots[address] { return slot }
      let slot = ConnectionSlot(address)
      slots[address] = slot
      return slot
    }
  }
}

/// One connection: while one thread opens it, others wait.
final class ConnectionSlot: @unchecked Sendable {
  // @unchecked Sendable because `condition` guards all mutable state.
  let address: BusAddress
  private let condition = NSCondition()
  private var connection: SecretServiceConnection?
  private var isConnecting = false

  init(_ address: BusAddress) { self.address = address }

  /// Returns the connection, and opens a new one if there is none or it has ended.
  ///
  /// Then the provider is started, too, unless the caller forbids it.
  func connect(
    _ deadline: Deadline, startingProvider: Bool = true
  ) throws(KeychainError) -> SecretServiceConnection {
    if let existing = try waitForConnection(deadline) {
      try existing.bus.checkProcess()
      return existing
    }
    let made = Result { () throws(KeychainError) in
      try SecretServiceConnection(address, deadline, startingProvider: startingProvider)
    }
    condition.lock()
    connection = try? made.get()
    isConnecting = false
    condition.broadcast()
    condition.unlock()
    return try made.get()
  }

  /// Forgets a connection that no longer works; its current users keep it.
  func drop(_ failed: SecretServiceConnection) {
    condition.lock()
    if connection === failed { connection = nil }
    condition.unlock()
  }

  /// Returns the connection, or `nil` if the caller must open it.
  private func waitForConnection(_ deadline: Deadline) throws(KeychainError)
    -> SecretServiceConnection?
  {
    condition.lock()
    defer { condition.unlock() }
    while isConnecting {
      guard condition.wait(until: Date(timeIntervalSinceNow: deadline.seconds)) else {
        throw .timedOut
      }
    }
    if let connection, !connection.bus.isClosed { return connection }
    connection = nil
    isConnecting = true
    return nil
  }
}
