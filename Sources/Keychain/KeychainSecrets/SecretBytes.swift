internal import CLibsodium

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
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory`` if there is not enough
  ///   memory, ``SecretsError/Code/invalidLength`` if `count` is negative, or what `body` throws.
  ///
  /// The corresponding C functions are `sodium_malloc` and `sodium_mprotect_readonly`.
  public init(
    count: Int,
    initializingWith body: (inout MutableRawSpan) throws -> Void
  ) throws {
    let fresh = try SecretBytes(zeroed: count)
    try fresh.initialize(with: body)
    fresh.protect()
    self = fresh
  }

  /// Copies bytes into guarded memory.
  ///
  /// - Parameter bytes: The bytes to copy. The caller's own copy is not changed.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public init(copying bytes: RawSpan) throws(SecretsError) {
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
  /// - Parameter string: The text. A `String` cannot be wiped; prefer to read secrets as bytes.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public init(copying string: String) throws(SecretsError) {
    var string = string
    string.makeContiguousUTF8()
    try unsafe self.init(copying: string.utf8Span.span.bytes)
  }

  /// Returns `count` bytes of the system's random generator.
  ///
  /// - Parameter count: The number of bytes, not negative.
  /// - Returns: The bytes.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``, or
  ///   ``SecretsError/Code/invalidLength`` if `count` is negative.
  ///
  /// The corresponding C function is `randombytes_buf`.
  public static func random(count: Int) throws(SecretsError) -> SecretBytes {
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

  /// Calls `body` with the bytes.
  ///
  /// Bytes that `body` copies out of the span are no longer protected.
  ///
  /// - Parameter body: Reads the bytes; the span must not outlive the call.
  /// - Returns: What `body` returns.
  /// - Throws: Only what `body` throws.
  public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafe RawSpan(_unsafeStart: base, byteCount: count))
  }

  /// Returns a second value with the same bytes.
  ///
  /// - Returns: The copy, in its own guarded memory.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public borrowing func copy() throws(SecretsError) -> SecretBytes {
    try copy(of: 0..<count)
  }

  /// Returns a second value with the bytes of a range, which must lie within these.
  package borrowing func copy(of range: Range<Int>) throws(SecretsError) -> SecretBytes {
    try withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(range))
    }
  }
}

// @unchecked Sendable because the memory is not written between the end of the initializer and
// `deinit`, and `deinit` runs once, after the last borrow.
extension SecretBytes: @unchecked Sendable {}

extension SecretBytes {
  init(zeroed count: Int) throws(SecretsError) {
    let (slab, base) = try unsafe Self.allocate(count)
    self.count = count
    self.slab = slab
    unsafe self.base = base
  }

  private static func allocate(
    _ count: Int
  ) throws(SecretsError) -> (SecretSlab?, UnsafeMutableRawPointer) {
    try Sodium.start()
    guard count >= 0 else { throw SecretsError(.invalidLength) }
    if let pool = SecretSlabPool.fitting(count) { return try unsafe pool.allocate() }
    guard let base = unsafe sodium_malloc(count) else { throw SecretsError(.outOfMemory) }
    unsafe sodium_memzero(base, count)
    return unsafe (nil, base)
  }

  private borrowing func initialize(with body: (inout MutableRawSpan) throws -> Void) throws {
    var bytes = unsafe MutableRawSpan(_unsafeStart: base, byteCount: count)
    try body(&bytes)
  }

  /// Calls `body` with the memory, before the value is handed out.
  borrowing func fill<Failure: Error>(
    _ body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    try unsafe body(base.assumingMemoryBound(to: UInt8.self))
  }

  /// Makes a large value read-only, once.
  ///
  /// Slots share their page and stay writable, because toggling the protection around each read
  /// would be a race between threads.
  borrowing func protect() {
    if slab == nil { unsafe sodium_mprotect_readonly(base) }
  }
}

extension SecretBytes {
  borrowing func withPointer<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafePointer(base.assumingMemoryBound(to: UInt8.self)))
  }
}
