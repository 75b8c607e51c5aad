#if ConfigurationSupport
public import Configuration
internal import PrephirencesConfiguration
// With this, a program can name a vault and its key without another import.
@_exported public import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
public import KeychainVault
internal import PrephirencesSystem

/// A configuration provider that reads secrets from an encrypted vault.
///
/// ```swift
/// let secrets = try await KeychainProvider(
///   service: "com.example.server", keys: ["database.password"])
/// let config = ConfigReader(providers: [EnvironmentVariablesProvider(), secrets])
/// let password = try await config.fetchRequiredString(forKey: "database.password")
/// ```
///
/// A key is the account of its credential, with full stops between the components of the key: the
/// one above is the generic password of the service `com.example.server` and the account
/// `database.password`. The encoded key of a result is its reference,
/// `keychain://com.example.server/database.password`. The context of a key is not used.
///
/// A provider answers only for its declared keys. It answers `nil` for other keys without using the
/// vault, so a locked vault affects neither them nor the providers after this one. A snapshot reads
/// all declared keys.
///
/// An absent credential is `nil`. If the vault is locked, damaged, has another key or is in use for
/// too long, or if the credential has expired, each method throws ``KeychainError``. **The reader
/// of swift-configuration passes errors on only from its `fetch` methods and those with `required`
/// in their names**: `string(forKey:)` and `watchString(forKey:)` return `nil` or the default, as
/// if there were no value. Read secrets with `fetchString(forKey:)`, where `nil` means absent, or
/// with `requiredString(forKey:)`.
///
/// Every value is secret: access logs redact it. The text and bytes that the reader returns are in
/// ordinary memory. To keep a secret in guarded memory, read it with ``KeychainPreferences``.
///
/// | type | value |
/// | --- | --- |
/// | `string` | the secret, which must be UTF-8 |
/// | `bytes` | the bytes of the secret |
/// | `int`, `double`, `bool` | the text, as `EnvironmentVariablesProvider` reads it |
/// | arrays | text split at commas, or a stored array; byte chunks are base64 |
///
/// The provider reads the vault each time and caches nothing. It needs no service to run in the
/// background. It is safe to use from several threads.
public final class KeychainProvider: ConfigProvider {
  /// The service of the credentials.
  public let service: String

  /// The vault that is read.
  public let vault: Vault

  /// Whether expired credentials are returned.
  public let allowsExpired: Bool

  let declared: DeclaredKeys
  let marks: SecretMarks
  let promptReader: PromptReader

  /// Opens and unlocks the vault.
  ///
  /// A missing vault is not an error: its credentials are absent until somebody stores one.
  ///
  /// - Parameters:
  ///   - service: The service of the credentials, such as `com.example.server`.
  ///   - keys: The keys that the provider answers for.
  ///   - vault: The vault. By default, it is found and unlocked as the command line does, without
  ///     asking a person.
  ///   - allowingExpired: Whether to return expired credentials. If `false`, reading one throws
  ///     ``KeychainError/Code/expired``.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if nothing opens the vault,
  ///   ``KeychainError/Code/incorrectSecret``, or as ``Vault/ensureReadable(_:)``;
  ///   ``KeychainError/Code/invalidArgument`` if a key is empty.
  public init(
    service: String, keys: [AbsoluteConfigKey], vault: Vault = Vault(),
    allowingExpired: Bool = false
  ) async throws {
    self.service = service
    self.vault = vault
    allowsExpired = allowingExpired
    declared = try DeclaredKeys(keys, service: service)
    marks = try SecretMarks()
    promptReader = PromptReader(vault)
    try await vault.perform { try $0.ensureReadable(.unlockedNow) }
  }

  /// Opens the vault that a configuration names.
  ///
  /// Scope the reader to a name of its own: with `config.scoped(to: "secrets")`, the environment
  /// variables are `SECRETS_SERVICE`, `SECRETS_KEYS`, `SECRETS_VAULT` and so on. Those with
  /// `KEYCHAIN_` apply to every vault.
  ///
  /// ## Configuration keys
  /// - `service` (string, required): The service of the credentials.
  /// - `keys` (string array, required): The keys that the provider answers for.
  /// - `vault` (string, optional): The path of the vault; by default, that of the command line.
  /// - `keyFile` (string, optional): The path of the key file that opens the vault.
  /// - `passphraseFile` (string, optional): The path of the file with the passphrase that opens the
  ///   vault.
  /// - `allowExpired` (bool, optional, default: `false`): Whether to return expired credentials.
  ///
  /// Without a key file or passphrase file, the vault is unlocked as the command line unlocks it.
  ///
  /// - Throws: As `init(service:keys:vault:allowingExpired:)`; ``KeychainError`` with
  ///   ``KeychainError/Code/invalidArgument`` if both files are given; the error of the reader.
  public convenience init(config: ConfigReader) async throws {
    let keyFile = try await config.fetchString(forKey: "keyFile")
    let passphraseFile = try await config.fetchString(forKey: "passphraseFile")
    guard keyFile == nil || passphraseFile == nil else {
      throw KeychainError(
        .invalidArgument, "the configuration has both a key file and a passphrase file",
        recovery: "keep the one that opens the vault")
    }
    let unlock =
      keyFile.map { UnlockSource.keyFile($0) } ?? passphraseFile.map { .passphraseFile($0) }
    try await self.init(
      service: try await config.fetchRequiredString(forKey: "service"),
      keys: try await config.fetchRequiredStringArray(forKey: "keys").map {
        AbsoluteConfigKey(ConfigKey($0))
      },
      vault: Vault(
        configuration: .init(path: try await config.fetchString(forKey: "vault"), unlock: unlock)),
      allowingExpired: try await config.fetchBool(forKey: "allowExpired", default: false))
  }

  /// The name of the provider, with the service: `KeychainProvider[com.example.server]`.
  public var providerName: String { "KeychainProvider[\(service)]" }

  /// Returns the value of a key; `nil` if there is no such credential, or if the key is not
  /// declared.
  ///
  /// It waits at most 100 ms for other processes, and for the vault to be unlocked again.
  ///
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/busy`` if it would have to wait longer,
  ///   and with ``KeychainError/Code/undecodable`` if the secret is not a value of the type.
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    guard let key = declared[key] else { return LookupResult(undeclared: key) }
    let secret = promptReader.readOne { vault throws(KeychainError) in
      try vault.sharedSecret(for: key.identity)
    }
    return try key.result(permitted(secret), type)
  }

  /// Returns the value of a key as ``value(forKey:type:)`` does, but waits for other processes
  /// until the deadline of the vault.
  ///
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/undecodable`` if the secret is not a
  ///   value of the type, and with ``KeychainError/Code/cancelled`` if the task was cancelled
  ///   before the vault was read.
  public func fetchValue(
    forKey key: AbsoluteConfigKey, type: ConfigType
  ) async throws -> LookupResult {
    guard let key = declared[key] else { return LookupResult(undeclared: key) }
    return try key.result(await fetchSecret(of: key.identity), type)
  }

  /// Returns the present values of the declared keys, or why they cannot be read.
  ///
  /// All are from one moment: no change of the vault lies between them. The snapshot keeps them in
  /// guarded memory, and its methods throw as those of the provider. It waits no longer than
  /// ``value(forKey:type:)``.
  public func snapshot() -> any ConfigSnapshot {
    let identities = declared.identities
    return snapshot(
      of: promptReader.read { vault throws(KeychainError) in
        try vault.sharedSecrets(for: identities)
      })
  }
}

extension KeychainProvider {
  /// Returns the secret, or the error if it has expired, unless that is allowed.
  func permitted(_ secret: ReadSecret) -> ReadSecret {
    allowsExpired ? secret : secret.flatMap { $0?.unexpired.map(Optional.some) ?? .success(nil) }
  }

  func fetchSecret(of identity: CredentialIdentity) async -> ReadSecret {
    permitted(
      await vault.reading { vault throws(KeychainError) in try vault.sharedSecret(for: identity) })
  }

  func snapshot(of read: Result<[ReadSecret], KeychainError>) -> KeychainSnapshot {
    let secrets =
      switch read {
      case .success(let secrets): secrets.map(permitted)
      case .failure(let error): declared.identities.map { _ in ReadSecret.failure(error) }
      }
    return KeychainSnapshot(providerName: providerName, declared: declared, secrets: secrets)
  }
}

extension KeychainProvider: CustomStringConvertible {
  /// The name of the provider and the number of its declared keys.
  public var description: String { "\(providerName)[\(declared.identities.count) keys]" }
}

/// The secrets of a ``KeychainProvider`` at one moment, in guarded memory.
///
/// A credential that expires later stays readable.
struct KeychainSnapshot: ConfigSnapshot {
  let providerName: String
  private let declared: DeclaredKeys
  let secrets: [ReadSecret]

  init(providerName: String, declared: DeclaredKeys, secrets: [ReadSecret]) {
    self.providerName = providerName
    self.declared = declared
    self.secrets = secrets
  }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    guard let index = declared.index(of: key) else { return LookupResult(undeclared: key) }
    return try declared[index].result(secrets[index], type)
  }
}

extension KeychainSnapshot: CustomStringConvertible {
  var description: String { "\(providerName)[\(secrets.count) keys]" }
}
#else
// If a program does not enable the trait, the compiler reports it where the name is used.

/// Requires the trait.
@available(
  *, unavailable,
  message: "depend on the package Prephirences with traits: [\"ConfigurationSupport\"]"
)
public struct KeychainProvider {
  /// Requires the trait.
  public init(
    service: String, keys: [String], vault: Any? = nil, allowingExpired: Bool = false
  ) {}

  /// Requires the trait.
  public init(config: Any) {}
}
#endif
