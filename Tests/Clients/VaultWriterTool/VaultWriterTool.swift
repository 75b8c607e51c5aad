import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting

/// Writes to the vault in its environment until it is finished or killed, and prints a line for
/// each successful write.
///
/// The tests run it as separate processes.
@main
enum VaultWriterTool {
  static func main() throws {
    var arguments = CommandLine.arguments.dropFirst()
    let vault = handle()
    switch arguments.popFirst() {
    case "items":
      let prefix = arguments.popFirst() ?? ""
      let count = arguments.popFirst().flatMap { Int($0) } ?? .max
      for number in 0..<count {
        try vault.put("\(prefix)\(number)", "secret of \(prefix)\(number)")
        report("\(number)")
      }
    case "bases":
      for number in 0... {
        try vault.put("k\(number % 7)", "\(number)")
        try vault.compact()
        report("\(number)")
      }
    case "removals":
      for number in 0... {
        try vault.put("k\(number)", "\(number)")
        if number > 0 { try vault.remove(.test("k\(number - 1)")) }
        report("\(number)")
      }
    case "count":
      for _ in 0..<(arguments.popFirst().flatMap { Int($0) } ?? 0) {
        try increment(vault)
        report("counted")
      }
    case "transactions":
      for number in 1... {
        try vault.withTransaction { transaction in
          for item in 0..<20 {
            try transaction.set(
              Credential(.test("k\(item)")), secret: SecretBytes(copying: "\(number)"))
          }
        }
        report("\(number)")
      }
    case "seal":
      report("begun")
      try vault.addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
      report("sealed")
    case "export":
      report("begun")
      let exported = try vault.export(
        to: arguments.popFirst() ?? "", passphrase: SecretBytes(copying: TestVault.passphrase))
      report("\(exported.itemCount)")
    case "import":
      report("begun")
      let imported = try vault.importItems(
        from: arguments.popFirst() ?? "", passphrase: SecretBytes(copying: TestVault.passphrase))
      report("\(imported.addedCount)")
    case "slots":
      let recipient = try VaultRecipient(text: arguments.popFirst() ?? "")
      while true {
        let added = [
          try vault.addRecipientSlot(recipient), try vault.addRecoveryCodeSlot { _ in true },
        ]
        report("added")
        for slot in added { try vault.removeSlot(slot.number) }
        report("removed")
      }
    case "rekey":
      report("begun")
      while true {
        try vault.rekey { _ in true }
        report("rekeyed")
      }
    case "passphrases":
      // A key file named by the environment opens the vault.
      for number in 1... {
        try vault.changePassphrase(to: SecretBytes(copying: "\(number)"))
        report("\(number)")
      }
    case "rename":
      for number in 1... {
        try vault.rename(.test("k\(number - 1)"), to: .test("k\(number)"))
        report("\(number)")
      }
    default: exit(64)
    }
  }

  private static func handle() -> Vault {
    var configuration = Vault.Configuration(deadline: .seconds(60))
    configuration.passwordHash = .interactive
    return Vault(configuration: configuration)
  }

  /// Increments the number in the item "counter", while others may do the same.
  private static func increment(_ vault: Vault) throws {
    while true {
      let version = try vault.credential(for: .test("counter"))?.version ?? 0
      let number = try vault.text("counter").flatMap { Int($0) } ?? 0
      do {
        try vault.set(
          Credential(.test("counter")), secret: SecretBytes(copying: "\(number + 1)"),
          mode: version == 0 ? .addOnly : .replace(version: version))
        return
      } catch {
        guard [.versionConflict, .alreadyExists].contains(error.code) else { throw error }
      }
    }
  }

  private static func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}
