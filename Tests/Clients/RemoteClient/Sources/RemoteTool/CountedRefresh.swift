import RemotePrephirences
import Synchronization

/// Keeps loading preferences, and cancels that from within the handler of one of the loads.
///
/// So it is certain what has happened by then, whatever the machine is busy with.
final class CountedRefresh: Sendable {
  private struct State {
    var refresh: RemoteRefresh?
    var count = 0
  }

  private let state = Mutex(State())

  /// Returns once the handler of that load has cancelled.
  func run(
    _ source: RemoteSource, _ preferences: MutableDictionaryPreferences, every interval: Duration,
    loads: Int, _ handler: @escaping @Sendable (Result<RemoteOutcome, any Error>) -> Void
  ) async {
    await withCheckedContinuation { continuation in
      // The lock is held meanwhile, so that even the first load finds what it is to cancel.
      state.withLock { state in
        state.refresh = source.refresh(preferences, every: interval) { [self] result in
          handler(result)
          if isLast(loads) { continuation.resume() }
        }
      }
    }
  }

  private func isLast(_ loads: Int) -> Bool {
    state.withLock { state in
      state.count += 1
      if state.count == loads { state.refresh?.cancel() }
      return state.count == loads
    }
  }
}
