internal import Foundation
internal import Prephirences
internal import PrephirencesSystem

/// A property whose value is that of a key.
///
/// ```swift
/// struct Settings {
///   @SwiftyUserDefault(keyPath: \.username, options: [.cached, .observed])
///   var username: String?
/// }
/// ```
@propertyWrapper
public final class SwiftyUserDefault<T: DefaultsSerializable>: @unchecked Sendable where T.T == T {
  // Unchecked because the lock guards every use of the kept value, and user defaults can be used on
  // every thread.

  /// The key.
  public let key: DefaultsKey<T>

  /// How the value is found.
  public let options: SwiftyUserDefaultOptions

  private let defaults: UserDefaults
  private let cache: DefaultsCache<T>
  private let observation: PreferenceObservation?

  /// The value of the key.
  public var wrappedValue: T {
    get {
      guard options.contains(.cached) else { return defaults.value(of: key) }
      return cache.value { defaults.value(of: key) }
    }
    set {
      defaults.setValue(newValue, of: key)
      // Read it again when needed: the value may have been refused, or changed by an observer.
      cache.forget()
    }
    _modify {
      var (value, isWritable) = defaults.readForChange(key)
      defer {
        if isWritable {
          defaults.setValue(value, of: key)
          cache.forget()
        }
      }
      yield &value
    }
  }

  /// Creates a property of a key in an adapter's key store; the adapter has the value.
  public init<KeyStore>(
    keyPath: KeyPath<KeyStore, DefaultsKey<T>>, adapter: DefaultsAdapter<KeyStore>,
    options: SwiftyUserDefaultOptions = []
  ) {
    key = adapter.keyStore[keyPath: keyPath]
    self.options = options
    defaults = adapter.defaults
    let cache = DefaultsCache<T>()
    self.cache = cache
    observation =
      options.contains([.cached, .observed])
      ? adapter.defaults.observe(forKey: key._key) { _ in cache.forget() } : nil
  }

  /// Creates a property of a key of ``Defaults``.
  public convenience init(
    keyPath: KeyPath<DefaultsKeys, DefaultsKey<T>>, options: SwiftyUserDefaultOptions = []
  ) {
    self.init(keyPath: keyPath, adapter: Defaults, options: options)
  }
}

/// How a ``SwiftyUserDefault`` finds its value.
public struct SwiftyUserDefaultOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// Creates options from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Reads the value once and keeps it; changes made elsewhere are not noticed.
  public static let cached = Self(rawValue: 1 << 0)

  /// With ``cached``, changes made elsewhere replace the kept value.
  public static let observed = Self(rawValue: 1 << 2)
}

/// A value that is read once.
final class DefaultsCache<Value>: Sendable {
  private struct State {
    var value: Value?
    var generation = 0
  }

  private let state = PosixMutex(State())

  /// Returns the kept value, or reads and keeps it.
  func value(_ read: () -> Value) -> Value {
    let before = state.withLock { $0 }
    if let kept = before.value { return kept }
    let fresh = read()
    // A value that was replaced during the read is not kept.
    state.withLock { if $0.generation == before.generation { $0.value = fresh } }
    return fresh
  }

  /// Makes the next use read the value again.
  func forget() {
    state.withLock { state in
      state.value = nil
      state.generation += 1
    }
  }
}
