extension RawSpan {
  /// Calls `body` with a pointer to the bytes.
  ///
  /// For an empty span, the pointer must not be read.
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
}

extension RawSpan {
  /// Returns the byte at `offset`.
  ///
  /// - Precondition: `offset` lies within the span.
  package func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Returns the little-endian integer that begins at `offset`.
  ///
  /// - Precondition: The whole integer lies within the span.
  package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Value.Type
  ) -> Value {
    Value(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The bytes as an unprotected array; not for secrets.
  package var array: [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }

  /// The bytes as text, or `nil` if they are not valid UTF-8.
  package var text: String? {
    unsafe withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }
}
