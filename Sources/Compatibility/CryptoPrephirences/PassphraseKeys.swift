internal import KeychainSecrets
internal import Synchronization

/// The keys of a passphrase: one for each salt.
final class PassphraseKeys: CipherKeys {
  private struct State {
    var known: [CipherHeader: CipherKey] = [:]

    /// The headers whose keys have not decrypted anything yet.
    var unproven: Set<CipherHeader> = []
    var writing: CipherKey?
  }

  private static let greatestCount = 32

  /// A person who can write the preferences can invent salts, and each costs a derivation.
  private static let greatestUnprovenCount = 8

  private let passphrase: SecretBytes
  private let parameters: PasswordHash.Parameters

  // Held while a key is derived: two derivations at the same time would need twice the memory.
  private let state = Mutex(State())

  init(_ passphrase: consuming SecretBytes, _ parameters: PasswordHash.Parameters) {
    self.passphrase = passphrase
    self.parameters = parameters
  }

  func forEncrypting() throws(CryptoPrephirencesError) -> CipherKey {
    try state.withLock { state throws(CryptoPrephirencesError) -> CipherKey in
      if let key = state.writing { return key }
      let key = try derive(.passphrase(parameters, salt: Self.freshSalt()))
      state.writing = key
      state.known[key.header] = key
      return key
    }
  }

  func forDecrypting(_ header: CipherHeader) throws(CryptoPrephirencesError) -> CipherKey {
    guard case .passphrase(let cost, _) = header else {
      throw CryptoPrephirencesError(.wrongKey, "the data is encrypted with a key, not a passphrase")
    }
    guard cost.memory <= parameters.memory, cost.passes <= parameters.passes else { throw .costly }
    return try state.withLock { state throws(CryptoPrephirencesError) -> CipherKey in
      if let key = state.known[header] { return key }
      guard state.unproven.count < Self.greatestUnprovenCount else { throw .manySalts }
      let key = try derive(header)
      // Keeps the keys that decrypted nothing; otherwise they would be derived repeatedly.
      if state.known.count >= Self.greatestCount {
        state.known = state.known.filter { state.unproven.contains($0.key) }
      }
      state.known[header] = key
      state.unproven.insert(header)
      return key
    }
  }

  func note(_ key: CipherKey) {
    state.withLock { state in
      state.unproven.remove(key.header)
      if case .passphrase(parameters, _) = key.header, state.writing == nil { state.writing = key }
    }
  }

  private func derive(_ header: CipherHeader) throws(CryptoPrephirencesError) -> CipherKey {
    guard case .passphrase(let parameters, let salt) = header else { throw .truncated }
    let secret: SecretBytes
    do throws(SecretsError) {
      secret = try PasswordHash.key(passphrase: passphrase, salt: salt, parameters: parameters)
    } catch {
      throw CryptoPrephirencesError(error)
    }
    return try CipherKey(header: header, secret: secret)
  }

  private static func freshSalt() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<PasswordHash.saltCount).map { _ in generator.next() }
  }
}

extension CryptoPrephirencesError {
  fileprivate static var costly: Self {
    Self(.unavailable, "the passphrase is hashed at a higher cost than this cipher allows")
  }

  fileprivate static var manySalts: Self {
    Self(
      .unavailable,
      "too many values are encrypted with other passphrases, or with invented salts")
  }
}
