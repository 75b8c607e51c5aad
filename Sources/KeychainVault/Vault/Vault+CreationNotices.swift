internal import KeychainCredentials
internal import PrephirencesFiles

/// What a person should know of a vault that was just made.
extension Vault {
  /// Reports that a vault was made by the first write.
  ///
  /// - Parameters:
  ///   - path: The path of the vault.
  ///   - hasDailyKey: Whether a passphrase, key file or identity opens it.
  func reportCreation(of path: String, hasDailyKey: Bool) {
    configuration.notice?(
      hasDailyKey
        ? Notice(
          kind: .vaultCreated,
          message: "made the vault \(path); it opens by the passphrase, key file or identity given")
        : Notice(
          kind: .vaultCreated,
          message:
            "made the vault \(path); it opens by this machine's device key: other users cannot "
            + "read it, but whoever has the disk can; without device.key everything in it is lost, "
            + "unless a code on paper opens it",
          recovery: "\(.addSlot(.passphrase)) protects it from whoever has the disk; after that, "
            + "\(.addSlot(.recoveryCode)) makes the code" + addingForService))
  }

  /// How to have more than the device key, for a service or script that may have been meant to give it.
  private var addingForService: KeychainError.Recovery {
    let adding: KeychainError.Recovery = "\(.addSlotForService) adds it"
    if let folder = unlocker.sources.emptyCredentialsFolder {
      return "; \(folder) holds neither keychain.passphrase nor keychain.key: if one was meant to "
        + "open the vault, " + adding
    }
    // A person at a terminal asked for no file.
    guard case .denied = configuration.interaction else { return "" }
    return "; if a passphrase or key file was meant to open it, " + adding
  }

  /// Reports a vault or device key in memory, unless somebody chose the place: then it is meant to be there.
  func reportPlaceInMemory(_ path: String, hasDeviceSlot: Bool) {
    if !file.isNamed, let name = Self.memory(at: path) {
      reportInMemory("the vault \(path)", name)
    } else if hasDeviceSlot, !file.isStateNamed, let path = unlocker.device.path,
      let name = Self.memory(at: path)
    {
      reportInMemory("the device key \(path)", name)
    }
  }

  /// The file system at a path, if it lies in memory.
  private static func memory(at path: String) -> String? {
    let kind = FileSystemKind(of: path)
    return kind.isInMemory ? kind.name : nil
  }

  private func reportInMemory(_ what: String, _ fileSystem: String) {
    configuration.notice?(
      Notice(
        kind: .vaultInMemory,
        message: "\(what) lies in memory (\(fileSystem)), as below ProtectHome=tmpfs of a service, "
          + "and is gone when the service or the machine stops; for one that stays, use StateDirectory= "
          + "in the unit, or set KEYCHAIN_VAULT and XDG_STATE_HOME"))
  }
}
