internal import CPrephirencesLibsodium

/// Keys and identifiers derived from a key: keyed BLAKE2b-256 with personalisation, without salt.
///
/// The corresponding C function is `crypto_generichash_blake2b_salt_personal`.
package enum KeyDerivation {
  /// The number of bytes in the output: 32.
  package static let outputCount = 32

  /// The greatest number of bytes in a label: 16.
  package static let maximumLabelCount = Int(crypto_generichash_blake2b_PERSONALBYTES)

  /// Derives a key: 32 bytes in guarded memory.
  package static func key(
    from key: borrowing SecretBytes, label: String, fields: RawSpan
  ) throws(KeychainError) -> SecretBytes {
    let derived = try SecretBytes(zeroed: outputCount)
    var status: CInt = -1
    let personal = try Personalization(label)
    guard isKeyCount(key.count) else { throw .wrongLength }
    unsafe derived.fill { out in
      status = unsafe hash(into: out, key: key, personal: personal, fields: fields)
    }
    Sodium.clearStack()
    guard status == 0 else { throw .wrongLength }
    derived.protect()
    return derived
  }

  /// Derives an identifier or an authentication tag, which is not secret: 32 bytes in ordinary
  /// memory.
  package static func tag(
    from key: borrowing SecretBytes, label: String, fields: RawSpan
  ) throws(KeychainError) -> [UInt8] {
    try Sodium.start()
    let personal = try Personalization(label)
    guard isKeyCount(key.count) else { throw .wrongLength }
    var tag = [UInt8](repeating: 0, count: outputCount)
    let status = unsafe hash(into: &tag, key: key, personal: personal, fields: fields)
    Sodium.clearStack()
    guard status == 0 else { throw .wrongLength }
    return tag
  }

  private static func isKeyCount(_ count: Int) -> Bool {
    Int(crypto_generichash_blake2b_KEYBYTES_MIN)...Int(crypto_generichash_blake2b_KEYBYTES_MAX)
      ~= count
  }

  private static func hash(
    into out: UnsafeMutablePointer<UInt8>,
    key: borrowing SecretBytes,
    personal: Personalization,
    fields: RawSpan
  ) -> CInt {
    let keyCount = key.count
    return unsafe key.withPointer { key in
      unsafe fields.withPointer { message, count in
        unsafe personal.withPointer { personal in
          unsafe crypto_generichash_blake2b_salt_personal(
            out, outputCount, message, UInt64(count), key, keyCount, nil, personal)
        }
      }
    }
  }
}

/// BLAKE2b without a key, for checksums and for hashing long data.
///
/// The corresponding C function is `crypto_generichash_blake2b`.
package enum Blake2b {
  /// Hashes bytes into ordinary memory.
  package static func digest(_ bytes: RawSpan, count: Int) throws(KeychainError) -> [UInt8] {
    guard 16...64 ~= count else { throw .wrongLength }
    try Sodium.start()
    var digest = [UInt8](repeating: 0, count: count)
    unsafe bytes.withPointer { message, length in
      _ = unsafe crypto_generichash_blake2b(&digest, count, message, UInt64(length), nil, 0)
    }
    return digest
  }

  /// Hashes bytes for one purpose, into 32 bytes of ordinary memory: BLAKE2b-256 with a
  /// personalisation.
  package static func digest(_ bytes: RawSpan, label: String) throws(KeychainError) -> [UInt8] {
    try Sodium.start()
    let personal = try Personalization(label)
    var digest = [UInt8](repeating: 0, count: KeyDerivation.outputCount)
    let status = unsafe bytes.withPointer { message, count in
      unsafe personal.withPointer { personal in
        unsafe crypto_generichash_blake2b_salt_personal(
          &digest, KeyDerivation.outputCount, message, UInt64(count), nil, 0, nil, personal)
      }
    }
    guard status == 0 else { throw .wrongLength }
    return digest
  }

  /// Hashes secret bytes, such as the contents of a key file, into a key in guarded memory.
  package static func key(
    hashing bytes: borrowing SecretBytes, count: Int = 32
  ) throws(KeychainError) -> SecretBytes {
    guard 16...64 ~= count else { throw .wrongLength }
    let key = try SecretBytes(zeroed: count)
    let length = bytes.count
    unsafe bytes.withPointer { message in
      unsafe key.fill { out in
        _ = unsafe crypto_generichash_blake2b(out, count, message, UInt64(length), nil, 0)
      }
    }
    Sodium.clearStack()
    key.protect()
    return key
  }
}

/// A key from a passphrase: Argon2id, version 1.3, one lane.
///
/// The corresponding C function is `crypto_pwhash`.
public enum PasswordHash {
  /// The number of bytes in a salt: 16.
  public static let saltCount = Int(crypto_pwhash_SALTBYTES)

  /// The cost of one evaluation.
  public struct Parameters: Hashable, Sendable {
    /// The memory for one evaluation, in bytes.
    public let memory: UInt64

    /// The number of passes over the memory.
    public let passes: UInt32

    /// Describes a cost in bytes and passes over them; ``isAcceptable`` says whether it can be
    /// used.
    public init(memory: UInt64, passes: UInt32) {
      self.memory = memory
      self.passes = passes
    }

    /// libsodium's `INTERACTIVE`: 64 MiB, 2 passes.
    public static let interactive = Self(memory: 64 << 20, passes: 2)

    /// libsodium's `MODERATE`: 256 MiB, 3 passes.
    public static let moderate = Self(memory: 256 << 20, passes: 3)

    /// The maximum that is accepted: 1 GiB, 10 passes; a file must not decide how long its reader
    /// works.
    public static let maximum = Self(memory: 1 << 30, passes: 10)

    /// Whether the cost lies between Argon2's minimum (8 KiB, 1 pass) and ``maximum``, and the
    /// memory is a multiple of 1 KiB, Argon2's unit.
    public var isAcceptable: Bool {
      (8 << 10)...Self.maximum.memory ~= memory && memory.isMultiple(of: 1024)
        && 1...Self.maximum.passes ~= passes
    }
  }

  /// Derives 32 bytes, in guarded memory, from a passphrase of any bytes and a salt of 16 bytes.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the cost is not
  ///   acceptable (nothing is allocated) or the salt is not 16 bytes, or
  ///   ``KeychainError/Code/insufficientMemory``.
  public static func key(
    passphrase: borrowing SecretBytes, salt: [UInt8], parameters: Parameters
  ) throws(KeychainError) -> SecretBytes {
    try Sodium.start()
    guard salt.count == saltCount else { throw .wrongLength }
    guard parameters.isAcceptable else { throw .refusedParameters }
    let key = try SecretBytes(zeroed: 32)
    let count = passphrase.count
    var status: CInt = -1
    unsafe passphrase.withPointer { passphrase in
      unsafe key.fill { out in
        status = unsafe passphrase.withMemoryRebound(to: CChar.self, capacity: count) {
          unsafe crypto_pwhash(
            out, 32, $0, UInt64(count), salt, UInt64(parameters.passes), Int(parameters.memory),
            CInt(crypto_pwhash_ALG_ARGON2ID13))
        }
      }
    }
    Sodium.clearStack()
    guard status == 0 else { throw .outOfMemory }
    key.protect()
    return key
  }
}

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
  package static func publicKey(of seed: borrowing SecretBytes) throws(KeychainError) -> [UInt8] {
    try keyPair(of: seed).publicKey
  }

  /// Signs a message under a label; the signature has 64 bytes.
  ///
  /// The corresponding C function is `crypto_sign_detached`.
  package static func sign(
    _ message: RawSpan, label: String, seed: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8] {
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
  /// No signature or key of another length is right, and no signature of a key of low order. The
  /// corresponding C function is `crypto_sign_verify_detached`.
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

  private static func keyPair(of seed: borrowing SecretBytes) throws(KeychainError) -> KeyPair {
    try Sodium.start()
    guard seed.count == seedCount else { throw .wrongLength }
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
