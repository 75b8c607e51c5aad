public import PreferencesDurable
public import Prephirences

extension SharedPreferences {
  /// Starts notifying an observer of changes: of this program, of others on this machine, and of
  /// other machines.
  ///
  /// - Parameter observer: The observer.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    // The observation keeps the file in step.
    let observation = durable.addObserver(observer)
    return PreferenceObservation { [store] in
      _ = store
      observation.cancel()
    }
  }

  /// Calls a closure with each change of a key's value, whoever makes it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Called with each change, one call at a time; see ``DurablePreferences``.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe<Value>(
    _ key: Key<Value>, initial: Bool = false,
    _ handler: @escaping @Sendable (KeyChange<Value>) -> Void
  ) -> PreferenceObservation {
    let observation = durable.observe(key, initial: initial, handler)
    return PreferenceObservation { [store] in
      _ = store
      observation.cancel()
    }
  }

  /// Returns the future changes of a key's value, as a sequence.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; a slow reader gets the last value, not each.
  public func changes<Value>(
    of key: Key<Value>, initial: Bool = false
  ) -> some AsyncSequence<KeyChange<Value>, Never> & Sendable {
    durable.changes(of: key, initial: initial)
  }
}

// What user defaults and commands need.

extension SharedPreferences: SynchronizingPreferences {}

extension SharedPreferences: CastableNumberPreferences {}

extension SharedPreferences: ExactKeyPreferences {
  package func pairs() -> [(PreferenceKey, PreferenceObject?)] { durable.pairs() }
}

extension SharedPreferences: ChangeReportingPreferences {
  package func observeChanges(
    _ handler: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    durable.observeChanges(handler)
  }
}
