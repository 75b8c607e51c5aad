internal import CLibsodium

/// Authenticated encryption with a secret key: XSalsa20-Poly1305.
///
/// A box is the nonce (24 bytes, random, new for every box), the tag (16 bytes), then the
/// encrypted bytes.
///
/// The corresponding C functions are `crypto_secretbox_easy` and `crypto_secretbox_open_easy`.
public enum SecretBox {
  /// The number of bytes in a key: 32.
  public static let keyCount = Int(crypto_secretbox_KEYBYTES)

  /// The number of bytes by which a box is longer than its message: 40.
  public static let overhead = nonceCount + Int(crypto_secretbox_MACBYTES)

  static let nonceCount = Int(crypto_secretbox_NONCEBYTES)

  /// Seals a message under a random nonce.
  ///
  /// - Parameters:
  ///   - message: The bytes to encrypt.
  ///   - key: 32 bytes.
  /// - Returns: The box, ``overhead`` bytes longer than the message.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/invalidLength`` if the key is not 32 bytes.
  public static func seal(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(SecretsError) -> [UInt8] {
    try seal(message, with: key, nonce: randomNonce())
  }

  /// Seals the contents of a buffer under a random nonce.
  ///
  /// - Parameters:
  ///   - message: The buffer.
  ///   - key: 32 bytes.
  /// - Returns: The box, ``overhead`` bytes longer than the message.
  /// - Throws: As ``seal(_:with:)-(SecretBytes,_)``.
  public static func seal(
    _ message: borrowing SecretBuffer, with key: borrowing SecretBytes
  ) throws(SecretsError) -> [UInt8] {
    let nonce = randomNonce()
    return try message.withBytes { message throws(SecretsError) in
      try seal(message, with: key, nonce: nonce)
    }
  }

  /// Seals bytes that lie in ordinary memory in any case, under a random nonce.
  ///
  /// Returns the box.
  package static func seal(
    _ message: RawSpan, with key: borrowing SecretBytes
  ) throws(SecretsError) -> [UInt8] {
    try seal(message, with: key, nonce: randomNonce())
  }

  private static func randomNonce() -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: nonceCount)
    unsafe randombytes_buf(&nonce, nonceCount)
    return nonce
  }

  /// Seals a message under a given nonce, for tests against published vectors.
  ///
  /// Not public, because using a nonce twice with one key reveals both messages.
  static func seal(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes, nonce: [UInt8]
  ) throws(SecretsError) -> [UInt8] {
    try message.withBytes { message throws(SecretsError) in
      try seal(message, with: key, nonce: nonce)
    }
  }

  private static func seal(
    _ message: RawSpan, with key: borrowing SecretBytes, nonce: [UInt8]
  ) throws(SecretsError) -> [UInt8] {
    try Sodium.start()
    guard key.count == keyCount, nonce.count == nonceCount else {
      throw SecretsError(.invalidLength)
    }
    let count = message.byteCount + overhead
    let box = unsafe message.withPointer { message, length in
      unsafe key.withPointer { key in
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
          for index in 0..<nonceCount { unsafe buffer[index] = nonce[index] }
          if let start = buffer.baseAddress {
            unsafe crypto_secretbox_easy(
              start + nonceCount, message, UInt64(length), start, key)
          }
          initialized = count
        }
      }
    }
    Sodium.clearStack()
    return box
  }

  /// Opens a box.
  ///
  /// - Parameters:
  ///   - box: Nonce, tag and encrypted bytes, as `seal(_:with:)` returned them.
  ///   - key: 32 bytes.
  /// - Returns: The message, in guarded memory.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/authenticationFailed`` if the box was
  ///   sealed under another key, was changed in any bit, or is too short,
  ///   ``SecretsError/Code/invalidLength`` if the key is not 32 bytes, or
  ///   ``SecretsError/Code/outOfMemory``.
  public static func open(
    _ box: RawSpan, with key: borrowing SecretBytes
  ) throws(SecretsError) -> SecretBytes {
    try Sodium.start()
    guard key.count == keyCount else { throw SecretsError(.invalidLength) }
    guard box.byteCount >= overhead else { throw SecretsError(.authenticationFailed) }
    let message = try SecretBytes(zeroed: box.byteCount - overhead)
    var isRight = false
    unsafe message.fill { isRight = unsafe open(box, with: key, into: $0) }
    guard isRight else { throw SecretsError(.authenticationFailed) }
    message.protect()
    return message
  }

  /// Opens a box whose message is no secret of its own, such as ids, hashes and other boxes.
  ///
  /// Guarded memory costs several system calls for each message, which is more than opening a small
  /// box.
  ///
  /// Returns the message, in ordinary memory.
  package static func openUnguarded(
    _ box: RawSpan, with key: borrowing SecretBytes
  ) throws(SecretsError) -> [UInt8] {
    try Sodium.start()
    guard key.count == keyCount else { throw SecretsError(.invalidLength) }
    guard box.byteCount >= overhead else { throw SecretsError(.authenticationFailed) }
    let messageCount = box.byteCount - overhead
    var isRight = false
    // One byte more, so that there is an address for an empty message.
    let message = unsafe [UInt8](unsafeUninitializedCapacity: messageCount + 1) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      isRight = unsafe open(box, with: key, into: start)
      count = isRight ? messageCount : 0
    }
    guard isRight else { throw SecretsError(.authenticationFailed) }
    return message
  }

  private static func open(
    _ box: RawSpan, with key: borrowing SecretBytes, into out: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    let status = unsafe key.withPointer { key in
      unsafe box.withPointer { box, count in
        unsafe crypto_secretbox_open_easy(
          out, box + nonceCount, UInt64(count - nonceCount), box, key)
      }
    }
    Sodium.clearStack()
    return status == 0
  }
}
