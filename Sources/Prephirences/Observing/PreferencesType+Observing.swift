extension PreferencesType {
  /// Calls a closure with each change of the value of a key, by whoever shares the preferences.
  ///
  /// ```swift
  /// let observation = preferences.observe(forKey: "colour") { change in
  ///   paint(change.newValue as? String ?? "red")
  /// }
  /// ```
  ///
  /// Setting a value that is equal to the old one is no change. The closure may use the preferences,
  /// also to change them, and to end the observation.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether to call it with the present value, too, before this returns.
  ///   - handler: Called on the thread that makes the change, before its setter returns. If another
  ///     thread is just in the closure, that thread calls it next, so that no two calls are at a time
  ///     and the last one tells the value that remains; changes made meanwhile are told as one.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  public func observe(
    forKey key: PreferenceKey, initial: Bool = false,
    _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    observe(forKeys: [key], initial: initial, handler)
  }

  /// Calls a closure with each change of the values of several keys; see
  /// ``observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - initial: Whether to call it with the present value of each key, too.
  ///   - handler: Called with each change, also if several are made at once.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  public func observe(
    forKeys keys: [PreferenceKey], initial: Bool = false,
    _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    addObserver(PreferenceObserver(keys: Set(keys), initial: initial, handler: handler))
  }

  /// Calls a closure with each change of any value; see ``observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - initial: Whether to call it with all values that there are, too.
  ///   - handler: Called with each change, also if several are made at once.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  public func observeAll(
    initial: Bool = false, _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    addObserver(PreferenceObserver(keys: nil, initial: initial, handler: handler))
  }

  /// The changes of the value of a key from now on, as a sequence.
  ///
  /// ```swift
  /// for await change in preferences.changes(forKey: "colour") {
  ///   paint(change.newValue as? String ?? "red")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether the sequence begins with the present value.
  /// - Returns: The sequence; see ``PreferenceChanges`` for what a slow reader finds.
  public func changes(forKey key: PreferenceKey, initial: Bool = false) -> PreferenceChanges {
    changes(forKeys: [key], initial: initial)
  }

  /// The changes of the values of several keys from now on, as a sequence.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - initial: Whether the sequence begins with the present value of each key.
  /// - Returns: The sequence.
  public func changes(forKeys keys: [PreferenceKey], initial: Bool = false) -> PreferenceChanges {
    PreferenceChanges(of: self, keys: Set(keys), initial: initial)
  }

  /// The changes of any value from now on, as a sequence.
  ///
  /// - Parameter initial: Whether the sequence begins with all values that there are.
  /// - Returns: The sequence.
  public func allChanges(initial: Bool = false) -> PreferenceChanges {
    PreferenceChanges(of: self, keys: nil, initial: initial)
  }
}

extension PreferencesType {
  /// Begins to tell changes to an observer, by the identity of the object, if it is one.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    if type(of: self) is AnyClass {
      return ObjectObservers.shared.add(observer, of: self, object: self as AnyObject)
    }
    observer.tellInitialValues(of: self)
    observer.tellEnd()
    return PreferenceObservation {}
  }
}

extension PreferencesType where Self: AnyObject {
  /// Tells the observers of this object of a change; for authors of stores that have no
  /// ``PreferenceObservers``.
  ///
  /// It costs next to nothing while nobody observes. A store whose threads change values at the same
  /// time tells them in order with ``PreferenceObservers``.
  ///
  /// - Parameters:
  ///   - key: The key whose value was changed.
  ///   - oldValue: The value before; `nil` if there was none.
  ///   - newValue: The value now; `nil` if it was removed.
  public func notifyObservers(
    forKey key: PreferenceKey, from oldValue: PreferenceObject?, to newValue: PreferenceObject?
  ) {
    ObjectObservers.shared.observers(of: self)?
      .tell(PreferenceChange(key, from: oldValue, to: newValue))
  }
}
