internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// The file that holds the device secret.
struct DeviceSecretFile: Sendable {
  static let count = 32

  let path: String
  private let folder: TrustedPath

  init(stateFolder: String) throws(KeychainError) {
    folder = try translated(TrustedPath(resolving: stateFolder))
    path = folder.path + "/device.key"
  }

  /// Reads the secret.
  ///
  /// - Returns: The secret, or `nil` if there is no file.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insecurePermissions``, or with
  ///   ``KeychainError/Code/damaged`` if the file does not have exactly 32 bytes.
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

  /// Reads the secret, and creates it first if there is none.
  ///
  /// Never overwrites a secret.
  ///
  /// The new secret appears whole or not at all, and is durable when this returns.
  func readOrCreate() throws(KeychainError) -> DeviceSecret {
    if let secret = try read() {
      // Its maker may not have come so far, and what is written next needs it.
      try translated(PrivateFile.sync(path))
      return secret
    }
    let new = try Self.newSecret()
    try translating { () throws(FileError) in
      try PrivateFile.makeFolder(folder.path)
      // If another process was faster, its secret counts.
      _ = try PrivateFile.createIfAbsent(path) { descriptor throws(Errno) in
        try new.write(to: descriptor)
      }
    }
    guard let secret = try read() else {
      throw KeychainError(.inputOutput, "the device key \(path) vanished while it was made")
    }
    return secret
  }

  private static func newSecret() throws(KeychainError) -> SecretBytes {
    try translated(secrets: SecretBytes.random(count: count))
  }
}
