internal import KeychainVault

/// What is said about recovery codes and identities.
extension UserInterface {
  /// What stands above a recovery code on the screen.
  static let aboveCode =
    "This is the recovery code of the vault. It opens everything in it.\n"
    + "Write it down on paper, and keep it away from this machine; it is not shown again.\n\n    "

  static let questionForCode = "type it in once, as you wrote it down: "

  static let wrongCode = "that is not the code above; compare it with the paper"

  static func earlierCodes(_ slots: [VaultSlot]) -> String {
    let numbers = slots.map { "\($0.number)" }.joined(separator: ", ")
    return "\(slots.count + 1) recovery codes open the vault now; "
      + "'\(KeychainCommandContext.current.commandPath) slots remove NUMBER' removes an older one "
      + "(\(slots.count == 1 ? "slot" : "slots") \(numbers))"
  }

  static func writtenCode(_ path: String) -> String {
    "wrote the recovery code to \(path): copy it to paper, or to a place away from this machine, "
      + "and delete the file"
  }

  static func made(_ identity: IdentityDescription) -> String {
    "made the identity \(identity.path)"
  }

  static func toUse(_ identity: IdentityDescription) -> String {
    let path = KeychainCommandContext.current.commandPath
    return
      "where a vault is, '\(path) slots add --recipient \(identity.recipient)' opens it to the "
      + "identity; here, --identity or KEYCHAIN_IDENTITY_FILE uses it"
  }

  static func pins(of identity: IdentityDescription) -> String {
    switch identity.pins.count {
    case 0: "it is pinned to no vault: it opens any that has a slot for it"
    case 1: "it is pinned to the vault with the check \(identity.pins[0])"
    default:
      "it is pinned to the vaults with the checks "
        + identity.pins.map(\.description).joined(separator: ", ")
    }
  }

  static func toPin(_ check: VaultCheck) -> String {
    "where the identity is, pin it to this vault: "
      + "'\(KeychainCommandContext.current.commandPath) identity pin FILE --check \(check)'"
  }

  /// Everything about an identity but its secret, a line each.
  static func description(of identity: IdentityDescription) -> String {
    lines(
      [("file", identity.path), ("recipient", identity.recipient.description)]
        + identity.pins.map { ("vault", $0.description) })
  }
}
