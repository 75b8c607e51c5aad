extension Preference {
  /// Calls a closure with each change of the value, by whoever shares the preferences.
  ///
  /// ```swift
  /// @UserDefaultsPreference(key: "colour")
  /// var colour: String?
  ///
  /// let observation = $colour.observe { newValue, oldValue in paint(newValue ?? "red") }
  /// ```
  ///
  /// Values are told as ``value`` gives them, with the transformation of this moment; where two are
  /// equal, there is no change. See ``PreferencesType/observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - initial: Whether to call it with the present value, too, before this returns; the old one
  ///     is `nil` then.
  ///   - handler: Called with the new value and the old one, on the thread that makes the change.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  public func observe(
    initial: Bool = false,
    _ handler: @escaping @Sendable (_ newValue: T?, _ oldValue: T?) -> Void
  ) -> PreferenceObservation {
    let value = reading
    return preferences.observe(forKey: key, initial: initial) { change in
      let change = change.mapped(value)
      guard change.isWorthTelling else { return }
      handler(change.newValue as? T, change.oldValue as? T)
    }
  }

  /// The present value and those that it gets, as a sequence.
  ///
  /// ```swift
  /// @UserDefaultsPreference(key: "colour")
  /// var colour: String?
  ///
  /// for await colour in $colour.values() { paint(colour ?? "red") }
  /// ```
  ///
  /// - Returns: The sequence. A reader that is slower than the changes finds the value that is there
  ///   when it comes.
  public func values() -> PreferenceValues<T> {
    PreferenceValues(changes: preferences.changes(forKey: key, initial: true), value: reading)
  }

  /// What makes values of stored ones.
  private var reading: @Sendable (PreferenceObject?) -> T? {
    // Whoever observes uses the transformation on the threads that change the value.
    nonisolated(unsafe) let transformation = transformation
    let key = key
    return { transformation.get(key, from: SinglePreference($0)) }
  }
}

/// The values of a preference, as an asynchronous sequence that begins with the present one.
///
/// It ends with the store, and when its task is cancelled.
public struct PreferenceValues<T>: AsyncSequence, Sendable {
  /// A value, or `nil` if there is none of this type.
  public typealias Element = T?

  /// It does not fail.
  public typealias Failure = Never

  let changes: PreferenceChanges
  let value: @Sendable (PreferenceObject?) -> T?

  /// Makes an iterator, which waits for the values.
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
    /// - Returns: The value, or `nil` if there will be none any more.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> T?? {
      while let change = await changes.next(isolation: actor)?.mapped(value) {
        if change.isWorthTelling { return .some(change.newValue as? T) }
      }
      return nil
    }
  }
}
