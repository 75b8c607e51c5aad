public import Foundation
public import Prephirences

/// A value of one key, with its rules.
///
/// ``PalauDefaultsEntry`` has one value and ``PalauDefaultsArrayEntry`` several; create them with
/// ``PalauDefaults``. An entry has no state of its own: every read and write goes to its user
/// defaults.
public protocol PalauEntry {
  /// The type of a value.
  associatedtype ValueType: PalauDefaultable

  /// The type of ``value``: the value's type, or an array of it.
  associatedtype ReturnType

  /// The key.
  var key: String { get }

  /// The user defaults that have the key.
  var defaults: NSUD { get }

  /// All rules in order: receives the value that is read or set, and returns the one to use.
  var ensure: (ReturnType?) -> ReturnType? { get }

  /// Called after the value was set through this entry.
  var didSet: ((_ newValue: ReturnType?, _ oldValue: ReturnType?) -> Void)? { get }

  /// The value after all rules; `nil` if there is none. Setting `nil` removes the key, unless a
  /// rule has a value for it.
  var value: ReturnType? { get set }

  /// Creates an entry.
  ///
  /// - Parameter didSet: Called after the value was set.
  init(
    key: String, defaults: NSUD, didSet: ((ReturnType?, ReturnType?) -> Void)?,
    ensure: @escaping (ReturnType?) -> ReturnType?)
}

extension PalauEntry {
  /// Removes the key, whatever the rules say.
  public func clear() {
    let oldValue = didSet == nil ? nil : value
    var unruled = Self(key: key, defaults: defaults, didSet: nil, ensure: { $0 })
    unruled.value = nil
    didSet?(value, oldValue)
  }

  /// Adds a rule.
  ///
  /// ```swift
  /// extension PalauDefaults {
  ///   static var retries: PalauDefaultsEntry<Int> {
  ///     value("retries").whenNil(use: 3).ensure(when: { ($0 ?? 0) > 10 }, use: 10)
  ///   }
  /// }
  /// ```
  ///
  /// The rules of an entry apply in their order, to each value that is read and to each that is
  /// set.
  ///
  /// - Parameters:
  ///   - condition: Returns whether to replace a value; it receives what the rules before return.
  ///   - replacement: The value to use instead.
  /// - Returns: The entry with the rule.
  public func ensure(
    when condition: @escaping (ReturnType?) -> Bool, use replacement: ReturnType
  ) -> Self {
    Self(
      key: key, defaults: defaults, didSet: didSet,
      ensure: { [ensure] value in
        let value = ensure(value)
        return condition(value) ? replacement : value
      })
  }

  /// Adds the rule that a missing value is replaced.
  ///
  /// - Parameter replacement: The value to use instead.
  /// - Returns: The entry with the rule.
  public func whenNil(use replacement: ReturnType) -> Self {
    ensure(when: { $0 == nil }, use: replacement)
  }

  /// Sets the function that is called after the value was set or cleared through this entry.
  ///
  /// It replaces the one before. To be notified of every change, use
  /// ``PalauEntry/observe(initial:_:)``.
  ///
  /// - Parameter callback: Receives the value that a read now returns, and the one before; they are
  ///   the same if the new value was refused or is equal.
  /// - Returns: The entry with the function.
  public func didSet(_ callback: @escaping (ReturnType?, ReturnType?) -> Void) -> Self {
    Self(key: key, defaults: defaults, didSet: callback, ensure: ensure)
  }
}

extension PalauEntry {
  /// Returns whether a change in place keeps what is stored; if not, records why.
  ///
  /// It would replace a value of another type, one that a locked or damaged store has, and the elements
  /// of an array that are not valid.
  func isReadable() -> Bool {
    do {
      guard let stored = try defaults.fetchObject(forKey: key) else { return true }
      let unruled = Self(key: key, defaults: defaults, didSet: nil, ensure: { $0 })
      guard let value = unruled.value else {
        throw PreferencesError.unreadable(key, ReturnType.self)
      }
      if let elements = value as? [ValueType], let stored = stored as? [Any],
        elements.count < stored.count
      {
        throw PreferencesError.shortened(key)
      }
      return true
    } catch {
      defaults.didRefuse(
        .converting(error, "the value of the key '\(key)' could not be read"), forKey: key)
      return false
    }
  }
}

extension PalauEntry {
  /// Calls a closure with each change of the stored value, whoever makes it.
  ///
  /// The rules of the entry are not applied, because the closure may run on any thread;
  /// ``changes(initial:)`` applies them.
  ///
  /// - Parameters:
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Receives the new and the old value; `nil` if there is none of this type. It is
  ///     called on the thread that makes the change, or for another process on a thread of the
  ///     store.
  /// - Returns: The observation, which ends when it is destroyed.
  public func observe(
    initial: Bool = false,
    _ handler: @escaping @Sendable (_ newValue: ReturnType?, _ oldValue: ReturnType?) -> Void
  ) -> PreferenceObservation where Self: SendableMetatype {
    defaults.observe(forKey: key, initial: initial) { change in
      handler(
        Self.value(of: change.newValue, change.key, ensure: { $0 }),
        Self.value(of: change.oldValue, change.key, ensure: { $0 }))
    }
  }

  /// Returns the future changes of the value, as a sequence.
  ///
  /// ```swift
  /// for await change in PalauDefaults.name.changes() { print(change.newValue ?? "nobody") }
  /// ```
  ///
  /// - Parameter initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; a slow reader gets one change, from the value that it last saw to the
  ///   present one.
  public func changes(initial: Bool = false) -> PalauChanges<Self> {
    PalauChanges(entry: self, changes: defaults.changes(forKey: key, initial: initial))
  }

  /// Returns the value that the entry has if an object is stored.
  func value(of object: PreferenceObject?) -> ReturnType? {
    Self.value(of: object, key, ensure: ensure)
  }

  private static func value(
    of object: PreferenceObject?, _ key: PreferenceKey,
    ensure: @escaping (ReturnType?) -> ReturnType?
  ) -> ReturnType? {
    let memory = MutableDictionaryPreferences(dictionary: [:])
    if let object { memory.set(object as PreferenceObject?, forKey: key) }
    let scratch = BackedUserDefaults(preferences: memory)
    return Self(key: key, defaults: scratch, didSet: nil, ensure: ensure).value
  }
}

/// A change of the value of an entry, after all rules.
public struct PalauChange<Value> {
  /// The previous value; `nil` if there was none, or if the change is initial.
  public let oldValue: Value?

  /// The new value; `nil` if it was removed.
  public let newValue: Value?

  /// Whether this is the value at the start of the observation, not a change.
  public let isInitial: Bool
}

extension PalauChange: Sendable where Value: Sendable {}

/// The changes of the value of an entry, as an asynchronous sequence.
///
/// It ends as `PreferenceChanges` does. The rules of the entry run in the task that reads it.
public struct PalauChanges<Entry: PalauEntry>: AsyncSequence {
  /// A change.
  public typealias Element = PalauChange<Entry.ReturnType>

  /// The sequence does not fail.
  public typealias Failure = Never

  let entry: Entry
  let changes: PreferenceChanges

  /// Creates an iterator, which waits for the changes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(entry: entry, changes: changes.makeAsyncIterator())
  }

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let entry: Entry
    var changes: PreferenceChanges.AsyncIterator

    /// Waits for the next change.
    ///
    /// - Returns: The change, or `nil` after the last change.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      guard let change = await changes.next(isolation: actor) else { return nil }
      return PalauChange(
        oldValue: change.isInitial ? nil : entry.value(of: change.oldValue),
        newValue: entry.value(of: change.newValue), isInitial: change.isInitial)
    }
  }
}
