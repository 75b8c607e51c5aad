#if ConfigurationSupport
internal import Configuration
internal import PrephirencesConfiguration
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

/// Signals that a watched secret may have changed: after changes, at its expiry, and from time to
/// time while it cannot be read or its changes are not noticed.
final class SecretWatch: Sendable {
  private struct Timer {
    var next: DispatchWorkItem?
    var failures = 0
    var hasEnded = false
  }

  let signals = ChangeStream()
  private let vault: Vault
  private let observation: CredentialObservation
  private let timer = PosixMutex(Timer())

  /// The seconds until the next read after a failure: the first one, later ones, and a wrong
  /// secret, for which a passphrase is hashed.
  private static let pauses = (first: 2.0, later: 10.0, wrongSecret: 60.0)

  init(
    _ vault: Vault, _ isWatched: @escaping @Sendable (CredentialIdentity) -> Bool
  ) async throws {
    self.vault = vault
    let signals = signals
    // Beginning an observation reads the vault.
    observation = try await onBlockingThread {
      vault.observe(
        { change in if change.identity.map(isWatched) ?? true { signals.send() } },
        whenReadabilityChanges: signals.send)
    }
  }

  func end() {
    observation.cancel()
    signals.end()
    timer.withLock { timer in
      timer.next?.cancel()
      timer.hasEnded = true
    }
  }

  /// Schedules a signal for when the secrets may change without a notification.
  func lookAgain(_ secrets: [ReadSecret], allowsExpired: Bool) {
    timer.withLock { timer in
      timer.next?.cancel()
      let failures = secrets.compactMap(\.passingFailure)
      timer.failures = failures.isEmpty ? 0 : timer.failures + 1
      var times: [Double] = []
      if failures.contains(where: { $0.code == .incorrectSecret }) {
        times.append(Self.pauses.wrongSecret)
      } else if !failures.isEmpty {
        times.append(min(Self.pauses.later, Self.pauses.first * Double(min(timer.failures, 5))))
      }
      if !vault.noticesOtherProcesses { times.append(Self.pauses.first) }
      if !allowsExpired {
        times += secrets.compactMap { (try? $0.get())??.credential.expires?.timeIntervalSinceNow }
      }
      guard let time = times.min(), !timer.hasEnded else { return }
      let item = DispatchWorkItem { [signals] in signals.send() }
      timer.next = item
      DispatchQueue.global().asyncAfter(wallDeadline: .now() + max(0, time), execute: item)
    }
  }
}

extension ReadSecret {
  /// The failure, if it may end without a change of the vault.
  fileprivate var passingFailure: KeychainError? {
    guard case .failure(let error) = self else { return nil }
    let lasting: [KeychainError.Code] = [
      .expired, .undecodable, .notFound, .refused, .invalidArgument, .cancelled,
    ]
    return lasting.contains(error.code) ? nil : error
  }
}

/// Distinguishes a secret, or a failure, from the one before.
enum SecretMark: Equatable, Sendable {
  case absent
  case secret(hash: [UInt8], contentType: String?)
  case failure(String)

  static func failure(_ error: any Error) -> Self {
    .failure((error as? KeychainError).map { "\($0.code): \($0.message)" } ?? "\(error)")
  }
}

/// Creates marks, with hashes under a key of its own.
struct SecretMarks: Sendable {
  private let key: SharedSecret

  init() throws(KeychainError) {
    key = SharedSecret(
      try SecretBytes.random(count: KeyDerivation.outputCount))
  }

  func mark(of secret: ReadSecret) -> SecretMark {
    do throws(KeychainError) {
      guard let secret = try secret.get() else { return .absent }
      return .secret(
        hash: try hash(of: secret.secret), contentType: secret.credential.contentType)
    } catch {
      return .failure(error)
    }
  }

  func mark(of secret: Result<SharedSecret, KeychainError>) -> SecretMark {
    do throws(KeychainError) {
      return .secret(hash: try hash(of: secret.get()), contentType: nil)
    } catch {
      return .failure(error)
    }
  }

  func mark(of result: LookupResult) throws(KeychainError) -> SecretMark {
    guard let value = result.value else { return .absent }
    let text = "\(value.content)"
    let secret = try SecretBytes(copying: text)
    return .secret(hash: try hash(of: SharedSecret(secret)), contentType: nil)
  }

  private func hash(of secret: SharedSecret) throws(KeychainError) -> [UInt8] {
    try secret.bytes.withBytes { bytes throws(KeychainError) in
      try KeyDerivation.tag(from: key.bytes, label: "watched secret", fields: bytes)
    }
  }
}
#endif
