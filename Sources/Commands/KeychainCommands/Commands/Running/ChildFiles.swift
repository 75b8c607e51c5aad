internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesSystem

/// The files in memory that a command gets, by their names.
struct ChildFiles {
  /// Where the files are; `nil` if they have no names in any folder.
  private let folder: WatchedFolder?

  private var inherited: [InheritedFile] = []
  private var paths: [(names: [String], path: String)] = []

  init(in folder: WatchedFolder?) {
    self.folder = folder
  }

  /// Makes a file, with one or two names, and returns its path.
  mutating func add(
    _ name: String, _ contents: borrowing SecretBytes, alsoNamed other: String? = nil
  ) throws(KeychainError) -> String {
    let path = try makeFile(name, contents)
    paths.append(([name] + (other.map { [$0] } ?? []), path))
    return path
  }

  private mutating func makeFile(
    _ name: String, _ contents: borrowing SecretBytes
  ) throws(KeychainError) -> String {
    if let folder { return try folder.add(name, contents) }
    let file = try InheritedFile(contents)
    inherited.append(file)
    return try file.pathInThisProcess()
  }

  /// Replaces each `@NAME@` in the arguments of a command by the path of that file.
  ///
  /// Other text between such signs stays, and so does the name of the command.
  func naming(in words: [[UInt8]]) -> [[UInt8]] {
    let sign = UInt8(ascii: "@")
    return words.enumerated().map { index, word in
      guard index > 0, !paths.isEmpty, word.contains(sign) else { return word }
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
    for file in inherited { try file.letChildrenInherit() }
    try folder?.letChildrenInherit()
  }

  /// Returns the path of the file whose marker begins some bytes, and where the marker ends.
  private func path(named bytes: ArraySlice<UInt8>) -> (path: String, end: Int)? {
    for (names, path) in paths {
      for marker in names.map({ Array("@\($0)@".utf8) }) where bytes.starts(with: marker) {
        return (path, bytes.startIndex + marker.count)
      }
    }
    return nil
  }
}
