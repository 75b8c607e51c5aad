internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesText

/// The files in memory that a command gets, by their names.
struct ChildFiles {
  private var files: [(names: [String], file: InheritedFile)] = []

  /// Makes a file, with one or two names.
  mutating func add(
    _ name: String, _ contents: borrowing SecretBytes, alsoNamed other: String? = nil
  ) throws(KeychainError) -> InheritedFile {
    let file = try InheritedFile(contents)
    files.append(([name] + (other.map { [$0] } ?? []), file))
    return file
  }

  /// Replaces each `@NAME@` in the arguments of a command by the path of that file.
  ///
  /// Other text between such signs stays, and so does the name of the command.
  func naming(in words: [[UInt8]]) -> [[UInt8]] {
    let sign = UInt8(ascii: "@")
    return words.enumerated().map { index, word in
      guard index > 0, !files.isEmpty, word.contains(sign) else { return word }
      var result: [UInt8] = []
      var rest = word[...]
      while let start = rest.firstIndex(of: sign) {
        result += rest[..<start]
        rest = rest[start...]
        if let (path, end) = path(named: rest) {
          result += path.utf8
          rest = rest[end...]
        } else {
          result.append(sign)
          rest = rest.dropFirst()
        }
      }
      return result + rest
    }
  }

  /// Leaves the files open in the command.
  func letChildInherit() throws(KeychainError) {
    for (_, file) in files { try file.letChildrenInherit() }
  }

  /// Returns the path of the file whose marker begins some bytes, and where the marker ends.
  private func path(named bytes: ArraySlice<UInt8>) -> (path: String, end: Int)? {
    for (names, file) in files {
      for marker in names.map({ Array("@\($0)@".utf8) }) where bytes.starts(with: marker) {
        return (file.path, bytes.startIndex + marker.count)
      }
    }
    return nil
  }
}
