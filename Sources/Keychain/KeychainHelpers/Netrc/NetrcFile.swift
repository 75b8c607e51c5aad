public import KeychainCredentials
public import KeychainSecrets

/// A netrc file, as programs such as curl, Python and SwiftPM read it.
///
/// ```swift
/// let text = try SecretBytes(copying: "machine example.com login alice password hunter2")
/// let file = try NetrcFile(text)
/// for entry in file.entries {
///   if case .machine(let host) = entry.subject { print(host, entry.login ?? "") }
/// }
/// ```
///
/// Words are separated by white space. A value in double quotes may have blanks, and `\"` and `\\` for
/// a quote and a backslash. A word that begins with `#` in place of a keyword starts a comment, which
/// ends with its line. A macro ends with an empty line. Keywords are read in any case.
public struct NetrcFile: ~Copyable, Sendable {
  /// The text, which contains passwords.
  public let text: SecretBytes

  /// The entries and the definitions of macros, in the order of the file.
  public let entries: [NetrcEntry]

  /// The maximum number of bytes of a text: 1 MiB.
  public static let maximumCount = 1 << 20

  /// Reads a text.
  ///
  /// - Parameter text: The text. An empty one has no entries.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if it is not in this format.
  ///   The error names the line, and none of its words, which may be passwords.
  public init(_ text: consuming SecretBytes) throws(KeychainError) {
    entries = try text.withBytes { bytes throws(KeychainError) in
      var parser = NetrcParser()
      return try parser.entries(in: bytes)
    }
    self.text = text
  }

  /// Returns the password of an entry.
  ///
  /// - Parameter entry: An entry of this file.
  /// - Returns: The password, without quotes; `nil` if the entry has none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func password(of entry: NetrcEntry) throws(KeychainError) -> SecretBytes? {
    guard let word = entry.password else { return nil }
    do throws(SecretsError) {
      return try text.withBytes { bytes throws(SecretsError) in try word.value(in: bytes) }
    } catch {
      throw KeychainError(error)
    }
  }

  /// Returns the text without some entries; every other byte stays, comments within them too.
  ///
  /// Of a line that had nothing else, nothing is left.
  ///
  /// - Parameter removed: Entries of this file.
  /// - Returns: The rest.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func text(
    without removed: [NetrcEntry]
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try text.withBytes { bytes throws(SecretsError) in
        var rest = try SecretBuffer()
        var position = 0
        for piece in removed.flatMap(\.pieces).sorted(by: { $0.lowerBound < $1.lowerBound }) {
          let hole = bytes.netrcHole(of: piece)
          if position < hole.lowerBound {
            try rest.append(bytes.extracting(position..<hole.lowerBound))
          }
          position = max(position, hole.upperBound)
        }
        try rest.append(bytes.extracting(position..<bytes.byteCount))
        return try rest.finish()
      }
    } catch {
      throw KeychainError(error)
    }
  }
}

extension RawSpan {
  /// Returns what goes with a piece of an entry: the blanks after it, and its line if that has nothing
  /// else.
  fileprivate func netrcHole(of piece: Range<Int>) -> Range<Int> {
    let blanks: Set = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var (start, end) = (piece.lowerBound, piece.upperBound)
    while end < byteCount, blanks.contains(byte(at: end)) { end += 1 }
    while start > 0, blanks.contains(byte(at: start - 1)) { start -= 1 }
    guard start == 0 || byte(at: start - 1) == UInt8(ascii: "\n") else {
      return piece.lowerBound..<end
    }
    if end < byteCount, byte(at: end) == UInt8(ascii: "\r") { end += 1 }
    if end < byteCount, byte(at: end) == UInt8(ascii: "\n") { return start..<end + 1 }
    return (end == byteCount ? start : piece.lowerBound)..<end
  }
}
