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

  static let dashCommand = KeychainError(
    .invalidArgument, "the command begins with a dash: an option is misspelt, or -- is missing",
    recovery: "write the command after --")

  static let noCommand = KeychainError(
    .invalidArgument, "there is no command to run", recovery: "write it after --")
}
