public import Foundation
public import Prephirences

/// The value of one key, with rules.
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

  /// All rules in order, applied to a value that is read or set.
  var ensure: (ReturnType?) -> ReturnType? { get }

  /// Called after this entry has set the value.
  var didSet: ((_ newValue: ReturnType?, _ oldValue: ReturnType?) -> Void)? { get }

  /// The value after all rules; `nil` if there is none. Setting `nil` removes the key, unless a
  /// rule replaces it.
  var value: ReturnType? { get set }

  /// Creates an entry; `didSet` is called after the value was set.
  init(
    key: String, defaults: NSUD, didSet: ((ReturnType?, ReturnType?) -> Void)?,
    ensure: @escaping (ReturnType?) -> ReturnType?)
}

extension PalauEntry {
  /// Removes the key, ignoring the rules.
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
  /// The rules of an entry apply in order, to each value that is read or set.
  ///
  /// - Parameters:
  ///   - condition: Returns whether to replace a value, which is the result of the previous rules.
  ///   - replacement: The value to use instead.
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

  /// Adds a rule that replaces a missing value.
  public func whenNil(use replacement: ReturnType) -> Self {
    ensure(when: { $0 == nil }, use: replacement)
  }

  /// Sets the function that is called after this entry has set or cleared the value.
  ///
  /// It replaces the previous function. To be notified of every change, use
  /// ``PalauEntry/observe(initial:_:)``.
  ///
  /// - Parameter callback: Receives the present and the previous value, as a read returns them;
  ///   they are the same if the new value was refused or is equal.
  public func didSet(_ callback: @escaping (ReturnType?, ReturnType?) -> Void) -> Self {
    Self(key: key, defaults: defaults, didSet: callback, ensure: ensure)
  }
}

extension PalauEntry {
  /// Whether a change in place keeps what is stored; if not, records why.
  ///
  /// It must not replace a value of another type, a value in a locked or damaged store, or the
  /// invalid elements of an array.
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
  /// Calls a closure with each change of the stored value, by this or another process.
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
  /// - Returns: The sequence; for a slow reader, several changes arrive as one.
  public func changes(initial: Bool = false) -> PalauChanges<Self> {
    PalauChanges(entry: self, changes: defaults.changes(forKey: key, initial: initial))
  }

  /// Returns the entry's value for a stored object.
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

    /// Waits for the next change; `nil` is the end.
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
