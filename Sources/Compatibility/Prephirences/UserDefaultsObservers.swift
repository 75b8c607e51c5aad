public import Foundation
internal import PrephirencesSystem
internal import Synchronization

/// The observers of all `UserDefaults` of the process.
///
/// Several objects can have the same values, and outside Apple's systems Foundation only posts
/// notifications for whole domains. So each setter of the protocols names the keys to compare, and
/// each observation finds out whether its own object has a new value.
final class UserDefaultsObservers: Sendable {
  static let shared = UserDefaultsObservers()

  private let observations = PosixMutex<[ObjectIdentifier: ComparingObservation]>([:])
  private let count = Atomic(0)

  private init() {
    // Registered for the life of the process: it does nothing without observers.
    _ = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: nil, queue: nil
    ) { [weak self] notification in
      if !(notification.object is BackedUserDefaults) { self?.look() }
    }
  }

  func add(
    _ observer: PreferenceObserver, of defaults: some PreferencesType
  ) -> PreferenceObservation {
    let observation = ComparingObservation(observer, of: defaults)
    let identity = ObjectIdentifier(observation)
    observations.withLock { $0[identity] = observation }
    count.add(1, ordering: .sequentiallyConsistent)
    observation.begin()
    return PreferenceObservation { [self] in
      observation.end()
      observations.withLock { _ = $0.removeValue(forKey: identity) }
      count.subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Reports the changes of some keys, or of all without a list; the caller must not hold a lock.
  func look(at keys: [PreferenceKey]? = nil) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    for observation in observations.withLock({ Array($0.values) }) { observation.look(at: keys) }
  }
}

extension UserDefaults {
  /// Starts notifying an observer of changes.
  ///
  /// It reports changes made through the protocols, subscripts and wrappers on any object with the
  /// same values, and those that `UserDefaults.didChangeNotification` announces. On Linux, the
  /// setters of `UserDefaults` itself do not post it. The values of observed keys, and this object,
  /// are retained during the observation.
  /// ``BackedUserDefaults`` report all changes of their preferences.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    if let backed { return backed.addVisibleObserver(observer) }
    return UserDefaultsObservers.shared.add(observer, of: self)
  }
}

#if !canImport(ObjectiveC)

// Key-value observing exists only on Apple's systems. Each unavailable declaration names the
// replacement.
extension UserDefaults {
  /// Unavailable: there is no key-value observing.
  @available(*, unavailable, message: "use observe(forKey:initial:_:)")
  public struct KeyValueObservingOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from their bits.
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

#if !canImport(ObjectiveC)

// Apple's systems give these methods to every object; Foundation on other systems does not. Without
// these declarations, dynamic member lookup would treat the names as keys.
extension UserDefaults {
  /// An alias of ``preferenceObject(forKey:)``.
  public func value(forKey key: PreferenceKey) -> PreferenceObject? {
    preferenceObject(forKey: key)
  }

  /// An alias of ``setPreference(_:forKey:)-(PreferenceObject?,_)``: sets the value of a key, and
  /// saves it.
  ///
  /// `nil` removes the key, and an unsupported value changes nothing.
  public func setValue(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    setPreference(value, forKey: key)
  }

  /// An alias of ``set(dictionary:)``.
  public func setValuesForKeys(_ keyedValues: PreferencesDictionary) {
    set(dictionary: keyedValues)
  }

  /// Returns the values of those of several keys that have one.
  public func dictionaryWithValues(forKeys keys: [PreferenceKey]) -> PreferencesDictionary {
    keys.reduce(into: [:]) { $0[$1] = preferenceObject(forKey: $1) }
  }

  /// Sets the value of a key to a URL, and saves it.
  ///
  /// Without this method, a URL goes to the setter of `UserDefaults`, which on Linux stores only
  /// its path.
  public func set(_ url: URL, forKey key: PreferenceKey) { setPreference(url, forKey: key) }

  /// Sets the value of a key to a number, and saves it.
  ///
  /// Without this method, such a number goes to a setter of `UserDefaults` that on Linux stops the
  /// program.
  public func set(_ value: CGFloat, forKey key: PreferenceKey) {
    setPreference(Double(value), forKey: key)
  }
}

extension UserDefaults {
  /// Unavailable: there is no key-value coding.
  @available(*, unavailable, message: "read dictionary(forKey:) and its values")
  public func value(forKeyPath keyPath: String) -> PreferenceObject? { nil }

  /// Unavailable: there is no key-value coding.
  @available(*, unavailable, message: "set the dictionary of the first key")
  public func setValue(_ value: PreferenceObject?, forKeyPath keyPath: String) {}

  /// Unavailable: Foundation has no colours.
  @available(*, unavailable, message: "store an archive, or a Codable colour")
  public func color(forKey key: PreferenceKey) -> PreferenceObject? { nil }

  /// Unavailable: Foundation has no colours.
  @available(*, unavailable, message: "store an archive, or a Codable colour")
  public func set(color: PreferenceObject?, forKey key: PreferenceKey) {}

  /// Unavailable: part of AppKit.
  @available(*, unavailable, renamed: "cgRect(forKey:)")
  public func nsRectForKey(key: PreferenceKey) -> CGRect? { nil }

  /// Unavailable: part of AppKit.
  @available(*, unavailable, renamed: "cgSize(forKey:)")
  public func nsSizeForKey(key: PreferenceKey) -> CGSize? { nil }
}
#endif
