internal import PrephirencesFiles

extension Vault {
  /// The paths of the files that the vault consists of, of those that unlock it, and of this
  /// machine's records and locks, as far as they are known; some are folders.
  ///
  /// No file is opened. Some of the files may not exist.
  package var paths: [String] {
    let locations = Locations(environment: configuration.environment)
    var paths: [String] = []
    if let vault = try? path() { paths += [vault, UnfinishedVault.name(for: vault)] }
    // The folder itself may be that of a service, which has files of its own there.
    if let state = try? locations.stateFolder() {
      paths += Self.namesInState.map { "\(state)/\($0)" }
    }
    if let folder = try? locations.configurationFolder() { paths.append(folder + "/identity") }
    if let given = configuration.unlock?.kind.path { paths.append(given) }
    return paths + unlocker.sources.ambient.compactMap { try? unlocker.sources.path(of: $0) }
  }

  /// What all parts of the keychain keep in the state folder.
  private static let namesInState = [
    "device.key", "seen", "stores", "migration.copies", "choice.lock", "choice.turnstile",
    "kdf.lock", "renewal.lock",
  ]
}

extension UnlockSource.Kind {
  /// The path of the file; `nil` if the secret comes from elsewhere.
  fileprivate var path: String? {
    switch self {
    case .passphrase, .recoveryCode: nil
    case .passphraseFile(let path), .keyFile(let path), .recoveryCodeFile(let path),
      .identityFile(let path):
      path
    }
  }
}
