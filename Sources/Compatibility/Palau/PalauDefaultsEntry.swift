public import Foundation
internal import Prephirences

/// The entry of one value.
///
/// ```swift
/// extension PalauDefaults {
///   static var title: PalauDefaultsEntry<String> { value("title") }
/// }
///
/// PalauDefaults.title.value = "Notes"
/// ```
///
/// The setter is nonmutating, so a declaration needs only a getter.
public struct PalauDefaultsEntry<T: PalauDefaultable>: PalauEntry where T.ValueType == T {
  /// The type of the value.
  public typealias ValueType = T

  /// The type of ``value``.
  public typealias ReturnType = T

  /// A function that receives the new and the old value.
  public typealias PalauDidSetFunction = (_ newValue: T?, _ oldValue: T?) -> Void

  /// The rules of an entry, combined into one function.
  public typealias PalauEnsureFunction = (T?) -> T?

  /// The key.
  public let key: String

  /// The user defaults that have the key.
  public let defaults: NSUD

  /// All rules in order.
  public let ensure: PalauEnsureFunction

  /// Called after this entry has set the value.
  public let didSet: PalauDidSetFunction?

  /// Creates an entry; `didSet` is called after the value was set.
  public init(
    key: String, defaults: NSUD, didSet: PalauDidSetFunction? = nil,
    ensure: @escaping PalauEnsureFunction
  ) {
    self.key = key
    self.defaults = defaults
    self.didSet = didSet
    self.ensure = ensure
  }

  /// The value after all rules; `nil` if there is none.
  ///
  /// Setting `nil` removes the key, unless a rule replaces it. A value that cannot be stored
  /// changes nothing; `lastPreferencesError` of ``defaults`` has the reason.
  public var value: T? {
    get { ensure(T.get(key: key, from: defaults)) }
    nonmutating set {
      let oldValue = didSet == nil ? nil : value
      let newValue = ensure(newValue)
      defaults.saveChanges(forKeys: [key]) {
        T.set(value: newValue, forKey: key, in: defaults)
      }
      didSet?(value, oldValue)
    }
  }
}

/// The entry of an array of values.
///
/// ```swift
/// extension PalauDefaults {
///   static var tags: PalauDefaultsArrayEntry<String> { value("tags") }
/// }
///
/// PalauDefaults.tags.value = ["new", "urgent"]
/// ```
public struct PalauDefaultsArrayEntry<T: PalauDefaultable>: PalauEntry where T.ValueType == T {
  /// The type of a value.
  public typealias ValueType = T

  /// The type of ``value``.
  public typealias ReturnType = [T]

  /// A function that receives the new and the old values.
  public typealias PalauDidSetArrayFunction = (_ newValue: [T]?, _ oldValue: [T]?) -> Void

  /// The rules of an entry, combined into one function.
  public typealias PalauEnsureArrayFunction = ([T]?) -> [T]?

  /// The key.
  public let key: String

  /// The user defaults that have the key.
  public let defaults: NSUD

  /// All rules in order.
  public let ensure: PalauEnsureArrayFunction

  /// Called after this entry has set the values.
  public let didSet: PalauDidSetArrayFunction?

  /// Creates an entry; `didSet` is called after the values were set.
  public init(
    key: String, defaults: NSUD, didSet: PalauDidSetArrayFunction? = nil,
    ensure: @escaping PalauEnsureArrayFunction
  ) {
    self.key = key
    self.defaults = defaults
    self.didSet = didSet
    self.ensure = ensure
  }

  /// The values after all rules; `nil` if no array of this type is stored.
  ///
  /// Elements that are not valid, such as a case that the program no longer has, are left out. A
  /// change in place, such as `append`, would remove them, so it changes nothing then.
  ///
  /// Setting `nil` removes the key, unless a rule replaces it. Values that cannot be stored change
  /// nothing; `lastPreferencesError` of ``defaults`` has the reason.
  public var value: [T]? {
    get { ensure(T.get(key, from: defaults)) }
    nonmutating set {
      let oldValue = didSet == nil ? nil : value
      let newValue = ensure(newValue)
      defaults.saveChanges(forKeys: [key]) {
        T.set(newValue, forKey: key, in: defaults)
      }
      didSet?(value, oldValue)
    }
    nonmutating _modify {
      var value = value
      let wasNil = value == nil
      defer { if !wasNil || value != nil, isReadable() { self.value = value } }
      yield &value
    }
  }
}

/// An entry of one value that is never `nil`.
public typealias PalauDefaultsEntryEnsured<T: PalauDefaultable> =
  PalauEnsuredEntry<PalauDefaultsEntry<T>> where T.ValueType == T

/// An entry of an array that is never `nil`.
public typealias PalauDefaultsArrayEntryEnsured<T: PalauDefaultable> =
  PalauEnsuredEntry<PalauDefaultsArrayEntry<T>> where T.ValueType == T

/// An entry with a fallback, so its value is never `nil`.
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

  /// The value if the entry has none.
  public let fallback: Entry.ReturnType

  /// Creates an entry with a fallback.
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
  /// must not replace a value of another type, or a value in a locked or damaged store.
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

  /// Adds a rule that replaces the values that meet a condition; see
  /// ``PalauEntry/ensure(when:use:)``.
  public func ensure(
    when condition: @escaping (Entry.ReturnType) -> Bool, use replacement: Entry.ReturnType
  ) -> Self {
    let entry = entry.ensure(when: { $0.map(condition) ?? false }, use: replacement)
    return Self(entry, whenNil: condition(fallback) ? replacement : fallback)
  }

  /// Sets the function that is called after this entry has set or cleared the value.
  ///
  /// - Parameter callback: Receives the present and the previous value, as a read returns them.
  public func didSet(
    _ callback: @escaping (Entry.ReturnType, Entry.ReturnType) -> Void
  ) -> Self {
    Self(
      entry.didSet { [fallback] in callback($0 ?? fallback, $1 ?? fallback) }, whenNil: fallback)
  }
}
