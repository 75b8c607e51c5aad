internal import KeychainCredentials
internal import Synchronization

/// A renewal for which tasks of this process wait together.
///
/// It runs in a task of its own, so that no waiting task's cancellation ends it for the others. It is
/// abandoned once nobody waits any more, or when the time of the task that began it is over, so that a
/// renewal that hangs doesn't keep those waiting that come later: its task is cancelled then. If it comes to
/// a value all the same, that is stored.
final class SharedRenewal<Value: Sendable>: Sendable {
  struct Outcome: Sendable {
    let value: Value

    /// Whether the value comes from the server just now; otherwise it was found in the store.
    let isNew: Bool
  }

  /// Does the work; it says when it begins to renew.
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

    /// Takes out those who wait already.
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
  private let state = Mutex(State())

  /// Makes a renewal that has not begun.
  ///
  /// - Parameter limit: When it is abandoned.
  init(limit: RenewalTimeout) { self.limit = limit }

  /// Begins the work.
  func start(_ work: @escaping Work) {
    let task = Task {
      do {
        finish(.success(try await work(self)))
      } catch {
        finish(.failure(error))
      }
    }
    let timer = Task {
      if await limit.sleep() { abandon() }
    }
    let isOver = state.withLock { state in
      (state.task, state.timer) = (task, timer)
      return state.result != nil || state.isAbandoned
    }
    guard isOver else { return }
    timer.cancel()
    task.cancel()
  }

  /// Notes that the server is asked from now on.
  func beginRenewing() { state.withLock { $0.isRenewing = true } }

  /// The failure of who has waited for too long.
  func failure(_ deadline: RenewalTimeout) -> KeychainError {
    state.withLock(\.isRenewing) ? deadline.tookTooLong : deadline.renewedElsewhere
  }

  /// Whether it goes on, so that it can be waited for.
  var isRunning: Bool { state.withLock { $0.result == nil && !$0.isAbandoned } }

  /// Adds one who will wait; `nil` if it is too late for that.
  func join() -> Int? {
    state.withLock { state in
      guard state.result == nil, !state.isAbandoned else { return nil }
      state.count += 1
      state.waiters[state.count] = .expected
      return state.count
    }
  }

  /// Waits for the outcome.
  ///
  /// - Parameters:
  ///   - number: The number that joining gave.
  ///   - deadline: How long to wait.
  /// - Returns: The outcome, or `nil` if the renewal was abandoned, and another one may be begun.
  /// - Throws: What the work threw, or ``KeychainError`` with ``KeychainError/Code/timedOut`` or
  ///   ``KeychainError/Code/cancelled``.
  func outcome(
    for number: Int, within deadline: RenewalTimeout
  ) async throws -> Outcome? {
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

  /// Lets one of the waiting go.
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
    // At its limit, before the task that began it goes on: what comes then is another renewal.
    if isLast || limit.hasPassed { abandon() }
    continuation?.resume(throwing: error)
  }

  /// Lets all go, and asks the work to end.
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
