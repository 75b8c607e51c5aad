internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
package import KeychainVault
internal import Synchronization

extension TestVault {
  /// Adds a recovery code.
  ///
  /// - Returns: The code in its written form.
  package func addRecoveryCode(passphrase: String? = nil) throws -> String {
    let handle = passphrase.map { self.handle(passphrase: $0) } ?? self.handle()
    var written = ""
    try handle.addRecoveryCodeSlot { code throws(KeychainError) in
      written = try code.text().withBytes { $0.text ?? "" }
      return true
    }
    return written
  }

  /// Returns a handle with a recovery code.
  package func handle(
    recoveryCode: String, _ change: (inout Vault.Configuration) -> Void = { _ in }
  ) -> Vault {
    handle {
      change(&$0)
      $0.unlock = .recoveryCode(named: "the test") { () throws(KeychainError) in
        try SecretBytes(copying: recoveryCode)
      }
    }
  }

  /// Returns a handle with an identity file.
  package func handle(
    identity path: String, _ change: (inout Vault.Configuration) -> Void = { _ in }
  ) -> Vault {
    handle {
      change(&$0)
      $0.unlock = .identityFile(path, named: "the test")
    }
  }

  /// Creates an identity and returns its description.
  package func identity(_ name: String) throws -> IdentityDescription {
    try handle().createIdentity(at: folder.path + "/" + name)
  }
}
