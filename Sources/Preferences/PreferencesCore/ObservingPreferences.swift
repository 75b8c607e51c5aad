extension PreferencesType {
  /// Calls a closure with each change of a key's value, by any code.
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
  ///   - initial: Whether to call the closure with the present value before this returns.
  /// - handler: Called on the thread that makes the change, before its setter returns. If another
  ///   thread is in the closure, that thread makes the next call: there is only one call at a time,
  ///   and the last call has the final value. Changes made meanwhile are merged.
  /// - Returns: The observation, which ends when it is destroyed.
  public func observe(
    forKey key: PreferenceKey, initial: Bool = false,
    _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    observe(forKeys: [key], initial: initial, handler)
  }

  /// Calls a closure with each change of several keys' values; see ``observe(forKey:initial:_:)``.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with the present value of each key.
  ///   - handler: Called with each change, even if several are made together.
  /// - Returns: The observation, which ends when it is destroyed.
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
  /// - Returns: The observation, which ends when it is destroyed.
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
  /// - Parameter initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; see ``PreferenceChanges`` for what a slow reader gets.
  public func changes(forKey key: PreferenceKey, initial: Bool = false) -> PreferenceChanges {
    changes(forKeys: [key], initial: initial)
  }

  /// Returns the future changes of several keys' values, as a sequence.
  ///
  /// - Parameter initial: Whether the sequence starts with the present value of each key.
  public func changes(forKeys keys: [PreferenceKey], initial: Bool = false) -> PreferenceChanges {
    PreferenceChanges(of: self, keys: Set(keys), initial: initial)
  }

  /// Returns the future changes of any value, as a sequence.
  ///
  /// - Parameter initial: Whether the sequence starts with all present values.
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
  /// Notifies the observers of this object of a change; for authors of stores without
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

/// The changes of preferences, as an asynchronous sequence.
///
/// For a slow reader, the changes of a key arrive as one, from the value that it last saw to the
/// present one: never more changes than keys, and none is lost. A key that has its old value again
/// is left out.
///
/// The observation starts with the sequence, and ends when the sequence and its iterators are
/// destroyed. The sequence ends when the store is destroyed or its task is cancelled. Several
/// iterators share the changes.
public struct PreferenceChanges: AsyncSequence, Sendable {
  /// A change.
  public typealias Element = PreferenceChange

  /// The sequence does not fail.
  public typealias Failure = Never

  private let source: Source

  init(of preferences: some PreferencesType, keys: Set<PreferenceKey>?, initial: Bool) {
    source = Source(of: preferences, keys: keys, initial: initial)
  }

  /// Creates an iterator, which waits for the changes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(source: source, signals: source.changes.signals.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: Source
    var signals: AsyncStream<Void>.Iterator

    /// Waits for the next change; `nil` is the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> PreferenceChange? {
      while let change = await source.changes.next(after: &signals, isolation: actor) {
        if change.isReportable { return change }
      }
      return nil
    }
  }
}

extension PreferenceChanges {
  /// The observation, and the unread changes.
  final class Source: Sendable {
    let changes = SignalledWork(PendingChanges())
    private let observation: PreferenceObservation

    init(of preferences: some PreferencesType, keys: Set<PreferenceKey>?, initial: Bool) {
      observation = preferences.addObserver(
        PreferenceObserver(
          keys: keys, initial: initial, end: { [changes] in changes.end() },
          handler: { [changes] change in changes.add { $0.add(change) } }))
    }
  }
}

extension Preference {
  /// Calls a closure with each change of the value, by any code.
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
  /// - Returns: The observation, which ends when it is destroyed.
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
  /// - Returns: The sequence; a slow reader gets the most recent value.
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
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(changes: changes.makeAsyncIterator(), value: value)
  }

  /// Waits for values.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var changes: PreferenceChanges.AsyncIterator
    let value: @Sendable (PreferenceObject?) -> T?

    /// Waits for the next value; `nil` is the end.
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
