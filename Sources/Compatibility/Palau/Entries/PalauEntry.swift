public import Foundation
internal import Prephirences

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
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  ///   - didSet: Called after the value was set.
  ///   - ensure: The rules.
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
