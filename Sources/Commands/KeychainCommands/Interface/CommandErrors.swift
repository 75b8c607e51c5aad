internal import KeychainCredentials
internal import KeychainVault

extension KeychainError {
  static let vaultOrKeyring = KeychainError(
    .invalidArgument, UsageText.vaultOrKeyring, recovery: "leave one of them out")

  static let emptySecret = KeychainError(
    .invalidArgument, "the secret is empty; nothing was changed",
    recovery: "add --allow-empty if that is meant")

  static let noServerToChange = KeychainError(
    .invalidArgument, "a generic password has no protocol, port or path to change",
    recovery: "add --to-server to make it an internet password")

  static func nobodyToAsk(for subject: Questions.Subject) -> Self {
    switch subject {
    case .secret:
      Self(
        .invalidArgument, "there is no terminal to ask for the secret, or asking is turned off",
        recovery: "give the secret on standard input")
    case .newPassphrase, .optionalPassphrase:
      Self(
        .invalidArgument, "there is no terminal to ask for a passphrase, or asking is turned off",
        recovery: "use --new-passphrase-fd or --new-passphrase-file")
    case .newExportPassphrase, .exportPassphrase:
      Self(
        .invalidArgument,
        "there is no terminal to ask for the passphrase of the export, or asking is turned off",
        recovery: "use --export-passphrase-fd or --export-passphrase-file")
    }
  }

  static let needsConfirmation = KeychainError(
    .invalidArgument, "this needs a yes, and there is no terminal to ask, or asking is turned off",
    recovery: "add --yes if you are sure")

  static let notConfirmed = KeychainError(.cancelled, "cancelled; nothing was changed")

  static func ambiguous(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "\(identities.count) credentials match: \(names)",
      recovery: "name more of what you mean, such as the account, --service, --protocol or --port")
  }

  static func nothingMatches(_ attributes: CredentialAttributes) -> Self {
    let names = attributes.map { "'\($0.name)'" }.joined(separator: ", ")
    return Self(.notFound, "there is no credential with these values of \(names)")
  }

  static let noIdentity = KeychainError(.internalFailure, "no identity was named")

  static let noKeyFile = KeychainError(.internalFailure, "no key file was named")
}
