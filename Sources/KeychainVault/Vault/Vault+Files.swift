internal import PrephirencesFiles

extension Vault {
  /// The paths of the files that the vault consists of, and of those that unlock it, as far as they
  /// are known.
  ///
  /// No file is opened. Some of the files may not exist.
  package var paths: [String] {
    let locations = Locations(environment: configuration.environment)
    var paths: [String] = []
    if let vault = try? path() { paths += [vault] + SidecarFiles(vault).paths }
    if let state = try? locations.stateFolder() { paths.append(state + "/device.key") }
    if let folder = try? locations.configurationFolder() { paths.append(folder + "/identity") }
    if let given = configuration.unlock?.kind.path { paths.append(given) }
    return paths + unlocker.sources.ambient.compactMap { try? unlocker.sources.path(of: $0) }
  }
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
