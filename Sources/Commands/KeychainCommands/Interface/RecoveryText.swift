internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// The text of a recovery with actions as commands, under the host's name.
extension KeychainError.Recovery {
  /// The text, with actions as commands and options.
  var commandText: String { text(naming: \.commandText) }
}

extension UserInterface {
  /// Reports a notice, and what to do about it, with actions as commands and options.
  func report(_ notice: Notice) {
    say(notice.message)
    if let recovery = notice.recovery { hint(recovery.commandText) }
  }
}

extension KeychainError.Recovery.Action {
  /// The command in quotation marks, or the option.
  var commandText: String {
    switch self {
    case .unlock: Self.command("unlock")
    case .unlockWithKeyFile: Self.command("unlock --key-file FILE")
    case .unlockWithRecoveryCode: Self.command("unlock --recovery-code-file FILE")
    case .lockAll: Self.command("lock --all")
    case .giveKey(let key): Self.giving(key)
    case .allowReaders(.group): "--allow-group-read"
    case .allowReaders(.others): "--allow-others-read"
    case .read: Self.command("get")
    case .update: Self.command("update")
    case .delete: Self.command("delete")
    case .deleteItem(let identity, let isOfOtherProgram):
      Self.command(
        "delete " + Self.options(naming: identity, ofOtherProgram: isOfOtherProgram))
    case .createVault(startingAnew: false): Self.command("init")
    case .createVault(startingAnew: true): Self.command("init --start-anew")
    case .nameVault: "--vault"
    case .status: Self.command("status")
    case .verify: Self.command("verify")
    case .acceptRestored: Self.command("accept-restored")
    case .acceptChecked(let check): Self.command("accept-restored --check \(check)")
    case .giveCheck(let check): Self.command("unlock --check \(check)")
    case .compact: Self.command("compact")
    case .dropDamaged: "--drop-damaged"
    case .nameAccessibility: "--accessibility"
    case .rekey: Self.command("rekey")
    case .export: Self.command("export")
    case .replaceBackup: Self.command("backup --replace")
    case .listSlots: Self.command("slots list")
    case .addSlot(let key): Self.adding(key)
    case .addSlotForService:
      Self.command("slots add --new-passphrase-file FILE") + " or '--with-key-file FILE'"
    case .nameSlot: "--slot"
    case .removeSlot(let number, let deletingItems, let withNewKeys):
      Self.command(
        "slots remove " + (number.map { "\($0)" } ?? "NUMBER")
          + (withNewKeys ? "" : " --keep-keys")
          + (deletingItems ? " --delete-items" : ""))
    case .createIdentity: Self.command("identity create FILE")
    case .showIdentity: Self.command("identity show FILE")
    case .pinIdentity(let check):
      Self.command("identity pin" + (check.map { " FILE --check \($0)" } ?? ""))
    case .nameStore: "--store"
    case .useVault: "--store vault"
    case .nameCollection: "--collection"
    case .migrate: Self.command("migrate")
    case .abandonSource: Self.command("migrate --from secret-service --to vault --abandon-source")
    case .overwrite: "--overwrite"
    }
  }

  private static func command(_ words: String) -> String {
    "'\(KeychainCommandContext.current.commandPath) \(words)'"
  }

  /// Returns the words of a command that name a credential, with its account at the end.
  private static func options(
    naming identity: CredentialIdentity, ofOtherProgram isOfOtherProgram: Bool
  ) -> String {
    var options: [(name: String, value: String)]
    switch identity.kind {
    case .genericPassword(let service, _): options = [("service", service)]
    case .internetPassword(let password):
      options = [
        ("server", password.server), ("protocol", password.protocol),
        ("port", password.port == 0 ? "" : String(password.port)), ("path", password.path),
        ("security-domain", password.securityDomain),
        ("authentication-type", password.authenticationType),
      ]
    }
    options.append(("access-group", identity.accessGroup))
    var words = options.filter { !$0.value.isEmpty }.flatMap { name, value in
      value.hasPrefix("-") ? ["--\(name)=\(value)"] : ["--\(name)", value]
    }
    if isOfOtherProgram { words.append("--other-programs") }
    if identity.account.hasPrefix("-") { words.append("--") }
    return (words + [identity.account]).map(ShellText.quoted).joined(separator: " ")
  }

  private static func giving(_ key: KeychainError.Recovery.Key) -> String {
    switch key {
    case .passphrase: "--passphrase-file FILE"
    case .keyFile: "--key-file FILE"
    case .recoveryCode: "--recovery-code-file FILE"
    case .identity: "--identity"
    case .device: "device.key"
    }
  }

  private static func adding(_ key: KeychainError.Recovery.Key?) -> String {
    switch key {
    case .none: command("slots add")
    case .passphrase: command("slots add --passphrase")
    case .keyFile: command("slots add --new-key-file FILE")
    case .recoveryCode: command("recovery create")
    case .identity: command("slots add --recipient RECIPIENT")
    case .device: command("slots add --device")
    }
  }
}
