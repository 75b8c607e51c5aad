internal import KeychainCredentials

extension KeychainError {
  static func noAssignment(_ option: String) -> Self {
    Self(
      .invalidArgument, "\(option) takes a name, an equals sign and a reference",
      recovery: "write NAME='keychain://SERVICE/ACCOUNT'")
  }

  static func noReference(_ name: String, option: String) -> Self {
    Self(
      .invalidArgument, "\(option) \(name): the value is no reference, and is not shown",
      recovery: "write \(name)='keychain://SERVICE/ACCOUNT'; for plain text: env \(name)=… before "
        + "the command")
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

  /// An error for a command that is an option; what may be its value is not shown.
  static func dashCommand(_ word: String) -> Self {
    guard word != "-e", !word.utf8.starts(with: "-e".utf8) else { return noAssignment("-e") }
    if ["-c", "--command"].contains(where: { word == $0 || word.hasPrefix("\($0)=") }) {
      return Self(
        .invalidArgument, "the command to run is no option",
        recovery: "write it after --, and a line of the shell as: -- sh -c 'LINE'")
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

  /// The watcher would become the program's child, and the kernel would kill it with the program.
  static let namedFilesOfFirstProcess = KeychainError(
    .refused,
    "the first process of a container cannot have files with names: nothing would remove them",
    recovery: "use --file without --named-files, or start the container with an init, such as "
      + "docker run --init")

  static let noCommand = KeychainError(
    .invalidArgument, "there is no command to run", recovery: "write it after --")
}
