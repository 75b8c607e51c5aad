public import Foundation
internal import PrephirencesDurable

/// The entries of a program: declare them in an extension.
///
/// ```swift
/// extension PalauDefaults {
///   static var name: PalauDefaultsEntry<String> { value("name") }
///   static var port: PalauDefaultsEntryEnsured<Int> { value("port", whenNil: 8080) }
///   static var hosts: PalauDefaultsArrayEntry<String> { value("hosts") }
/// }
///
/// PalauDefaults.name.value = "Ada"
/// ```
///
/// A set value is on disk when the setter returns. Values are in ``defaults``, unless an entry names
/// others.
public struct PalauDefaults {
  /// The user defaults of entries that name no others: at first those of the program,
  /// `DurableUserDefaults.standard`.
  ///
  /// Set it at the start of a program to use another suite, or in tests. Any `UserDefaults` will do;
  /// plain ones are synchronized after each change.
  public static var defaults: NSUD {
    get { SharedDefaults.shared.current ?? DurableUserDefaults.standard }
    set { SharedDefaults.shared.current = newValue }
  }

  /// Returns its argument: the rules of an entry without any.
  ///
  /// - Parameter value: Any value.
  /// - Returns: The value.
  public static func pure<T>(_ value: T) -> T { value }

  /// Returns whether a value is missing.
  ///
  /// - Parameter value: The value.
  /// - Returns: `true` if the value is `nil`.
  public static func isEmpty<T>(_ value: T?) -> Bool { value == nil }

  /// Returns the entry of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, without rules.
  public static func value<T>(_ key: String) -> PalauDefaultsEntry<T> {
    value(key, in: defaults)
  }

  /// Returns the array entry of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, without rules.
  public static func value<T>(_ key: String) -> PalauDefaultsArrayEntry<T> {
    value(key, in: defaults)
  }

  /// Returns the entry of a key in other user defaults.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults.
  /// - Returns: The entry, without rules.
  public static func value<T>(_ key: String, in defaults: NSUD) -> PalauDefaultsEntry<T> {
    PalauDefaultsEntry(key: key, defaults: defaults, ensure: { $0 })
  }

  /// Returns the array entry of a key in other user defaults.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults.
  /// - Returns: The entry, without rules.
  public static func value<T>(_ key: String, in defaults: NSUD) -> PalauDefaultsArrayEntry<T> {
    PalauDefaultsArrayEntry(key: key, defaults: defaults, ensure: { $0 })
  }

  /// Returns the entry of a key whose value is never `nil`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fallback: The value if there is none.
  ///   - defaults: The user defaults.
  /// - Returns: The entry, without other rules.
  public static func value<T>(
    _ key: String, whenNil fallback: T, in defaults: NSUD = PalauDefaults.defaults
  ) -> PalauDefaultsEntryEnsured<T> {
    PalauEnsuredEntry(value(key, in: defaults), whenNil: fallback)
  }

  /// Returns the array entry of a key whose value is never `nil`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fallback: The values if there are none.
  ///   - defaults: The user defaults.
  /// - Returns: The entry, without other rules.
  public static func value<T>(
    _ key: String, whenNil fallback: [T], in defaults: NSUD = PalauDefaults.defaults
  ) -> PalauDefaultsArrayEntryEnsured<T> {
    PalauEnsuredEntry(value(key, in: defaults), whenNil: fallback)
  }
}

/// The user defaults that were set.
private final class SharedDefaults: @unchecked Sendable {
  // Unchecked because the lock guards every use, and `UserDefaults` may be used on all threads. It
  // is a lock that the thread sanitizer knows.

  static let shared = SharedDefaults()

  private let lock = NSLock()
  private var defaults: NSUD?

  var current: NSUD? {
    get { lock.withLock { defaults } }
    set { lock.withLock { defaults = newValue } }
  }
}
