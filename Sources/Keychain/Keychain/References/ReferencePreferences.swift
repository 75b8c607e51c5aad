public import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets
public import PreferencesCore
internal import PrephirencesSystem

/// Preferences in which some values are references to credentials, which are resolved when they are
/// read.
///
/// ```swift
/// // The file has "token" = "keychain:///api".
/// let settings = ReferencePreferences(
///   DurablePreferences.standard, resolving: ["token"], service: "com.example.deploy")
/// let token = try settings.string(for: "token")  // the secret, which is in no file
/// ```
///
/// A value is resolved if it is the text of a ``CredentialReference``, its key is declared, and the
/// value is the user's own, as `OwnValuePreferences` defines: a value of `DurablePreferences`, also
/// within composites and proxies. So a server, an environment variable or an argument cannot make
/// the program read a secret and send it somewhere. The reference must name a declared service and
/// access group. Otherwise reading fails: a declared key never returns the text of a reference.
///
/// References in arrays and dictionaries are not resolved. Other values, and those of other keys,
/// are returned unchanged.
///
/// A declared key can only be set to references and `nil`, so that no secret gets into the
/// preferences. To change a secret, change its credential.
///
/// Don't make them a member of composites or proxies: their observers would receive secrets, and
/// they would treat a failure as a missing value.
///
/// ``dictionary()`` and observers show references, not secrets. An observer is notified if the
/// reference changes, not if the credential does.
///
/// The throwing methods report each failure: ``KeychainError`` for a reference, and the error of
/// the preferences for these. The methods and subscripts of `MutablePreferencesType` return `nil`
/// for a failure, and ``lastError`` reports it. Nothing is cached, and calls block the thread.
public final class ReferencePreferences: @unchecked Sendable {
  // Unchecked because the preferences are thread-safe, and only the failure changes, behind a lock.

  /// The preferences that have the references.
  public let preferences: any PreferencesType

  /// The keys whose values are resolved.
  public let declaredKeys: [PreferenceKey]

  /// The services and servers that references may name.
  public let declaredServices: [String]

  /// The access groups that references may name.
  public let declaredAccessGroups: [String]

  let resolver: ReferenceResolver

  private let failure = PosixMutex<(any Error)?>(nil)

  /// Creates preferences that resolve references.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the references.
  ///   - keys: The keys whose values are resolved; keys compare as bytes.
  ///   - service: The service of references without one.
  ///   - others: More services and servers that references may name.
  ///   - accessGroups: The access groups that references may name; by default, the unnamed one.
  ///   - store: The store of the credentials.
  public init(
    _ preferences: any PreferencesType, resolving keys: [PreferenceKey], service: String,
    alsoFrom others: [String] = [], accessGroups: [String] = [""],
    store: any CredentialStore = KeychainPreferences.defaultStore
  ) {
    self.preferences = preferences
    declaredKeys = keys
    declaredServices = [service] + others
    declaredAccessGroups = accessGroups
    resolver = ReferenceResolver(store: store, defaultService: service)
  }

  /// The failure of the last non-throwing call, on any thread; `nil` if it succeeded.
  ///
  /// It is a ``KeychainError`` for a reference, and the error of the preferences for these.
  public var lastError: (any Error)? { failure.withLock(\.self) }

  /// The failure as an error of preferences.
  public var lastPreferencesError: PreferencesError? {
    lastError.map { .converting($0, "a value could not be read or stored") }
  }

  func record(_ error: (any Error)?) { failure.withLock { $0 = error } }

  /// Performs a call that does not throw, and records its failure.
  @discardableResult
  func recorded<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      record(nil)
      return result
    } catch {
      record(error)
      return nil
    }
  }

  /// Returns the bytes of the secret, text or data of a key, in guarded memory; `nil` without a
  /// value.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/locked``, ``KeychainError/Code/expired``, or
  ///   ``KeychainError/Code/refused`` if the reference is not declared or not the user's own;
  ///   ``KeychainError/Code/undecodable`` if the value is neither text nor data; the error of the
  ///   preferences.
  public func secret(for key: String) throws -> SecretBytes? {
    if let secret = try resolved(key) { return secret }
    switch try preferences.fetchedObject(forKey: key) {
    case nil: return nil
    case let text as String: return try SecretBytes(copying: text)
    case let data as Data: return try SecretBytes(copying: data.bytes)
    default: throw KeychainError.undecodable("the value of '\(key)' is neither text nor data")
    }
  }

  /// Returns the text of a key, or of its secret; `nil` if there is no value, or if it is not text.
  ///
  /// - Throws: As ``secret(for:)``; ``KeychainError/Code/undecodable`` if the secret is not UTF-8.
  public func string(for key: String) throws -> String? {
    guard let secret = try resolved(key) else {
      return try preferences.fetchedObject(forKey: key) == nil
        ? nil : preferences.string(forKey: key)
    }
    guard let text = secret.withBytes({ $0.text }) else {
      throw KeychainError.undecodable("the secret that '\(key)' refers to is not UTF-8 text")
    }
    return text
  }

  /// Returns the data of a key, or the bytes of its secret; `nil` if there is no value, or if it is
  /// not data.
  ///
  /// - Throws: As ``secret(for:)``.
  public func data(for key: String) throws -> Data? {
    if let secret = try resolved(key) { return secret.withBytes { Data($0.array) } }
    return try preferences.fetchedObject(forKey: key) as? Data
  }

  /// Returns the value of a key; a secret as text, or as data if it is not UTF-8; `nil` without a
  /// value.
  ///
  /// - Throws: As ``secret(for:)``.
  public func value(for key: String) throws -> Any? {
    if let secret = try resolved(key) { return secret.textOrData() }
    return try preferences.fetchedObject(forKey: key)
  }

  /// Calls `read` with preferences that contain the resolved value of a key, and records a failure.
  private func reading<Result>(
    _ key: PreferenceKey, _ read: (any PreferencesType) -> Result
  ) -> Result? {
    recorded {
      guard let secret = try resolved(key) else { return read(preferences) }
      return read(SinglePreference(secret.textOrData()))
    }
  }
}

extension SecretBytes {
  fileprivate borrowing func textOrData() -> Any { withBytes { $0.text ?? Data($0.array) as Any } }
}

// The other preferences convert values, because their getters may know more than the value shows.
extension ReferencePreferences: PreferencesType {
  /// Returns the value of a key, or `nil` for a failure; ``value(for:)`` throws it.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    recorded { try value(for: key) } ?? nil
  }

  /// Returns all values, with unresolved references.
  public func dictionary() -> PreferencesDictionary { preferences.dictionary() }

  /// Returns whether a key has a value, without resolving it.
  public func hasObject(forKey key: PreferenceKey) -> Bool { preferences.hasObject(forKey: key) }

  /// Returns the text of a key, or `nil` for a failure; ``string(for:)`` throws it.
  public func string(forKey key: PreferenceKey) -> String? {
    recorded { try string(for: key) } ?? nil
  }

  /// Returns the bytes of a key, or `nil` for a failure; ``data(for:)`` throws it.
  public func data(forKey key: PreferenceKey) -> Data? {
    recorded { try resolved(key) == nil ? preferences.data(forKey: key) : data(for: key) } ?? nil
  }

  /// Returns the array of a key.
  public func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    reading(key) { $0.array(forKey: key) } ?? nil
  }

  /// Returns the dictionary of a key.
  public func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    reading(key) { $0.dictionary(forKey: key) } ?? nil
  }

  /// Returns the array of strings of a key.
  public func stringArray(forKey key: PreferenceKey) -> [String]? {
    reading(key) { $0.stringArray(forKey: key) } ?? nil
  }

  /// Returns the integer of a key; 0 for a failure.
  public func integer(forKey key: PreferenceKey) -> Int {
    reading(key) { $0.integer(forKey: key) } ?? 0
  }

  /// Returns the number of a key, in single precision; 0 for a failure.
  public func float(forKey key: PreferenceKey) -> Float {
    reading(key) { $0.float(forKey: key) } ?? 0
  }

  /// Returns the number of a key; 0 for a failure.
  public func double(forKey key: PreferenceKey) -> Double {
    reading(key) { $0.double(forKey: key) } ?? 0
  }

  /// Returns the truth value of a key; `false` for a failure.
  public func bool(forKey key: PreferenceKey) -> Bool {
    reading(key) { $0.bool(forKey: key) } ?? false
  }

  /// Returns the URL of a key, or `nil` for a failure.
  public func url(forKey key: PreferenceKey) -> URL? { reading(key) { $0.url(forKey: key) } ?? nil }

  /// Returns the object whose archive is the value of a key, or `nil` for a failure.
  public func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    reading(key) { $0.unarchiveObject(forKey: key) } ?? nil
  }

  /// Notifies an observer of changes to the preferences, with unresolved references.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    preferences.addObserver(observer)
  }
}

extension ReferencePreferences {
  func isDeclared(_ key: PreferenceKey) -> Bool {
    declaredKeys.contains { $0.hasSameBytes(as: key) }
  }

  /// Returns the secret of a key's reference; `nil` if the value is not to be resolved.
  func resolved(_ key: PreferenceKey) throws -> SecretBytes? {
    guard isDeclared(key) else { return nil }
    // First, because combined preferences may report a failure only here.
    let own = try preferences.ownObject(forKey: key) as? String
    guard let text = try preferences.fetchedObject(forKey: key) as? String,
      CredentialReference.isReference(text)
    else { return nil }
    // A value that was changed meanwhile is refused, too.
    guard let own, own.hasSameBytes(as: text) else {
      throw KeychainError.referenceFromElsewhere(key)
    }
    return try resolver.resolve(try reference(text, of: key))
  }

  private func reference(
    _ text: String, of key: PreferenceKey
  ) throws(KeychainError) -> CredentialReference {
    try CredentialReference(
      text, valueOf: key, services: declaredServices, accessGroups: declaredAccessGroups,
      defaultService: resolver.defaultService)
  }

  /// Checks that a value may be written.
  func checkWriting(_ value: PreferenceObject?, _ key: PreferenceKey) throws(KeychainError) {
    guard isDeclared(key), let value = unwrapped(value) else { return }
    guard let text = value as? String, CredentialReference.isReference(text) else {
      throw KeychainError(
        .refused, "'\(key)' takes references only, so that no secret gets into the preferences",
        recovery: "change the credential that it refers to, or write another reference")
    }
    _ = try reference(text, of: key)
  }
}

extension CredentialReference {
  /// Parses the value of a key, which must refer to a declared service and access group.
  package init(
    _ text: String, valueOf key: String, services: [String], accessGroups: [String],
    defaultService: String
  ) throws(KeychainError) {
    do throws(KeychainError) {
      try self.init(text)
    } catch {
      throw KeychainError(
        error.code, "the value of '\(key)': \(error.message)", recovery: error.recovery)
    }
    guard services.contains(where: { belongs(to: $0, defaultService: defaultService) }) else {
      throw .undeclaredService(serviceName(default: defaultService), of: key)
    }
    guard accessGroups.contains(where: { $0.hasSameBytes(as: accessGroup) }) else {
      throw .undeclaredGroup(accessGroup, of: key)
    }
  }
}

extension KeychainError {
  fileprivate static func referenceFromElsewhere(_ key: PreferenceKey) -> Self {
    Self(
      .refused,
      "the value of '\(key)' is a reference that is not known to be the user's own, so it is not "
        + "resolved",
      recovery: "write it into preferences that only the user can write")
  }

  fileprivate static func undeclaredService(_ service: String, of key: PreferenceKey) -> Self {
    Self(
      .refused,
      "the value of '\(key)' refers to '\(service)', which the program has not declared",
      recovery: "refer to a credential of the program's own service")
  }

  fileprivate static func undeclaredGroup(_ group: String, of key: PreferenceKey) -> Self {
    Self(
      .refused,
      "the value of '\(key)' refers to the access group '\(group)', which the program has not "
        + "declared",
      recovery: "refer to a credential of a declared access group")
  }
}

// A declared key can only be set to references; other keys to everything that the preferences
// accept.
extension ReferencePreferences: FalliblePreferencesType {
  /// Returns the value of a key, as ``value(for:)`` does.
  ///
  /// - Throws: As ``secret(for:)``.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try value(for: key)
  }

  /// Returns all values, with unresolved references, by their keys.
  ///
  /// - Throws: The error of the preferences.
  public func fetchDictionary() throws -> PreferencesDictionary {
    try preferences.fetchedDictionary()
  }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if a declared key would get
  ///   anything but a reference, or if the preferences are read-only; the error of the preferences.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys; `nil` removes a key, and other keys keep their values.
  ///
  /// - Throws: As ``storeObject(_:forKey:)``; if a value is refused, none is stored.
  public func storeObjects(_ values: [(key: PreferenceKey, value: PreferenceObject?)]) throws {
    for (key, value) in values { try checkWriting(value, key) }
    try mutable().replaceObjects(with: values)
  }

  /// Removes all keys and their values, but no credentials.
  ///
  /// - Throws: The error of the preferences.
  public func removeAllObjects() throws {
    let mutable = try mutable()
    guard let fallible = mutable as? any FalliblePreferencesType else { return mutable.clearAll() }
    try fallible.removeAllObjects()
  }

  /// Sets the value of a key, and ignores a failure; ``storeObject(_:forKey:)`` throws it.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    recorded { try storeObject(value, forKey: key) }
  }

  /// Removes a key and its value, but not the credential.
  public func removeObject(forKey key: PreferenceKey) {
    recorded { try storeObject(nil, forKey: key) }
  }

  /// Sets the values of several keys, and ignores a failure; ``storeObjects(_:)`` throws it.
  public func set(dictionary: PreferencesDictionary) {
    recorded { try storeObjects(withoutNulls(dictionary).map { ($0.key, $0.value) }) }
  }

  /// Removes all keys, and ignores a failure; ``removeAllObjects()`` throws it.
  public func clearAll() { recorded { try removeAllObjects() } }

  /// Records a value that was refused before it reached the preferences.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { record(error) }

  private func mutable() throws(KeychainError) -> any MutablePreferencesType {
    guard let mutable = preferences as? any MutablePreferencesType else {
      throw KeychainError(.refused, "these preferences can only be read")
    }
    return mutable
  }
}
