internal import Glibc
package import KeychainCredentials
internal import KeychainVaultFormat
package import PrephirencesFiles
internal import Synchronization
internal import SystemPackage

/// The folder in which this machine keeps what belongs to no single vault: the device secret, locks
/// and records.
///
/// The device secret is read once and kept, because it is never locked.
package final class StateFolder: Sendable {
  private let locations: Locations
  private let resolved = Mutex<String?>(nil)
  private let secret = Mutex<DeviceSecret?>(nil)

  /// Creates a handle.
  ///
  /// Nothing is read or created before its first use.
  ///
  /// - Parameter environment: The variables that name the folder.
  package init(environment: EnvironmentVariables) {
    locations = Locations(environment: environment)
  }

  /// Returns the path of the folder without symbolic links, whether or not it exists.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no place for it, or
  ///   ``KeychainError/Code/insecurePermissions`` if others could replace it.
  package func path() throws(KeychainError) -> String {
    if let path = resolved.withLock({ $0 }) { return path }
    let named = try locations.stateFolder()
    let path = try translated(TrustedPath(resolving: named)).path
    // A path that does not exist yet may lead elsewhere later.
    if FilePath(path).exists { resolved.withLock { $0 = path } }
    return path
  }

  /// Creates the folder if it does not exist.
  ///
  /// - Returns: Its path.
  /// - Throws: As ``path()``, or ``KeychainError`` with ``KeychainError/Code/inputOutput``.
  @discardableResult
  package func make() throws(KeychainError) -> String {
    let named = try locations.stateFolder()
    try translated(PrivateFile.makeFolder(named))
    return try path()
  }

  /// Hashes fields under the device secret.
  ///
  /// Without the secret, nobody can compute or verify the hash.
  ///
  /// - Parameters:
  ///   - label: The purpose of the hash, at most 16 bytes.
  ///   - fields: The fields to hash.
  ///   - makesDeviceSecret: Whether to create the device secret if there is none.
  /// - Returns: 32 hexadecimal digits, or `nil` if there is no device secret.
  /// - Throws: ``KeychainError`` if the device secret cannot be read or created.
  package func tag(
    _ label: String, of fields: [[UInt8]], makingDeviceSecret makesDeviceSecret: Bool = false
  ) throws(KeychainError) -> String? {
    let secret = try makesDeviceSecret ? findOrCreateSecret() : findSecret()
    guard let secret else { return nil }
    let joined = FieldWriter.fields { writer in
      for bytes in fields { writer.byteString(bytes) }
    }
    return try Derivation.shortTag(secret.secret.bytes, label, joined).hexadecimal
  }

  /// Whether the device secret exists.
  package func hasDeviceSecret() throws(KeychainError) -> Bool { try findSecret() != nil }

  /// The path of the device secret, if there is a place for it.
  var pathOfSecret: String? { try? secretFile().path }

  /// Returns the device secret; `nil` if this machine has none.
  func findSecret() throws(KeychainError) -> DeviceSecret? {
    try remembering { file throws(KeychainError) in try file.read() }
  }

  /// Returns the device secret, creating it if this machine has none.
  func findOrCreateSecret() throws(KeychainError) -> DeviceSecret {
    let found = try remembering { file throws(KeychainError) in try file.readOrCreate() }
    guard let found else {
      throw KeychainError(.internalFailure, "the device secret could not be made")
    }
    return found
  }

  private func secretFile() throws(KeychainError) -> DeviceSecretFile {
    try DeviceSecretFile(stateFolder: locations.stateFolder())
  }

  private func remembering(
    _ read: (DeviceSecretFile) throws(KeychainError) -> DeviceSecret?
  ) throws(KeychainError) -> DeviceSecret? {
    if let known = secret.withLock({ $0 }) { return known }
    guard let found = try read(try secretFile()) else { return nil }
    secret.withLock { $0 = found }
    return found
  }
}

extension FilePath {
  fileprivate var exists: Bool { unsafe access(string, F_OK) == 0 }
}
