#if ConfigurationSupport
public import Configuration
internal import PrephirencesConfiguration
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
public import KeychainVault
internal import PrephirencesSystem

extension ConfigProvider {
  /// Returns this provider with references to credentials resolved in some of its values.
  ///
  /// ```swift
  /// // The file has "database": {"password": "keychain://com.example.server/db"}.
  /// let file = try await FileProvider<JSONSnapshot>(filePath: "/etc/server.json")
  ///   .resolvingKeychainReferences(keys: ["database.password"], services: ["com.example.server"])
  /// ```
  ///
  /// Call it on a provider whose values are the program's own: their author decides which
  /// credentials the program reads. Values of preferences that are shared with other machines are
  /// refused. Call it on `PreferencesProvider` itself, because a provider around that may hide
  /// whose values they are.
  ///
  /// - Parameters:
  ///   - keys: The keys whose values are resolved, as this provider has them: call this before
  ///     `prefixKeys(with:)` and `mapKeys(_:)`.
  ///   - services: The services and servers that references may name. All other references are
  ///     refused, so an empty list refuses every reference.
  public func resolvingKeychainReferences(
    keys: [AbsoluteConfigKey], services: [String] = [], vault: Vault = Vault()
  ) -> KeychainReferenceProvider<Self> {
    KeychainReferenceProvider(self, keys: keys, services: services, vault: vault)
  }
}

/// A configuration provider that resolves references to credentials in the values of another one.
///
/// Create it with `resolvingKeychainReferences(keys:services:vault:)`.
///
/// If the value of a declared key is text that begins with `keychain:` or `keychain+`, it is a
/// reference. The result is the credential's secret, converted to the requested type. Other values,
/// and those of other keys, are those of the other provider. References in arrays are not resolved.
///
/// A declared key never returns a reference as text. Reading throws ``KeychainError`` if the
/// reference is malformed, if it names a service or an access group that is not allowed, if there
/// is no such credential, if the vault is locked or damaged, or if the credential has expired. A
/// reference from preferences that are shared with other machines is an error of these preferences.
/// An `optional` reference to an absent credential is empty text.
///
/// As with ``KeychainProvider``, read these values with `requiredString(forKey:)` or
/// `fetchString(forKey:)`: other methods of swift-configuration's reader treat errors as absent
/// values.
public struct KeychainReferenceProvider<Upstream: ConfigProvider>: ConfigProvider {
  /// The provider that has the references.
  public let upstream: Upstream

  /// The services and servers that references may name.
  public let services: [String]

  /// The vault with the credentials.
  public let vault: Vault

  private let keys: [[UInt8]: AbsoluteConfigKey]
  private let promptReader: PromptReader

  init(_ upstream: Upstream, keys: [AbsoluteConfigKey], services: [String], vault: Vault) {
    self.upstream = upstream
    self.services = services
    self.vault = vault
    self.keys = Dictionary(keys.map { (Array($0.valueName.utf8), $0) }) { first, _ in first }
    promptReader = PromptReader(vault)
  }

  /// The name of the provider, with that of the other one.
  public var providerName: String { "KeychainReferenceProvider[\(upstream.providerName)]" }

  /// Returns the value of a key, or the secret of its reference; `nil` if there is none.
  ///
  /// It waits for the vault no longer than ``KeychainProvider/value(forKey:type:)``.
  ///
  /// - Throws: The error of the other provider; ``KeychainError`` with
  ///   ``KeychainError/Code/refused`` if the reference is not allowed,
  ///   ``KeychainError/Code/invalidArgument`` if it is malformed, ``KeychainError/Code/notFound``
  ///   if there is no such credential, ``KeychainError/Code/undecodable`` if it is not a value of
  ///   the type, or as ``KeychainProvider/value(forKey:type:)``.
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    guard isDeclared(key) else { return try upstream.value(forKey: key, type: type) }
    return try ReferenceLookup.$isReference.withValue(CredentialReference.isReference) {
      let text = Result { try upstream.value(forKey: key, type: .string) }
      guard let reference = try reference(in: text, key) else {
        return try type == .string ? text.get() : upstream.value(forKey: key, type: type)
      }
      return try reference.result(promptReader.readOne(reference.read), type)
    }
  }

  /// Returns the value of a key as ``value(forKey:type:)`` does, but waits for other processes
  /// until the deadline of the vault.
  ///
  /// - Throws: As ``value(forKey:type:)``.
  public func fetchValue(
    forKey key: AbsoluteConfigKey, type: ConfigType
  ) async throws -> LookupResult {
    guard isDeclared(key) else { return try await upstream.fetchValue(forKey: key, type: type) }
    return try await ReferenceLookup.$isReference.withValue(CredentialReference.isReference) {
      var text: Result<LookupResult, any Error>
      do {
        text = .success(try await upstream.fetchValue(forKey: key, type: .string))
      } catch {
        text = .failure(error)
      }
      guard let reference = try reference(in: text, key) else {
        guard type != .string else { return try text.get() }
        return try await upstream.fetchValue(forKey: key, type: type)
      }
      return try reference.result(await vault.reading(reference.read), type)
    }
  }

  /// Passes the present value of a key, or the secret of its reference, to a handler, and then each
  /// change of either.
  ///
  /// It works as ``KeychainProvider/watchValue(forKey:type:updatesHandler:)``, but an expiry is
  /// noticed with the next change.
  ///
  /// - Throws: The error of the handler or the other provider.
  public func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler: (
      ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
    ) async throws -> Return
  ) async throws -> Return {
    guard isDeclared(key) else {
      return try await upstream.watchValue(forKey: key, type: type, updatesHandler: updatesHandler)
    }
    let watch = try await secretWatch()
    defer { watch.end() }
    let marks = try SecretMarks()
    let updates = ChangingElements(after: watch.signals.stream) {
      do {
        let result = try await fetchValue(forKey: key, type: type)
        watch.lookAgain([], allowsExpired: true)
        return (Result<_, any Error>.success(result), try marks.mark(of: result))
      } catch {
        let failure = (error as? KeychainError).map { ReadSecret.failure($0) }
        watch.lookAgain(failure.map { [$0] } ?? [], allowsExpired: true)
        return (.failure(error), .failure(error))
      }
    }
    return try await upstream.watchValue(forKey: key, type: .string) { texts in
      async let _: Void = { for await _ in texts { watch.signals.send() } }()
      guard type != .string else {
        return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
      }
      // For a watcher of text, all values that are not text are the same failure.
      return try await upstream.watchValue(forKey: key, type: type) { values in
        async let _: Void = { for await _ in values { watch.signals.send() } }()
        return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
      }
    }
  }

  /// Returns the present values of the other provider, with the secrets of the declared keys'
  /// references.
  ///
  /// The methods of the snapshot throw as those of the provider.
  public func snapshot() -> any ConfigSnapshot {
    let found = ReferenceLookup.$isReference.withValue(CredentialReference.isReference) {
      upstream.snapshot()
    }
    let snapshot = KeychainReferenceSnapshot(found, of: self)
    return snapshot.resolved(by: promptReader.read(snapshot.read))
  }

  /// Passes the present snapshot to a handler, and then one after each change of the other provider
  /// or of a secret.
  ///
  /// - Throws: The error of the handler or the other provider.
  public func watchSnapshot<Return: ~Copyable>(
    updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return {
    let watch = try await secretWatch()
    defer { watch.end() }
    let marks = try SecretMarks()
    return try await upstream.watchSnapshot { changes in
      let latest = LatestSnapshot()
      // The snapshots are created for this task.
      async let _: Void = ReferenceLookup.$isReference.withValue(CredentialReference.isReference) {
        for await snapshot in changes {
          latest.set(KeychainReferenceSnapshot(snapshot, of: self))
          watch.signals.send()
        }
      }
      let updates = ChangingElements<any ConfigSnapshot, ReferenceSnapshotMark>(
        after: watch.signals.stream
      ) {
        guard let (number, unresolved) = latest.get() else { return nil }
        let snapshot = unresolved.resolved(by: await vault.reading(unresolved.read))
        watch.lookAgain(snapshot.failures.map(ReadSecret.failure), allowsExpired: true)
        let mark = ReferenceSnapshotMark(number: number, secrets: snapshot.marks(by: marks))
        return (snapshot, mark)
      }
      return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }
  }
}

extension KeychainReferenceProvider: CustomStringConvertible {
  /// The name of the provider and the number of its declared keys.
  public var description: String { "\(providerName)[\(keys.count) keys]" }
}

extension KeychainReferenceProvider {
  var declaredKeys: some Collection<AbsoluteConfigKey> { keys.values }

  private func secretWatch() async throws -> SecretWatch {
    try await SecretWatch(vault) { [services] identity in
      services.contains {
        CredentialReference(identity).belongs(to: $0, defaultService: "")
      }
    }
  }

  private func isDeclared(_ key: AbsoluteConfigKey) -> Bool {
    keys[Array(key.valueName.utf8)] != nil
  }

  /// Returns the reference in a key's value; `nil` if the value is not a reference.
  func reference(
    in found: Result<LookupResult, any Error>, _ key: AbsoluteConfigKey
  ) throws(KeychainError) -> FoundReference? {
    guard case .success(let found) = found, case .string(let text)? = found.value?.content,
      CredentialReference.isReference(text)
    else { return nil }
    let name = key.valueName
    let reference = try CredentialReference(
      text, valueOf: name, services: services, accessGroups: [""], defaultService: "")
    return FoundReference(
      key: name, encodedKey: found.encodedKey, text: text, reference: reference)
  }
}

/// An allowed reference, and the place where it was found.
struct FoundReference: Sendable {
  let key: String
  let encodedKey: String
  let text: String
  let reference: CredentialReference

  /// Returns the secret of the reference.
  func read(_ vault: Vault) throws(KeychainError) -> SharedSecret {
    SharedSecret(try ReferenceResolver(store: vault, defaultService: "").resolve(reference))
  }

  /// Converts the secret.
  func result(
    _ read: Result<SharedSecret, KeychainError>, _ type: ConfigType
  ) throws(KeychainError) -> LookupResult {
    guard let content = try read.get().content(as: type) else {
      throw .undecodable("what the value of '\(key)' refers to", as: type)
    }
    return LookupResult(encodedKey: encodedKey, value: ConfigValue(content, isSecret: true))
  }
}
#endif
