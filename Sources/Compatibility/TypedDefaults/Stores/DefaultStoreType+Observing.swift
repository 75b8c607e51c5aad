public import Prephirences

extension DefaultStoreType {
  /// The preferences whose changes are reported; without changes if the store has none.
  var observedPreferences: any PreferencesType {
    (self as? any PreferenceBacked)?.backingPreferences ?? DictionaryPreferences(dictionary: [:])
  }

  /// Calls a closure with each change of the value, whoever makes it.
  ///
  /// Changes by other processes are reported if the preferences of the store report them, as
  /// `DurablePreferences` does. A store of your own reports no changes.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Receives the new and the old value; `nil` if there is none. It is called on the
  ///     thread that makes the change, or for another process on a thread of the store.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe(
    initial: Bool = false,
    _ handler: @escaping @Sendable (_ newValue: Default?, _ oldValue: Default?) -> Void
  ) -> PreferenceObservation where Default: SendableMetatype {
    observedPreferences.observe(forKey: Default.key, initial: initial) { change in
      handler(
        change.newValue.flatMap { Default($0) }, change.oldValue.flatMap { Default($0) })
    }
  }

  /// Returns the future changes of the value, as a sequence.
  ///
  /// ```swift
  /// let store = PersistentStore<CameraConfig>()
  /// for await change in store.changes() { print(change.newValue?.size ?? 0) }
  /// ```
  ///
  /// - Parameter initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; a slow reader gets one change, from the value that it last saw to the
  ///   present one.
  public func changes(initial: Bool = false) -> DefaultChanges<Default> {
    DefaultChanges(observedPreferences.changes(forKey: Default.key, initial: initial))
  }
}
