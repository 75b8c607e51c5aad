import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

@Suite("What stays in memory", .timeLimit(.minutes(10)))
struct MemoryTests {
  @Test func aLivingSecretIsFound() async {
    await #expect(processExitsWith: .success) {
      let secret = try SecretBytes.random(count: 48)
      let scan = try MemoryScan()
      let marker = MaskedBytes("secret", secret)
      let count = scan.count(of: marker)
      precondition(count == 1, "the scan does not find what is there")
      precondition(secret.count == 48)
    }
  }

  /// Runs in a separate process, which has nothing else in memory.
  @Test func nothingIsLeftOfSecretsKeysAndPassphrases() async {
    await #expect(processExitsWith: .success) {
      let marks = try MemoryWalk().run()
      let scan = try MemoryScan()
      for mark in marks {
        let count = scan.count(of: mark)
        if count != 0 { print("left in memory: \(mark.name), \(count) times") }
        precondition(count == 0, "something is left in memory")
      }
    }
  }
}

/// Uses a vault in every way, and releases everything.
struct MemoryWalk {
  private let passphrase: MaskedBytes
  private let secret: MaskedBytes
  private let large: MaskedBytes
  private let vault: TestVault
  private let identity = CredentialIdentity.test("a", group: "team")

  init() throws {
    vault = try TestVault()
    // 48 bytes fit a slot of a slab; 5000 have their own pages.
    secret = MaskedBytes("the secret", try SecretBytes.random(count: 48))
    large = MaskedBytes("the large secret", try SecretBytes.random(count: 3000))
    passphrase = MaskedBytes("the passphrase", try SecretBytes.random(count: 32))
  }

  /// Returns the bytes that must no longer be in memory.
  func run() throws -> [MaskedBytes] {
    try vault.handle().put("first", "before there is a passphrase")
    try vault.handle().addPassphraseSlot(passphrase.secret())
    try use(handle())
    try handle().unlock()
    try use(vault.handle())
    let others = try useCodeAndIdentity()
    let keys = try keys()
    let changed = try changeKeys()
    let newKeys = try self.keys(of: handle(changed.passphrase))
    try vault.handle().lock(all: true)
    return keys + newKeys + others + changed.inputs + [
      secret, large, passphrase, changed.passphrase,
    ]
  }

  /// Opens the vault with a recovery code and with an identity.
  ///
  /// - Returns: The code and the identity, as keys and in written form.
  private func useCodeAndIdentity() throws -> [MaskedBytes] {
    var code: [MaskedBytes] = []
    try handle().addRecoveryCodeSlot { made throws(KeychainError) in
      code = [
        MaskedBytes("the recovery code", made.bytes),
        MaskedBytes("the recovery code's text", try made.text()),
      ]
      return true
    }
    let text = code[1]
    let recovered = vault.handle {
      $0.unlock = .recoveryCode(named: "the test") { () throws(KeychainError) in
        guard let secret = try? text.secret() else {
          throw KeychainError(.internalFailure, "no memory")
        }
        return secret
      }
    }
    try use(recovered)
    let file = try vault.identity("identity")
    try handle().addRecipientSlot(file.recipient)
    try use(vault.handle(identity: file.path))
    let check = try #require(VaultCheck(text: String(repeating: "a", count: 32)))
    try vault.handle().pinIdentity(at: file.path, to: check, replacing: true)
    let sources = recovered.configuration
    let read = try sources.identityFile(file.path, file.path)
    return code + [
      MaskedBytes("the seed of the identity", read.identity.seed),
      MaskedBytes(
        "the private key of the identity",
        try Derivation.key(read.identity.seed, "pk2/ident.box")),
      MaskedBytes("the identity", try read.identity.text()),
    ]
  }

  /// Changes the passphrase, and gives the vault new keys.
  ///
  /// - Returns: The new passphrase, and the keys that seal its slots.
  private func changeKeys() throws -> (passphrase: MaskedBytes, inputs: [MaskedBytes]) {
    let new = MaskedBytes("the new passphrase", try SecretBytes.random(count: 32))
    var inputs = try slotKeys(passphrase)
    try handle().changePassphrase(to: new.secret())
    inputs += try slotKeys(new)
    try handle(new).rekey { _ in true }
    try use(handle(new))
    return (new, inputs + (try slotKeys(new)))
  }

  /// Returns the keys that seal the passphrase slot.
  private func slotKeys(_ passphrase: MaskedBytes) throws -> [MaskedBytes] {
    let head = try vault.handle().existingSession().head
    let slot = try #require(head.slots(of: .passphrase).first)
    let parameters = try #require(PasswordHash.Parameters(encoded: slot.parameters))
    let input = try SlotSealing.passphraseKey(
      passphrase.secret(), salt: slot.salt, parameters: parameters)
    let key = try Derivation.key(input, "pk3/slot.box", slot.fields(in: head.id))
    return [MaskedBytes("the input key", input), MaskedBytes("the key of the slot", key)]
  }

  private func handle(_ passphrase: MaskedBytes? = nil) -> Vault {
    let passphrase = passphrase ?? self.passphrase
    return vault.handle {
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        guard let secret = try? passphrase.secret() else {
          throw KeychainError(.internalFailure, "no memory")
        }
        return secret
      }
    }
  }

  private func use(_ handle: Vault) throws {
    for mark in [secret, large] {
      try handle.set(Credential(identity), secret: mark.secret())
      try handle.update(identity, with: CredentialUpdate(label: .set("label")))
      _ = try handle.secret(for: identity)?.secret.count
      _ = try handle.search(CredentialQuery())
      let report = try handle.verify()
      precondition(report.isIntact)
    }
    try handle.lock()
  }

  /// Returns masked copies of every key between the root and a box.
  private func keys(of handle: Vault? = nil) throws -> [MaskedBytes] {
    let handle = handle ?? self.handle()
    let administration = try handle.administration()
    let tiers = administration.keys
    let device = try #require(try handle.unlocker.state.findSecret())
    var marks = [
      MaskedBytes("the root key", administration.epoch.root.bytes),
      MaskedBytes("T0", tiers.open.bytes),
      MaskedBytes("T1", try #require(tiers.first).bytes),
      MaskedBytes("T2", try #require(tiers.unlocked).bytes),
      MaskedBytes("the device secret", device.secret.bytes),
    ]
    let unlocked = try #require(tiers.unlocked)
    let classKey = try Derivation.key(
      unlocked.bytes, "pk3/class", [Accessibility.whenUnlocked.rawValue])
    let version = try #require(try handle.credential(for: identity)).version
    let id = try ItemSealing(keys: tiers, device: nil).id(of: identity)
    let names = try #require(try tiers.namesKey(.unlocked))
    marks.append(MaskedBytes("the key of the names", names.bytes))
    marks.append(
      MaskedBytes(
        "the item key", try ItemSealing.key(of: id, version: version, classKey: classKey)))
    marks.append(MaskedBytes("the class key", classKey))
    return marks
  }
}
