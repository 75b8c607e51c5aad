internal import Foundation
internal import Keychain
internal import Synchronization

/// A value that is renewed; its number counts the renewals.
struct Ticket: Codable, Equatable, Sendable {
  var number: Int
  var isValid: Bool

  static let expired = Ticket(number: 0, isValid: false)

  /// Returns the ticket after another one.
  static func after(_ old: Ticket?) -> Ticket {
    Ticket(number: (old?.number ?? 0) + 1, isValid: true)
  }
}

/// Blocks tasks until a test opens it.
final class Gate: Sendable {
  private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>(
    (false, []))

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits, even if the task is cancelled.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A server that renews tickets; a test can delay its answers.
final class TicketOffice: Sendable {
  struct IsClosed: Error {}

  let asked = Gate()
  let answers = Gate()
  private let counts = Mutex<(requests: Int, isOpen: Bool, cancelled: Int)>((0, true, 0))

  init(waits: Bool = false) {
    if !waits { answers.open() }
  }

  var requests: Int { counts.withLock(\.requests) }

  /// The number of requests that ended in a cancelled task.
  var cancelled: Int { counts.withLock(\.cancelled) }

  func close(_ isClosed: Bool = true) { counts.withLock { $0.isOpen = !isClosed } }

  @Sendable func renew(_ old: Ticket?) async throws -> Ticket {
    counts.withLock { $0.requests += 1 }
    asked.open()
    await answers.wait()
    let isCancelled = Task.isCancelled
    try counts.withLock { counts in
      if isCancelled { counts.cancelled += 1 }
      if !counts.isOpen { throw IsClosed() }
    }
    return .after(old)
  }
}

/// Calls blocking code from an asynchronous function.
func blocking<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

extension KeychainPreferences {
  /// Returns the ticket of an office.
  func ticket(
    _ office: TicketOffice, for key: String = "k", deadline: Duration = .seconds(300)
  ) async throws -> Ticket {
    try await value(
      Ticket.self, for: key, validWhile: \.isValid, deadline: deadline, renew: office.renew)
  }

  /// Starts a task that joins a renewal in progress.
  func joiningTask(_ office: TicketOffice) async throws -> Task<Ticket, any Error> {
    let looked = Gate()
    let task = Task {
      try await value(
        Ticket.self, for: "k",
        validWhile: { ticket in
          looked.open()
          return ticket.isValid
        }, deadline: .seconds(300), renew: office.renew)
    }
    // It joins right after this look, without waiting.
    await looked.wait()
    try await Task.sleep(for: .milliseconds(200))
    return task
  }

  /// Returns the ticket from a closure.
  func ticket(
    for key: String = "k", _ renew: @escaping @Sendable (Ticket?) async throws -> Ticket
  ) async throws -> Ticket {
    try await value(
      Ticket.self, for: key, validWhile: \.isValid, deadline: .seconds(300), renew: renew)
  }

  /// Returns the stored ticket.
  func storedTicket(for key: String = "k") throws -> Ticket? {
    try value(Ticket.self, for: key, allowingExpired: true)
  }
}
