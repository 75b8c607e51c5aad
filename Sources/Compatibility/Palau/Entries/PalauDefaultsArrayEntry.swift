public import Foundation
internal import Prephirences

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

  /// The rules of an entry, as one function.
  public typealias PalauEnsureArrayFunction = ([T]?) -> [T]?

  /// The key.
  public let key: String

  /// The user defaults that have the key.
  public let defaults: NSUD

  /// All rules in order.
  public let ensure: PalauEnsureArrayFunction

  /// Called after the values were set through this entry.
  public let didSet: PalauDidSetArrayFunction?

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  ///   - didSet: Called after the values were set.
  ///   - ensure: The rules.
  public init(
    key: String, defaults: NSUD, didSet: PalauDidSetArrayFunction? = nil,
    ensure: @escaping PalauEnsureArrayFunction
  ) {
    self.key = key
    self.defaults = defaults
    self.didSet = didSet
    self.ensure = ensure
  }

  /// The values after all rules; `nil` if there are none, or if what is stored is no such array.
  ///
  /// Elements that are not valid, such as a case that the program no longer has, are left out. A change in
  /// place, such as `append`, would remove them, so it changes nothing then.
  ///
  /// Setting `nil` removes the key, unless a rule has values for it. Values that cannot be stored
  /// change nothing; `lastPreferencesError` of ``defaults`` has the reason.
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
