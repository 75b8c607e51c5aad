public import Foundation
internal import PrephirencesSystem

/// Preferences in a cache, which may discard them.
///
/// It is safe to use from several threads.
public final class NSCachePreferences<ObjectType: AnyObject>: MutablePreferencesType,
  PreferencesAdapter, @unchecked Sendable
{
  // Unchecked because of the cache, which is thread-safe.

  /// The cache.
  public let cache: NSCache<NSString, ObjectType>

  private struct State {
    var insertCost = 0
    var keys: Set<PreferenceKey> = []
  }

  private let state = PosixMutex(State())
  private let observers = PreferenceObservers()

  // Keeps changes in the order of their reports. It is recursive because a delegate of the cache is
  // called while it is held, and may use these preferences.
  private let order = NSRecursiveLock()

  /// Creates preferences in a cache, whose present objects can be read but are not among
  /// ``keys()``.
  public init(cache: NSCache<NSString, ObjectType> = NSCache()) {
    self.cache = cache
  }

  /// The cost of each object that is set; 0 by default.
  public var insertCost: Int {
    get { state.withLock(\.insertCost) }
    set { state.withLock { $0.insertCost = newValue } }
  }

  /// Returns the object of a key if it is still in the cache.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    cache.object(forKey: key as NSString)
  }

  /// Returns the keys that were set here and are still in the cache.
  public func keys() -> [String] {
    state.withLock(\.keys).filter { cache.object(forKey: $0 as NSString) != nil }
  }

  /// Sets the object of a key; `nil`, or an object of a type that the cache does not hold, removes
  /// the key.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let object = value as? ObjectType else { return removeObject(forKey: key) }
    change([key], to: object) {
      let cost = state.withLock { state in
        state.keys.insert(key)
        return state.insertCost
      }
      cache.setObject(object, forKey: key as NSString, cost: cost)
    }
  }

  /// Removes a key and its object.
  public func removeObject(forKey key: PreferenceKey) {
    change([key], to: nil) {
      state.withLock { _ = $0.keys.remove(key) }
      cache.removeObject(forKey: key as NSString)
    }
  }

  /// Removes all objects of the cache.
  public func clearAll() {
    change(observers.isEmpty ? [] : keys(), to: nil) {
      state.withLock { $0.keys = [] }
      cache.removeAllObjects()
    }
  }

  /// Starts notifying an observer of changes made here; objects that the cache discards are not
  /// reported.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    observers.add(observer, of: self)
  }

  private func change(_ keys: [PreferenceKey], to value: ObjectType?, _ change: () -> Void) {
    order.withLock {
      if observers.isEmpty { return change() }
      let changes = keys.map { PreferenceChange($0, from: object(forKey: $0), to: value) }
      change()
      observers.post(changes)
    }
    observers.deliverPending()
  }
}

/// A keyed coder as preferences: a decoder can be read, an encoder can be written.
///
/// ```swift
/// required init?(coder: NSCoder) {
///   count = coder["count"] as? Int ?? 0
/// }
///
/// func encode(with coder: NSCoder) {
///   coder["count"] = count
/// }
/// ```
///
/// Numbers are encoded like `encode(_:forKey:)` does for their type, so that
/// `decodeInteger(forKey:)` and its siblings read them; a second key with the prefix
/// `PrephirencesKind.` records their type. A value that cannot be archived is not encoded,
/// `removeObject(forKey:)` encodes `nil`, and ``dictionary()`` is empty, because a coder does not
/// list its keys. A number that was encoded by `encode(_:forKey:)` itself has no object, but the
/// getter of its type finds it.
extension NSCoder: MutablePreferencesType {
  private enum Kind: Int {
    case object, bool, integer, double, float

    static func key(beside key: PreferenceKey) -> String { "PrephirencesKind.\(key)" }
  }

  // Calling a decoder's methods on an encoder, or the reverse, stops the process.
  private var isDecoder: Bool { allowsKeyedCoding && !(self is NSKeyedArchiver) }
  private var isEncoder: Bool { allowsKeyedCoding && !(self is NSKeyedUnarchiver) }

  /// Returns the value of a key.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    guard hasObject(forKey: key) else { return nil }
    switch Kind(rawValue: decodeInteger(forKey: Kind.key(beside: key))) {
    case .bool: return decodeBool(forKey: key)
    case .integer: return decodeInteger(forKey: key)
    case .double: return decodeDouble(forKey: key)
    case .float: return decodeFloat(forKey: key)
    case .object, nil: return unwrapped(decodeObject(forKey: key))
    }
  }

  /// Returns an empty dictionary, because a coder does not list its keys.
  public func dictionary() -> PreferencesDictionary { [:] }

  /// Returns whether a key was encoded, even if as `nil`.
  public func hasObject(forKey key: PreferenceKey) -> Bool {
    isDecoder && containsValue(forKey: key)
  }

  /// Returns the integer of a key.
  public func integer(forKey key: PreferenceKey) -> Int {
    hasKind(key)
      ? PreferenceValue(reading: object(forKey: key)).integer : native(key, decodeInteger) ?? 0
  }

  /// Returns the number of a key, in single precision.
  public func float(forKey key: PreferenceKey) -> Float {
    hasKind(key)
      ? PreferenceValue(reading: object(forKey: key)).float : native(key, decodeFloat) ?? 0
  }

  /// Returns the number of a key.
  public func double(forKey key: PreferenceKey) -> Double {
    hasKind(key)
      ? PreferenceValue(reading: object(forKey: key)).double : native(key, decodeDouble) ?? 0
  }

  /// Returns the truth value of a key.
  public func bool(forKey key: PreferenceKey) -> Bool {
    hasKind(key)
      ? PreferenceValue(reading: object(forKey: key)).bool : native(key, decodeBool) ?? false
  }

  private func hasKind(_ key: PreferenceKey) -> Bool {
    hasObject(forKey: Kind.key(beside: key))
  }

  private func native<Value>(_ key: PreferenceKey, _ decode: (String) -> Value) -> Value? {
    hasObject(forKey: key) ? decode(key) : nil
  }

  /// Encodes the value of a key; a value that cannot be archived is not encoded.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    switch unwrapped(value) {
    case nil: encode(nil as Any?, key, .object)
    case let value as Bool where type(of: value) == Bool.self:
      encode(value, forKey: key)
      encode(Kind.bool.rawValue, forKey: Kind.key(beside: key))
    case let value as Int: set(value, forKey: key)
    case let value as Double: set(value, forKey: key)
    case let value as Float: set(value, forKey: key)
    case let value?:
      guard let object = PreferenceArchive.object(toArchive: value) else { return }
      encode(object, key, .object)
    }
  }

  private func encode(_ object: Any?, _ key: PreferenceKey, _ kind: Kind) {
    encode(object, forKey: key)
    encode(kind.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes an integer.
  public func set(_ value: Int, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(value, forKey: key)
    encode(Kind.integer.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes a number in single precision.
  public func set(_ value: Float, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(value, forKey: key)
    encode(Kind.float.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes a number.
  public func set(_ value: Double, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(value, forKey: key)
    encode(Kind.double.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes `nil` for a key.
  public func removeObject(forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(nil as Any?, key, .object)
  }
}

// Stored as the text of `NSStringFromRect` and its siblings, which is read back exactly.

extension PreferencesType {
  /// Returns the rectangle of a key, or `nil` if the value is not the text of one.
  public func cgRect(forKey key: PreferenceKey) -> CGRect? {
    coordinates(forKey: key, count: 4).map {
      CGRect(x: $0[0], y: $0[1], width: $0[2], height: $0[3])
    }
  }

  /// Returns the size of a key, or `nil` if the value is not the text of one.
  public func cgSize(forKey key: PreferenceKey) -> CGSize? {
    coordinates(forKey: key, count: 2).map { CGSize(width: $0[0], height: $0[1]) }
  }

  /// Returns the point of a key, or `nil` if the value is not the text of one.
  public func cgPoint(forKey key: PreferenceKey) -> CGPoint? {
    coordinates(forKey: key, count: 2).map { CGPoint(x: $0[0], y: $0[1]) }
  }

  private func coordinates(forKey key: PreferenceKey, count: Int) -> [Double]? {
    guard let text = object(forKey: key) as? String else { return nil }
    let numbers = text.filter { !"{} ".contains($0) }
      .split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    let coordinates = numbers.compactMap(\.self)
    return coordinates.count == count && numbers.count == count ? coordinates : nil
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to a rectangle, as text.
  public func set(_ value: CGRect, forKey key: PreferenceKey) {
    self[key] =
      "{{\(value.origin.x), \(value.origin.y)}, {\(value.size.width), \(value.size.height)}}"
  }

  /// Sets the value of a key to a size, as text.
  public func set(_ value: CGSize, forKey key: PreferenceKey) {
    self[key] = "{\(value.width), \(value.height)}"
  }

  /// Sets the value of a key to a point, as text.
  public func set(_ value: CGPoint, forKey key: PreferenceKey) {
    self[key] = "{\(value.x), \(value.y)}"
  }
}
