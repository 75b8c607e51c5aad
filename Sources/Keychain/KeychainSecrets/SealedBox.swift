internal import CLibsodium

/// Encryption to a public key by an anonymous sender: X25519 with XSalsa20-Poly1305.
///
/// The corresponding C functions are `crypto_box_seal` and `crypto_box_seal_open`.
public enum SealedBox {
  /// The number of bytes in a public or private key: 32.
  public static let keyCount = Int(crypto_box_PUBLICKEYBYTES)

  /// The number of bytes by which a sealed box is longer than its message: 48.
  public static let overhead = keyCount + Int(crypto_box_MACBYTES)

  /// Returns the public key that belongs to a private key.
  ///
  /// - Parameter privateKey: 32 bytes, such as those of ``SecretBytes/random(count:)``.
  /// - Returns: 32 bytes.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/invalidLength``.
  ///
  /// The corresponding C function is `crypto_scalarmult_base`.
  public static func publicKey(
    of privateKey: borrowing SecretBytes
  ) throws(SecretsError) -> [UInt8] {
    try Sodium.start()
    guard privateKey.count == keyCount else { throw SecretsError(.invalidLength) }
    var publicKey = [UInt8](repeating: 0, count: keyCount)
    unsafe privateKey.withPointer { _ = unsafe crypto_scalarmult_base(&publicKey, $0) }
    Sodium.clearStack()
    return publicKey
  }

  /// Returns whether bytes are a usable public key.
  ///
  /// A key has only one valid encoding: other bytes that are equal to it modulo the curve's prime
  /// are rejected. So are points of low order, with which everybody computes the same secret.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: `true` if the owner of a private key can open what is sealed to them.
  public static func isPublicKey(_ bytes: [UInt8]) -> Bool {
    bytes.count == keyCount && isReduced(bytes) && !lowOrderKeys.contains(bytes)
  }

  /// The points of low order on the curve and on its twist, in their reduced encodings.
  ///
  /// There are no others. Looking them up takes a thousandth of trying a multiplication.
  static let lowOrderKeys: [[UInt8]] = {
    let small: [[UInt8]] = [0, 1].map { [$0] + [UInt8](repeating: 0, count: keyCount - 1) }
    let order8: [[UInt8]] = [
      [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
      ],
      [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
      ],
    ]
    let belowPrime = [0xec] + [UInt8](repeating: 0xff, count: keyCount - 2) + [0x7f]
    return small + order8 + [belowPrime]
  }()

  /// Whether a little-endian number of 32 bytes is below 2²⁵⁵ − 19.
  private static func isReduced(_ bytes: [UInt8]) -> Bool {
    let prime: [UInt8] = [0xed] + [UInt8](repeating: 0xff, count: keyCount - 2) + [0x7f]
    return bytes.reversed().lexicographicallyPrecedes(prime.reversed())
  }

  /// Seals a message to a public key.
  ///
  /// - Parameters:
  ///   - message: The bytes to encrypt.
  ///   - publicKey: 32 bytes.
  /// - Returns: The box, ``overhead`` bytes longer than the message.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/invalidLength`` if ``isPublicKey(_:)``
  ///   returns `false` for the key.
  public static func seal(
    _ message: borrowing SecretBytes, to publicKey: [UInt8]
  ) throws(SecretsError) -> [UInt8] {
    try Sodium.start()
    guard isPublicKey(publicKey) else { throw SecretsError(.invalidLength) }
    var box = [UInt8](repeating: 0, count: message.count + overhead)
    let count = message.count
    let status = unsafe message.withPointer {
      unsafe crypto_box_seal(&box, $0, UInt64(count), publicKey)
    }
    Sodium.clearStack()
    guard status == 0 else { throw SecretsError(.invalidLength) }
    return box
  }

  /// Opens a sealed box.
  ///
  /// - Parameters:
  ///   - box: The box.
  ///   - privateKey: 32 bytes.
  /// - Returns: The message, in guarded memory.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/authenticationFailed`` if the box was
  ///   sealed to another key or was changed, ``SecretsError/Code/invalidLength`` if the key is
  ///   not 32 bytes, or ``SecretsError/Code/outOfMemory``.
  public static func open(
    _ box: RawSpan, with privateKey: borrowing SecretBytes
  ) throws(SecretsError) -> SecretBytes {
    guard box.byteCount >= overhead else { throw SecretsError(.authenticationFailed) }
    return try open(box, with: privateKey, publicKey: publicKey(of: privateKey))
  }

  /// Opens a sealed box as ``open(_:with:)`` does, without computing a public key that is known.
  ///
  /// - Throws: As ``open(_:with:)``; ``SecretsError/Code/invalidLength`` also for the public key.
  package static func open(
    _ box: RawSpan, with privateKey: borrowing SecretBytes, publicKey: [UInt8]
  ) throws(SecretsError) -> SecretBytes {
    try Sodium.start()
    guard privateKey.count == keyCount, publicKey.count == keyCount else {
      throw SecretsError(.invalidLength)
    }
    guard box.byteCount >= overhead else { throw SecretsError(.authenticationFailed) }
    let message = try SecretBytes(zeroed: box.byteCount - overhead)
    let status = unsafe privateKey.withPointer { privateKey in
      unsafe box.withPointer { box, count in
        var status: CInt = -1
        unsafe message.fill { out in
          status = unsafe crypto_box_seal_open(out, box, UInt64(count), publicKey, privateKey)
        }
        return status
      }
    }
    Sodium.clearStack()
    guard status == 0 else { throw SecretsError(.authenticationFailed) }
    message.protect()
    return message
  }
}
