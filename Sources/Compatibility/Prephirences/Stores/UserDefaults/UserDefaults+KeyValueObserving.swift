#if !canImport(ObjectiveC)
public import Foundation

// Key-value observing exists on Apple's systems only. Each unavailable declaration names the
// replacement.
extension UserDefaults {
  /// Unavailable: there is no key-value observing.
  @available(*, unavailable, message: "use observe(forKey:initial:_:)")
  public struct KeyValueObservingOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from their bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The new value.
    public static var new: Self { Self(rawValue: 1) }

    /// The old value.
    public static var old: Self { Self(rawValue: 2) }

    /// The present value as well.
    public static var initial: Self { Self(rawValue: 4) }

    /// The time before the change as well.
    public static var prior: Self { Self(rawValue: 8) }
  }

  /// Unavailable: there is no key-value observing.
  @available(*, unavailable, message: "use observe(forKey:initial:_:)")
  public func addObserver(
    _ observer: AnyObject, forKeyPath keyPath: String, options: KeyValueObservingOptions = [],
    context: UnsafeMutableRawPointer?
  ) {}

  /// Unavailable: there is no key-value observing.
  @available(*, unavailable, message: "end the observation of observe(forKey:initial:_:)")
  public func removeObserver(
    _ observer: AnyObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer? = nil
  ) {}

  /// Unavailable: there is no key-value observing.
  @available(*, unavailable, message: "use observe(forKey:initial:_:)")
  public func observe<Value>(
    _ keyPath: KeyPath<UserDefaults, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping (UserDefaults, PreferenceChange) -> Void
  ) -> PreferenceObservation { PreferenceObservation {} }

  /// Unavailable: there is no Combine.
  @available(*, unavailable, message: "use observe(forKey:initial:_:) or changes(forKey:initial:)")
  public func publisher<Value>(for keyPath: KeyPath<UserDefaults, Value>) -> PreferenceChanges {
    changes(forKeys: [])
  }
}
#endif
