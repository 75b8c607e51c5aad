internal import CLibsodium

/// Guarded memory that grows, for a secret whose length is not known beforehand.
@safe
public struct SecretBuffer: ~Copyable {
  private var storage: SecretBytes

  /// The number of bytes written so far.
  public private(set) var count = 0

  /// Creates an empty buffer.
  ///
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public init() throws(SecretsError) {
    try self.init(capacity: 4096)
  }

  /// Creates an empty buffer that has room for some bytes before it grows.
  package init(capacity: Int) throws(SecretsError) {
    storage = try SecretBytes(zeroed: capacity)
  }

  /// Appends one byte.
  ///
  /// - Parameter byte: The byte.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public mutating func append(_ byte: UInt8) throws(SecretsError) {
    try reserve(1)
    unsafe storage.fill { unsafe $0[count] = byte }
    count += 1
  }

  /// Appends bytes.
  ///
  /// - Parameter bytes: The bytes.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public mutating func append(_ bytes: RawSpan) throws(SecretsError) {
    try reserve(bytes.byteCount)
    unsafe bytes.withPointer { source, length in
      unsafe storage.fill { unsafe ($0 + count).update(from: source, count: length) }
    }
    count += bytes.byteCount
  }

  /// Removes and wipes the last bytes.
  ///
  /// - Parameter removed: How many bytes; more than there are empties the buffer.
  public mutating func removeLast(_ removed: Int) {
    let kept = max(0, count - max(0, removed))
    unsafe storage.fill { unsafe sodium_memzero($0 + kept, count - kept) }
    count = kept
  }

  /// The last byte, or `nil` if the buffer is empty.
  public var last: UInt8? {
    count == 0 ? nil : storage.withBytes { $0.byte(at: count - 1) }
  }

  /// Calls `body` with the bytes written so far.
  ///
  /// - Parameter body: Reads the bytes; the span must not outlive the call.
  /// - Returns: What `body` returns.
  /// - Throws: Only what `body` throws.
  public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let count = count
    return try storage.withBytes { bytes throws(Failure) in
      try body(bytes.extracting(0..<count))
    }
  }

  /// Returns the bytes, and wipes the buffer.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/outOfMemory``.
  public consuming func finish() throws(SecretsError) -> SecretBytes {
    let count = count
    return try storage.withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(0..<count))
    }
  }

  /// Reserves `additional` bytes for `body`, which writes into them and returns how many it wrote.
  mutating func append(
    upTo additional: Int,
    _ body: (UnsafeMutablePointer<UInt8>, Int) throws(SecretsError) -> Int
  ) throws(SecretsError) -> Int {
    try reserve(additional)
    var written = 0
    try unsafe storage.fill { out throws(SecretsError) in
      written = try unsafe body(out + count, additional)
    }
    count += written
    return written
  }

  private mutating func reserve(_ additional: Int) throws(SecretsError) {
    guard count + additional > storage.count else { return }
    let larger = try SecretBytes(zeroed: max(storage.count * 2, count + additional))
    let count = count
    unsafe storage.withPointer { old in
      unsafe larger.fill { unsafe $0.update(from: old, count: count) }
    }
    storage = larger
  }
}
