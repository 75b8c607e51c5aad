import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

/// What is stored under which key, and who can put it there.
@Suite("Items and their tiers")
struct TierTests {
  private let vault: TestVault

  /// Creates a vault with slots 1 device and 2 passphrase.
  init() throws {
    vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
  }

  private var handle: Vault { vault.handle(passphrase: "one") }

  @discardableResult
  private func merge(
    _ vault: Vault, _ account: String, _ accessibility: Accessibility? = nil
  ) throws -> Credential {
    try vault.merge(
      CredentialUpdate(accessibility: accessibility), secret: SecretBytes(copying: "merged"),
      into: .test(account), mode: .addOrReplace
    ).credential
  }

  /// Anyone who has the device key could have planted it, to read its replacement.
  @Test func classOfTheOpenTierIsNamed() throws {
    let handle = handle
    try handle.put("planted", "x", .always)
    let before = try vault.bytes
    let error = failure { try merge(handle, "planted") }
    #expect(error?.code == .refused)
    #expect(error?.recovery?.actions.contains(.nameAccessibility) == true)
    #expect(
      failure {
        try handle.withTransaction { transaction in
          _ = try transaction.merge(
            CredentialUpdate(), secret: SecretBytes(copying: "merged"), into: .test("planted"))
        }
      }?.code == .refused)
    #expect(try vault.bytes == before)
    #expect(try merge(handle, "planted", .always).accessibility == .always)
    #expect(try merge(handle, "planted", .whenUnlocked).accessibility == .whenUnlocked)
    #expect(try merge(handle, "a").accessibility == .whenUnlocked)
    try handle.put("first", "x", .afterFirstUnlock)
    #expect(try merge(handle, "first").accessibility == .afterFirstUnlock)
  }

  /// Every writer has T0: a commit without its proof, or with a wrong one, is not a valid frame.
  @Test(arguments: Proof.allCases)
  func commitsNeedTheProofOfTheOpenTier(_ proof: Proof) throws {
    let raw = try RawVault(vault, handle)
    var writer = VaultWriter(raw.contents, ItemSealing(keys: raw.keys, device: nil))
    try writer.put(new("planted"), secret: SecretBytes(copying: "x"))
    let (commit, header, frame) = try writer.sealed()
    let content = try #require(commit.changes)
    var macs = commit.proofs.macs
    switch proof {
    case .right: break
    case .wrong: macs[0] = Data(count: 32)
    case .missing: macs[0] = nil
    }
    let body = Commit.body(n: commit.n, time: commit.time, writer: 0, content: .changes(content))
    let box = try Sealing.seal(
      fields: Sealing.padded(
        fields: Commit.plaintext(
          previous: commit.previous, body: body,
          proofs: Commit.Proofs(macs: macs, list: nil, writer: nil))),
      with: raw.keys.boxKey("pk3/commit").bytes)
    let newHeader = FrameHeader(n: commit.n, boxCount: box.count, boxesCount: header.boxesCount)
    let bytes =
      try newHeader.encoded(epoch: raw.contents.head.epoch, open: raw.keys.open) + box
      + frame.suffix(header.boxesCount)
    try write(bytes, at: raw.contents.end)
    // As the last one, it is an unfinished write.
    #expect(try vault.handle().text("planted") == (proof == .right ? "x" : nil))
    #expect(try vault.handle().verify().hasUnfinishedWrite == (proof != .right))
    // In front of another one, it is damage.
    var next = VaultWriter(
      try raw.contents.continuing(commit, newHeader, bytes),
      ItemSealing(keys: raw.keys, device: nil))
    try next.put(new("b"), secret: SecretBytes(copying: "y"))
    try write(next.sealed().2, at: raw.contents.end + bytes.count)
    let code = failure { _ = try vault.handle().text("planted") }?.code
    #expect(code == (proof == .right ? nil : .damaged))
  }

  enum Proof: CaseIterable { case right, wrong, missing }

  private func new(_ account: String) -> Credential {
    var credential = Credential(.test(account), accessibility: .always)
    credential.version = ItemEntry.newVersion()
    return credential
  }

  private func write(_ bytes: Data, at place: Int) throws {
    let file = try FileHandle(forUpdating: URL(filePath: vault.path))
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: bytes)
    try file.close()
  }

  /// Its device key opens everything anyway.
  @Test func classIsKeptWhereNothingIsLocked() throws {
    let open = try TestVault()
    try open.handle().put("a", "x", .always)
    #expect(try merge(open.handle(), "a").accessibility == .always)
  }

  @Test func addingOnlyNeedsAllKeys() throws {
    let locked = vault.handle()
    func add(_ vault: Vault, _ account: String) throws {
      try vault.set(
        Credential(.test(account), accessibility: .always), secret: SecretBytes(copying: "x"),
        mode: .addOnly)
    }
    let before = try vault.bytes
    #expect(failure { try add(locked, "new") }?.code == .locked)
    #expect(failure { try add(locked, "a") }?.code == .locked)
    #expect(try vault.bytes == before)
    try locked.put("new", "x", .always)
    try add(handle, "newer")
    #expect(failure { try add(handle, "new") }?.code == .alreadyExists)
  }

  @Test func itemOfALowerTierIsShadowed() throws {
    let raw = try RawVault(vault, handle)
    let planted = try SecretBytes(copying: "planted")
    try raw.append(raw.openTier) { writer throws(KeychainError) in
      try writer.put(new("a"), secret: planted)
    }
    #expect(try RawVault(vault, handle).tiers(of: "a") == [.open, .unlocked])
    #expect(try handle.text("a") == "secret")
    #expect(failure { _ = try vault.handle().text("a") }?.code == .locked)
    #expect(try handle.search(CredentialQuery()).credentials.count == 1)
    let report = try handle.verify()
    #expect(report.problems == [] && report.shadowed.count == 1 && report.itemCount == 1)
    try handle.compact()
    #expect(try RawVault(vault, handle).tiers(of: "a") == [.unlocked])
    #expect(try handle.verify().shadowed == [])
  }

  @Test func aWriteRemovesTheItemFromOtherTiers() throws {
    let handle = handle
    let classes: [(Accessibility, Tier)] = [
      (.always, .open), (.afterFirstUnlock, .first), (.whenUnlocked, .unlocked), (.always, .open),
    ]
    for (accessibility, tier) in classes {
      try handle.put("a", "\(accessibility)", accessibility)
      #expect(try RawVault(vault, handle).tiers(of: "a") == [tier])
      #expect(try self.handle.text("a") == "\(accessibility)")
    }
    try handle.remove(.test("a"))
    #expect(try RawVault(vault, handle).tiers(of: "a") == [])
  }

  /// Without the key of a tier, a proof of it cannot be made.
  @Test func changeWithoutTheTiersKeyIsDamage() throws {
    try handle.put("open", "x", .always)
    let raw = try RawVault(vault, handle)
    let other = try SecretBytes.random(count: 32)
    let strange = try TierKeys(root: other, of: raw.contents.head.identity)
    let thief = TierKeys(
      binding: raw.keys.binding, checks: raw.keys.checks, open: raw.keys.open, first: nil,
      unlocked: strange.unlocked)
    // Proofs that were right are compared again with each commit.
    var known = raw.contents
    try known.requireProofs(raw.keys)
    var removing = VaultWriter(known, ItemSealing(keys: thief, device: nil))
    try removing.remove(removing.sealing.id(of: .test("a")))
    let (commit, header, frame) = try removing.sealed()
    var next = try known.continuing(commit, header, frame)
    #expect(failure { try next.requireProofs(raw.keys) }?.code == .damaged)
    try raw.append(thief) { writer throws(KeychainError) in
      try writer.remove(writer.sealing.id(of: .test("a")))
    }
    let before = try vault.bytes
    #expect(failure { _ = try handle.text("a") }?.code == .damaged)
    #expect(failure { try handle.put("a", "new") }?.code == .damaged)
    #expect(failure { try handle.rekey { _ in true } }?.code == .damaged)
    #expect(failure { try handle.acceptRestored { _ in true } }?.code == .damaged)
    #expect(try vault.bytes == before)
    // T0's proof is right.
    #expect(try vault.handle().text("open") == "x")
  }
}

extension VaultContents {
  /// The contents with one more commit, whose frame has these bytes.
  fileprivate func continuing(
    _ commit: Commit, _ header: FrameHeader, _ bytes: Data
  ) throws -> VaultContents {
    var contents = self
    contents.add(
      commit,
      LastFrame(
        place: end, header: header, beginning: Data(bytes.prefix(LastFrame.beginningCount))))
    return contents
  }
}
