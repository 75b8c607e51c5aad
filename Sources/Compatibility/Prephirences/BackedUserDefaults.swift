public import Foundation
internal import PrephirencesSystem
internal import Synchronization

/// User defaults whose values are in other preferences: a store that persists, a keychain, memory.
///
/// ```swift
/// let defaults = BackedUserDefaults(preferences: fromFile)
/// defaults.set(8080, forKey: "port")  // sets "port" of the property list
/// ```
///
/// It can be used wherever a `UserDefaults` is expected. It reads a key from the arguments of the
/// program, from ``preferences``, from the suites that were added, and from the registered
/// defaults, in this order; it only changes ``preferences``. It writes no file of its own. Unlike
/// `UserDefaults` on Linux, it keeps URLs, posts `didChangeNotification` for each change, and never
/// stops the program or hangs because of a value.
///
/// Numbers are read as `NSNumber`, which casts to each type that holds them. A value that cannot be
/// read reads as absent, and a value that cannot be stored changes nothing; `lastPreferencesError`
/// has the reason. `fetchObject(forKey:)` and `storeObject(_:forKey:)` throw it.
///
/// It is as safe to use from several threads as its preferences are. A subclass inherits
/// ``init(preferences:)`` if it overrides `init(suiteName:)`.
open class BackedUserDefaults: UserDefaults {
  /// The preferences that hold the values.
  public final private(set) var preferences: any MutablePreferencesType

  let state = PosixMutex(BackedState())
  final private(set) var domain = BackedDomain()
  final private(set) var fallible: (any FalliblePreferencesType)?
  final private(set) var readsCastableNumbers = false
  final private(set) var reporting: (any ChangeReportingPreferences)?
  let hasArguments = Atomic(false)
  let hasReadFailure = Atomic(false)
  let hasBegun = Atomic(false)

  /// How often changes were reported.
  let postCount = Atomic(0)

  /// Creates user defaults in memory; the name is ignored.
  public override init?(suiteName: String?) {
    preferences = MutableDictionaryPreferences()
    // The name of a file that never exists, because nothing is written to it.
    super.init(suiteName: "PrephirencesBackedUserDefaults")
    arguments = super.volatileDomain(forName: UserDefaults.argumentDomain)
  }

  /// Creates user defaults over preferences, which hold the values.
  public convenience init(preferences: any MutablePreferencesType) {
    // The initializers with a suite name can fail, this one cannot.
    self.init()
    back(with: preferences)
  }

  /// Replaces the preferences; only an initializer may call it.
  package final func back(
    with preferences: any MutablePreferencesType, domain: BackedDomain = BackedDomain()
  ) {
    self.preferences = preferences
    self.domain = domain
    fallible = preferences as? any FalliblePreferencesType
    reporting = preferences as? any ChangeReportingPreferences
    readsCastableNumbers = preferences is any CastableNumberPreferences
  }

  // MARK: Reading

  open override func object(forKey key: PreferenceKey) -> Any? { read(key) }

  open override func string(forKey key: PreferenceKey) -> String? { readString(key) }

  open override func array(forKey key: PreferenceKey) -> [Any]? {
    object(forKey: key) as? [Any]
  }

  open override func dictionary(forKey key: PreferenceKey) -> [String: Any]? {
    object(forKey: key) as? [String: Any]
  }

  open override func stringArray(forKey key: PreferenceKey) -> [String]? {
    object(forKey: key) as? [String]
  }

  open override func data(forKey key: PreferenceKey) -> Data? { readData(key) }

  open override func integer(forKey key: PreferenceKey) -> Int {
    PreferenceValue(reading: object(forKey: key)).integer
  }

  open override func float(forKey key: PreferenceKey) -> Float {
    PreferenceValue(reading: object(forKey: key)).float
  }

  open override func double(forKey key: PreferenceKey) -> Double {
    PreferenceValue(reading: object(forKey: key)).double
  }

  open override func bool(forKey key: PreferenceKey) -> Bool {
    PreferenceValue(reading: object(forKey: key)).bool
  }

  /// Returns the URL of a key; text with a scheme is read as a URL, other text as a path.
  open override func url(forKey key: PreferenceKey) -> URL? {
    PreferenceValue(reading: object(forKey: key)).url
  }

  /// Returns all visible values: those of ``preferences``, arguments, added suites and registered
  /// defaults.
  open override func dictionaryRepresentation() -> [String: Any] {
    visibleValues(over: super.dictionaryRepresentation())
  }

  // MARK: Writing

  /// Sets the value of a key; `nil` removes the key, and an unsupported value changes nothing.
  open override func set(_ value: Any?, forKey key: PreferenceKey) { write([(key, value)]) }

  open override func set(_ value: Int, forKey key: PreferenceKey) { write([(key, value)]) }

  open override func set(_ value: Float, forKey key: PreferenceKey) { write([(key, value)]) }

  open override func set(_ value: Double, forKey key: PreferenceKey) { write([(key, value)]) }

  open override func set(_ value: Bool, forKey key: PreferenceKey) { write([(key, value)]) }

  open override func set(_ url: URL?, forKey key: PreferenceKey) { write([(key, url)]) }

  open override func removeObject(forKey key: PreferenceKey) { write([(key, nil)]) }

  /// Waits until all values are on disk, if ``preferences`` are ``SynchronizingPreferences``.
  ///
  /// Returns `false` on failure; `lastPreferencesError` has the reason.
  @discardableResult
  open override func synchronize() -> Bool { synchronizePreferences() }

  // MARK: Domains

  /// Adds a suite whose values are read if ``preferences`` have none.
  open override func addSuite(named suiteName: String) {
    let suite = domain.suite(suiteName)
    state.withLock { $0.add(suite, named: suiteName) }
  }

  /// Removes a suite that was added.
  open override func removeSuite(named suiteName: String) {
    state.withLock { $0.removeSuite(named: suiteName) }
  }

  /// Replaces the values of a volatile domain; those of `argumentDomain` precede all others.
  ///
  /// Values of unsupported types are left out, and `lastPreferencesError` has the reason.
  open override func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
    let forms = supportedForms(of: domain)
    super.setVolatileDomain(forms, forName: domainName)
    if domainName == UserDefaults.argumentDomain {
      arguments = domain.filter { forms[$0.key] != nil }
    }
  }

  /// Removes the values of a volatile domain.
  open override func removeVolatileDomain(forName domainName: String) {
    super.removeVolatileDomain(forName: domainName)
    if domainName == UserDefaults.argumentDomain { arguments = [:] }
  }

  /// Returns the values of a domain; for their own name, those of ``preferences``.
  open override func persistentDomain(forName domainName: String) -> [String: Any]? {
    guard let preferences = domainPreferences(domainName) else {
      return super.persistentDomain(forName: domainName)
    }
    let values = preferences.dictionary()
    return values.isEmpty ? nil : values
  }

  /// Replaces the values of a domain; for their own name, those of ``preferences``.
  open override func setPersistentDomain(_ values: [String: Any], forName domainName: String) {
    guard let preferences = domainPreferences(domainName) else {
      return super.setPersistentDomain(supportedForms(of: values), forName: domainName)
    }
    replaceDomain(preferences, with: values)
  }

  /// Removes all values of a domain; for their own name, those of ``preferences``.
  open override func removePersistentDomain(forName domainName: String) {
    guard let preferences = domainPreferences(domainName) else {
      return super.removePersistentDomain(forName: domainName)
    }
    removeDomain(preferences)
  }

  /// Returns the preferences of a domain, or `nil` if it is one of `UserDefaults`.
  private func domainPreferences(_ name: String) -> (any MutablePreferencesType)? {
    name == domain.name ? preferences : domain.neighbour(name)
  }

  final func fallback(_ key: PreferenceKey) -> Any? { super.object(forKey: key) }
}

/// What a ``BackedUserDefaults`` keeps next to its preferences.
struct BackedState {
  private(set) var suites: [(name: String, preferences: any PreferencesType)] = []
  var arguments: PreferencesDictionary = [:]
  var failure: PreferencesError?
  var observation: PreferenceObservation?

  /// The keys that are being written here, so that their changes are not reported twice.
  private var written: [PreferenceKey: Int] = [:]

  mutating func add(_ suite: any PreferencesType, named name: String) {
    if !suites.contains(where: { $0.name == name }) { suites.append((name, suite)) }
  }

  mutating func removeSuite(named name: String) { suites.removeAll { $0.name == name } }

  mutating func beginWriting(_ keys: [PreferenceKey]) {
    for key in keys { written[key, default: 0] += 1 }
  }

  mutating func endWriting(_ keys: [PreferenceKey]) {
    for key in keys {
      let count = written[key, default: 1] - 1
      written[key] = count == 0 ? nil : count
    }
  }

  func isWriting(_ key: PreferenceKey) -> Bool { written[key] != nil }
}

/// The persistent domain of a ``BackedUserDefaults``' preferences, and the other domains.
package struct BackedDomain {
  let name: String?
  private let named: ((String) -> any MutablePreferencesType)?

  /// Describes a domain.
  package init(
    name: String? = nil, neighbour: ((String) -> any MutablePreferencesType)? = nil
  ) {
    self.name = name
    named = neighbour
  }

  func suite(_ name: String) -> any PreferencesType {
    named?(name) ?? UserDefaults(suiteName: name) ?? UserDefaults.standard
  }

  /// Returns another domain, or `nil` if it is one of `UserDefaults`.
  func neighbour(_ name: String) -> (any MutablePreferencesType)? {
    name == UserDefaults.globalDomain ? nil : named?(name)
  }
}

extension BackedUserDefaults {
  /// The failure of the last change, or of a read after it.
  var failure: PreferencesError? { state.withLock(\.failure) }

  func record(_ error: PreferencesError?) {
    hasReadFailure.store(false, ordering: .sequentiallyConsistent)
    state.withLock { $0.failure = error }
  }

  func recordReadFailure(_ error: any Error, forKey key: PreferenceKey) {
    record(.converting(error, "the value of the key '\(key)' could not be read"))
    hasReadFailure.store(true, ordering: .sequentiallyConsistent)
  }

  /// Forgets the failure of an earlier read, but not of a change.
  func forgetReadFailure() {
    guard hasReadFailure.load(ordering: .relaxed) else { return }
    record(nil)
  }
}

extension BackedUserDefaults {
  /// Starts posting notifications of changes made elsewhere: through the preferences themselves, or
  /// by another process.
  ///
  /// The first use starts it, so that a store that was only created is not opened.
  func beginNotifying() {
    guard !hasBegun.load(ordering: .relaxed),
      !hasBegun.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    let reference = WeakDefaults(self)
    let observation =
      reporting?.observeChanges { reference.defaults?.postChange() } ?? observeValues(reference)
    state.withLock { $0.observation = observation }
  }

  private func observeValues(_ reference: WeakDefaults) -> PreferenceObservation {
    preferences.addObserver(
      PreferenceObserver(keys: nil) { change in
        guard let defaults = reference.defaults,
          !defaults.state.withLock({ $0.isWriting(change.key) })
        else { return }
        defaults.postChange()
      })
  }

  func postChange() {
    postCount.add(1, ordering: .relaxed)
    NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: self)
  }

  /// Makes a change without a notification for what the preferences report meanwhile.
  func withoutEcho(_ keys: [PreferenceKey]?, _ change: () throws -> Void) rethrows {
    guard reporting == nil else { return try change() }
    let keys = keys ?? Array(preferences.dictionary().keys)
    state.withLock { $0.beginWriting(keys) }
    defer { state.withLock { $0.endWriting(keys) } }
    try change()
  }

  /// Notifies an observer of changes of visible values.
  func addVisibleObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    // User defaults can be used on every thread, although their class does not say so.
    nonisolated(unsafe) let defaults = self
    return preferences.addObserver(
      PreferenceObserver(
        keys: observer.keys, initial: observer.wantsInitialValues, end: observer.notifyEnd
      ) { change in
        observer.notify(change.mapped { defaults.visibleValue($0, forKey: change.key) })
      })
  }
}

/// Refers to user defaults without retaining them.
private final class WeakDefaults: @unchecked Sendable {
  // Unchecked because user defaults can be used on every thread, although their class does not
  // say so.
  private(set) weak var defaults: BackedUserDefaults?

  init(_ defaults: BackedUserDefaults) { self.defaults = defaults }
}
