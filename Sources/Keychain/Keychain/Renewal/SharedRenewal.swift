internal import KeychainCredentials
internal import PrephirencesSystem

/// A renewal that several tasks of this process wait for.
///
/// It runs in its own task, so that cancelling one waiting task does not end it for the others. It
/// is abandoned, and its task cancelled, when nobody waits any more or when the deadline of its
/// first caller has passed, so that later callers do not wait for a renewal that hangs. If it still
/// returns a value, that is stored.
final class SharedRenewal<Value: Sendable>: Sendable {
  struct Outcome: Sendable {
    let value: Value

    /// Whether the server returned the value; otherwise it was found in the store.
    let isNew: Bool
  }

  /// Does the work, and reports when it begins to renew.
  typealias Work = @Sendable (_ renewal: SharedRenewal) async throws -> Outcome

  private typealias Continuation = CheckedContinuation<Outcome?, any Error>

  private enum Waiter {
    case expected
    case waiting(Continuation)
    case gone(KeychainError)
  }

  private struct State {
    var waiters: [Int: Waiter] = [:]
    var count = 0
    var result: Result<Outcome, any Error>?
    var isAbandoned = false
    var isRenewing = false
    var task: Task<Void, Never>?
    var timer: Task<Void, Never>?

    /// Removes the tasks that already wait.
    mutating func takeWaiting() -> [Continuation] {
      var taken: [Continuation] = []
      for (number, waiter) in waiters {
        guard case .waiting(let continuation) = waiter else { continue }
        taken.append(continuation)
        waiters[number] = nil
      }
      return taken
    }
  }

  private let limit: RenewalTimeout
  private let state = PosixMutex(State())

  /// Creates a renewal that has not begun.
  init(limit: RenewalTimeout) { self.limit = limit }

  func start(_ work: @escaping Work) {
    let task = Task {
      do {
        finish(.success(try await work(self)))
      } catch { finish(.failure(error)) }
    }
    let timer = Task { if await limit.sleep() { abandon() } }
    let isOver = state.withLock { state in
      (state.task, state.timer) = (task, timer)
      return state.result != nil || state.isAbandoned
    }
    guard isOver else { return }
    timer.cancel()
    task.cancel()
  }

  /// Records that the server is being asked.
  func beginRenewing() { state.withLock { $0.isRenewing = true } }

  /// Returns the error after the time limit.
  func failure(_ deadline: RenewalTimeout) -> KeychainError {
    state.withLock(\.isRenewing) ? deadline.tookTooLong : deadline.renewedElsewhere
  }

  /// Whether it is running, so that tasks can wait for it.
  var isRunning: Bool { state.withLock { $0.result == nil && !$0.isAbandoned } }

  /// Adds a task that will wait; `nil` if it is too late.
  func join() -> Int? {
    state.withLock { state in
      guard state.result == nil, !state.isAbandoned else { return nil }
      state.count += 1
      state.waiters[state.count] = .expected
      return state.count
    }
  }

  /// Waits for the result; `nil` if the renewal was abandoned, and another one may begin.
  func outcome(for number: Int, within deadline: RenewalTimeout) async throws -> Outcome? {
    let timer = Task {
      guard await deadline.sleep() else { return }
      leave(number, failure(deadline))
    }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait(number, $0) }
    } onCancel: {
      leave(
        number,
        KeychainError(.cancelled, "the task was cancelled while \(limit.identity) was renewed"))
    }
  }

  private func wait(_ number: Int, _ continuation: Continuation) {
    let answer = state.withLock { state -> Result<Outcome?, any Error>? in
      if case .gone(let error) = state.waiters[number] {
        state.waiters[number] = nil
        return .failure(error)
      }
      if let result = state.result {
        state.waiters[number] = nil
        return result.map { $0 }
      }
      if state.isAbandoned {
        state.waiters[number] = nil
        return .success(nil)
      }
      state.waiters[number] = .waiting(continuation)
      return nil
    }
    if let answer { continuation.resume(with: answer) }
  }

  private func leave(_ number: Int, _ error: KeychainError) {
    let (continuation, isLast) = state.withLock {
      state -> (Continuation?, Bool) in
      var continuation: Continuation?
      switch state.waiters[number] {
      case .expected: state.waiters[number] = .gone(error)
      case .waiting(let waiting):
        state.waiters[number] = nil
        continuation = waiting
      case .gone, nil: return (nil, false)
      }
      let isLast = state.waiters.values.allSatisfy { if case .gone = $0 { true } else { false } }
      return (continuation, isLast)
    }
    // At the limit, before the first caller continues: later results belong to another renewal.
    if isLast || limit.hasPassed { abandon() }
    continuation?.resume(throwing: error)
  }

  /// Ends all waits, and cancels the work.
  private func abandon() {
    let (waiting, task) = state.withLock { state -> ([Continuation], Task<Void, Never>?) in
      guard state.result == nil else { return ([], nil) }
      state.isAbandoned = true
      state.timer?.cancel()
      return (state.takeWaiting(), state.task)
    }
    task?.cancel()
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  private func finish(_ result: Result<Outcome, any Error>) {
    let waiting = state.withLock { state in
      state.result = result
      state.timer?.cancel()
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume(with: result.map { $0 }) }
  }
}

/// The renewals that run in this process.
enum SharedRenewals {
  private struct Name: Hashable {
    let store: ObjectIdentifier
    let identity: CredentialIdentity
    let type: ObjectIdentifier
  }

  private static let running = PosixMutex<[Name: any AnyObject & Sendable]>([:])

  /// Joins the renewal of a credential, or begins one; also returns the number for waiting.
  static func join<Value: Codable & Sendable>(
    _ item: RenewableItem<Value>, of keychain: KeychainPreferences,
    limit: RenewalTimeout, _ work: @escaping SharedRenewal<Value>.Work
  ) -> (renewal: SharedRenewal<Value>, number: Int) {
    let isObject = type(of: item.store) is AnyClass
    let name = Name(
      store: isObject ? ObjectIdentifier(item.store as AnyObject) : ObjectIdentifier(keychain),
      identity: item.identity, type: ObjectIdentifier(Value.self))
    while true {
      let (renewal, isNew) = running.withLock { running -> (SharedRenewal<Value>, Bool) in
        if let renewal = running[name] as? SharedRenewal<Value>, renewal.isRunning {
          return (renewal, false)
        }
        let renewal = SharedRenewal<Value>(limit: limit)
        running[name] = renewal
        return (renewal, true)
      }
      // It may have ended in the meantime.
      guard let number = renewal.join() else { continue }
      if isNew {
        renewal.start { renewal in
          defer { remove(renewal, name) }
          return try await work(renewal)
        }
      }
      return (renewal, number)
    }
  }

  private static func remove(_ renewal: some AnyObject & Sendable, _ name: Name) {
    running.withLock { running in if running[name] === renewal { running[name] = nil } }
  }
}
