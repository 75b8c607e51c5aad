internal import KeychainCredentials
internal import KeychainTerminal
internal import KeychainVault

extension UserInterface {
  /// What a person is asked for.
  enum Subject {
    case secret(CredentialIdentity)
    case newPassphrase
    case optionalPassphrase
    case newExportPassphrase
    case exportPassphrase
  }

  /// The question for the passphrase that unlocks.
  func question(for request: PassphraseRequest) -> String {
    request.question(from: hostName)
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

  /// What a credential is called in a question.
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

  static let answersDiffer = "the two answers differ; try again"

  static func questionToRemove(
    _ slot: VaultSlot, deleting count: Int, rekeying: Bool
  ) -> String {
    let also = [
      count == 0 ? nil : "delete \(items(count))", rekeying ? "give the vault new keys" : nil,
    ].compactMap(\.self)
    let what = "remove slot \(slot.number), \(label(of: slot))"
    return also.isEmpty
      ? "\(what)? [y/N] " : "\(what), and \(also.joined(separator: ", and "))? [y/N] "
  }

  static let deviceWillOpenEverything =
    "after that, this machine's device key alone opens everything: whoever has the disk reads it"

  static let questionToStartAnew =
    "a vault was seen here before and is gone; start anew without it? [y/N] "

  static let nothingToAccept = "the vault is as it was seen last; there is nothing to accept"
  static let accepted = "accepted the vault as it is"
  static let questionToAcceptRestored = "accept this vault as it is? [y/N] "
}
