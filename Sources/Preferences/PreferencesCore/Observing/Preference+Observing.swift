extension Preference {
  /// Calls a closure with each change of the value, whoever makes it.
  ///
  /// ```swift
  /// @UserDefaultsPreference(key: "colour")
  /// var colour: String?
  ///
  /// let observation = $colour.observe { newValue, oldValue in paint(newValue ?? "red") }
  /// ```
  ///
  /// Values are reported as ``value`` returns them, with the transformation at that moment; if both
  /// values are equal, nothing is reported. See ``PreferencesType/observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with the present value before this returns; the old
  ///     value is `nil` in that call.
  ///   - handler: Called with the new value and the old one, on the thread that makes the change.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe(
    initial: Bool = false,
    _ handler: @escaping @Sendable (_ newValue: T?, _ oldValue: T?) -> Void
  ) -> PreferenceObservation {
    let value = reading
    return preferences.observe(forKey: key, initial: initial) { change in
      let change = change.mapped(value)
      guard change.isReportable else { return }
      handler(change.newValue as? T, change.oldValue as? T)
    }
  }

  /// Returns the present value and all later ones, as a sequence.
  ///
  /// ```swift
  /// @UserDefaultsPreference(key: "colour")
  /// var colour: String?
  ///
  /// for await colour in $colour.values() { paint(colour ?? "red") }
  /// ```
  ///
  /// - Returns: The sequence. A reader that is slower than the changes gets the most recent value.
  public func values() -> PreferenceValues<T> {
    PreferenceValues(changes: preferences.changes(forKey: key, initial: true), value: reading)
  }

  /// Converts stored values to values of the preference.
  private var reading: @Sendable (PreferenceObject?) -> T? {
    // An observer accepts that the transformation is used on the threads that change the value.
    nonisolated(unsafe) let transformation = transformation
    let key = key
    return { transformation.get(key, from: SinglePreference($0)) }
  }
}

/// The values of a preference, as an asynchronous sequence that starts with the present value.
///
/// It ends when the store is destroyed or its task is cancelled.
public struct PreferenceValues<T>: AsyncSequence, Sendable {
  /// A value, or `nil` if there is no value of this type.
  public typealias Element = T?

  /// The sequence does not fail.
  public typealias Failure = Never

  let changes: PreferenceChanges
  let value: @Sendable (PreferenceObject?) -> T?

  /// Creates an iterator, which waits for the values.
  ///
  /// - Returns: The iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(changes: changes.makeAsyncIterator(), value: value)
  }

  /// Waits for values.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var changes: PreferenceChanges.AsyncIterator
    let value: @Sendable (PreferenceObject?) -> T?

    /// Waits for the next value.
    ///
    /// - Parameter actor: The actor on which the caller runs.
    /// - Returns: The value, or `nil` after the last value.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> T?? {
      while let change = await changes.next(isolation: actor)?.mapped(value) {
        if change.isReportable { return .some(change.newValue as? T) }
      }
      return nil
    }
  }
}
