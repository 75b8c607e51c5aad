internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The questions to a person.
enum Questions {
  /// The subject of a question.
  enum Subject {
    case secret(CredentialIdentity)
    case newPassphrase
    case optionalPassphrase
    case newExportPassphrase
    case exportPassphrase
  }

  static func question(for subject: Subject) -> String {
    switch subject {
    case .secret(let identity): "secret for \(name(of: identity)): "
    case .newPassphrase: "new passphrase: "
    case .optionalPassphrase: "new passphrase (empty for none): "
    case .newExportPassphrase: "new passphrase of the export: "
    case .exportPassphrase: "passphrase of the export: "
    }
  }

  static func questionAgain(for subject: Subject) -> String {
    switch subject {
    case .secret(let identity): "the same secret for \(name(of: identity)) again: "
    case .newPassphrase, .optionalPassphrase, .newExportPassphrase, .exportPassphrase:
      "the same passphrase again: "
    }
  }

  static let answersDiffer = "the two answers differ; try again"

  /// Returns the name of a credential in a question.
  private static func name(of identity: CredentialIdentity) -> String {
    let group = identity.accessGroup.isEmpty ? "" : ", access group \(identity.accessGroup)"
    let name =
      switch identity.kind {
      case .genericPassword(let service, let account): "\(account) (service \(service)\(group))"
      case .internetPassword(let password) where password.account.isEmpty:
        "server \(password.server)" + (group.isEmpty ? "" : " (\(group.dropFirst(2)))")
      case .internetPassword(let password):
        "\(password.account) (server \(password.server)\(group))"
      }
    return name.visible
  }
}
