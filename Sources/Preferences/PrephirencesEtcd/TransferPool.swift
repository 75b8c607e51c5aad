internal import Dispatch
internal import Glibc
internal import PrephirencesSystem

/// Keeps a few connections for later calls, and limits how many are open.
///
/// Hundreds of suites that start or lose their cluster together would need as many descriptors and
/// TLS handshakes.
final class TransferPool: Sendable {
  private static let greatestCount = 8

  private struct State {
    var idle: [Transfer] = []
    /// How many calls have a turn.
    var turns = 0
    var waiting: [Latch] = []
  }

  private let state = PosixMutex(State())

  /// Runs a call on its own connection, which is kept for later calls if it worked.
  ///
  /// After an answer that is not etcd's, the state of the connection is unknown.
  func with<Result>(
    _ limits: CallLimits,
    _ body: (Transfer) throws -> Result
  ) throws -> Result {
    try EtcdError.mapping(\.ofTransport) {
      // Checked before the lock: a fork may have left it locked.
      try ForkMark.etcd.check(EtcdError.forked)
      try awaitTurn(limits)
    }
    var used: Transfer?
    defer { endTurn(used) }
    let transfer = try EtcdError.mapping(\.ofTransport) {
      try state.withLock { $0.idle.popLast() } ?? Transfer()
    }
    let result = try body(transfer)
    used = transfer
    return result
  }

  private func awaitTurn(_ limits: CallLimits) throws {
    let waiting: Latch? = state.withLock { state in
      guard state.turns == Self.greatestCount else {
        state.turns += 1
        return nil
      }
      let waiting = Latch()
      state.waiting.append(waiting)
      return waiting
    }
    guard let waiting else { return }
    do {
      guard try waiting.wait(limits) else { throw EtcdError.timedOut }
    } catch {
      let hasTurn = state.withLock { state in
        guard let index = state.waiting.firstIndex(where: { $0 === waiting }) else { return true }
        state.waiting.remove(at: index)
        return false
      }
      if hasTurn { endTurn(nil) }
      throw error
    }
  }

  /// Gives the turn to the call that has waited longest.
  private func endTurn(_ transfer: Transfer?) {
    // A forked child has no other threads, and a lock may be held for ever.
    guard !ForkMark.etcd.isForked else { return }
    let next: Latch? = state.withLock { state in
      if let transfer { state.idle.append(transfer) }
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.turns -= 1
      return nil
    }
    next?.end()
  }
}

/// Keeps threads out of libcurl when the process exits.
///
/// `exit` runs the handlers and destructors of all libraries while other threads continue.
/// OpenSSL's frees its memory, which a thread inside libcurl would still use. So the gate closes
/// first, and waits a moment for the threads inside.
final class ExitGate: Sendable {
  private struct State {
    var isClosed = false
    var inside = 0
    var number = 0
    /// The closures that end the waits of the threads inside.
    var wakes: [Int: @Sendable () -> Void] = [:]
    /// How long the exit waits.
    var deadline: Deadline?
  }

  static let shared = ExitGate()

  private let state = PosixMutex(State())
  private let isEmpty = Latch()

  /// Makes the gate close before everything that was registered until now is ended.
  ///
  /// Handlers run in reverse order. Call it before libcurl is loaded, for an exit meanwhile, and
  /// after its initialization, for all later ones.
  static func register() { _ = atexit { ExitGate.shared.close() } }

  /// Runs code that uses libcurl.
  func pass<Result>(
    wakingBy wake: (@Sendable () -> Void)? = nil, _ body: () throws -> Result
  ) throws -> Result {
    guard let number = enter(wake) else { throw EtcdError.cancelled }
    defer { leave(number) }
    return try body()
  }

  private func enter(_ wake: (@Sendable () -> Void)?) -> Int? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.inside += 1
      state.number += 1
      state.wakes[state.number] = wake
      return state.number
    }
  }

  private func leave(_ number: Int) {
    let isLast = state.withLock { state in
      state.wakes[number] = nil
      state.inside -= 1
      return state.isClosed && state.inside == 0
    }
    if isLast { isEmpty.end() }
  }

  /// Lets no more threads in, and waits at most a second for those inside.
  private func close() {
    // The parent's threads are not in this process, and one of them may have held the lock.
    guard !ForkMark.etcd.isForked else { return }
    let deadline: Deadline? = state.withLock { state in
      state.isClosed = true
      let deadline = state.deadline ?? Deadline(after: .seconds(1))
      state.deadline = deadline
      // Under the lock, so that what they wait on isn't freed meanwhile.
      for wake in state.wakes.values { wake() }
      return state.inside > 0 ? deadline : nil
    }
    if let deadline { _ = try? isEmpty.wait(CallLimits(deadline)) }
  }
}

/// How long a call may take, and what cancels it.
struct CallLimits {
  let deadline: Deadline
  var cancellation: EtcdCancellation?

  init(_ deadline: Deadline, _ cancellation: EtcdCancellation? = nil) {
    self.deadline = deadline
    self.cancellation = cancellation
  }

  /// The same with an earlier deadline.
  func within(_ other: Deadline) -> CallLimits {
    CallLimits(other.limited(by: deadline), cancellation)
  }
}

/// A wait that another thread, or a cancellation, ends.
final class Latch: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func end() { semaphore.signal() }

  /// Waits until ``end()`` is called, at most until the deadline.
  func wait(_ limits: CallLimits) throws -> Bool {
    func wait() -> Bool { semaphore.wait(timeout: .now() + limits.deadline.seconds) == .success }
    let isEnded =
      if let cancellation = limits.cancellation {
        cancellation.waking(by: { self.end() }, wait)
      } else { wait() }
    try limits.cancellation.check()
    return isEnded
  }
}
