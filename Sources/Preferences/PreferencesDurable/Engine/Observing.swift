public import PreferencesCore

extension DurablePreferences {
  /// Starts notifying an observer of changes by this and other processes.
  ///
  /// If that is not possible, for example because the kernel allows no more watches, the
  /// observation ends at once, and ``lastError`` has the reason. If it becomes impossible later,
  /// that is reported once, also to ``observeFailures(_:)``. Each use of the preferences then
  /// reports the changes of others, and tries to observe them again.
  ///
  /// - Parameter observer: The observer.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    if let observation = recorded({ try startObserving(observer) }) { return observation }
    observer.comparingBytes.notifyInitialValues(of: self)
    observer.notifyEnd()
    return PreferenceObservation {}
  }

  /// Starts notifying an observer of changes.
  package func startObserving(
    _ observer: PreferenceObserver
  ) throws(PreferencesError) -> PreferenceObservation {
    try typed {
      try engine().addObserver(observer.comparingBytes, of: self, reportingTo: failures)
    }
  }
}

extension PreferenceObserver {
  /// The observer, which is only notified of a key with the same bytes.
  fileprivate var comparingBytes: PreferenceObserver {
    guard let keys else { return self }
    let exact = Set(keys.map(KeyBytes.init))
    return PreferenceObserver(keys: keys, initial: wantsInitialValues, end: notifyEnd) { change in
      if exact.contains(KeyBytes(change.key)) { notify(change) }
    }
  }
}

extension DurablePreferences: ExactKeyPreferences {
  package func pairs() -> [(PreferenceKey, PreferenceObject?)] {
    readablePairs.map { ($0.key, $0.value.object) }
  }
}

extension DurablePreferences {
  /// A change of the value of a typed key.
  public struct KeyChange<Value: Sendable>: Sendable {
    /// The previous value, or the default; `nil` if it is unknown, or if the change is initial.
    public let oldValue: Value?

    /// The new value, or the default if it was removed.
    public let newValue: Value

    /// Whether this is the value at the start of the observation, not a change.
    public let isInitial: Bool
  }
}

extension DurablePreferencesType {
  /// Calls a closure with each change of a key's value, by this or another process.
  ///
  /// A stored value of another type is reported as the default.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Called with each change, one call at a time: on the thread that makes the change,
  ///     or on a thread of its own for changes of other processes.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe<Value>(
    _ key: DurablePreferences.Key<Value>, initial: Bool = false,
    _ handler: @escaping @Sendable (DurablePreferences.KeyChange<Value>) -> Void
  ) -> PreferenceObservation {
    observe(forKey: key.name, initial: initial) { handler(DurablePreferences.KeyChange($0, key)) }
  }

  /// Returns the future changes of a key's value, as a sequence.
  ///
  /// - Parameter initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; a slow reader gets only the last value.
  public func changes<Value>(
    of key: DurablePreferences.Key<Value>, initial: Bool = false
  ) -> some AsyncSequence<DurablePreferences.KeyChange<Value>, Never> & Sendable {
    changes(forKey: key.name, initial: initial).map { DurablePreferences.KeyChange($0, key) }
  }
}

extension DurablePreferences.Key {
  /// Returns the value of a changed object; the default if it is of another type.
  fileprivate func value(ofObject object: PreferenceObject?) -> Value {
    (try? value(of: .stored(object, forKey: name))) ?? defaultValue
  }
}

extension DurablePreferences.KeyChange {
  fileprivate init(_ change: PreferenceChange, _ key: DurablePreferences.Key<Value>) {
    let old = change.isInitial || !change.isOldValueKnown ? nil : Optional(change.oldValue)
    oldValue = old.map { key.value(ofObject: $0) }
    newValue = key.value(ofObject: change.newValue)
    isInitial = change.isInitial
  }
}
