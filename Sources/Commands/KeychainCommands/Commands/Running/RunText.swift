internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum RunText {
  /// Warns that the command gets a reference, not a secret, in an inherited variable.
  static func unreadReference(_ name: String) -> String {
    "the inherited variable '\(name)' is a reference, which the command gets as it is; "
      + "--from-environment reads it"
  }

  static func table(of request: RunRequest) -> TextTable {
    let variables = request.variables.map { [$0.name, $0.value.words, $0.source.words] }
    let files = request.files.map { [$0.name, $0.reference.description, "a file in memory"] }
    let netrc = request.netrc.map {
      [RunRequest.netrc.variable, $0.description, "an entry of a netrc file in memory"]
    }
    return TextTable(header: ["NAME", "VALUE", "FROM"], rows: variables + files + netrc)
  }
}

extension EnvironmentPlan.Value {
  fileprivate var words: String {
    switch self {
    case .text: "(plain text)"
    case .reference(let reference): reference.description
    }
  }
}

extension EnvironmentPlan.Source {
  fileprivate var words: String {
    switch self {
    case .option: "--env"
    case .file: "--env-file"
    case .inherited: "the environment"
    }
  }
}

extension RunRequest: JSONConvertible {
  /// The output of `run --dry-run --json`; plain text has no reference.
  var json: JSONValue {
    .members([
      (
        "variables",
        variables.map { variable in
          var reference: String?
          if case .reference(let named) = variable.value { reference = named.description }
          return JSONValue.members([
            ("name", variable.name), ("reference", reference), ("source", variable.source.rawValue),
          ])
        }
      ),
      (
        "files",
        files.map {
          JSONValue.members([("name", $0.name), ("reference", $0.reference.description)])
        }
      ), ("netrc", netrc.map(\.description)),
    ])
  }
}

extension KeychainError {
  static func noAssignment(_ option: String) -> Self {
    Self(
      .invalidArgument, "\(option) takes a name, an equals sign and a reference",
      recovery: "write NAME='keychain://SERVICE/ACCOUNT'")
  }

  static func noReference(_ name: String, option: String) -> Self {
    Self(
      .invalidArgument, "\(option) \(name): the value is not a reference (it is not shown here)",
      recovery: "write \(name)='keychain://SERVICE/ACCOUNT'; for plain text: env \(name)=… "
        + "before the command")
  }

  static func invalidFileName(_ name: String) -> Self {
    Self(
      .invalidArgument,
      "'\(name)' cannot name a file: a name has ASCII letters, digits and '_', and no digit first")
  }

  static func fileTwice(_ name: String) -> Self {
    Self(
      .invalidArgument, "'\(name)' is set twice",
      recovery: "leave one of them out; --netrc uses the file netrc and the variable NETRC")
  }

  /// The error if the command is an option; its value, which may be a secret, is not shown.
  static func dashCommand(_ word: String) -> Self {
    guard word != "-e", !word.utf8.starts(with: "-e".utf8) else { return noAssignment("-e") }
    if ["-c", "--command"].contains(where: { word == $0 || word.hasPrefix("\($0)=") }) {
      return Self(
        .invalidArgument, "'\(word.prefix { $0 != "=" })' is not a command",
        recovery: "write the command after --, and a line of the shell as: -- sh -c 'LINE'")
    }
    let isLong = word.utf8.starts(with: "--".utf8)
    let option = isLong ? word.prefix { $0 != "=" } : word.prefix(2)
    return Self(
      .invalidArgument,
      "'\(option)' is not an option of this command", recovery: "write the command to run after --")
  }

  static func unlockDescriptor(_ code: Int32) -> Self {
    Self(
      .inputOutput, "the descriptor with the passphrase cannot be kept from the command",
      underlying: .system(errno: code))
  }

  static let noCommand = KeychainError(
    .invalidArgument, "there is no command to run", recovery: "write it after --")
}

/// A pair `NAME=REFERENCE`, the value of `--env` and `--file`.
///
/// It is not parsed by the argument parser, whose messages repeat invalid values: one may be a
/// secret.
struct ReferenceAssignment {
  let name: String
  let reference: CredentialReference

  /// Parses a pair; the first equals sign ends the name.
  init(_ text: String, option: String) throws {
    guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign != text.startIndex else {
      throw KeychainError.noAssignment(option)
    }
    let name = String(text[..<sign])
    let value = String(text[text.utf8.index(after: sign)...])
    guard CredentialReference.isReference(value) else {
      throw KeychainError.noReference(name, option: option)
    }
    do {
      reference = try CredentialReference(value)
    } catch {
      throw KeychainError(
        error.code, "\(option) \(name): \(error.message)", recovery: error.recovery)
    }
    self.name = name
  }
}

/// The files in memory that a command gets, by their names.
struct ChildFiles {
  /// The folder with their names, or `nil` if they have none.
  private let folder: WatchedFolder?

  private var inherited: [InheritedFile] = []
  private var paths: [(names: [String], path: String)] = []

  init(in folder: WatchedFolder?) {
    self.folder = folder
  }

  /// Creates a file with one or two names, and returns its path.
  mutating func add(
    _ name: String, _ contents: borrowing SecretBytes, alsoNamed other: String? = nil
  ) throws -> String {
    let path = try makeFile(name, contents)
    paths.append(([name] + (other.map { [$0] } ?? []), path))
    return path
  }

  private mutating func makeFile(
    _ name: String, _ contents: borrowing SecretBytes
  ) throws -> String {
    if let folder { return try folder.add(name, contents) }
    let file = try InheritedFile(contents)
    inherited.append(file)
    return try file.pathInThisProcess()
  }

  /// Replaces `@NAME@` in a command's arguments with the path of that file.
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

  /// Keeps the files open in the command.
  func letChildInherit() throws {
    for file in inherited { try file.letChildrenInherit() }
    try folder?.letChildrenInherit()
  }

  /// Returns the path of the file whose marker starts the bytes, and the end of the marker.
  private func path(named bytes: ArraySlice<UInt8>) -> (path: String, end: Int)? {
    for (names, path) in paths {
      for marker in names.map({ Array("@\($0)@".utf8) }) where bytes.starts(with: marker) {
        return (path, bytes.startIndex + marker.count)
      }
    }
    return nil
  }
}
