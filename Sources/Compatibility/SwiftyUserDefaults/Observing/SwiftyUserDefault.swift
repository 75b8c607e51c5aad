internal import Foundation
internal import Prephirences

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
      // Read again when needed: the value may have been refused, or changed by an observer.
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

  /// Creates a property of a key of an adapter.
  ///
  /// - Parameters:
  ///   - keyPath: The key, in the adapter's key store.
  ///   - adapter: The adapter that has the value.
  ///   - options: How the value is found.
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
  ///
  /// - Parameters:
  ///   - keyPath: The key.
  ///   - options: How the value is found.
  public convenience init(
    keyPath: KeyPath<DefaultsKeys, DefaultsKey<T>>, options: SwiftyUserDefaultOptions = []
  ) {
    self.init(keyPath: keyPath, adapter: Defaults, options: options)
  }
}
