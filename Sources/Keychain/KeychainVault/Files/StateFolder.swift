internal import FoundationEssentials
internal import Glibc
package import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
package import PrephirencesSystem
internal import SystemPackage

/// The folder for what belongs to this machine but to no single vault: the device secret, locks and
/// records; the device secret is never locked, so it is read once.
package final class StateFolder: Sendable {
  private let locations: Locations
  private let resolved = PosixMutex<String?>(nil)
  private let secret = PosixMutex<DeviceSecret?>(nil)

  /// Creates a handle without reading or creating anything.
  package init(environment: EnvironmentVariables) {
    locations = Locations(environment: environment)
  }

  /// Returns the path of the folder without symbolic links, whether or not it exists.
  package func path() throws(KeychainError) -> String {
    if let path = resolved.withLock({ $0 }) { return path }
    let named = try locations.stateFolder()
    let path = try translated(TrustedPath(resolving: named)).path
    // A path that does not exist yet may lead elsewhere later.
    if unsafe access(path, F_OK) == 0 { resolved.withLock { $0 = path } }
    return path
  }

  /// Creates the folder if it does not exist, and returns its path.
  @discardableResult
  package func make() throws(KeychainError) -> String {
    let named = try locations.stateFolder()
    try translated(PrivateFile.makeFolder(named))
    return try path()
  }

  /// Returns a hash of 32 hexadecimal digits that nobody can verify without the device secret;
  /// `nil` if there is no device secret.
  package func tag(
    _ label: String, of fields: [[UInt8]], makingDeviceSecret makesDeviceSecret: Bool = false
  ) throws(KeychainError) -> String? {
    let secret = try makesDeviceSecret ? findOrCreateSecret() : findSecret()
    guard let secret else { return nil }
    let joined = FieldWriter.fields { writer in for bytes in fields { writer.byteString(bytes) } }
    return try Derivation.tag(secret.secret.bytes, label, joined).prefix(16).hexadecimal
  }

  package func hasDeviceSecret() throws(KeychainError) -> Bool { try findSecret() != nil }

  /// The path of the device secret, if a folder is known for it.
  var pathOfSecret: String? { try? secretFile().path }

  /// Returns the device secret; `nil` if this machine has none.
  func findSecret() throws(KeychainError) -> DeviceSecret? {
    if let known = secret.withLock({ $0 }) { return known }
    let found = try secretFile().read()
    if let found { secret.withLock { $0 = found } }
    return found
  }

  /// Returns the device secret, creating it if this machine has none.
  func findOrCreateSecret() throws(KeychainError) -> DeviceSecret {
    if let known = secret.withLock({ $0 }) { return known }
    let found = try secretFile().readOrCreate()
    secret.withLock { $0 = found }
    return found
  }

  private func secretFile() throws(KeychainError) -> DeviceSecretFile {
    try DeviceSecretFile(stateFolder: locations.stateFolder())
  }
}

struct DeviceSecretFile: Sendable {
  static let count = 32

  let path: String
  private let folder: TrustedPath

  init(stateFolder: String) throws(KeychainError) {
    folder = try translated(TrustedPath(resolving: stateFolder))
    path = folder.path + "/device.key"
  }

  /// Reads the secret; `nil` if there is no file.
  func read() throws(KeychainError) -> DeviceSecret? {
    guard try translated(PrivateFile.inspect(path)) != nil else { return nil }
    guard let secret = try SecretFile.contents(of: path, limit: Self.count),
      secret.count == Self.count
    else {
      throw KeychainError(
        .damaged, "the device key \(path) does not have 32 bytes",
        recovery: "restore it from a backup; do not replace it with a new one")
    }
    return DeviceSecret(secret)
  }

  /// Reads the secret; if there is none, it is first created, completely or not at all, and
  /// durably.
  func readOrCreate() throws(KeychainError) -> DeviceSecret {
    if let secret = try read() {
      // Its creator may not have synced it yet, and the next write needs it.
      try translated(PrivateFile.sync(path))
      return secret
    }
    let new = try SecretBytes.random(count: Self.count)
    try translated(PrivateFile.makeFolder(folder.path))
    // If another process was faster, its secret counts.
    _ = try translated(
      PrivateFile.createIfAbsent(path) { descriptor throws(Errno) in try new.write(to: descriptor) }
    )
    guard let secret = try read() else {
      throw KeychainError(.inputOutput, "the device key \(path) vanished while it was made")
    }
    return secret
  }
}

/// The paths of the vault and of its other files, also for processes without a home.
struct Locations: Sendable {
  private let environment: EnvironmentVariables
  private let folders: UserFolders

  init(environment: EnvironmentVariables) {
    self.environment = environment
    folders = UserFolders("keychain", environment: environment)
  }

  /// Whether a variable names the place of the vault, instead of the home folder.
  var namesVault: Bool { environment.isSet("KEYCHAIN_VAULT") || folders.namesData }

  /// Whether a variable names the place of the state, instead of the home folder.
  var namesState: Bool { folders.namesState }

  /// Returns the path of the vault if none is given.
  func defaultVaultPath() throws(KeychainError) -> String {
    if let path = try Self.place(environment.value("KEYCHAIN_VAULT")) { return path }
    return try Self.place(folders.data()) + "/vault"
  }

  /// Returns the former path of the default vault; `nil` if `path` is not the default one.
  func formerVaultPath(of path: String) -> String? {
    guard let folder = try? folders.data(), path.hasSameBytes(as: folder + "/vault") else {
      return nil
    }
    return folder + "/vault.db"
  }

  /// Returns the folder of the device secret and the seen records.
  func stateFolder() throws(KeychainError) -> String { try Self.place(folders.state()) }

  /// Returns the folder of the user's configuration, which has the identities.
  func configurationFolder() throws(KeychainError) -> String {
    try Self.place(folders.configuration())
  }

  private static func place<Path>(
    _ path: @autoclosure () throws(FileError) -> Path
  ) throws(KeychainError) -> Path {
    do throws(FileError) {
      return try path()
    } catch {
      guard case .noPlace(let reason) = error.kind else { throw KeychainError(error) }
      throw KeychainError(
        .noStore, "there is no place for a vault: \(reason)",
        recovery: "set KEYCHAIN_VAULT and XDG_STATE_HOME, or HOME, to folders that stay; "
          + "in a unit of systemd, StateDirectory= is enough")
    }
  }
}
