internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

extension KeychainError.Recovery {
  var commandText: String { text(naming: \.commandText) }
}

extension UserInterface {
  /// Reports a notice and its recovery, with actions as commands and options.
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
      Self.command("delete " + Self.options(naming: identity, ofOtherProgram: isOfOtherProgram))
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

  /// Returns the options that name a credential, and its account at the end.
  private static func options(
    naming identity: CredentialIdentity, ofOtherProgram isOfOtherProgram: Bool
  ) -> String {
    var words = identity.options
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

extension CredentialIdentity {
  /// The options that name it, without its account.
  var options: [String] {
    var options: [(name: String, value: String)]
    switch kind {
    case .genericPassword(let service, _): options = [("service", service)]
    case .internetPassword(let password):
      options = [
        ("server", password.server), ("protocol", password.protocol),
        ("port", password.port == 0 ? "" : String(password.port)), ("path", password.path),
        ("security-domain", password.securityDomain),
        ("authentication-type", password.authenticationType),
      ]
    }
    options.append(("access-group", accessGroup))
    // An empty service is not the default one.
    return options.enumerated().filter { $0.offset == 0 || !$0.element.value.isEmpty }
      .flatMap { _, option in
        option.value.hasPrefix("-")
          ? ["--\(option.name)=\(option.value)"] : ["--\(option.name)", option.value]
      }
  }
}

enum StoreText {
  static func name(of place: StorePlace) -> String {
    switch place {
    case .vault: "vault"
    case .secretService(.default): "desktop keyring"
    case .secretService(.session): "desktop keyring, until the end of the session"
    case .secretService(.named(let label)): "desktop keyring, collection '\(label)'"
    }
  }

  static let onlyOfVault =
    "KEYCHAIN_STORE=secret-service concerns credentials; this is about the vault"

  /// Explains how to find the store of unreadable records; without the device key, no record is
  /// readable.
  static func findingTheStore(hasDeviceKey: Bool) -> KeychainError.Recovery {
    hasDeviceKey ? .nameStoreAndRemoveRecord : .nameStoreOrRestoreDeviceKey
  }

  /// Explains what to do if a service uses another store than the chosen one.
  static func lookingElsewhere(_ place: StorePlace) -> String {
    "this service has its credentials in the \(name(of: place)); without the choice of a store, "
      + "that is where they are looked for"
  }

  static let keyringLeftOut =
    "the desktop keyring is not searched, as no service has its credentials there; "
    + "--store secret-service searches it"

  /// Reports what a file of the vault's credentials does not contain.
  static func leftInKeyring(_ credentials: Int, _ serviceCount: Int) -> String {
    "\(Words.counted(credentials, "credential")) of \(Words.counted(serviceCount, "service")) "
      + "\(Words.are(credentials)) kept in the desktop keyring, and not in this file"
  }

  /// Reports the same if the credentials cannot be counted.
  static func leftUncounted(_ serviceCount: Int, _ failure: KeychainError) -> String {
    "what \(Words.counted(serviceCount, "service")) \(serviceCount == 1 ? "has" : "have") in the "
      + "desktop keyring is not in this file, and could not be counted: \(failure.message)"
  }

  /// Explains how to move credentials of a service or server, or all, from the desktop keyring to
  /// the vault.
  static func movingOutOfKeyring(_ service: ServiceName?) -> String {
    "'\(KeychainCommandContext.current.commandPath) migrate --from secret-service --to vault"
      + "\(KeychainCommandContext.current.scopeOption(reaching: service))' copies it into the vault"
  }
}

enum UnlockText {
  /// How to open a vault that `unlock` cannot keep open.
  static var unlockingEachTime: String { KeychainError.Recovery.giveKeyEachTime.commandText }

  /// Explains how to open a vault with these slots: with `unlock` if that can keep it open.
  ///
  /// Without a key file, `unlock` asks for a passphrase.
  static func howToUnlock(_ slots: [VaultSlot]) -> KeychainError.Recovery {
    guard Vault.canStayUnlocked else { return .giveKeyEachTime }
    let kinds = Set(slots.filter { $0.grant != .openTier }.map(\.kind))
    return kinds.contains(.keyFile) && !kinds.contains(.passphrase)
      ? "run \(.unlockWithKeyFile)" : .unlock
  }

  /// Explains how to see what is locked in the searched stores.
  static func unlockToSee(
    _ places: Set<StorePlace>, in stores: AutomaticStore
  ) -> KeychainError.Recovery {
    let howToUnlock = howToUnlock((try? stores.vault.slots()) ?? [])
    guard places.contains(where: { $0 != .vault }) else { return howToUnlock + " to see them" }
    let keyring: KeychainError.Recovery = "unlock the desktop keyring where the desktop is"
    return (places.contains(.vault) ? howToUnlock + ", or " + keyring + "," : keyring)
      + " to see them"
  }
}

enum Questions {
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

extension Words {
  static func locked(_ count: Int) -> String { "\(items(count)) \(are(count)) locked" }

  static func ofOtherDevices(_ count: Int) -> String {
    "\(items(count)) \(are(count)) bound to another device"
  }
}
