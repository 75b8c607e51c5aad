internal import KeychainCredentials

extension KeychainError {
  static let invalidVariableName = KeychainError(
    .invalidArgument, "the name of a variable is empty, or has an equals sign or NUL")

  static func unlockingVariable(_ name: String) -> Self {
    Self(
      .refused, "'\(name)' unlocks the store, and is not given to programs",
      recovery: "give it to the program in another way if it must unlock the store itself")
  }

  static func valueWithNUL(_ name: String) -> Self {
    Self(
      .undecodable, "the value of '\(name)' has a NUL, which no variable can hold",
      recovery: "add encoding=base64 to the reference, or give it as a file")
  }

  static func valueNotText(_ name: String) -> Self {
    Self(
      .undecodable, "the value of '\(name)' is not valid UTF-8",
      recovery: "add encoding=base64 to the reference, or give it as a file")
  }

  static func variableTooLong(_ name: String) -> Self {
    Self(
      .tooLarge, "the value of '\(name)' is too long for a variable: at most 128 KiB with the name",
      recovery: "give it as a file")
  }

  static func environmentTooLarge(_ largest: String?) -> Self {
    let largest = largest.map { "; the longest is '\($0)'" } ?? ""
    return Self(
      .tooLarge, "the variables and arguments are too long together for the system\(largest)",
      recovery: "give long values as files, or raise the limit of the stack: ulimit -s")
  }

  /// The error with the place of what is wrong before its message.
  func located(_ place: String) -> Self {
    Self(code, "\(place): \(message)", recovery: recovery, underlying: underlying)
  }
}
