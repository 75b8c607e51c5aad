internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// Writes identity files.
///
/// A reader finds either the old file or all of the new one.
struct IdentityWriting {
  let path: String
  private let folder: String

  init(_ path: String) throws(KeychainError) {
    let trusted = try translated(TrustedPath(resolving: path))
    self.path = trusted.path
    folder = trusted.folder
  }

  /// Creates a file with a new identity; fails if there is one already.
  ///
  /// `readers` may be able to use it if the file system has no modes.
  func create(
    pins: [VaultCheck], readers: SecretFileReaders
  ) throws(KeychainError) -> VaultRecipient {
    let identity = try VaultIdentity.random()
    let text = try Self.text(identity, pins)
    do throws(FileError) {
      try PrivateFile.makeFolder(folder)
      try PrivateFile.create(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try text.write(to: descriptor)
      }
    } catch {
      guard error.kind == .alreadyExists else { throw KeychainError(ofNewSecretFile: error) }
      throw .fileExists(
        path, recovery: .nameNewFile + "; overwriting an identity loses what it opens")
    }
    return identity.recipient
  }

  /// Makes sure that the file has a pin, and removes the pins for which `isDropped` returns `true`.
  func pin(
    _ check: VaultCheck, name: String, dropping isDropped: (VaultCheck) -> Bool
  ) throws(KeychainError) {
    let text = try SecretFile.named(path, name: name, policy: nil)
    let old = try IdentityFile(text: text, name: path)
    guard !old.pins.contains(check) || old.pins.contains(where: { $0 != check && isDropped($0) })
    else { return }
    let lines = try IdentityFile.lines(of: text, name: path)
    let kept = lines.enumerated().filter { index, line in
      // What follows the last line feed is not a line if it is empty.
      if index == lines.count - 1, line.isEmpty { return false }
      guard case .pin(let pin) = IdentityFile.content(of: text, line) else { return true }
      return pin != check && !isDropped(pin)
    }
    let new = try translating { () throws(SecretsError) in
      var buffer = try SecretBuffer()
      for (_, line) in kept {
        try text.withBytes { bytes throws(SecretsError) in
          try buffer.append(bytes.extracting(line))
        }
        try buffer.append("\n")
      }
      try buffer.append(IdentityFile.pinPrefix + "\(check)\n")
      return try buffer.finish()
    }
    try translated(
      PrivateFile.replace(path) { descriptor throws(Errno) in try new.write(to: descriptor) })
  }

  private static func text(
    _ identity: borrowing VaultIdentity, _ pins: [VaultCheck]
  ) throws(KeychainError) -> SecretBytes {
    try translating { () throws(SecretsError) in
      var buffer = try SecretBuffer()
      try buffer.append("# Whoever has this file opens the vaults of the recipient\n")
      try buffer.append("# \(identity.recipient)\n")
      try buffer.append("# fingerprint \(identity.recipient.fingerprint)\n")
      try identity.text().withBytes { bytes throws(SecretsError) in try buffer.append(bytes) }
      try buffer.append("\n")
      for pin in pins { try buffer.append(IdentityFile.pinPrefix + "\(pin)\n") }
      return try buffer.finish()
    }
  }
}

extension SecretBuffer {
  /// Appends text that is not secret.
  fileprivate mutating func append(_ text: String) throws(SecretsError) {
    for byte in text.utf8 { try append(byte) }
  }
}
