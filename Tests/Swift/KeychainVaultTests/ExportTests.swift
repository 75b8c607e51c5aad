import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

@Suite("Export and import")
struct ExportTests {
  private static let oddNames = [
    "", "nul\0nul", "line\nbreak\ttab", "\u{e9}", "e\u{301}", "\u{1f1e9}\u{1f1ea}", "-x",
    String(repeating: "a", count: 10_000),
  ]

  /// Stores items of every kind, except device-bound ones.
  private func fill(_ vault: Vault) throws {
    for name in Self.oddNames {
      try vault.set(
        Credential(
          .genericPassword(service: name, account: name, accessGroup: name), label: name,
          comment: name, attributes: ["e\u{301}": name, "\u{e9}": "composed"]),
        secret: SecretBytes(copying: name))
    }
    for accessibility in [Accessibility.whenUnlocked, .afterFirstUnlock, .always] {
      try vault.put("\(accessibility)", "secret", accessibility)
    }
    let password = InternetPassword(
      server: "example.com", protocol: "https", port: 443, path: "/a", account: "me",
      securityDomain: "realm", authenticationType: "httpDigest")
    try vault.set(
      Credential(
        CredentialIdentity(.internetPassword(password)), contentType: "text/plain",
        expires: Date(timeIntervalSince1970: 1_000_000_000.123456)),
      secret: SecretBytes(copying: ""))
    try vault.put("updated", "first")
    try vault.put("updated", "second")
  }

  @Test func everythingIsCarriedOver() throws {
    let (one, other) = (try TestVault(), try TestVault())
    let vault = one.handle()
    try fill(vault)
    // The times must be from the export, not from the clock.
    usleep(2000)
    let path = try ExportSupport.export(vault, in: one)
    let target = other.handle()
    let report = try target.importItems(from: path, passphrase: ExportSupport.passphrase())
    let before = try ExportSupport.contents(of: vault)
    #expect(try ExportSupport.contents(of: target) == before)
    #expect(report == .init(addedCount: before.count, isOverwriting: false))
    #expect(try target.verify().problems == [])
    #expect(try target.verify().openedCount == before.count)
    // The way back gives the same result.
    let again = try ExportSupport.export(target, in: other)
    let unchanged = try vault.importItems(from: again, passphrase: ExportSupport.passphrase())
    #expect(unchanged == .init(unchangedCount: before.count, isOverwriting: false))
  }

  @Test("Secrets of all lengths", arguments: [0, 65_400, 65_472, 65_536, 131_072, 16 << 20])
  func secretsOfAllLengths(_ count: Int) throws {
    let (one, other) = (try TestVault(), try TestVault())
    let secret = try SecretBytes.random(count: count)
    try one.handle().set(Credential(.test("a")), secret: secret)
    let path = try ExportSupport.export(one.handle(), in: one)
    _ = try other.handle().importItems(from: path, passphrase: ExportSupport.passphrase())
    let stored = try other.handle().secret(for: .test("a"))?.takeSecret()
    #expect(stored?.isEqual(to: secret) ?? false)
  }

  /// The last chunk may be full.
  @Test func aContentThatEndsWithAChunk() throws {
    let test = try TestVault()
    var item = try ExportSupport.Item("a")
    let rest = 24 + 1 + 4 + item.metadata.count + 4
    for chunks in [1, 2] {
      for difference in [-1, 0, 1] {
        item.secret = Array(repeating: 7, count: chunks * 65536 - rest + difference)
        let path = try ExportSupport.forge([item], in: test)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(
          size == 122 + chunks * 65536 + difference + 17 * (chunks + (difference > 0 ? 1 : 0)))
        let report = try test.handle().importItems(
          from: path, passphrase: ExportSupport.passphrase(), isDryRun: true)
        #expect(report.addedCount == 1)
      }
    }
  }

  @Test func deviceBoundItemsStayBehind() throws {
    let test = try TestVault()
    let vault = test.handle(passphrase: TestVault.passphrase)
    try vault.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    for accessibility in Accessibility.allCases {
      try vault.put("\(accessibility)", "secret", accessibility)
    }
    let path = test.folder.path + "/x.export"
    let report = try vault.export(to: path, passphrase: ExportSupport.passphrase())
    #expect(report == .init(itemCount: 3, leftOutCount: 4))
    let other = try TestVault()
    let imported = try other.handle().importItems(
      from: path, passphrase: ExportSupport.passphrase())
    #expect(imported == .init(addedCount: 3, isOverwriting: false, leftOutCount: 4))
  }

  @Test func anEmptyVaultMakesAnExport() throws {
    let (one, other) = (try TestVault(), try TestVault())
    try one.handle().create(passphrase: nil, keyFile: nil, device: true)
    let path = try ExportSupport.export(one.handle(), in: one)
    let report = try other.handle().importItems(from: path, passphrase: ExportSupport.passphrase())
    #expect(report == .init(isOverwriting: false))
    #expect(try other.handle().status().itemCount == 0)
  }

  @Test func existingItemsStayUnlessOverwritten() throws {
    let (one, other) = (try TestVault(), try TestVault())
    let (vault, target) = (one.handle(), other.handle())
    try vault.set(
      Credential(.test("both"), accessibility: .always, label: "new", attributes: ["new": "x"]),
      secret: SecretBytes(copying: "new"))
    try vault.put("only one")
    try target.set(
      Credential(.test("both"), label: "old", comment: "old", attributes: ["old": "x"]),
      secret: SecretBytes(copying: "old"))
    try target.put("only other")
    let path = try ExportSupport.export(vault, in: one)
    let before = try ExportSupport.contents(of: target)

    let rehearsal = try target.importItems(
      from: path, passphrase: ExportSupport.passphrase(), overwriting: true, isDryRun: true)
    #expect(try ExportSupport.contents(of: target) == before)
    #expect(rehearsal.addedCount == 1 && rehearsal.differing == [.test("both")])

    let first = try target.importItems(from: path, passphrase: ExportSupport.passphrase())
    #expect(
      first == .init(addedCount: 1, differing: [.test("both")], isOverwriting: false))
    #expect(try target.text("both") == "old")

    let second = try target.importItems(
      from: path, passphrase: ExportSupport.passphrase(), overwriting: true)
    #expect(
      second == .init(unchangedCount: 1, differing: [.test("both")], isOverwriting: true))
    let credential = try target.credential(for: .test("both"))
    #expect(credential?.label == "new" && credential?.comment == nil)
    #expect(credential?.accessibility == .always)
    #expect(credential?.attributes == ["new": "x"])
    #expect(try target.text("both") == "new")
    #expect(try target.search(CredentialQuery(attributes: ["old": "x"])).credentials == [])
    #expect(try target.search(CredentialQuery(attributes: ["new": "x"])).credentials.count == 1)
    #expect(try target.text("only other") != nil)
    #expect(try target.verify().problems == [])
  }

  @Test func anImportWithoutNewsWritesNothing() throws {
    let test = try TestVault()
    try fill(test.handle())
    let path = try ExportSupport.export(test.handle(), in: test)
    let before = try Data(contentsOf: URL(filePath: test.path))
    let report = try test.handle().importItems(
      from: path, passphrase: ExportSupport.passphrase(), overwriting: true)
    #expect(report.addedCount == 0 && report.differing == [])
    #expect(try Data(contentsOf: URL(filePath: test.path)) == before)
    // The seen record must not be ahead of the vault either.
    try test.handle().put("new")
    #expect(try test.handle().verify().problems == [])
  }

  @Test func aRehearsalMakesNoVault() throws {
    let (one, other) = (try TestVault(), try TestVault())
    try one.handle().put("a")
    let path = try ExportSupport.export(one.handle(), in: one)
    let report = try other.handle().importItems(
      from: path, passphrase: ExportSupport.passphrase(), isDryRun: true)
    #expect(report.addedCount == 1)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test func observersAreNotified() throws {
    let (one, other) = (try TestVault(), try TestVault())
    try one.handle().put("new")
    try one.handle().put("both", "new")
    try one.handle().put("same", "same")
    let path = try ExportSupport.export(one.handle(), in: one)
    let target = other.handle()
    try target.put("both", "old")
    let changes = Mutex<Set<CredentialChange>>([])
    let observation = target.observe { change in changes.withLock { _ = $0.insert(change) } }
    _ = try target.importItems(
      from: path, passphrase: ExportSupport.passphrase(), isDryRun: true)
    #expect(changes.withLock { $0 } == [])
    _ = try target.importItems(
      from: path, passphrase: ExportSupport.passphrase(), overwriting: true)
    let expected: Set<CredentialChange> = [
      .init(.test("new"), .added), .init(.test("same"), .added), .init(.test("both"), .updated),
    ]
    #expect(changes.withLock { $0 } == expected)
    observation.cancel()
  }

  @Test func pipesWorkAsFilesDo() throws {
    let (one, other) = (try TestVault(), try TestVault())
    try fill(one.handle())
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    // A child of another test that inherited the other end would keep the pipe open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let (source, target) = (ends[0], ends[1])
    let sender = Thread {
      _ = try? one.handle().export(
        toFileDescriptor: target, passphrase: ExportSupport.passphrase())
      close(target)
    }
    sender.start()
    let report = try other.handle().importItems(
      fromFileDescriptor: source, passphrase: ExportSupport.passphrase())
    close(source)
    #expect(report.differing == [])
    #expect(
      try ExportSupport.contents(of: other.handle()) == ExportSupport.contents(of: one.handle()))
    let left = try FileManager.default.contentsOfDirectory(
      atPath: other.folder.path + "/state/keychain")
    #expect(!left.contains { $0.hasPrefix("spool") })
  }

  /// An export shows one moment, whatever a writer does meanwhile.
  @Test func anExportIsOfOneMoment() throws {
    let test = try TestVault()
    try test.handle().put("k0")
    let isOver = Mutex(false)
    let done = DispatchSemaphore(value: 0)
    let failures = Mutex<[String]>([])
    Thread {
      let vault = test.handle()
      for number in 1..<10_000 where !isOver.withLock({ $0 }) {
        do { try vault.put("k\(number)") } catch { failures.withLock { $0.append("\(error)") } }
      }
      done.signal()
    }.start()
    for round in 0..<4 {
      let path = try ExportSupport.export(test.handle(), in: test, named: "\(round).export")
      let other = try TestVault()
      let report = try other.handle().importItems(
        from: path, passphrase: ExportSupport.passphrase())
      let found = try other.handle().search(CredentialQuery()).credentials.map(\.identity)
      #expect(Set(found) == Set((0..<report.addedCount).map { .test("k\($0)") }))
      #expect(try other.handle().verify().problems == [])
    }
    isOver.withLock { $0 = true }
    done.wait()
    #expect(failures.withLock { $0 } == [])
  }
}
