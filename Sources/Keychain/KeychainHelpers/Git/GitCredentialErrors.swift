internal import KeychainCredentials

// What git sends.
extension KeychainError {
  static let gitLineTooLong = invalidGitRequest("has a line of more than 65535 bytes")
  static let gitLineWithoutValue = invalidGitRequest("has a line without '='")
  static let gitValueWithControl = invalidGitRequest("has a value with a carriage return or a NUL")
  static let gitNameNotText = invalidGitRequest("has a name that is not UTF-8")
  static let gitHostInvalid = invalidGitRequest("has a host that is no name with a port")
  static let gitServerMissing = invalidGitRequest("names no protocol and host")

  private static func invalidGitRequest(_ fault: String) -> Self {
    Self(.invalidArgument, "the request \(fault)", recovery: "look at the URL of the repository")
  }
}

// What is stored.
extension KeychainError {
  static func ambiguousForGit(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "\(identities.count) credentials match: \(names)",
      recovery: "put the user name into the URL, as in https://NAME@HOST/, or set "
        + "credential.https://HOST.username; for paths, set credential.useHttpPath")
  }

  static func notForGit(_ identity: CredentialIdentity) -> Self {
    Self(
      .undecodable, "the secret of \(identity) has a line break or a NUL, which git does not take",
      recovery: "store it again, without the newline at its end")
  }

  static func schemeNotForGit(_ identity: CredentialIdentity) -> Self {
    Self(
      .undecodable, "the authentication type of \(identity) has white space or a line break",
      recovery: "store it again with one word, such as Bearer")
  }

  static func expiredForGit(_ identity: CredentialIdentity) -> Self {
    Self(.expired, "the password of \(identity) has expired", recovery: "store a new one")
  }

  static func forOthersToo(_ credential: Credential) -> Self {
    stays(
      credential, "it is for every user or path",
      recovery: "check the user's name and the path, or run ")
  }

  static func ofOtherProgram(_ credential: Credential) -> Self {
    stays(credential, "another program stored it", recovery: "to remove it, run ")
  }

  private static func stays(
    _ credential: Credential, _ reason: String, recovery: Recovery
  ) -> Self {
    Self(
      .refused,
      "the server rejected the password of \(credential.identity), which stays, as \(reason)",
      recovery: recovery
        + "\(.deleteItem(credential.identity, ofOtherProgram: credential.isOfOtherProgram))")
  }

  static func nameNotForGit(_ identity: CredentialIdentity) -> Self {
    Self(
      .undecodable, "the account of \(identity) has a line break or a NUL, which git does not take",
      recovery: "rename it")
  }
}
