internal import CLibsodium

/// Keys and identifiers derived from a key: keyed BLAKE2b-256 with personalisation, without salt.
///
/// The corresponding C function is `crypto_generichash_blake2b_salt_personal`.
package enum KeyDerivation {
  /// The number of bytes in the output: 32.
  package static let outputCount = 32

  /// The greatest number of bytes in a label: 16.
  package static let maximumLabelCount = Int(crypto_generichash_blake2b_PERSONALBYTES)

  /// Derives a key.
  ///
  /// Returns 32 bytes in guarded memory.
  package static func key(
    from key: borrowing SecretBytes, label: String, fields: RawSpan
  ) throws(SecretsError) -> SecretBytes {
    let derived = try SecretBytes(zeroed: outputCount)
    var status: CInt = -1
    let personal = try Personalization(label)
    guard isKeyCount(key.count) else { throw SecretsError(.invalidLength) }
    unsafe derived.fill { out in
      status = unsafe hash(into: out, key: key, personal: personal, fields: fields)
    }
    Sodium.clearStack()
    guard status == 0 else { throw SecretsError(.invalidLength) }
    derived.protect()
    return derived
  }

  /// Derives an identifier or an authentication tag, which is not secret.
  ///
  /// Returns 32 bytes in ordinary memory.
  package static func tag(
    from key: borrowing SecretBytes, label: String, fields: RawSpan
  ) throws(SecretsError) -> [UInt8] {
    try Sodium.start()
    let personal = try Personalization(label)
    guard isKeyCount(key.count) else { throw SecretsError(.invalidLength) }
    var tag = [UInt8](repeating: 0, count: outputCount)
    let status = unsafe hash(into: &tag, key: key, personal: personal, fields: fields)
    Sodium.clearStack()
    guard status == 0 else { throw SecretsError(.invalidLength) }
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
  /// Hashes bytes.
  ///
  /// Returns the digest, in ordinary memory.
  package static func digest(_ bytes: RawSpan, count: Int) throws(SecretsError) -> [UInt8] {
    guard 16...64 ~= count else { throw SecretsError(.invalidLength) }
    try Sodium.start()
    var digest = [UInt8](repeating: 0, count: count)
    unsafe bytes.withPointer { message, length in
      _ = unsafe crypto_generichash_blake2b(&digest, count, message, UInt64(length), nil, 0)
    }
    return digest
  }

  /// Hashes bytes for one purpose: BLAKE2b-256 with a personalisation.
  ///
  /// Returns 32 bytes in ordinary memory.
  package static func digest(_ bytes: RawSpan, label: String) throws(SecretsError) -> [UInt8] {
    try Sodium.start()
    let personal = try Personalization(label)
    var digest = [UInt8](repeating: 0, count: KeyDerivation.outputCount)
    let status = unsafe bytes.withPointer { message, count in
      unsafe personal.withPointer { personal in
        unsafe crypto_generichash_blake2b_salt_personal(
          &digest, KeyDerivation.outputCount, message, UInt64(count), nil, 0, nil, personal)
      }
    }
    guard status == 0 else { throw SecretsError(.invalidLength) }
    return digest
  }

  /// Hashes secret bytes, such as the contents of a key file, into a key.
  ///
  /// Returns the digest, in guarded memory.
  package static func key(
    hashing bytes: borrowing SecretBytes, count: Int = 32
  ) throws(SecretsError) -> SecretBytes {
    guard 16...64 ~= count else { throw SecretsError(.invalidLength) }
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
