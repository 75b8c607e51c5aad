internal import KeychainSecrets
internal import KeychainVault
internal import SystemPackage

/// What a diagnosis says of the machine, the container or the service around the vault.
extension UserInterface {
  static func cache(_ status: VaultStatus) -> String {
    if status.isCacheAvailable {
      return "the kernel's keyring keeps the vault unlocked between commands"
    }
    let error = status.cacheErrorNumber.map { " (\(Errno(rawValue: $0)))" } ?? ""
    return
      "the kernel's keyring cannot be used\(error), as in most containers: each command unlocks "
      + "for itself"
  }

  /// What opens a locked vault, where `unlock` can keep it open and where it cannot.
  static var howToUnlock: String {
    Vault.canStayUnlocked
      ? "run '\(KeychainCommandContext.current.commandPath) unlock'" : unlockingEachTime
  }

  /// Where a vault is locked that `unlock` cannot keep open.
  static let unlockingEachTime =
    "give each command what unlocks the vault: a key file, which needs neither time nor memory, by "
    + "KEYCHAIN_KEY_FILE, or a passphrase by KEYCHAIN_PASSPHRASE_FILE"

  static func noCredential(_ folder: String) -> String {
    "\(folder) holds neither keychain.passphrase nor keychain.key that can be read"
  }

  /// A source that a vault does not need, because it was made without it.
  static func usingSource(_ source: String, _ path: String) -> String {
    "\(source) is not needed, as the device key opens the vault, which was made without it; to have it "
      + "protect the vault, run '\(path) slots add --new-passphrase-file FILE', or '--with-key-file "
      + "FILE', with the same file"
  }

  /// Why what lies on a file system may not stay; `nil` if it does.
  static func passingPlace(_ status: VaultStatus) -> String? {
    if status.isInMemory { return "in memory: gone when the service or the machine stops" }
    return status.fileSystem == "overlay"
      ? "in a container its own layer, which goes with the container" : nil
  }

  static let leavingMemory =
    "for a vault that stays, use StateDirectory= in the unit of a service, a volume in a container, or "
    + "KEYCHAIN_VAULT and XDG_STATE_HOME"

  static func memory(_ diagnosis: Diagnosis) -> String {
    let limit = diagnosis.lockedMemoryLimit.map { "\($0 >> 10) KiB" } ?? "without limit"
    return switch diagnosis.memoryLocking {
    case .available: "secrets are kept out of swap (limit: \(limit))"
    case .limited: "secrets may reach swap, as memory cannot be locked (limit: \(limit))"
    case .denied:
      "secrets may reach swap, as memory cannot be locked: the call is denied, as by a seccomp filter"
    }
  }

  static func memorySteps(_ locking: MemoryLocking) -> [String] {
    switch locking {
    case .available: []
    case .limited:
      [
        "raise the limit of locked memory: ulimit -l, LimitMEMLOCK=8M in the unit of a service, "
          + "--ulimit memlock=8388608 for a container"
      ]
    case .denied:
      [
        "allow the call mlock: in the container's seccomp profile, or by SystemCallFilter=@memlock in the "
          + "unit of a service; the limit is not the reason"
      ]
    }
  }
}
