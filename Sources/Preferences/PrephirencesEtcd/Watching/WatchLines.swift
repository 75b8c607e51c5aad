/// Divides the answer to a watch, which never ends, into its lines.
struct WatchLines {
  /// The longest line: a revision is at most 1.5 MiB, which base64 and the keys enlarge.
  static let limit = 16 << 20

  private var bytes: [UInt8] = []
  /// Up to here, there is no end of a line.
  private var searched = 0

  /// Adds bytes, and returns the lines that are complete.
  ///
  /// - Throws: ``EtcdError/Code/protocolViolation`` if a line is too long.
  mutating func add(_ data: [UInt8]) throws(EtcdError) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    bytes += data
    var start = 0
    while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      if end > start { lines.append(Array(bytes[start..<end])) }
      start = end + 1
      searched = start
    }
    bytes.removeFirst(start)
    searched = bytes.count
    guard bytes.count <= Self.limit else { throw .malformed }
    return lines
  }

  /// What is not a complete line.
  var rest: [UInt8] { bytes }
}
