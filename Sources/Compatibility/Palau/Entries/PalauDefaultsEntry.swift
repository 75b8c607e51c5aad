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
/// The setter needs no variable, so that the declaration needs no `set`.
public struct PalauDefaultsEntry<T: PalauDefaultable>: PalauEntry where T.ValueType == T {
  /// The type of the value.
  public typealias ValueType = T

  /// The type of ``value``.
  public typealias ReturnType = T

  /// A function that receives the new and the old value.
  public typealias PalauDidSetFunction = (_ newValue: T?, _ oldValue: T?) -> Void

  /// The rules of an entry, as one function.
  public typealias PalauEnsureFunction = (T?) -> T?

  /// The key.
  public let key: String

  /// The user defaults that have the key.
  public let defaults: NSUD

  /// All rules in order.
  public let ensure: PalauEnsureFunction

  /// Called after the value was set through this entry.
  public let didSet: PalauDidSetFunction?

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  ///   - didSet: Called after the value was set.
  ///   - ensure: The rules.
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
  /// Setting `nil` removes the key, unless a rule has a value for it. A value that cannot be stored
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
