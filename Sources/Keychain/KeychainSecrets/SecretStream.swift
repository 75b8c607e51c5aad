internal import CPrephirencesLibsodium

/// Authenticated encryption of a sequence of messages: XChaCha20-Poly1305 with rekeying.
///
/// Messages open only in their order, each once, without gaps. The tag ``Tag/final`` shows that
/// none is missing at the end.
///
/// The corresponding C functions are those of `crypto_secretstream_xchacha20poly1305`.
public enum SecretStream {
  /// The number of bytes in a key: 32.
  public static let keyCount = Int(crypto_secretstream_xchacha20poly1305_KEYBYTES)

  /// The number of bytes in the header that begins a stream: 24.
  public static let headerCount = Int(crypto_secretstream_xchacha20poly1305_HEADERBYTES)

  /// The number of bytes by which a sealed message is longer than the message: 17.
  public static let overhead = Int(crypto_secretstream_xchacha20poly1305_ABYTES)

  /// The role of a message in its stream.
  @frozen public enum Tag: UInt8, Hashable, Sendable {
    /// A message among others.
    case message = 0

    /// The last of a group of messages.
    case push = 1

    /// The last message before both sides change the key.
    case rekey = 2

    /// The last message.
    case final = 3
  }

  /// An opened message.
  public struct Message: ~Copyable {
    /// The bytes.
    public let bytes: SecretBytes

    /// The role of the message in its stream.
    public let tag: Tag

    /// Returns the bytes alone, without copying them.
    public consuming func takeBytes() -> SecretBytes { bytes }
  }

  fileprivate typealias State = crypto_secretstream_xchacha20poly1305_state
}

extension SecretStream {
  /// Seals the messages of a stream.
  public struct Sealer: ~Copyable {
    // The state contains the key, so it is in guarded memory and is wiped with it.
    private let state: SecretBytes

    /// The beginning of the stream, which is needed to open it.
    public let header: [UInt8]

    /// Begins a stream under a random nonce.
    ///
    /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the key is not 32
    ///   bytes, or ``KeychainError/Code/insufficientMemory``.
    public init(key: borrowing SecretBytes) throws(KeychainError) {
      guard key.count == keyCount else { throw .wrongLength }
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

    /// Seals the next message, into ``SecretStream/overhead`` bytes more.
    ///
    /// - Parameters:
    ///   - message: The bytes to encrypt.
    ///   - tag: The role of the message in the stream.
    ///   - additionalData: Bytes that are authenticated too, and must be given to open the message.
    public mutating func seal(
      _ message: borrowing SecretBytes, tag: Tag = .message, additionalData: [UInt8] = []
    ) -> [UInt8] { message.withBytes { Self.seal($0, state, tag, additionalData) } }

    /// Seals the contents of a buffer as the next message, as
    /// ``seal(_:tag:additionalData:)-(SecretBytes,_,_)`` does.
    public mutating func seal(
      _ message: borrowing SecretBuffer, tag: Tag = .message, additionalData: [UInt8] = []
    ) -> [UInt8] { message.withBytes { Self.seal($0, state, tag, additionalData) } }

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

    /// Begins to open a stream, whose header has ``SecretStream/headerCount`` bytes.
    ///
    /// A wrong key is noticed with the first message.
    ///
    /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the key or the
    ///   header has another length, or ``KeychainError/Code/insufficientMemory``.
    public init(key: borrowing SecretBytes, header: RawSpan) throws(KeychainError) {
      guard key.count == keyCount, header.byteCount == headerCount else {
        throw .wrongLength
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

    /// Opens the next message, and returns it in guarded memory with its tag.
    ///
    /// `additionalData` must be the bytes that were authenticated with it. After an error, the
    /// right message can still be opened.
    ///
    /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if the message was sealed
    ///   under another key, is not the next one, was changed in any bit, or is too short; or
    ///   ``KeychainError/Code/insufficientMemory``.
    public mutating func open(
      _ sealed: RawSpan, additionalData: [UInt8] = []
    ) throws(KeychainError) -> Message {
      guard sealed.byteCount >= overhead else { throw .notAuthentic }
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
        throw .notAuthentic
      }
      message.protect()
      return Message(bytes: message, tag: tag)
    }
  }
}

extension SecretBytes {
  /// Calls `body` with these bytes as the state of a stream; they fit into a slot, whose memory
  /// stays writable.
  fileprivate borrowing func withState(_ body: (UnsafeMutablePointer<SecretStream.State>) -> Void) {
    unsafe fill { bytes in
      unsafe UnsafeMutableRawPointer(bytes).withMemoryRebound(
        to: SecretStream.State.self, capacity: 1
      ) { unsafe body($0) }
    }
  }
}
