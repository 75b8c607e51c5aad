extension PreferencesType {
  /// Calls a closure with each change of a key's value, whoever makes it.
  ///
  /// ```swift
  /// let observation = preferences.observe(forKey: "colour") { change in
  ///   paint(change.newValue as? String ?? "red")
  /// }
  /// ```
  ///
  /// Setting an equal value is not a change. The closure may use and change the preferences, and
  /// end the observation.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Called on the thread that makes the change, before its setter returns. If another
  ///     thread is in the closure, that thread makes the next call: there is only one call at a
  ///     time, and the last call has the final value. Changes made meanwhile are merged.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe(
    forKey key: PreferenceKey, initial: Bool = false,
    _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    observe(forKeys: [key], initial: initial, handler)
  }

  /// Calls a closure with each change of several keys' values; see ``observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - initial: Whether to call the closure with the present value of each key.
  ///   - handler: Called with each change, even if several are made together.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe(
    forKeys keys: [PreferenceKey], initial: Bool = false,
    _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    addObserver(PreferenceObserver(keys: Set(keys), initial: initial, handler: handler))
  }

  /// Calls a closure with each change of any value; see ``observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with all present values.
  ///   - handler: Called with each change, even if several are made together.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observeAll(
    initial: Bool = false, _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    addObserver(PreferenceObserver(keys: nil, initial: initial, handler: handler))
  }

  /// Returns the future changes of a key's value, as a sequence.
  ///
  /// ```swift
  /// for await change in preferences.changes(forKey: "colour") {
  ///   paint(change.newValue as? String ?? "red")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; see ``PreferenceChanges`` for what a slow reader gets.
  public func changes(forKey key: PreferenceKey, initial: Bool = false) -> PreferenceChanges {
    changes(forKeys: [key], initial: initial)
  }

  /// Returns the future changes of several keys' values, as a sequence.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - initial: Whether the sequence starts with the present value of each key.
  /// - Returns: The sequence.
  public func changes(forKeys keys: [PreferenceKey], initial: Bool = false) -> PreferenceChanges {
    PreferenceChanges(of: self, keys: Set(keys), initial: initial)
  }

  /// Returns the future changes of any value, as a sequence.
  ///
  /// - Parameter initial: Whether the sequence starts with all present values.
  /// - Returns: The sequence.
  public func allChanges(initial: Bool = false) -> PreferenceChanges {
    PreferenceChanges(of: self, keys: nil, initial: initial)
  }
}

extension PreferencesType {
  /// Starts notifying an observer of changes; if these preferences are an object, by its identity.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    if type(of: self) is AnyClass {
      return ObjectObservers.shared.add(observer, of: self, object: self as AnyObject)
    }
    observer.notifyInitialValues(of: self)
    observer.notifyEnd()
    return PreferenceObservation {}
  }
}

extension PreferencesType where Self: AnyObject {
  /// Notifies the observers of this object of a change; for authors of stores that have no
  /// ``PreferenceObservers``.
  ///
  /// It costs almost nothing without observers. A store whose threads change values at the same
  /// time keeps the changes in order with ``PreferenceObservers``.
  ///
  /// - Parameters:
  ///   - key: The key whose value was changed.
  ///   - oldValue: The value before; `nil` if there was none.
  ///   - newValue: The value now; `nil` if it was removed.
  public func notifyObservers(
    forKey key: PreferenceKey, from oldValue: PreferenceObject?, to newValue: PreferenceObject?
  ) {
    ObjectObservers.shared.observers(of: self)?
      .notify(PreferenceChange(key, from: oldValue, to: newValue))
  }
}
