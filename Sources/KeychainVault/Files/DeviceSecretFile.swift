internal import Foundation
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import SystemPackage

/// The file that holds the device secret.
struct DeviceSecretFile: Sendable {
  static let count = 32

  let path: String
  private let folder: TrustedPath

  init(stateFolder: String) throws(KeychainError) {
    folder = try TrustedPath(resolving: stateFolder)
    path = folder.path + "/device.key"
  }

  /// Reads the secret.
  ///
  /// - Returns: The secret, or `nil` if there is no file.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insecurePermissions``, or with
  ///   ``KeychainError/Code/damaged`` if the file has not exactly 32 bytes.
  func read() throws(KeychainError) -> DeviceSecret? {
    guard try PrivateFile.inspect(path) != nil else { return nil }
    guard let secret = try SecretFile.contents(of: path, limit: Self.count),
      secret.count == Self.count
    else {
      throw KeychainError(
        .damaged, "the device key \(path) has not 32 bytes",
        recovery: "restore it from a backup; do not replace it by a new one")
    }
    return try DeviceSecret(secret)
  }

  /// Reads the secret, and makes it first if there is none; never overwrites one.
  ///
  /// The new secret appears whole or not at all, and is durable before this returns.
  func readOrCreate() throws(KeychainError) -> DeviceSecret {
    if let secret = try read() { return secret }
    try PrivateFile.makeFolder(folder.path)
    let temporary = path + ".\(getpid()).\(UInt32.random(in: 0 ... .max))"
    defer { unsafe unlink(temporary) }
    try writeRandom(to: temporary)
    // Another process may have been faster; then its secret is the one.
    guard unsafe link(temporary, path) == 0 || errno == EEXIST else {
      throw .system(.current, "make", path)
    }
    try PrivateFile.syncFolder(folder.path)
    guard let secret = try read() else {
      throw KeychainError(.inputOutput, "the device key \(path) vanished while it was made")
    }
    return secret
  }

  private func writeRandom(to temporary: String) throws(KeychainError) {
    let secret: SecretBytes
    do throws(SecretsError) {
      secret = try SecretBytes.random(count: Self.count)
    } catch {
      throw KeychainError(error)
    }
    try SecretFile.create(temporary, contents: secret)
  }
}
