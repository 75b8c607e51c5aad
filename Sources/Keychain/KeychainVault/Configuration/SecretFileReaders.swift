internal import KeychainCredentials
internal import PrephirencesSystem

/// The users, besides the user and root, who may be able to read a file with an unlocking secret.
///
/// Nobody else may be able to change it. Containers mount secrets that belong to root and that a
/// group or everybody in the container can read.
@frozen public enum SecretFileReaders: String, Hashable, Sendable, CaseIterable {
  /// Nobody.
  case owner

  /// The group of the file.
  case group

  /// Everybody.
  case others

  /// The bits of a file's mode that must not be set.
  package var forbiddenBits: UInt32 {
    switch self {
    case .owner: 0o077
    case .group: 0o027
    case .others: 0o022
    }
  }

  /// The bits that a file system without modes may set for a new file with a secret.
  package var acceptedBits: UInt32 {
    switch self {
    case .owner: 0
    case .group: 0o070
    case .others: 0o077
    }
  }
}

/// The requirements for files with unlocking secrets.
struct SecretFilePolicy: Sendable {
  /// Who may read them, if set by the program; `nil` uses `KEYCHAIN_ALLOW_READ`.
  let chosen: SecretFileReaders?

  let environment: EnvironmentVariables

  /// How long to wait for the end of the file.
  var timeout: Duration = .seconds(10)

  static let variable = "KEYCHAIN_ALLOW_READ"

  /// The folder of the system's credentials, which lets the group read them.
  func credentialsFolder() throws(KeychainError) -> String? {
    try translated(environment.absolutePath("CREDENTIALS_DIRECTORY"))
  }

  func readers() throws(KeychainError) -> SecretFileReaders {
    if let chosen { return chosen }
    guard let text = try translated(environment.value(Self.variable)) else { return .owner }
    guard let readers = SecretFileReaders(rawValue: text) else {
      throw KeychainError(
        .invalidArgument, "\(Self.variable) is neither 'owner', 'group' nor 'others'",
        recovery: "set it to one of these, or unset it")
    }
    return readers
  }
}
