internal import CLibsodium

/// Signatures with Ed25519.
///
/// A label separates the purposes of one key, as the personalisation does in ``KeyDerivation``.
package enum Signature {
  /// The number of bytes of a seed, from which both keys follow: 32.
  package static let seedCount = Int(crypto_sign_SEEDBYTES)

  /// The number of bytes of a public key: 32.
  package static let publicKeyCount = Int(crypto_sign_PUBLICKEYBYTES)

  /// The number of bytes of a signature: 64.
  package static let count = Int(crypto_sign_BYTES)

  /// Returns the public key that belongs to a seed.
  ///
  /// The corresponding C function is `crypto_sign_seed_keypair`.
  package static func publicKey(of seed: borrowing SecretBytes) throws(SecretsError) -> [UInt8] {
    try keyPair(of: seed).publicKey
  }

  /// Signs a message under a label.
  ///
  /// The corresponding C function is `crypto_sign_detached`. Returns 64 bytes.
  package static func sign(
    _ message: RawSpan, label: String, seed: borrowing SecretBytes
  ) throws(SecretsError) -> [UInt8] {
    let signed = try Personalization(label).bytes + message.array
    let pair = try keyPair(of: seed)
    var signature = [UInt8](repeating: 0, count: count)
    unsafe pair.secretKey.withPointer {
      _ = unsafe crypto_sign_detached(&signature, nil, signed, UInt64(signed.count), $0)
    }
    Sodium.clearStack()
    return signature
  }

  /// Returns whether a signature under a label is right.
  ///
  /// A signature or a key of another length is not right, and no signature of a key of low order
  /// is. The corresponding C function is `crypto_sign_verify_detached`.
  package static func isRight(
    _ signature: [UInt8], of message: RawSpan, label: String, publicKey: [UInt8]
  ) -> Bool {
    guard signature.count == count, publicKey.count == publicKeyCount,
      (try? Sodium.start()) != nil, let label = try? Personalization(label)
    else { return false }
    let signed = label.bytes + message.array
    return unsafe crypto_sign_verify_detached(
      signature, signed, UInt64(signed.count), publicKey) == 0
  }

  /// Returns whether bytes are a usable public key: a point of the main subgroup in its only form.
  ///
  /// The corresponding C function is `crypto_core_ed25519_is_valid_point`.
  package static func isPublicKey(_ bytes: [UInt8]) -> Bool {
    guard bytes.count == publicKeyCount, (try? Sodium.start()) != nil else { return false }
    return unsafe crypto_core_ed25519_is_valid_point(bytes) == 1
  }

  private struct KeyPair: ~Copyable {
    let publicKey: [UInt8]
    let secretKey: SecretBytes
  }

  private static func keyPair(of seed: borrowing SecretBytes) throws(SecretsError) -> KeyPair {
    try Sodium.start()
    guard seed.count == seedCount else { throw SecretsError(.invalidLength) }
    var publicKey = [UInt8](repeating: 0, count: publicKeyCount)
    let secretKey = try SecretBytes(zeroed: Int(crypto_sign_SECRETKEYBYTES))
    unsafe seed.withPointer { seed in
      unsafe secretKey.fill { _ = unsafe crypto_sign_seed_keypair(&publicKey, $0, seed) }
    }
    Sodium.clearStack()
    secretKey.protect()
    return KeyPair(publicKey: publicKey, secretKey: secretKey)
  }
}
