internal import Glibc

@testable internal import KeychainSecrets

/// Decodes hexadecimal digits; other characters are ignored.
func bytes(hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

/// Returns the bytes 0, 1, 2 and so on.
func counting(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

extension SecretBytes {
  init(_ bytes: [UInt8]) throws(KeychainError) { try self.init(copying: bytes.span.bytes) }

  /// The bytes for a comparison in a test; they are not secret there.
  var array: [UInt8] { withBytes { $0.array } }
}

/// Both ends of a pipe, closed when the value is destroyed.
struct Pipe: ~Copyable {
  let readEnd: Int32
  private(set) var writeEnd: Int32

  init(nonBlocking: Bool = false) {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0)
    (readEnd, writeEnd) = (ends[0], ends[1])
    // A child of another test that inherited the write end would keep readers waiting.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    for end in ends where nonBlocking { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  mutating func closeWriteEnd() {
    close(writeEnd)
    writeEnd = -1
  }

  deinit {
    close(readEnd)
    if writeEnd >= 0 { close(writeEnd) }
  }
}
