public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import Prephirences

// Several changes in one step, where the store can.
extension KeychainPreferences {
  /// Stores several values; `nil` removes a key.
  ///
  /// In the vault, they are stored in one step: all or none, also after a crash, and the disk is
  /// waited for once. The desktop keyring and other stores cannot do that: they get the values one
  /// by one, in the order of the keys, and after a failure those before it are stored.
  ///
  /// - Parameter values: The values by their keys; see `set(_:for:)`.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/invalidArgument`` if a value cannot be stored. Then nothing was stored.
  public func set(_ values: [String: Any?]) throws(KeychainError) {
    try store(Self.encoded(values))
  }

  /// Stores several values without blocking; `nil` removes a key.
  ///
  /// - Parameter values: The values by their keys.
  /// - Throws: As the synchronous method.
  public func set(_ values: [String: Any?]) async throws(KeychainError) {
    let encoded = try Self.encoded(values)
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.store(encoded) }
  }

  private typealias Encoded = [(key: String, value: StoredValue?)]

  private static func encoded(_ values: [String: Any?]) throws(KeychainError) -> Encoded {
    var encoded: Encoded = []
    for key in values.keys.sorted() {
      if let value = unwrapped(values[key] ?? nil) {
        encoded.append((key, try StoredValue(encoding: value)))
      } else {
        encoded.append((key, nil))
      }
    }
    return encoded
  }

  private func store(_ values: Encoded) throws(KeychainError) {
    // What is always refused, and what changes nothing, must not create a vault.
    var addsValue = false
    for case (let key, let value?) in values {
      addsValue = true
      try update(contentType: value.contentType).applied(to: Credential(identity(for: key)))
        .checkRules(secretCount: value.secret.bytes.count)
    }
    guard addsValue else { return try removeValues(for: present(values.map(\.key))) }
    try change(values.map(\.key), adding: accessibility) {
      index, transaction throws(KeychainError) in
      let identity = identity(for: values[index].key)
      guard let value = values[index].value else {
        try transaction.remove(identity)
        return
      }
      try transaction.merge(
        update(contentType: value.contentType), secret: value.secret.bytes, into: identity)
    } alone: { index throws(KeychainError) in
      let (key, value) = values[index]
      guard let value else {
        try removeValue(for: key)
        return
      }
      try store(value.secret.bytes, contentType: value.contentType, for: key)
    }
  }

  private func present(_ keys: [String]) throws(KeychainError) -> [String] {
    var present: [String] = []
    for key in keys where try store.credential(for: identity(for: key)) != nil {
      present.append(key)
    }
    return present
  }

  /// Removes keys that exist, in one step if the store can.
  func removeValues(for keys: [String]) throws(KeychainError) {
    try change(keys, adding: nil) { index, transaction throws(KeychainError) in
      try transaction.remove(identity(for: keys[index]))
    } alone: { index throws(KeychainError) in
      try removeValue(for: keys[index])
    }
  }

  private func change(
    _ keys: [String], adding accessibility: Accessibility?,
    _ change: (Int, inout VaultTransaction) throws(KeychainError) -> Void,
    alone: (Int) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    let requirement = accessibility?.unlockRequirement ?? .nothing
    func together(_ transaction: inout VaultTransaction) throws(KeychainError) {
      for index in keys.indices { try change(index, &transaction) }
    }
    if keys.count > 1 {
      do {
        let scope = TransactionScope(
          serviceOf: identity(for: keys[0]), adding: accessibility, unlocking: requirement)
        let done: Void? = try store.inOneStep(scope, together)
        if done != nil { return }
      } catch {
        throw error as? KeychainError ?? KeychainError(.internalFailure, "\(type(of: error))")
      }
    }
    for index in keys.indices { try alone(index) }
  }
}
