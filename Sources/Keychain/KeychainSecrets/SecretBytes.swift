internal import CPrephirencesLibsodium
internal import Glibc

/// Bytes that must not leak: a password, a token, a key.
///
/// The memory comes from `sodium_malloc`, or from slots of such an allocation for up to 256 bytes.
/// It is kept out of core dumps, is next to guard pages, is locked as far as `RLIMIT_MEMLOCK`
/// allows (a refused lock is not an error), and is wiped when the value is destroyed. The value
/// cannot be printed, or copied by accident.
///
/// ```swift
/// let token = try SecretBytes(copying: "hunter2")
/// let length = token.withBytes { $0.byteCount }
/// ```
@safe
public struct SecretBytes: ~Copyable {
  private let base: UnsafeMutableRawPointer
  private let slab: SecretSlab?

  /// The number of bytes; 0 is allowed.
  public let count: Int

  /// Creates a value of `count` zero bytes, which `body` fills.
  ///
  /// Afterwards they never change: values above 256 bytes become read-only for the whole process.
  ///
  /// - Parameters:
  ///   - count: The number of bytes, not negative.
  ///   - body: Writes the bytes. If it throws, the memory is wiped and the error is rethrown.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory`` if there is not
  ///   enough memory, ``KeychainError/Code/invalidArgument`` if `count` is negative, or what `body`
  ///   throws.
  ///
  /// The corresponding C functions are `sodium_malloc` and `sodium_mprotect_readonly`.
  public init(count: Int, initializingWith body: (inout MutableRawSpan) throws -> Void) throws {
    let fresh = try SecretBytes(zeroed: count)
    try fresh.initialize(with: body)
    fresh.protect()
    self = fresh
  }

  /// Copies bytes into guarded memory; the caller's copy stays.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public init(copying bytes: RawSpan) throws(KeychainError) {
    try self.init(zeroed: bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        unsafe base.copyMemory(from: start, byteCount: source.count)
      }
    }
    protect()
  }

  /// Copies the UTF-8 bytes of a string into guarded memory.
  ///
  /// A `String` cannot be wiped; prefer to read secrets as bytes.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public init(copying string: String) throws(KeychainError) {
    var string = string
    string.makeContiguousUTF8()
    try unsafe self.init(copying: string.utf8Span.span.bytes)
  }

  /// Returns `count` bytes of the system's random generator.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``, or
  ///   ``KeychainError/Code/invalidArgument`` if `count` is negative.
  ///
  /// The corresponding C function is `randombytes_buf`.
  public static func random(count: Int) throws(KeychainError) -> SecretBytes {
    let secret = try SecretBytes(zeroed: count)
    unsafe randombytes_buf(secret.base, count)
    secret.protect()
    return secret
  }

  deinit {
    if let slab {
      unsafe slab.release(base)
    } else {
      unsafe sodium_free(base)
    }
  }

  /// Calls `body` with the bytes; the span must not outlive the call.
  ///
  /// Bytes that `body` copies out of the span are no longer protected.
  ///
  /// - Throws: Only what `body` throws.
  public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(unsafe RawSpan(_unsafeStart: base, byteCount: count)) }

  /// Returns a copy of the bytes in its own guarded memory.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func copy() throws(KeychainError) -> SecretBytes { try copy(of: 0..<count) }

  /// Returns a second value with the bytes of a range, which must lie within these.
  package borrowing func copy(of range: Range<Int>) throws(KeychainError) -> SecretBytes {
    try withBytes { bytes throws(KeychainError) in
      try SecretBytes(copying: bytes.extracting(range))
    }
  }
}

// @unchecked Sendable because the memory is not written between the end of the initializer and
// `deinit`, and `deinit` runs once, after the last borrow.
extension SecretBytes: @unchecked Sendable {}

extension SecretBytes {
  init(zeroed count: Int) throws(KeychainError) {
    let (slab, base) = try unsafe Self.allocate(count)
    self.count = count
    self.slab = slab
    unsafe self.base = base
  }

  private static func allocate(
    _ count: Int
  ) throws(KeychainError) -> (SecretSlab?, UnsafeMutableRawPointer) {
    try Sodium.start()
    guard count >= 0 else { throw .wrongLength }
    if let pool = SecretSlabPool.fitting(count) { return try unsafe pool.allocate() }
    guard let base = unsafe sodium_malloc(count) else { throw .outOfMemory }
    unsafe sodium_memzero(base, count)
    return unsafe (nil, base)
  }

  private borrowing func initialize(with body: (inout MutableRawSpan) throws -> Void) throws {
    var bytes = unsafe MutableRawSpan(_unsafeStart: base, byteCount: count)
    try body(&bytes)
  }

  /// Calls `body` with the memory, before anybody has the value.
  borrowing func fill<Failure: Error>(
    _ body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) { try unsafe body(base.assumingMemoryBound(to: UInt8.self)) }

  /// Makes a large value read-only, once.
  ///
  /// Slots share their page and stay writable, because toggling the protection around each read
  /// would be a race between threads.
  borrowing func protect() { if slab == nil { unsafe sodium_mprotect_readonly(base) } }

  borrowing func withPointer<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafePointer(base.assumingMemoryBound(to: UInt8.self)))
  }

  /// Returns the bytes as base64 text after a prefix, for places that only hold text.
  ///
  /// The corresponding C function is `sodium_bin2base64`, which takes the same time for all bytes
  /// of one length.
  package borrowing func base64Encoded(after prefix: String) throws(KeychainError) -> SecretBytes {
    let start = prefix.utf8.count
    // The length includes a NUL at the end.
    let length = sodium_base64_encoded_len(count, sodium_base64_VARIANT_ORIGINAL)
    let encoded = try SecretBytes(zeroed: start + length)
    unsafe encoded.fill { output in
      unsafe withPointer { input in
        _ = unsafe sodium_bin2base64(
          UnsafeMutableRawPointer(output + start).assumingMemoryBound(to: CChar.self), length,
          input, count, sodium_base64_VARIANT_ORIGINAL)
      }
      for (offset, byte) in prefix.utf8.enumerated() { unsafe output[offset] = byte }
    }
    return try encoded.withBytes { bytes throws(KeychainError) in
      try SecretBytes(copying: bytes.extracting(0..<(start + length - 1)))
    }
  }

  /// Returns the bytes of base64 text; `nil` if it is not base64.
  ///
  /// The corresponding C function is `sodium_base642bin`.
  package borrowing func base64Decoded(after prefixCount: Int) throws(KeychainError) -> SecretBytes?
  {
    let textCount = count - prefixCount
    guard textCount >= 0 else { return nil }
    let decoded = try SecretBytes(zeroed: textCount / 4 * 3)
    var length = 0
    var result: CInt = 0
    unsafe decoded.fill { output in
      unsafe withPointer { input in
        result = unsafe sodium_base642bin(
          output, textCount / 4 * 3,
          UnsafeRawPointer(input + prefixCount).assumingMemoryBound(to: CChar.self), textCount,
          nil, &length, nil, sodium_base64_VARIANT_ORIGINAL)
      }
    }
    guard result == 0 else { return nil }
    return try decoded.withBytes { bytes throws(KeychainError) in
      try SecretBytes(copying: bytes.extracting(0..<length))
    }
  }

  /// Returns the number of bytes of one newline at the end: 2 with a carriage return, 0 if there is
  /// none.
  package borrowing func trailingNewlineCount() -> Int {
    withBytes { bytes in
      let count = bytes.byteCount
      guard count > 0, bytes.byte(at: count - 1) == UInt8(ascii: "\n") else { return 0 }
      return count > 1 && bytes.byte(at: count - 2) == UInt8(ascii: "\r") ? 2 : 1
    }
  }

  /// Returns the bytes without one newline at the end, which editors and `echo` add.
  package borrowing func droppingTrailingNewline() throws(KeychainError) -> SecretBytes {
    let kept = count - trailingNewlineCount()
    return try withBytes { bytes throws(KeychainError) in
      try SecretBytes(copying: bytes.extracting(0..<kept))
    }
  }

  /// Reads a file descriptor, which stays open, to its end, directly into guarded memory; `nil` if
  /// there are more than `limit` bytes.
  ///
  /// An interrupted read is repeated. A descriptor in non-blocking mode is waited for.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/inputOutput`` if reading fails, or
  ///   ``KeychainError/Code/insufficientMemory``.
  ///
  /// The corresponding C function is `read`.
  public static func reading(
    fileDescriptor descriptor: Int32, limit: Int
  ) throws(KeychainError) -> SecretBytes? {
    try reading(fileDescriptor: descriptor, limit: limit) { _ in true }
  }

  /// Reads as ``reading(fileDescriptor:limit:)`` does, but no longer than the caller waits.
  package static func reading(
    fileDescriptor descriptor: Int32, limit: Int, awaiting awaitInput: (Int32) -> Bool
  ) throws(KeychainError) -> SecretBytes? {
    // A key fits into a slot, which costs no system calls.
    var buffer = try SecretBuffer(capacity: min(4095, max(0, limit)) + 1)
    while buffer.count <= limit {
      // As much as fits, then as much again. One byte more than the limit distinguishes "exactly
      // the limit" from "more".
      let room = min(max(4095 - buffer.count, buffer.count), 65535, limit - buffer.count) + 1
      guard awaitInput(descriptor) else { throw .inputOutput(errno: ETIMEDOUT) }
      let count = try unsafe buffer.append(upTo: room) { out, room throws(KeychainError) in
        try repeatingWhileBusy(descriptor, waitingFor: POLLIN) {
          unsafe read(descriptor, out, room)
        }
      }
      if count == 0 { return try buffer.finish() }
    }
    return nil
  }

  /// Repeats a call that was interrupted, or whose non-blocking descriptor was not ready.
  ///
  /// Another program may have left a pipe or terminal in that mode. A call that is interrupted
  /// again and again although the descriptor is ready fails, because a file system can interrupt
  /// each one.
  private static func repeatingWhileBusy(
    _ descriptor: Int32, waitingFor event: CInt, _ call: () -> Int
  ) throws(KeychainError) -> Int {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    var interruptions = 0
    while true {
      let result = call()
      if result >= 0 { return result }
      switch errno {
      case EINTR:
        if unsafe poll(&waiting, 1, 0) > 0 { interruptions += 1 }
        guard interruptions < 1000 else { throw .inputOutput(errno: EINTR) }
      case EAGAIN: unsafe poll(&waiting, 1, -1)
      default: throw .inputOutput(errno: errno)
      }
    }
  }

  /// Writes all bytes to a file descriptor, which stays open.
  ///
  /// An interrupted or partial write is continued. A descriptor in non-blocking mode is waited for.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/inputOutput``; some bytes may have been
  ///   written.
  ///
  /// The corresponding C function is `write`.
  public borrowing func write(toFileDescriptor descriptor: Int32) throws(KeychainError) {
    let count = count
    try unsafe withPointer { bytes throws(KeychainError) in
      var offset = 0
      while offset < count {
        let rest = unsafe bytes + offset
        offset += try Self.repeatingWhileBusy(descriptor, waitingFor: POLLOUT) {
          unsafe Glibc.write(descriptor, rest, count - offset)
        }
      }
    }
  }
}

/// Comparison in constant time, wherever the first difference is.
public enum ConstantTime {
  /// Returns whether two byte strings have equal lengths and bytes; the lengths are not hidden.
  ///
  /// The corresponding C function is `sodium_memcmp`.
  public static func equal(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    return unsafe left.withPointer { left, count in
      unsafe right.withPointer { right, _ in unsafe sodium_memcmp(left, right, count) == 0 }
    }
  }
}

extension SecretBytes {
  /// Returns whether two secrets are equal, in time that reveals only their lengths.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    withBytes { mine in other.withBytes { ConstantTime.equal(mine, $0) } }
  }
}

// Parts of a passphrase that people do not see, and may not type again.
extension SecretBytes {
  /// Whether UTF-8 text begins with the byte order mark that some editors write.
  package var hasByteOrderMark: Bool {
    withBytes { bytes in
      bytes.byteCount >= 3 && bytes.byte(at: 0) == 0xEF && bytes.byte(at: 1) == 0xBB
        && bytes.byte(at: 2) == 0xBF
    }
  }

  /// What is unusual about the bytes of a passphrase, such as "ends with a newline"; `nil` if
  /// nothing is.
  package var oddity: String? {
    let found = [
      hasByteOrderMark ? "begins with a byte order mark, the bytes EF BB BF" : nil,
      hasCombiningMark ? "has letters whose accents are characters of their own" : nil,
      endsWithLineBreak ? "ends with a line break" : nil,
    ].compactMap(\.self)
    return found.isEmpty ? nil : found.joined(separator: ", and ")
  }

  /// Whether there is a combining diacritical mark, U+0300 to U+036F, as in decomposed letters.
  private var hasCombiningMark: Bool {
    withBytes { bytes in
      (1..<max(1, bytes.byteCount)).contains { place in
        switch (bytes.byte(at: place - 1), bytes.byte(at: place)) {
        case (0xCC, 0x80...0xBF), (0xCD, 0x80...0xAF): true
        default: false
        }
      }
    }
  }

  private var endsWithLineBreak: Bool {
    withBytes { bytes in
      bytes.byteCount > 0 && [0x0A, 0x0D].contains(bytes.byte(at: bytes.byteCount - 1))
    }
  }
}
