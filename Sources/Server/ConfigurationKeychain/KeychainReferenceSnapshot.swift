#if ConfigurationSupport
internal import Configuration
internal import PrephirencesConfiguration
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

/// A snapshot of another provider, and the secrets of its declared keys' references, in guarded
/// memory.
struct KeychainReferenceSnapshot: ConfigSnapshot {
  typealias Secrets = [[UInt8]: Result<SharedSecret, KeychainError>]

  let providerName: String
  private let upstream: any ConfigSnapshot
  private let declared: Set<[UInt8]>
  private var references: [[UInt8]: Result<FoundReference, KeychainError>] = [:]
  private var secrets: Secrets = [:]

  /// Creates a snapshot whose references are not resolved yet.
  init(_ upstream: any ConfigSnapshot, of provider: KeychainReferenceProvider<some ConfigProvider>)
  {
    self.upstream = upstream
    providerName = provider.providerName
    declared = Set(provider.declaredKeys.map { Array($0.valueName.utf8) })
    for key in provider.declaredKeys {
      let name = Array(key.valueName.utf8)
      let text = Self.text(of: key, in: upstream)
      do throws(KeychainError) {
        if let found = try provider.reference(in: text, key) { references[name] = .success(found) }
      } catch {
        references[name] = .failure(error)
      }
    }
  }

  private static func text(
    of key: AbsoluteConfigKey, in upstream: any ConfigSnapshot
  ) -> Result<LookupResult, any Error> {
    ReferenceLookup.$isReference.withValue(CredentialReference.isReference) {
      Result { try upstream.value(forKey: key, type: .string) }
    }
  }

  /// Reads the secrets of the references, all as of one commit.
  func read(_ vault: Vault) throws(KeychainError) -> Secrets {
    var found: [[UInt8]: FoundReference] = [:]
    for case (let name, .success(let reference)) in references { found[name] = reference }
    guard !found.isEmpty else { return [:] }
    for _ in 0..<8 {
      let commit = try vault.lastCommit()
      var secrets: Secrets = [:]
      for (name, reference) in found {
        let secret = Result { () throws(KeychainError) in try reference.read(vault) }
        // The next one would wait just as long.
        if case .failure(let error) = secret, error.code == .timedOut { throw error }
        secrets[name] = secret
      }
      let newest = try vault.lastCommit()
      if newest == commit { return secrets }
    }
    throw KeychainError(
      .busy, "the vault changes faster than the secrets of the configuration can be read",
      recovery: .tryAgain)
  }

  /// Returns the snapshot with the secrets.
  func resolved(by read: Result<Secrets, KeychainError>) -> Self {
    var snapshot = self
    snapshot.secrets =
      switch read {
      case .success(let secrets): secrets
      case .failure(let error): references.mapValues { _ in .failure(error) }
      }
    return snapshot
  }

  /// Why secrets could not be read.
  var failures: [KeychainError] {
    secrets.values.compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }

  /// Returns the marks that distinguish the secrets from earlier ones.
  func marks(by marks: SecretMarks) -> [[UInt8]: SecretMark] { secrets.mapValues(marks.mark(of:)) }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let name = Array(key.valueName.utf8)
    guard declared.contains(name) else { return try upstream.value(forKey: key, type: type) }
    if case .failure(let error)? = references[name] { throw error }
    let found = Self.text(of: key, in: upstream)
    guard case .success(let result) = found, case .string(let text)? = result.value?.content,
      CredentialReference.isReference(text)
    else {
      if type == .string { return try found.get() }
      return try ReferenceLookup.$isReference.withValue(CredentialReference.isReference) {
        try upstream.value(forKey: key, type: type)
      }
    }
    // With another context, a key can have another reference.
    guard case .success(let reference)? = references[name], reference.text.hasSameBytes(as: text),
      let secret = secrets[name]
    else {
      throw KeychainError(
        .refused,
        "the value of '\(key.valueName)' is a reference that the snapshot has not resolved",
        recovery: "fetch the value")
    }
    return try reference.result(secret, type)
  }
}

extension KeychainReferenceSnapshot: CustomStringConvertible {
  var description: String { "\(providerName)[\(declared.count) keys]" }
}

/// The latest snapshot of another provider, with its number.
final class LatestSnapshot: Sendable {
  private let latest = PosixMutex<(number: Int, snapshot: KeychainReferenceSnapshot)?>(nil)

  func set(_ snapshot: KeychainReferenceSnapshot) {
    latest.withLock { $0 = (($0?.number ?? 0) + 1, snapshot) }
  }

  /// Returns the latest snapshot; `nil` before the first one.
  func get() -> (number: Int, snapshot: KeychainReferenceSnapshot)? { latest.withLock { $0 } }
}

/// Distinguishes a snapshot from the one before.
struct ReferenceSnapshotMark: Equatable, Sendable {
  /// The number of the other provider's snapshot.
  let number: Int
  let secrets: [[UInt8]: SecretMark]
}
#endif
