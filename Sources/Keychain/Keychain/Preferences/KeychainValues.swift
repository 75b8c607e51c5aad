public import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets
internal import PreferencesCore

// The throwing methods, which block: asynchronous code calls them in `perform`.
extension KeychainPreferences {
  /// Returns the secret of a key, as it is stored, in guarded memory; `nil` if there is none.
  ///
  /// If `allowingExpired` is `false`, an expired secret throws ``KeychainError/Code/expired``, here
  /// and in the other methods.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/expired``.
  public func secret(
    for key: String, allowingExpired: Bool = false
  ) throws(KeychainError) -> SecretBytes? {
    guard let value = try stored(key, allowingExpired) else { return nil }
    return try value.secret.copy()
  }

  /// Returns the text of a key, whatever type was stored; `nil` if there is none.
  ///
  /// - Throws: As `secret(for:allowingExpired:)`; ``KeychainError/Code/undecodable`` if the bytes
  ///   are not UTF-8.
  public func string(
    for key: String, allowingExpired: Bool = false
  ) throws(KeychainError) -> String? {
    try stored(key, allowingExpired)?.string()
  }

  /// Returns the bytes of a key, whatever type was stored; `nil` if there are none.
  ///
  /// - Throws: As `secret(for:allowingExpired:)`.
  public func data(for key: String, allowingExpired: Bool = false) throws(KeychainError) -> Data? {
    try stored(key, allowingExpired)?.data
  }

  /// Returns the value of a key, with its stored type; `nil` if there is none.
  ///
  /// A value that another program stored is text if it is valid UTF-8, and data otherwise. A
  /// `Codable` value is its JSON data if this program has no type of the stored name; private types
  /// are never found. Read such values with `value(_:for:)`.
  ///
  /// - Throws: As `secret(for:allowingExpired:)`; ``KeychainError/Code/undecodable`` if the bytes
  ///   do not match their content type.
  public func value(for key: String, allowingExpired: Bool = false) throws(KeychainError) -> Any? {
    try stored(key, allowingExpired)?.value()
  }

  /// Returns the value of a key with the caller's type; `nil` if there is none.
  ///
  /// The program that stored the value need not have the type.
  ///
  /// - Throws: As `secret(for:allowingExpired:)`; ``KeychainError/Code/undecodable`` if the bytes
  ///   are not a value of that type.
  public func value<Value: Decodable>(
    _ type: Value.Type, for key: String, allowingExpired: Bool = false
  ) throws(KeychainError) -> Value? {
    try stored(key, allowingExpired)?.value(as: type)
  }

  /// Stores a value, with its expiry and notes, in one step.
  ///
  /// ```swift
  /// try keychain.set(tokens, for: "api", expires: .now + 3600, label: "Example API")
  /// ```
  ///
  /// - Parameters:
  ///   - value: Text, data, a number, a date, a URL, an array, a dictionary, or any other `Codable`
  ///     value; `nil` removes the key and ignores the other arguments.
  ///   - expires: The end of the value's validity; `nil` for none, even if the old value had an
  ///     expiry.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: ``KeychainError``, such as `locked`, or `invalidArgument` if the value cannot be
  ///   stored or the name of an attribute is reserved. Then the old value stays.
  public func set(
    _ value: Any?, for key: String, expires: Date? = nil, label: String? = nil,
    comment: String? = nil, attributes: CredentialAttributes = [:]
  ) throws(KeychainError) {
    guard let value = unwrapped(value) else {
      try removeValue(for: key)
      return
    }
    let stored = try TypedSecret(encoding: value)
    let update = update(stored.contentType, expires, label, comment, attributes)
    try store.merge(update, secret: stored.secret.bytes, into: identity(for: key))
  }

  /// Stores a secret without a copy outside guarded memory, with its expiry and notes as for a
  /// value.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``. Then the old value stays.
  public func set(
    _ secret: borrowing SecretBytes, for key: String, expires: Date? = nil, label: String? = nil,
    comment: String? = nil, attributes: CredentialAttributes = [:]
  ) throws(KeychainError) {
    let update = update(nil, expires, label, comment, attributes)
    try store.merge(update, secret: secret, into: identity(for: key))
  }

  /// Removes a key with its value; `false` if there was no value.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or with
  ///   ``KeychainError/Code/refused`` for another program's item.
  @discardableResult
  public func removeValue(for key: String) throws(KeychainError) -> Bool {
    try store.remove(identity(for: key))
  }

  /// Removes all keys of this service (or server) and access group.
  ///
  /// If some keys cannot be listed, nothing is removed. The vault removes all or none; other stores
  /// remove them one by one.
  ///
  /// - Throws: As `allKeys()`, or as `removeValue(for:)`.
  public func removeAll() throws(KeychainError) { try removeValues(for: allKeys()) }

  /// Returns the keys of this service (or server) and access group, ordered by their bytes.
  ///
  /// - Throws: ``KeychainError``, also if there may be more keys: `locked`, `damaged` or
  ///   `otherDevice` if items of the store could not be read.
  public func allKeys() throws(KeychainError) -> [String] {
    let (keys, incomplete) = try search()
    if let incomplete { throw incomplete }
    return keys
  }

  /// Returns whether a key has a value, expired or not, without reading the secret.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``.
  public func contains(_ key: String) throws(KeychainError) -> Bool {
    try credential(for: key) != nil
  }

  /// Returns the credential of a key, without the value; `nil` if there is none.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``.
  public func credential(for key: String) throws(KeychainError) -> Credential? {
    try store.credential(for: identity(for: key))
  }

  /// Changes the credential of a key, but not its value, and returns it.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/notFound``.
  @discardableResult
  public func update(
    _ update: CredentialUpdate, for key: String
  ) throws(KeychainError) -> Credential { try store.update(identity(for: key), with: update) }

  /// Renames a key in one step, and returns its credential, which otherwise stays the same.
  ///
  /// The new key must not have a value yet.
  ///
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/alreadyExists`` or ``KeychainError/Code/locked``.
  @discardableResult
  public func rename(_ key: String, to newKey: String) throws(KeychainError) -> Credential {
    try store.rename(identity(for: key), to: identity(for: newKey))
  }

  /// Does work on another thread, so that waiting blocks no thread of Swift's concurrency pool.
  ///
  /// ```swift
  /// let token = try await keychain.perform { try $0.string(for: "api") }
  /// ```
  ///
  /// - Parameter work: Uses the preferences.
  /// - Returns: What `work` returns.
  /// - Throws: What `work` throws, or ``KeychainError`` with ``KeychainError/Code/cancelled`` if
  ///   the task was cancelled before the work began.
  public func perform<Result: ~Copyable & Sendable>(
    _ work: @escaping @Sendable (KeychainPreferences) throws -> Result
  ) async throws -> Result { try await store.perform { _ in try work(self) } }

  func stored(_ key: String, _ allowingExpired: Bool) throws(KeychainError) -> TypedSecret? {
    guard let item = try store.item(identity(for: key)) else { return nil }
    guard allowingExpired || !item.credential.isExpired() else {
      throw KeychainError(.expired, "the credential \(identity(for: key)) has expired")
    }
    return item.value
  }

  /// Returns the change of a credential by a new value; notes that are `nil` stay.
  func update(
    _ contentType: String?, _ expires: Date? = nil, _ label: String? = nil,
    _ comment: String? = nil, _ attributes: CredentialAttributes = [:]
  ) -> CredentialUpdate {
    CredentialUpdate(
      accessibility: accessibility, label: FieldChange(orKeep: label),
      comment: FieldChange(orKeep: comment), contentType: FieldChange(to: contentType),
      expires: FieldChange(to: expires), attributes: attributes.map { ($0.name, $0.value) })
  }

  /// Returns the names of the credentials, and the first reason why there may be more.
  func search() throws(KeychainError) -> (keys: [String], incomplete: KeychainError?) {
    let result = try store.search(query)
    let keys = result.credentials.map(\.identity).filter { $0 == identity(for: $0.account) }
      .map(\.account)
    return (keys, KeychainError(incomplete: result))
  }

  private var query: CredentialQuery {
    let accessGroup = accessGroup ?? ""
    switch kind {
    case .genericPassword(let service, _):
      return CredentialQuery(accessGroup: accessGroup, service: service)
    case .internetPassword(let password):
      return CredentialQuery(
        accessGroup: accessGroup, server: password.server, protocol: password.protocol,
        port: password.port, path: password.path)
    }
  }
}

/// Returns an error as that of the keychain; inside, there are no others.
package func keychainError(_ error: any Error) -> KeychainError {
  error as? KeychainError
    ?? KeychainError(.internalFailure, "the store failed with the error \(type(of: error))")
}
