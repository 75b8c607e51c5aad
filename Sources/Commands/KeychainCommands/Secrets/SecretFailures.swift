internal import Glibc
internal import KeychainCredentials

extension KeychainError {
  static func terminalAsSource(_ option: String) -> Self {
    Self(
      .invalidArgument, "\(option) names a terminal, which would show the passphrase or code",
      recovery: "leave the option out, and it is asked for without showing it")
  }

  static func notOpen(_ descriptor: Int32, option: String) -> Self {
    Self(.invalidArgument, "descriptor \(descriptor), given by \(option), is not open")
  }

  /// The error of input that did not end before the deadline.
  static func endless(_ source: String) -> Self {
    Self(
      .timedOut, "\(source) did not end in time",
      recovery: "end what writes it, or wait longer with --deadline")
  }

  static func passphraseTooLong(_ source: String) -> Self {
    Self(.tooLarge, "what \(source) gives is longer than 1 MiB")
  }

  static let secretTooLong = KeychainError(
    .tooLarge, "the secret is longer than \(Credential.maximumSecretCount) bytes")

  static func keyFileExists(_ path: String) -> Self {
    .fileExists(
      path, recovery: .nameNewFile + ", or use --with-key-file if this one is to open the vault")
  }

  /// Returns the same error, after a new file that was to open the vault was removed; the file stays
  /// if the vault may open with it.
  func removing(_ file: String) -> Self {
    guard code == .outcomeUnknown else {
      unlink(file)
      return self
    }
    let kept: Recovery = "'\(file)' is kept, since it may open the vault"
    return Self(
      code, message, recovery: [recovery, kept].compactMap(\.self).joined(separator: "; "),
      underlying: underlying)
  }

  static func openToOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' can be read or changed by other users",
      recovery:
        "make it yours alone: chmod 600 '\(path)'; if others may read it, as in a container: "
        + "\(.allowReaders(.group)) or \(.allowReaders(.others))")
  }

  static func outputExists(_ path: String) -> Self {
    .fileExists(
      "'\(path)'", recovery: .nameNewFile + ", or replace this one with \(.overwrite)")
  }

  static func outputIsNeeded(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' belongs to the keychain or unlocks it, and would be lost",
      recovery: .nameNewFile)
  }

  static func outputOfOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' belongs to another user, who could read the secret",
      recovery: "name a file, pipe or device of your own")
  }

  static func nobodyReads(_ path: String) -> Self {
    Self(
      .timedOut, "nobody reads from '\(path)'",
      recovery: "start what reads it first, or wait longer with --deadline")
  }
}
