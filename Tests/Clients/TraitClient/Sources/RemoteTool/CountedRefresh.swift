import RemotePrephirences
import Synchronization

/// Loads preferences repeatedly, and cancels from the handler of one of the loads.
///
/// The state at that moment does not depend on how busy the machine is.
final class CountedRefresh: Sendable {
  private struct State {
    var refresh: RemoteRefresh?
    var count = 0
  }

  private let state = Mutex(State())

  /// Returns after the handler of that load has cancelled.
  func run(
    _ source: RemoteSource, _ preferences: MutableDictionaryPreferences, every interval: Duration,
    loads: Int, _ handler: @escaping @Sendable (Result<RemoteOutcome, any Error>) -> Void
  ) async {
    await withCheckedContinuation { continuation in
      // Holds the lock meanwhile, so that even the first load finds the refresh to cancel.
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
