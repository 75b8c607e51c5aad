internal import CPrephirencesLibsodium

/// The only code that initialises libsodium.
enum Sodium {
  // A global `let` is initialised once, thread-safely. No function of libsodium may be called
  // before: `sodium_malloc` before `sodium_init` aborts the process.
  private static let isReady = sodium_init() >= 0

  static func start() throws(KeychainError) {
    guard isReady else { throw .libraryUnavailable }
  }

  /// Overwrites the stack below the caller, where C code may have left copies of secrets.
  static func clearStack() { sodium_stackzero(8192) }
}

extension RawSpan {
  /// Calls `body` with a pointer to the bytes; for an empty span, it must not be read.
  func withPointer<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafePointer<UInt8>, Int) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withUnsafeBytes { buffer throws(Failure) in
      let bytes = unsafe buffer.bindMemory(to: UInt8.self)
      if let start = bytes.baseAddress { return try unsafe body(start, bytes.count) }
      var nothing: UInt8 = 0
      return try unsafe body(&nothing, 0)
    }
  }

  /// Returns the byte at an offset, which must lie within the span.
  @inlinable package func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Returns the little-endian integer at an offset; all of it must lie within the span.
  @inlinable package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Value.Type
  ) -> Value {
    Value(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The bytes as an unprotected array; don't use it for secrets.
  package var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

  /// The bytes as text; `nil` if they are not UTF-8.
  package var text: String? {
    unsafe withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }
}

/// A label, padded with zeros to the 16 bytes of a personalisation.
struct Personalization {
  /// The bytes in little-endian order.
  private let words: (UInt64, UInt64)

  /// Fails with ``KeychainError/Code/invalidArgument`` if a label has more than
  /// ``KeyDerivation/maximumLabelCount`` bytes.
  init(_ label: String) throws(KeychainError) {
    var words: (UInt64, UInt64) = (0, 0)
    var count: UInt64 = 0
    for byte in label.utf8 {
      guard count < KeyDerivation.maximumLabelCount else { throw .wrongLength }
      if count < 8 {
        words.0 |= UInt64(byte) << (8 * count)
      } else {
        words.1 |= UInt64(byte) << (8 * (count - 8))
      }
      count += 1
    }
    self.words = (words.0.littleEndian, words.1.littleEndian)
  }

  var bytes: [UInt8] {
    unsafe withPointer { unsafe Array(UnsafeBufferPointer(start: $0, count: 16)) }
  }

  func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    unsafe withUnsafeBytes(of: words) { words in
      unsafe RawSpan(_unsafeBytes: words).withPointer { start, _ in unsafe body(start) }
    }
  }
}
