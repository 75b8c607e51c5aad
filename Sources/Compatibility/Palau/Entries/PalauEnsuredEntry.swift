public import Foundation
internal import Prephirences

/// An entry of one value that is never `nil`.
public typealias PalauDefaultsEntryEnsured<T: PalauDefaultable> =
  PalauEnsuredEntry<PalauDefaultsEntry<T>> where T.ValueType == T

/// An entry of an array that is never `nil`.
public typealias PalauDefaultsArrayEntryEnsured<T: PalauDefaultable> =
  PalauEnsuredEntry<PalauDefaultsArrayEntry<T>> where T.ValueType == T

/// An entry with a fallback, whose value is therefore never `nil`.
///
/// ```swift
/// extension PalauDefaults {
///   static var launches: PalauDefaultsEntryEnsured<Int> { value("launches", whenNil: 0) }
/// }
///
/// PalauDefaults.launches.value += 1
/// ```
public struct PalauEnsuredEntry<Entry: PalauEntry> {
  /// The entry with an optional value.
  public let entry: Entry

  /// The value if there is none.
  public let fallback: Entry.ReturnType

  /// Creates an entry with a fallback.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - fallback: The value if the entry has none.
  public init(_ entry: Entry, whenNil fallback: Entry.ReturnType) {
    self.entry = entry
    self.fallback = fallback
  }

  /// The key.
  public var key: String { entry.key }

  /// The user defaults that have the key.
  public var defaults: NSUD { entry.defaults }

  /// The value after all rules.
  ///
  /// A change in place, such as `+=`, changes nothing if the old value cannot be read: the fallback
  /// must not replace a value of another type, or one that a locked or damaged store has.
  /// `lastPreferencesError` of ``defaults`` then has the reason.
  public var value: Entry.ReturnType {
    get { entry.whenNil(use: fallback).value ?? fallback }
    nonmutating set {
      var entry = entry
      entry.value = newValue
    }
    nonmutating _modify {
      guard entry.isReadable() else {
        var unused = fallback
        yield &unused
        return
      }
      var value = value
      yield &value
      self.value = value
    }
  }

  /// Removes the key, so that the value is the fallback.
  public func clear() { entry.clear() }

  /// Adds a rule; see ``PalauEntry/ensure(when:use:)``.
  ///
  /// - Parameters:
  ///   - condition: Returns whether to replace a value.
  ///   - replacement: The value to use instead.
  /// - Returns: The entry with the rule.
  public func ensure(
    when condition: @escaping (Entry.ReturnType) -> Bool, use replacement: Entry.ReturnType
  ) -> Self {
    let entry = entry.ensure(when: { $0.map(condition) ?? false }, use: replacement)
    return Self(entry, whenNil: condition(fallback) ? replacement : fallback)
  }

  /// Sets the function that is called after the value was set or cleared through this entry.
  ///
  /// - Parameter callback: Receives the value that a read now returns, and the one before.
  /// - Returns: The entry with the function.
  public func didSet(
    _ callback: @escaping (Entry.ReturnType, Entry.ReturnType) -> Void
  ) -> Self {
    Self(
      entry.didSet { [fallback] in callback($0 ?? fallback, $1 ?? fallback) }, whenNil: fallback)
  }
}
