internal import KeychainSecrets
internal import Synchronization

/// The keys of a passphrase: one for each salt.
final class PassphraseKeys: CipherKeys {
  private struct State {
    var known: [CipherHeader: CipherKey] = [:]
    var writing: CipherKey?
  }

  private static let greatestCount = 32

  private let passphrase: SecretBytes
  private let parameters: PasswordHash.Parameters

  // Held while a key is derived: two derivations at a time would take the memory twice.
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
    guard case .passphrase = header else {
      throw CryptoPrephirencesError(.wrongKey, "the data is encrypted with a key, not a passphrase")
    }
    return try state.withLock { state throws(CryptoPrephirencesError) -> CipherKey in
      if let key = state.known[header] { return key }
      let key = try derive(header)
      // Who can write the preferences can invent salts.
      if state.known.count >= Self.greatestCount { state.known = [:] }
      state.known[header] = key
      return key
    }
  }

  func note(_ key: CipherKey) {
    guard case .passphrase(parameters, _) = key.header else { return }
    state.withLock { state in
      if state.writing == nil { state.writing = key }
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
