internal import Glibc
internal import PrephirencesSystem

/// Copies the logs of this process's changes into their databases, some seconds after a change and
/// when the process ends.
///
/// Values in the database do not depend on the log; and the log stays short.
final class LogCopier: Sendable {
  static let shared = LogCopier()

  private struct State {
    var engines: [WeakEngine] = []
    var hasThread = false
    var isRegistered = false
    var isOff = false
  }

  private struct WeakEngine {
    weak var engine: Engine?
  }

  private let state = PosixMutex(State())

  private static let seconds: UInt32 = 4

  /// Records that a log has changes that are not in the database.
  ///
  /// Returns `false` if it will not be copied soon, and the next change must try again.
  func note(_ engine: Engine) -> Bool {
    let (needsThread, registers) = state.withLock { state in
      state.engines.append(WeakEngine(engine: engine))
      defer { (state.hasThread, state.isRegistered) = (true, true) }
      return (!state.hasThread, !state.isRegistered)
    }
    if registers { atexit { LogCopier.shared.end() } }
    guard needsThread else { return true }
    do {
      try DetachedThread.start(named: "prefs-log") { self.run() }
      return true
    } catch {
      state.withLock { state in
        state.hasThread = false
        state.engines.removeAll { $0.engine === engine || $0.engine == nil }
      }
      return false
    }
  }

  /// Leaves the logs as they are when the process ends.
  func leaveLogs() { state.withLock { $0.isOff = true } }

  private func run() {
    repeat { sleep(Self.seconds) } while copy()
  }

  /// Copies what can be copied now, or returns `false` if nothing is left, and the thread ends.
  private func copy() -> Bool {
    let engines = state.withLock { state in
      defer { state.engines = [] }
      return state.engines
    }
    let rest = engines.filter { $0.engine.map { !$0.copyLog() } ?? false }
    return state.withLock { state in
      state.engines += rest
      state.hasThread = !state.engines.isEmpty
      return state.hasThread
    }
  }

  private func end() {
    guard !ForkMark.preferences.isForked, !state.withLock(\.isOff) else { return }
    _ = copy()
  }
}
