internal import CPrephirencesLibsodium

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

  /// Seals a message with a key of 32 bytes, under a random nonce, into a box that is ``overhead``
  /// bytes longer.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the key is not 32
  ///   bytes.
  public static func seal(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8] { try seal(message, with: key, nonce: randomNonce()) }

  /// Seals the contents of a buffer under a random nonce.
  ///
  /// - Throws: As ``seal(_:with:)-(SecretBytes,_)``.
  public static func seal(
    _ message: borrowing SecretBuffer, with key: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8] {
    let nonce = randomNonce()
    return try message.withBytes { message throws(KeychainError) in
      try seal(message, with: key, nonce: nonce)
    }
  }

  /// Seals bytes that are already in ordinary memory, under a random nonce.
  package static func seal(
    _ message: RawSpan, with key: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8] { try seal(message, with: key, nonce: randomNonce()) }

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
  ) throws(KeychainError) -> [UInt8] {
    try message.withBytes { message throws(KeychainError) in
      try seal(message, with: key, nonce: nonce)
    }
  }

  private static func seal(
    _ message: RawSpan, with key: borrowing SecretBytes, nonce: [UInt8]
  ) throws(KeychainError) -> [UInt8] {
    try Sodium.start()
    guard key.count == keyCount, nonce.count == nonceCount else {
      throw .wrongLength
    }
    let count = message.byteCount + overhead
    let box = unsafe message.withPointer { message, length in
      unsafe key.withPointer { key in
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
          for index in 0..<nonceCount { unsafe buffer[index] = nonce[index] }
          if let start = buffer.baseAddress {
            unsafe crypto_secretbox_easy(start + nonceCount, message, UInt64(length), start, key)
          }
          initialized = count
        }
      }
    }
    Sodium.clearStack()
    return box
  }

  /// Opens a box, and returns its message in guarded memory.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if the box was sealed under
  ///   another key, was changed in any bit, or is too short, ``KeychainError/Code/invalidArgument``
  ///   if the key is not 32 bytes, or ``KeychainError/Code/insufficientMemory``.
  public static func open(
    _ box: RawSpan, with key: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    try Sodium.start()
    guard key.count == keyCount else { throw .wrongLength }
    guard box.byteCount >= overhead else { throw .notAuthentic }
    let message = try SecretBytes(zeroed: box.byteCount - overhead)
    var isRight = false
    unsafe message.fill { isRight = unsafe open(box, with: key, into: $0) }
    guard isRight else { throw .notAuthentic }
    message.protect()
    return message
  }

  /// Opens a box into ordinary memory.
  ///
  /// Its message must not be a secret itself, such as ids, hashes and other boxes.
  ///
  /// Guarded memory costs several system calls for each message, more than opening a small box.
  package static func openUnguarded(
    _ box: RawSpan, with key: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8] {
    try Sodium.start()
    guard key.count == keyCount else { throw .wrongLength }
    guard box.byteCount >= overhead else { throw .notAuthentic }
    let messageCount = box.byteCount - overhead
    var isRight = false
    // One byte more, so that there is an address for an empty message.
    let message = unsafe [UInt8](unsafeUninitializedCapacity: messageCount + 1) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      isRight = unsafe open(box, with: key, into: start)
      count = isRight ? messageCount : 0
    }
    guard isRight else { throw .notAuthentic }
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

/// Encryption to a public key by an anonymous sender: X25519 with XSalsa20-Poly1305.
///
/// The corresponding C functions are `crypto_box_seal` and `crypto_box_seal_open`.
public enum SealedBox {
  /// The number of bytes in a public or private key: 32.
  public static let keyCount = Int(crypto_box_PUBLICKEYBYTES)

  /// The number of bytes by which a sealed box is longer than its message: 48.
  public static let overhead = keyCount + Int(crypto_box_MACBYTES)

  /// Returns the public key, 32 bytes, of a private key of 32 bytes, such as
  /// ``SecretBytes/random(count:)``.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument``.
  ///
  /// The corresponding C function is `crypto_scalarmult_base`.
  public static func publicKey(
    of privateKey: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8] {
    try Sodium.start()
    guard privateKey.count == keyCount else { throw .wrongLength }
    var publicKey = [UInt8](repeating: 0, count: keyCount)
    unsafe privateKey.withPointer { _ = unsafe crypto_scalarmult_base(&publicKey, $0) }
    Sodium.clearStack()
    return publicKey
  }

  /// Returns whether bytes are a usable public key, so that the owner of a private key can open its
  /// boxes.
  ///
  /// A key has only one valid encoding: other bytes that are equal to it modulo the curve's prime
  /// are rejected. So are points of low order, with which everybody computes the same secret.
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

  /// Seals a message to a public key, into a box that is ``overhead`` bytes longer.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if ``isPublicKey(_:)``
  ///   returns `false` for the key.
  public static func seal(
    _ message: borrowing SecretBytes, to publicKey: [UInt8]
  ) throws(KeychainError) -> [UInt8] {
    try Sodium.start()
    guard isPublicKey(publicKey) else { throw .wrongLength }
    var box = [UInt8](repeating: 0, count: message.count + overhead)
    let count = message.count
    let status = unsafe message.withPointer {
      unsafe crypto_box_seal(&box, $0, UInt64(count), publicKey)
    }
    Sodium.clearStack()
    guard status == 0 else { throw .wrongLength }
    return box
  }

  /// Opens a sealed box with a private key of 32 bytes, and returns its message in guarded memory.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if the box was sealed to
  ///   another key or was changed, ``KeychainError/Code/invalidArgument`` if the key is not 32
  ///   bytes, or ``KeychainError/Code/insufficientMemory``.
  public static func open(
    _ box: RawSpan, with privateKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    guard box.byteCount >= overhead else { throw .notAuthentic }
    return try open(box, with: privateKey, publicKey: publicKey(of: privateKey))
  }

  /// Opens a sealed box as ``open(_:with:)`` does, without computing a known public key.
  ///
  /// - Throws: As ``open(_:with:)``; ``KeychainError/Code/invalidArgument`` also for the public
  ///   key.
  package static func open(
    _ box: RawSpan, with privateKey: borrowing SecretBytes, publicKey: [UInt8]
  ) throws(KeychainError) -> SecretBytes {
    try Sodium.start()
    guard privateKey.count == keyCount, publicKey.count == keyCount else {
      throw .wrongLength
    }
    guard box.byteCount >= overhead else { throw .notAuthentic }
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
    guard status == 0 else { throw .notAuthentic }
    message.protect()
    return message
  }
}

/// Padding that hides all but the magnitude of a length.
///
/// A padded text is the length of the data (32 bits, little-endian), the data, then zeros: up to
/// 256 bytes in all, above that up to the next Padmé length, which is at most 12 % longer. Source
/// of Padmé: Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and Communication with
/// PURBs", section 4.3.
package enum Padding {
  package static let headerCount = 4
  static let minimumCount = 256

  /// Returns the number of bytes of the padded text for `count` bytes of data, including the
  /// header.
  package static func paddedCount(for count: Int) -> Int {
    let needed = count + headerCount
    guard needed > minimumCount else { return minimumCount }
    let exponent = needed.bitWidth - 1 - needed.leadingZeroBitCount
    let exponentBits = exponent.bitWidth - exponent.leadingZeroBitCount
    let mask = (1 << (exponent - exponentBits)) - 1
    return (needed + mask) & ~mask
  }

  /// Pads data, in guarded memory.
  package static func pad(_ data: borrowing SecretBytes) throws(KeychainError) -> SecretBytes {
    guard let length = UInt32(exactly: data.count) else { throw .wrongLength }
    let count = data.count
    let padded = try SecretBytes(zeroed: paddedCount(for: count))
    unsafe padded.fill { out in
      for index in 0..<headerCount {
        unsafe out[index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index)))
      }
      unsafe data.withPointer { unsafe (out + headerCount).update(from: $0, count: count) }
    }
    padded.protect()
    return padded
  }

  /// Removes the padding, and returns the data in guarded memory.
  package static func unpad(_ padded: borrowing SecretBytes) throws(KeychainError) -> SecretBytes {
    try padded.withBytes { bytes throws(KeychainError) in
      guard let range = range(in: bytes) else { throw .notAuthentic }
      return try SecretBytes(copying: bytes.extracting(range))
    }
  }

  /// Returns the range of the data in a padded text; `nil` if the length, the number of zeros or a
  /// zero is wrong.
  package static func range(in padded: RawSpan) -> Range<Int>? {
    guard padded.byteCount >= minimumCount else { return nil }
    let count = Int(padded.littleEndian(at: 0, as: UInt32.self))
    guard count <= padded.byteCount - headerCount, paddedCount(for: count) == padded.byteCount
    else { return nil }
    var rest: UInt8 = 0
    for offset in (headerCount + count)..<padded.byteCount { rest |= padded.byte(at: offset) }
    return rest == 0 ? headerCount..<(headerCount + count) : nil
  }
}
