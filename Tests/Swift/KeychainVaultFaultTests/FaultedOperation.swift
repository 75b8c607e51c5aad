import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

/// An operation on a vault that is run repeatedly; another call fails each time.
struct FaultedOperation: Sendable, CustomTestStringConvertible {
  let testDescription: String

  /// Creates the vault on which the operation starts.
  let prepare: @Sendable (TestVault) throws -> Void

  /// The operation; it must return the same result whenever it succeeds.
  let run: @Sendable (Vault, TestVault) throws -> String

  /// Creates the other state in which the operation may stop, if there is one.
  let halfway: (@Sendable (TestVault) throws -> Void)?

  private init(
    _ description: String,
    on prepare: @escaping @Sendable (TestVault) throws -> Void = Self.somethingStored,
    stoppingAt halfway: (@Sendable (TestVault) throws -> Void)? = nil,
    _ run: @escaping @Sendable (Vault, TestVault) throws -> String
  ) {
    testDescription = description
    self.prepare = prepare
    self.halfway = halfway
    self.run = run
  }

  static let writes: [Self] = [
    Self("create", on: { _ in }) { vault, _ in
      try vault.create(passphrase: nil, keyFile: nil, device: true)
      return "made"
    },
    Self("first store", on: { _ in }, stoppingAt: created) { vault, _ in
      "\(try vault.put("new").identity)"
    },
    Self("store") { vault, _ in "\(try vault.put("new", group: "new group").identity)" },
    Self("store a long secret") { vault, _ in
      "\(try vault.put("long", String(repeating: "long", count: 9000)).identity)"
    },
    Self("replace") { vault, _ in "\(try vault.put("b", "new").identity)" },
    Self("update") { vault, _ in
      let update = CredentialUpdate(accessibility: .always, label: .set("new"))
      return "\(try vault.update(.test("b"), with: update).identity)"
    },
    Self("rename") { vault, _ in
      "\(try vault.rename(.test("b"), to: .test("renamed", group: "new group")).identity)"
    },
    Self("remove") { vault, _ in "\(try vault.remove(.test("b")))" },
    Self("transaction") { vault, _ in
      try vault.withTransaction { transaction in
        let added = try transaction.store(
          Credential(.test("new", group: "new group")), secret: SecretBytes(copying: "new"))
        let update = CredentialUpdate(accessibility: .always, label: .set("new"))
        let updated = try transaction.update(.test("b"), with: update)
        try transaction.remove(.test("c"))
        return "\(added.identity) \(updated.identity)"
      }
    },
    Self("add the first passphrase") { vault, _ in
      "\(try vault.addPassphraseSlot(SecretBytes(copying: TestVault.passphrase)))"
    },
    Self("add the first key file") { vault, test in
      "\(try vault.addKeyFileSlot(path: test.folder.path + "/key-file").kind)"
    },
    Self("add a key file beside a passphrase", on: passphraseAdded) { _, test in
      let handle = test.handle(passphrase: TestVault.passphrase) { $0.deadline = Self.deadline }
      return "\(try handle.addKeyFileSlot(path: test.folder.path + "/key-file"))"
    },
    Self("remove the only passphrase", on: passphraseAdded) { _, test in
      let handle = test.handle(passphrase: TestVault.passphrase) { $0.deadline = Self.deadline }
      return "\(try handle.removeSlot(2))"
    },
    Self("first import", on: exportMade, stoppingAt: created) { vault, test in
      try imported(vault, test)
    },
    Self("import", on: exportBesideOthers) { vault, test in try imported(vault, test) },
    Self("import, overwriting", on: exportBesideOthers) { vault, test in
      try imported(vault, test, overwriting: true)
    },
    Self("add a recovery code") { vault, _ in
      "\(try vault.addRecoveryCodeSlot { _ in true })"
    },
    Self("add a recipient") { vault, _ in
      "\(try vault.addRecipientSlot(VaultRecipient(text: Self.recipient)))"
    },
    Self("add the first passphrase beside a recipient", on: recipientAdded) { vault, _ in
      let passphrase = try SecretBytes(copying: TestVault.passphrase)
      return "\(try vault.addPassphraseSlot(passphrase))"
    },
    Self("remove a recipient", on: recipientAdded) { vault, _ in "\(try vault.removeSlot(2))" },
    Self("change the passphrase", on: passphraseAdded) { _, test in
      let handle = test.handle(passphrase: TestVault.passphrase) { $0.deadline = Self.deadline }
      return "\(try handle.changePassphrase(to: SecretBytes(copying: VaultContents.changed)))"
    },
    Self("new keys", on: keyFileAdded) { _, test in
      let handle = test.handle(passphrase: TestVault.passphrase) { $0.deadline = Self.deadline }
      return "\(try handle.rekey(confirm: { _ in true }).plan)"
    },
    Self("remove the key file, with new keys", on: keyFileAdded) { _, test in
      let handle = test.handle(passphrase: TestVault.passphrase) { $0.deadline = Self.deadline }
      return "\(try handle.rekey(removing: 3, confirm: { _ in true }).plan)"
    },
    Self("accept a restored vault", on: rolledBack) { vault, _ in
      try vault.acceptRestored { _ in true }
      return "accepted"
    },
  ]

  static let reads: [Self] = [
    Self("read a secret") { vault, _ in try vault.digest(of: .test("b")) },
    Self("read a long secret") { vault, _ in try vault.digest(of: .test("a", group: "group")) },
    Self("look for what is absent") { vault, _ in try vault.digest(of: .test("none")) },
    Self("search all") { vault, _ in try found(vault, CredentialQuery()) },
    Self("search by account") { vault, _ in try found(vault, CredentialQuery(account: "b")) },
    Self("status") { vault, _ in
      let status = try vault.status()
      guard status.damagedSlots.isEmpty, status.damagedItemCount == 0 else {
        throw KeychainError(.damaged, "a slot or an item")
      }
      return "\(status.itemsByAccessibility.values.sorted()) \(status.slots) \(status.exists)"
    },
    Self("verify") { vault, _ in
      let report = try vault.verify()
      guard report.isIntact else { throw KeychainError(.damaged, "\(report.problems)") }
      return "\(report)"
    },
    Self("back up") { vault, test in
      let report = try vault.backup(to: test.folder.path + "/backup.db")
      return "\(report.itemCount) \(report.slots)"
    },
    Self("export") { vault, test in
      let path = test.folder.path + "/x.export"
      return "\(try vault.export(to: path, passphrase: SecretBytes(copying: "export")))"
    },
    Self("rehearse an import", on: exportBesideOthers) { vault, test in
      try imported(vault, test, rehearsing: true)
    },
  ]

  /// Returns the result of a search; damage in it is a failure here.
  private static func found(_ vault: Vault, _ query: CredentialQuery) throws -> String {
    let found = try vault.search(query)
    guard found.damaged.isEmpty else { throw KeychainError(.damaged, "\(found.damaged)") }
    return "\(found.credentials.map(\.identity)) \(found.lockedCount) \(found.otherDeviceCount)"
  }

  static func imported(
    _ vault: Vault, _ test: TestVault, overwriting: Bool = false, rehearsing: Bool = false
  ) throws -> String {
    let report = try vault.importItems(
      from: test.folder.path + "/x.export", passphrase: SecretBytes(copying: "export"),
      overwriting: overwriting, isDryRun: rehearsing)
    return "\(report)"
  }

  /// The deadline of a call; short, because a lock that a fault holds is never released.
  static let deadline: Duration = .milliseconds(5)

  private static let created: @Sendable (TestVault) throws -> Void = { vault in
    try vault.handle().create(passphrase: nil, keyFile: nil, device: true)
  }

  private static let somethingStored: @Sendable (TestVault) throws -> Void = { vault in
    let handle = vault.handle()
    try handle.put("a", String(repeating: "a", count: 6000), .always, group: "group")
    try handle.put("b", "b")
    try handle.put("c", "c", .afterFirstUnlockThisDeviceOnly)
    _ = try vault.file("key-file", String(repeating: "k", count: 32))
  }

  /// Creates an export, and no vault.
  private static let exportMade: @Sendable (TestVault) throws -> Void = { vault in
    let other = try TestVault()
    try somethingStored(other)
    _ = try other.handle().export(
      to: vault.folder.path + "/x.export", passphrase: SecretBytes(copying: "export"))
  }

  /// Creates an export, and a vault with some of its items, and others.
  private static let exportBesideOthers: @Sendable (TestVault) throws -> Void = { vault in
    try exportMade(vault)
    let handle = vault.handle()
    try handle.put("b", "old", .always)
    try handle.put("d", "d")
  }

  private static let passphraseAdded: @Sendable (TestVault) throws -> Void = { vault in
    try somethingStored(vault)
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
  }

  private static let recipient =
    "pkpub2-taj4mjq8q8smqpghtbamj8rsm5t9pynfhytc7rx9vr66txnfps5y"
    + "tf0yzbjmg9hnjmfvavjtfa1dy57sycmcyx0hjv69ekxfeg87nw3cjyhvmcps"

  private static let recipientAdded: @Sendable (TestVault) throws -> Void = { vault in
    try somethingStored(vault)
    try vault.handle().addRecipientSlot(VaultRecipient(text: recipient))
  }

  private static let keyFileAdded: @Sendable (TestVault) throws -> Void = { vault in
    try passphraseAdded(vault)
    try vault.handle(passphrase: TestVault.passphrase)
      .addKeyFileSlot(path: vault.folder.path + "/key-file")
  }

  private static let rolledBack: @Sendable (TestVault) throws -> Void = { vault in
    try somethingStored(vault)
    let old = try Data(contentsOf: URL(filePath: vault.path))
    try vault.handle().put("d", "d")
    try old.write(to: URL(filePath: vault.path))
  }
}
