internal import Dispatch
internal import Prephirences
internal import PrephirencesSystem
internal import Synchronization

/// A thread, and how far it has read the journal.
final class MonitorRun: Sendable {
  let signals = DispatchSemaphore(value: 0)
  let isEnded = Atomic(false)
  let isSignalled = Atomic(false)
  let lastEntry: Atomic<Int64>
  let observation = PosixMutex<FolderObservation?>(nil)

  init(after entry: Int64) { lastEntry = Atomic(entry) }

  /// Several signals before a look are one: a writer pays for the first.
  func signal() {
    guard !isSignalled.exchange(true, ordering: .sequentiallyConsistent) else { return }
    signals.signal()
  }

  /// Waits for a signal, at most for a period if there is one.
  func wait(_ period: DispatchTimeInterval?) {
    _ = signals.wait(timeout: period.map { .now() + $0 } ?? .distantFuture)
  }

  func end() {
    isEnded.store(true, ordering: .sequentiallyConsistent)
    observation.withLock { $0.take() }?.cancel()
    signals.signal()
  }
}
