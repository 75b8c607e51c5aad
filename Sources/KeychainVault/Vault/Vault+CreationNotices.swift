internal import KeychainCredentials
internal import PrephirencesFiles

/// Notices about a new vault.
extension Vault {
  /// Reports that the first write created a vault.
  ///
  /// - Parameters:
  ///   - path: The path of the vault.
  ///   - hasDailyKey: Whether a passphrase, key file or identity opens it.
  func reportCreation(of path: String, hasDailyKey: Bool) {
    configuration.notice?(
      hasDailyKey
        ? Notice(
          kind: .vaultCreated,
          message: "created the vault \(path); the given passphrase, key file or identity opens it")
        : Notice(
          kind: .vaultCreated,
          message:
            "created the vault \(path); this machine's device key opens it, without a passphrase",
          recovery: addingForService
            ?? "\(.addSlot(.passphrase)) protects it from whoever has the disk, and "
            + "\(.addSlot(.recoveryCode)) from the loss of device.key"))
  }

  /// Says how to add another key, for a service or script that may have been meant to give one.
  private var addingForService: KeychainError.Recovery? {
    let adding: KeychainError.Recovery = "\(.addSlotForService) adds it"
    if let folder = unlocker.sources.emptyCredentialsFolder {
      return "\(folder) holds neither keychain.passphrase nor keychain.key: if one was meant to "
        + "open the vault, " + adding
    }
    // A person at a terminal did not mean to give a file.
    guard case .denied = configuration.interaction else { return nil }
    return "if a passphrase or key file was meant to open it, " + adding
  }

  /// Reports a vault or device key that lies in memory, unless its place was chosen explicitly.
  func reportPlaceInMemory(_ path: String, hasDeviceSlot: Bool) {
    if !file.isNamed, let name = Self.memory(at: path) {
      reportInMemory("the vault \(path)", name)
    } else if hasDeviceSlot, !file.isStateNamed, let path = unlocker.device.path,
      let name = Self.memory(at: path)
    {
      reportInMemory("the device key \(path)", name)
    }
  }

  /// Returns the file system at a path, if it lies in memory.
  private static func memory(at path: String) -> String? {
    let kind = FileSystemKind(of: path)
    return kind.isInMemory ? kind.name : nil
  }

  private func reportInMemory(_ what: String, _ fileSystem: String) {
    configuration.notice?(
      Notice(
        kind: .vaultInMemory,
        message:
          "\(what) lies in memory (\(fileSystem)), for example below ProtectHome=tmpfs of a service, "
          + "and is gone when the service or the machine stops; for one that stays, use StateDirectory= "
          + "in the unit, or set KEYCHAIN_VAULT and XDG_STATE_HOME"))
  }
}
