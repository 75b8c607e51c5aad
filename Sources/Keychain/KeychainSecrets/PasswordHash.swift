internal import CLibsodium

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

    /// Describes a cost.
    ///
    /// ``isAcceptable`` says whether it can be used.
    ///
    /// - Parameters:
    ///   - memory: Bytes.
    ///   - passes: Passes over the memory.
    public init(memory: UInt64, passes: UInt32) {
      self.memory = memory
      self.passes = passes
    }

    /// libsodium's `INTERACTIVE`: 64 MiB, 2 passes.
    public static let interactive = Self(memory: 64 << 20, passes: 2)

    /// libsodium's `MODERATE`: 256 MiB, 3 passes.
    public static let moderate = Self(memory: 256 << 20, passes: 3)

    /// The maximum that is accepted: 1 GiB, 10 passes.
    ///
    /// A file must not decide how long its reader works.
    public static let maximum = Self(memory: 1 << 30, passes: 10)

    /// Whether the cost lies between Argon2's own minimum (8 KiB, 1 pass) and ``maximum``, and the
    /// memory is a whole number of KiB, in which Argon2 counts.
    public var isAcceptable: Bool {
      (8 << 10)...Self.maximum.memory ~= memory && memory.isMultiple(of: 1024)
        && 1...Self.maximum.passes ~= passes
    }
  }

  /// Derives 32 bytes from a passphrase.
  ///
  /// - Parameters:
  ///   - passphrase: Any bytes.
  ///   - salt: 16 bytes.
  ///   - parameters: The cost.
  /// - Returns: 32 bytes in guarded memory.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/refusedParameters`` if the cost is not
  ///   acceptable (nothing is allocated), ``SecretsError/Code/outOfMemory`` if there is not enough
  ///   memory, or ``SecretsError/Code/invalidLength`` if the salt is not 16 bytes.
  public static func key(
    passphrase: borrowing SecretBytes, salt: [UInt8], parameters: Parameters
  ) throws(SecretsError) -> SecretBytes {
    try Sodium.start()
    guard salt.count == saltCount else { throw SecretsError(.invalidLength) }
    guard parameters.isAcceptable else { throw SecretsError(.refusedParameters) }
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
    guard status == 0 else { throw SecretsError(.outOfMemory) }
    key.protect()
    return key
  }
}
