internal import PrephirencesSystem

/// Keeps an observation of preferences alive; it ends when this object is destroyed or cancelled.
///
/// After the end no call starts; a call that is running on another thread finishes.
public final class PreferenceObservation: Sendable {
  private let end: PosixMutex<(@Sendable () -> Void)?>

  /// Creates an observation; for authors of stores.
  ///
  /// - Parameter end: Ends the observation; called once, on any thread.
  public init(end: @escaping @Sendable () -> Void) {
    self.end = PosixMutex(end)
  }

  deinit { cancel() }

  /// Ends the observation; it may have ended already.
  public func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}
