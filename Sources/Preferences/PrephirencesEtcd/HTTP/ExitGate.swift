internal import Glibc
internal import PrephirencesSystem

/// Keeps threads out of libcurl when the process exits.
///
/// `exit` runs the handlers and destructors of all libraries, such as the one by which OpenSSL frees
/// what it has, while other threads go on. A thread that is in libcurl then would use what was freed.
/// So the gate closes before, and waits a moment for who is behind it.
final class ExitGate: Sendable {
  private struct State {
    var isClosed = false
    var inside = 0
    var number = 0
    /// What ends the waits of those who are inside.
    var wakes: [Int: @Sendable () -> Void] = [:]
    /// Until when the exit waits.
    var deadline: Deadline?
  }

  static let shared = ExitGate()

  private let state = PosixMutex(State())
  private let isEmpty = Waiting()

  /// Has the gate closed before everything that was registered until now is ended.
  ///
  /// Handlers run in reverse order. Call it before libcurl is loaded, for an exit meanwhile, and when
  /// it was initialized, for all later ones.
  static func register() { _ = atexit { ExitGate.shared.close() } }

  /// Runs code that uses libcurl.
  ///
  /// - Parameters:
  ///   - wake: Ends a wait of the code early; it must be possible to call it at any time.
  ///   - body: The code.
  /// - Returns: What the code returns.
  /// - Throws: ``EtcdError/Code/cancelled`` if the process exits; or what the code throws.
  func pass<Result>(
    wakingBy wake: (@Sendable () -> Void)? = nil, _ body: () throws(EtcdError) -> Result
  ) throws(EtcdError) -> Result {
    guard let number = enter(wake) else { throw .cancelled }
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

  /// Lets nobody in any more, and waits at most a second until nobody is inside.
  private func close() {
    // The threads of a parent process are not in this one, and one of them may have had the lock.
    guard !ForkGuard.isForked else { return }
    let deadline: Deadline? = state.withLock { state in
      state.isClosed = true
      let deadline = state.deadline ?? Deadline(after: .seconds(1))
      state.deadline = deadline
      // Under the lock, so that what they wait on isn't freed meanwhile.
      for wake in state.wakes.values { wake() }
      return state.inside > 0 ? deadline : nil
    }
    if let deadline { _ = try? isEmpty.wait(deadline, nil) }
  }
}
