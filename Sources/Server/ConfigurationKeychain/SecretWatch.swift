#if ConfigurationSupport
internal import Configuration
internal import ConfigurationValues
internal import Dispatch
internal import FoundationEssentials
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

extension Vault {
  /// Calls `body` on a thread that may block.
  func reading<Success: Sendable>(
    _ body: @escaping @Sendable (Vault) throws(KeychainError) -> Success
  ) async -> Result<Success, KeychainError> {
    do {
      return try await perform { vault in Result { () throws(KeychainError) in try body(vault) } }
    } catch {
      return .failure(keychainError(error))
    }
  }
}

/// Signals that a watched secret may be another one: after changes, at its expiry, and from time to time while
/// it cannot be read.
final class SecretWatch: Sendable {
  let signals = ChangeSignals()
  private let observation: CredentialObservation
  private let timer = PosixMutex<DispatchWorkItem?>(nil)

  /// How long after a failure that another program may end without changing the vault it is looked at again.
  private static let pause = Duration.seconds(2)

  init(
    _ vault: Vault, _ isWatched: @escaping @Sendable (CredentialIdentity) -> Bool
  ) async throws {
    let signals = signals
    // To begin with, the vault is read.
    observation = try await vault.perform { vault in
      vault.observe { change in
        if change.identity.map(isWatched) ?? true { signals.send() }
      }
    }
  }

  func end() {
    observation.cancel()
    timer.withLock { $0?.cancel() }
    signals.end()
  }

  /// Sends a signal when what was read may change without a change of the vault.
  func lookAgain(_ secrets: [ReadSecret], allowsExpired: Bool) {
    guard let time = secrets.compactMap({ time(of: $0, allowsExpired) }).min() else { return }
    let item = DispatchWorkItem { [signals] in signals.send() }
    timer.withLock { timer in
      timer?.cancel()
      timer = item
    }
    DispatchQueue.global().asyncAfter(wallDeadline: .now() + max(0, time), execute: item)
  }

  /// In how many seconds to look again; `nil` if only a change of the vault is of interest.
  private func time(of secret: ReadSecret, _ allowsExpired: Bool) -> Double? {
    switch secret {
    case .success(let secret):
      return allowsExpired ? nil : secret?.credential.expires?.timeIntervalSinceNow
    case .failure(let error):
      return [.locked, .busy, .timedOut].contains(error.code) ? Self.pause / .seconds(1) : nil
    }
  }
}

/// What tells a secret, or a failure, from the one before.
enum SecretMark: Equatable, Sendable {
  case absent
  case secret(hash: [UInt8], contentType: String?)
  case failure(KeychainError.Code)
}

/// Makes marks, with hashes under a key of its own.
struct SecretMarks: Sendable {
  private let key: SharedSecret

  init() throws(KeychainError) {
    key = SharedSecret(try translated(secrets: SecretBytes.random(count: KeyDerivation.outputCount)))
  }

  func mark(of secret: ReadSecret) -> SecretMark {
    do throws(KeychainError) {
      guard let secret = try secret.get() else { return .absent }
      return .secret(
        hash: try hash(of: secret.secret), contentType: secret.credential.contentType)
    } catch {
      return .failure(error.code)
    }
  }

  func mark(of secret: Result<SharedSecret, KeychainError>) -> SecretMark {
    do throws(KeychainError) {
      return .secret(hash: try hash(of: secret.get()), contentType: nil)
    } catch {
      return .failure(error.code)
    }
  }

  func mark(of result: LookupResult) throws(KeychainError) -> SecretMark {
    guard let value = result.value else { return .absent }
    let text = "\(value.content)"
    let secret = try translated(secrets: SecretBytes(copying: text))
    return .secret(hash: try hash(of: SharedSecret(secret)), contentType: nil)
  }

  private func hash(of secret: SharedSecret) throws(KeychainError) -> [UInt8] {
    try translating { () throws(SecretsError) in
      try secret.bytes.withBytes { bytes throws(SecretsError) in
        try KeyDerivation.tag(from: key.bytes, label: "watched secret", fields: bytes)
      }
    }
  }
}
#endif
