internal import CLibsodium

/// Authenticated encryption of a sequence of messages: XChaCha20-Poly1305 with rekeying.
///
/// Messages open only in their order, each once, none left out; that none is missing at the end is
/// told by the tag ``Tag/final``.
///
/// The corresponding C functions are those of `crypto_secretstream_xchacha20poly1305`.
public enum SecretStream {
  /// The number of bytes in a key: 32.
  public static let keyCount = Int(crypto_secretstream_xchacha20poly1305_KEYBYTES)

  /// The number of bytes in the header that begins a stream: 24.
  public static let headerCount = Int(crypto_secretstream_xchacha20poly1305_HEADERBYTES)

  /// By how many bytes a sealed message is longer than the message: 17.
  public static let overhead = Int(crypto_secretstream_xchacha20poly1305_ABYTES)

  /// What a message is in its stream.
  public enum Tag: UInt8, Hashable, Sendable {
    /// One of many.
    case message = 0

    /// The last of a group of messages.
    case push = 1

    /// The last one before both sides change the key.
    case rekey = 2

    /// The last one.
    case final = 3
  }

  /// A message that was opened.
  public struct Message: ~Copyable {
    /// The bytes.
    public let bytes: SecretBytes

    /// What the message is in its stream.
    public let tag: Tag

    /// Returns the bytes alone, without copying them.
    ///
    /// - Returns: The bytes.
    public consuming func takeBytes() -> SecretBytes { bytes }
  }

  fileprivate typealias State = crypto_secretstream_xchacha20poly1305_state
}

extension SecretStream {
  /// Seals the messages of a stream.
  public struct Sealer: ~Copyable {
    // The state holds the key: it lies in guarded memory, and is wiped with it.
    private let state: SecretBytes

    /// What the stream begins with; whoever opens it needs it.
    public let header: [UInt8]

    /// Begins a stream under a random nonce.
    ///
    /// - Parameter key: 32 bytes.
    /// - Throws: ``SecretsError`` with ``SecretsError/Code/invalidLength`` if the key is not 32
    ///   bytes, or ``SecretsError/Code/outOfMemory``.
    public init(key: borrowing SecretBytes) throws(SecretsError) {
      guard key.count == keyCount else { throw SecretsError(.invalidLength) }
      let state = try SecretBytes(zeroed: MemoryLayout<State>.size)
      var header = [UInt8](repeating: 0, count: headerCount)
      unsafe key.withPointer { key in
        unsafe state.withState { state in
          _ = unsafe crypto_secretstream_xchacha20poly1305_init_push(state, &header, key)
        }
      }
      Sodium.clearStack()
      self.state = state
      self.header = header
    }

    /// Seals the next message.
    ///
    /// - Parameters:
    ///   - message: The bytes to encrypt.
    ///   - tag: What the message is in the stream.
    ///   - additionalData: Bytes that are authenticated with it, and must be given to open it.
    /// - Returns: The sealed message, ``SecretStream/overhead`` bytes longer.
    public mutating func seal(
      _ message: borrowing SecretBytes, tag: Tag = .message, additionalData: [UInt8] = []
    ) -> [UInt8] {
      message.withBytes { Self.seal($0, state, tag, additionalData) }
    }

    /// Seals what a buffer holds as the next message.
    ///
    /// - Parameters:
    ///   - message: The buffer.
    ///   - tag: What the message is in the stream.
    ///   - additionalData: Bytes that are authenticated with it, and must be given to open it.
    /// - Returns: The sealed message, ``SecretStream/overhead`` bytes longer.
    public mutating func seal(
      _ message: borrowing SecretBuffer, tag: Tag = .message, additionalData: [UInt8] = []
    ) -> [UInt8] {
      message.withBytes { Self.seal($0, state, tag, additionalData) }
    }

    private static func seal(
      _ message: RawSpan, _ state: borrowing SecretBytes, _ tag: Tag, _ additionalData: [UInt8]
    ) -> [UInt8] {
      let sealed = unsafe message.withPointer { message, count in
        unsafe [UInt8](unsafeUninitializedCapacity: count + overhead) { buffer, initialized in
          unsafe state.withState { state in
            _ = unsafe crypto_secretstream_xchacha20poly1305_push(
              state, buffer.baseAddress, nil, message, UInt64(count), additionalData,
              UInt64(additionalData.count), tag.rawValue)
          }
          initialized = count + overhead
        }
      }
      Sodium.clearStack()
      return sealed
    }
  }

  /// Opens the messages of a stream.
  public struct Opener: ~Copyable {
    private let state: SecretBytes

    /// Begins to open a stream.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - header: What the stream begins with: ``SecretStream/headerCount`` bytes.
    /// - Throws: ``SecretsError`` with ``SecretsError/Code/invalidLength`` if the key or the header
    ///   has another length, or ``SecretsError/Code/outOfMemory``. A wrong key shows with the first
    ///   message.
    public init(key: borrowing SecretBytes, header: RawSpan) throws(SecretsError) {
      guard key.count == keyCount, header.byteCount == headerCount else {
        throw SecretsError(.invalidLength)
      }
      let state = try SecretBytes(zeroed: MemoryLayout<State>.size)
      unsafe key.withPointer { key in
        unsafe header.withPointer { header, _ in
          unsafe state.withState { state in
            _ = unsafe crypto_secretstream_xchacha20poly1305_init_pull(state, header, key)
          }
        }
      }
      Sodium.clearStack()
      self.state = state
    }

    /// Opens the next message.
    ///
    /// - Parameters:
    ///   - sealed: What ``Sealer/seal(_:tag:additionalData:)-(SecretBytes,_,_)`` returned.
    ///   - additionalData: The bytes that were authenticated with it.
    /// - Returns: The message, in guarded memory, and its tag.
    /// - Throws: ``SecretsError`` with ``SecretsError/Code/authenticationFailed`` if the message was
    ///   sealed under another key, is not the next one, or was changed in any bit (one too short to
    ///   be a message included), or ``SecretsError/Code/outOfMemory``. The right message can still be
    ///   opened then.
    public mutating func open(
      _ sealed: RawSpan, additionalData: [UInt8] = []
    ) throws(SecretsError) -> Message {
      guard sealed.byteCount >= overhead else { throw SecretsError(.authenticationFailed) }
      let message = try SecretBytes(zeroed: sealed.byteCount - overhead)
      var status: CInt = -1
      var tag: UInt8 = 0
      unsafe sealed.withPointer { sealed, count in
        unsafe message.fill { out in
          unsafe state.withState { state in
            status = unsafe crypto_secretstream_xchacha20poly1305_pull(
              state, out, nil, &tag, sealed, UInt64(count), additionalData,
              UInt64(additionalData.count))
          }
        }
      }
      Sodium.clearStack()
      guard status == 0, let tag = Tag(rawValue: tag) else {
        throw SecretsError(.authenticationFailed)
      }
      message.protect()
      return Message(bytes: message, tag: tag)
    }
  }
}

extension SecretBytes {
  /// Calls `body` with the state of a stream, which these bytes are.
  ///
  /// It is short enough for a slot, whose memory stays writable.
  fileprivate borrowing func withState(
    _ body: (UnsafeMutablePointer<SecretStream.State>) -> Void
  ) {
    unsafe fill { bytes in
      unsafe UnsafeMutableRawPointer(bytes).withMemoryRebound(
        to: SecretStream.State.self, capacity: 1
      ) { unsafe body($0) }
    }
  }
}
