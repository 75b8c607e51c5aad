package import FoundationEssentials
package import KeychainSecrets

// The functions of libsodium, with this module's errors. The only error is a lack of memory.

/// Signatures under a label.
package enum Signing {
  package static func sign(
    _ message: [UInt8], label: String, seed: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try Data(copying: unsafe Signature.sign(message.span.bytes, label: label, seed: seed))
  }

  package static func isRight(
    _ signature: Data, of message: [UInt8], label: String, publicKey: Data
  ) -> Bool {
    unsafe Signature.isRight(
      Array(signature), of: message.span.bytes, label: label, publicKey: Array(publicKey))
  }
}

/// Boxes: encrypted and authenticated bytes.
package enum Sealing {
  package static func seal(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try Data(SecretBox.seal(message, with: key))
  }

  /// Seals fields in ordinary memory, where they lie already: a guarded copy would protect nothing.
  static func seal(fields: [UInt8], with key: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Data(unsafe SecretBox.seal(fields.span.bytes, with: key))
  }

  /// Opens a box; `nil` if it was not sealed under this key or was changed.
  package static func open(
    _ box: Data, with key: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    try unlessRefused(SecretBox.open(box.bytes, with: key))
  }

  /// Opens a box without anybody's secret into ordinary memory; `nil` as ``open(_:with:)``.
  static func openFields(
    _ box: Data, with key: borrowing SecretBytes
  ) throws(KeychainError) -> [UInt8]? {
    try unlessRefused(SecretBox.openUnguarded(box.bytes, with: key))
  }

  /// Pads fields as ``Padding`` does, in ordinary memory.
  static func padded(fields: [UInt8]) -> [UInt8] {
    let count = Padding.paddedCount(for: fields.count)
    let padded = FieldWriter.fields(capacity: count) { $0.byteString(fields) }
    return padded + [UInt8](repeating: 0, count: count - padded.count)
  }

  static func sealPadded(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try Data(SecretBox.seal(Padding.pad(message), with: key))
  }

  /// Opens a box and removes the padding; `nil` if either breaks the format, or if there are more
  /// bytes than `limit`.
  static func openPadded(
    _ box: Data, with key: borrowing SecretBytes, limit: Int
  ) throws(KeychainError) -> SecretBytes? {
    // Don't allocate memory for a box that is too long.
    guard box.count <= greatestBoxCount(limit: limit), let padded = try open(box, with: key),
      let message = try unlessRefused(Padding.unpad(padded)),
      message.count <= limit
    else { return nil }
    return message
  }

  /// Returns the maximum number of bytes of the box of a padded message.
  package static func greatestBoxCount(limit: Int) -> Int {
    SecretBox.overhead + Padding.paddedCount(for: limit)
  }
}

/// The key of a slot that signs the commits of a shared vault.
package struct CommitSigner: Sendable {
  /// The number of the slot.
  package let number: UInt32
  let seed: SharedSecret

  func sign(_ message: Data, label: String) throws(KeychainError) -> Data {
    try Signing.sign(Array(message), label: label, seed: seed.bytes)
  }

  package func publicKey() throws(KeychainError) -> Data {
    try Data(copying: Signature.publicKey(of: seed.bytes))
  }
}

/// The two key pairs of a slot: one opens its box, the other signs.
package struct SlotKeys: Sendable {
  /// `X`: the public key to which new keys are sealed.
  package let boxKey: Data
  private let boxSecret: SharedSecret
  private let signingSeed: SharedSecret

  init(boxSecret: consuming SecretBytes, signingSeed: consuming SecretBytes) throws(KeychainError) {
    boxKey = try Data(copying: SealedBox.publicKey(of: boxSecret))
    self.boxSecret = SharedSecret(boxSecret)
    self.signingSeed = SharedSecret(signingSeed)
  }

  /// `E`: the public key that checks signatures.
  package func signingKey() throws(KeychainError) -> Data { try signer(0).publicKey() }

  /// Returns the key that signs in the name of the slot.
  package func signer(_ number: UInt32) -> CommitSigner {
    CommitSigner(number: number, seed: signingSeed)
  }

  /// Opens a sealed box; `nil` if it was sealed for another key, or changed.
  func open(_ box: Data) throws(KeychainError) -> SecretBytes? {
    try unlessRefused(SealedBox.open(box.bytes, with: boxSecret.bytes, publicKey: Array(boxKey)))
  }
}
