import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting

@testable import KeychainVault

/// The contents of a vault that do not differ between runs.
struct VaultContents: Hashable, CustomStringConvertible {
  private var items: [String] = []
  private var slots: [String] = []
  private var passphrase: String?

  /// The passphrase that replaces the usual one.
  static let changed = "changed"

  /// Reads all contents of a vault, and checks that it is intact.
  ///
  /// - Throws: The vault's errors, or ``NotIntact``.
  init(of vault: TestVault) throws {
    // A handle that met a fault may hold a lock forever.
    let found = vault.handle { $0.deadline = FaultedOperation.deadline }
    guard try found.session() != nil else { return }
    let kinds = try found.slots().map(\.kind)
    if kinds.contains(.passphrase) { passphrase = try Self.passphrase(of: vault) }
    let handle =
      if let passphrase {
        vault.handle(passphrase: passphrase)
      } else if kinds.contains(.keyFile) {
        vault.handle { $0.unlock = .keyFile(vault.folder.path + "/key-file", named: "the test") }
      } else {
        found
      }
    let report = try handle.verify()
    guard report.isIntact else { throw NotIntact(problems: report.problems) }
    slots = try handle.slots().map { "\($0.number) \($0.kind) \($0.grant)" }
    let result = try handle.search(CredentialQuery())
    guard result.lockedCount == 0, result.damaged.isEmpty, result.otherDeviceCount == 0,
      result.credentials.count == report.itemCount
    else { throw NotIntact(problems: ["a search does not find all"]) }
    items = try result.credentials.map { credential in
      "\(credential.identity) \(credential.accessibility) \(credential.label ?? "-") "
        + (try handle.digest(of: credential.identity))
    }
  }

  /// Returns the passphrase that opens the vault.
  private static func passphrase(of vault: TestVault) throws -> String {
    let usual = vault.handle(passphrase: TestVault.passphrase)
    let outcome = Result { try usual.ensureReadable(.unlockedNow) }
    guard case .failure(let error as KeychainError) = outcome else { return TestVault.passphrase }
    guard error.code == .incorrectSecret else { throw error }
    return changed
  }

  var description: String { (items + slots).joined(separator: "\n") }

  struct NotIntact: Error {
    let problems: [String]
  }
}

extension CredentialStore {
  /// Returns a number for a secret, so that test output contains no secret.
  func digest(of identity: CredentialIdentity) throws -> String {
    guard let stored = try secret(for: identity) else { return "absent" }
    return stored.secret.withBytes { bytes in
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      bytes.withUnsafeBytes { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
      return "\(bytes.byteCount) bytes, \(String(hash, radix: 16))"
    }
  }
}
