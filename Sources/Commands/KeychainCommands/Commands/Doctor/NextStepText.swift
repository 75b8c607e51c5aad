internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// The texts of next steps.
enum NextStepText {
  static func text(_ step: NextStep) -> String {
    switch step {
    case .recover(let recovery): recovery.commandText
    case .findStoreOfDamagedRecord(let hasDeviceKey):
      "for a service of a damaged record, "
        + StoreText.findingTheStore(hasDeviceKey: hasDeviceKey).commandText
    case .finishMigration(let copies): MigrationText.finishing(copies)
    case .reachDesktopKeyring:
      "services have credentials in the desktop keyring, which is not here: use them within its "
        + "session, or move them into the vault there, with '\(path) migrate'; if it is gone for good, "
        + KeychainError.Recovery.Action.abandonSource.commandText + " makes the vault their store"
    case .closeNetrc(let file):
      "to store the passwords of \(file) and remove them from it, run '\(path) import --format netrc "
        + "\(ShellText.quoted(file)) --remove', then renew them"
    case .makeVault:
      "run '\(path) init', or store a credential with '\(path) set', which makes the vault"
    case .protectDisk: "for protection of the disk too, run '\(path) slots add --passphrase'"
    case .addSource(let name):
      "\(name) is not needed, as the device key opens the vault, which was made without it; to have it "
        + "protect the vault, run '\(path) slots add --new-passphrase-file FILE', or '--with-key-file "
        + "FILE', with the same file"
    case .rescue(let rescue, let opensByDevice):
      (opensByDevice
        ? "nothing that is here opens what is locked"
        : "only the kernel's cache opens this vault now")
        + ": \(text(rescue)), or copy the secrets out with '\(path) get' while they are readable"
    case .unlock(let way): "to unlock, \(way.commandText)"
    case .unlockEachTime: UnlockText.unlockingEachTime
    case .addDeviceOfRestoredBackup:
      "if this is a restored backup, run '\(path) slots add --device', and this machine opens the "
        + "vault as the old one did"
    case .makeRecoveryCode:
      "for a code on paper that opens the vault when all else is lost, run '\(path) recovery create'"
    case .addSecondSlot(let kind):
      "for a second way to open the vault, run '\(path) slots add "
        + (kind == .passphrase ? "--new-key-file FILE'" : "--passphrase'")
    case .addAdministrator:
      "for a second member who administers, run '\(path) slots add --recipient RECIPIENT --may administer'"
    case .replaceWeakKeyFile:
      "for a key file that nobody guesses, run '\(path) slots add --new-key-file FILE', and remove "
        + "the old one with '\(path) slots remove NUMBER'"
    case .moveToLocalDisk: "move the vault to a local disk, with KEYCHAIN_VAULT"
    case .leaveMemory:
      "for a vault that stays, use StateDirectory= in the unit of a service, a volume in a container, or "
        + "KEYCHAIN_VAULT and XDG_STATE_HOME"
    case .raiseMemoryLimit:
      "raise the limit of locked memory: ulimit -l, LimitMEMLOCK=8M in the unit of a service, "
        + "--ulimit memlock=8388608 for a container"
    case .allowMemoryLocking:
      "allow the call mlock: in the container's seccomp profile, or by SystemCallFilter=@memlock in the "
        + "unit of a service; the limit is not the reason"
    case .repairHelper(let status): NextHelperStep.text(status)
    case .seeWhatExpires(let service, let inAllGroups):
      "to see what expires, run '\(listing(service, inAllGroups: inAllGroups))'"
    }
  }

  static func text(_ rescue: VaultRescue) -> String {
    switch rescue {
    case .backup: "restore a backup, as the slots that open everything are damaged"
    case .deviceKey(let path): "bring back the device key of this vault, '\(path)'"
    }
  }

  private static var path: String { KeychainCommandContext.current.commandPath }

  private static func listing(_ service: ServiceName?, inAllGroups: Bool) -> String {
    var command = "\(path) list"
    if let service {
      let option = service.kind == .service ? "--service" : "--server"
      command += " \(option) \(ShellText.quoted(service.name))"
    }
    if inAllGroups { command += " --all-groups" }
    return command + " --expiring-within \(ExpirySummary.days)d"
  }
}
