import Foundation
import GRDB
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Synchronization
import Testing

@testable import KeychainVault

/// The record of what a user has seen of a vault is damaged, or does not match the vault file.
@Suite("The record of what was seen")
struct SeenRecordTests {
  private let vault: TestVault
  private let record: URL

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
    let name = try SeenRecord.name(of: TrustedPath(resolving: vault.path).path)
    record = URL(filePath: vault.seenFolder + "/" + name)
  }

  enum Damage: CaseIterable {
    case empty, torn, cutShort, oneByteChanged, tooLong, muchTooLong
  }

  @Test(arguments: Damage.allCases)
  func damagedRecordIsReportedAndRewritten(_ damage: Damage) throws {
    var bytes = try Data(contentsOf: record)
    switch damage {
    case .empty: bytes = Data()
    case .torn: bytes = Data([1])
    case .cutShort: bytes.removeLast()
    case .oneByteChanged: bytes[40] ^= 1
    case .tooLong: bytes.append(0)
    case .muchTooLong: bytes.append(Data(count: 100_000))
    }
    try bytes.write(to: record)
    #expect(try vault.handle().status().seenRecord == .unreadable)
    #expect(try notices { _ = try $0.text("a") } == [.seenRecordUnavailable])
    #expect(try vault.handle().status().seenRecord == .current)
    #expect(try notices { _ = try $0.text("a") } == [])
  }

  @Test func writeReportsDamagedRecord() throws {
    try Data([1]).write(to: record)
    #expect(try notices { try $0.put("a", "two") } == [.seenRecordUnavailable])
    try Data([1]).write(to: record)
    #expect(
      try notices { _ = try $0.addRecoveryCodeSlot { _ in true } } == [.seenRecordUnavailable])
    try Data([1]).write(to: record)
    #expect(try notices { _ = try $0.rekey { _ in true } } == [.seenRecordUnavailable])
    #expect(try notices { _ = try $0.text("a") } == [])
  }

  @Test func acceptingReportsADamagedRecord() throws {
    try Data([1]).write(to: record)
    #expect(try notices { try $0.acceptRestored { _ in true } } == [.seenRecordUnavailable])
    #expect(try vault.handle().status().seenRecord == .current)
    #expect(try !vault.handle().acceptRestored { _ in true })
    try Data([1]).write(to: record)
    try vault.tamper {
      try $0.execute(sql: "UPDATE state SET box = zeroblob(length(box))")
    }
    try accept { $0.isSeenRecordDamaged && !$0.isConsistent }
  }

  @Test func nonFileIsReportedAndStays() throws {
    for make in [
      { symlink("elsewhere", $0) }, { mkfifo($0, 0o600) }, { mkdir($0, 0o700) },
    ] as [(String) -> CInt] {
      try FileManager.default.removeItem(at: record)
      try #require(make(record.path) == 0)
      for _ in 0..<2 {
        #expect(try notices { _ = try $0.text("a") } == [.seenRecordUnavailable])
      }
      #expect(try vault.handle().status().seenRecord == .unreadable)
    }
  }

  /// Returns the kinds of the notices during use of the vault.
  private func notices(_ body: (Vault) throws -> Void) throws -> [Notice.Kind] {
    let told = Mutex<[Notice.Kind]>([])
    try body(
      vault.handle {
        $0.notice = { notice in told.withLock { $0.append(notice.kind) } }
      })
    return told.withLock { $0 }
  }

  // MARK: - Forks

  @Test func twoChangedCopiesAreAFork() throws {
    let theirs = vault.folder.path + "/theirs.db"
    try copyVault(to: theirs)
    try vault.handle { $0.path = theirs }.put("a", "theirs")
    try vault.handle().put("a", "mine")
    let mine = vault.folder.path + "/mine.db"
    try copyVault(to: mine)
    try restore(theirs)
    for call in [
      { try vault.handle().text("a") }, { try vault.handle().put("a", "three") },
      { try vault.handle().verify() }, { try vault.handle().search(CredentialQuery()) },
    ] as [() throws -> Any?] {
      let failure = #expect(throws: KeychainError.self) { _ = try call() }
      #expect(failure?.code == .rolledBack)
      #expect(failure?.message.contains("fork") == true)
    }
    #expect(try vault.handle().status().seenRecord == .forked)
    try restore(mine)
    #expect(try vault.handle().text("a") == "mine")
    try restore(theirs)
    try accept { $0.isFork && !$0.isForged && !$0.isOtherVault && $0.isConsistent }
    #expect(try vault.handle().text("a") == "theirs")
    #expect(try vault.handle().verify().isIntact)
    try restore(mine)
    expect(.rolledBack) { try vault.handle().text("a") }
  }

  /// Only the newest item's version is then known of the counter, and may equal the one seen.
  @Test func aDamagedStateRowIsNoFork() throws {
    try vault.tamper {
      try $0.execute(sql: "UPDATE state SET box = zeroblob(length(box))")
    }
    try accept { !$0.isFork && !$0.isConsistent && $0.fileCounter == $0.seenCounter }
  }

  private func copyVault(to path: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: vault.path, toPath: path)
  }

  /// Replaces the vault by a new file, like a restore program.
  private func restore(_ path: String) throws {
    let temporary = vault.path + ".new"
    try FileManager.default.copyItem(atPath: path, toPath: temporary)
    try #require(rename(temporary, vault.path) == 0)
  }

  // MARK: - Absurd counters

  @Test func aCounterThatNoVaultReachesIsRefused() throws {
    let good = vault.folder.path + "/good.db"
    try copyVault(to: good)
    for (counter, code) in [
      (2 + StateCounter.largestStep + 1, .rolledBack), (StateCounter.maximum, .rolledBack),
      (StateCounter.maximum + 1, .damaged), (.max >> 1, .damaged),
    ] as [(UInt64, KeychainError.Code)] {
      try forge(counter: counter)
      expect(code) { try vault.handle().text("a") }
      expect(code) { try vault.handle().put("a", "two") }
      try restore(good)
      #expect(try vault.handle().text("a") == "one")
    }
    try forge(counter: 2 + StateCounter.largestStep)
    #expect(try vault.handle().text("a") == "one")
  }

  @Test func acceptedForgeryContinuesFromSeenState() throws {
    for counter in [StateCounter.maximum, UInt64.max >> 1] {
      try forge(counter: counter)
      try accept { _ in true }
      try vault.handle().put("a", "two")
      #expect(try #require(try vault.handle().status().counter) < 10)
    }
  }

  /// As if a holder of T0 had written it before the limit existed.
  @Test func recordTooFarAheadIsLowered() throws {
    var ahead = try #require(try SeenRecord(encoded: Data(contentsOf: record)))
    ahead.state = SeenState(
      epoch: ahead.state.epoch, serial: ahead.state.serial, listHash: ahead.state.listHash,
      counter: StateCounter.maximum, digest: Data(count: 32))
    try ahead.encoded.write(to: record)
    expect(.rolledBack) { try vault.handle().text("a") }
    #expect(throws: KeychainError.self) { try vault.handle().acceptRestored { _ in false } }
    expect(.rolledBack) { try vault.handle().text("a") }
    try accept { $0.isForged && $0.isConsistent && $0.fileCounter == 2 }
    #expect(try vault.handle().text("a") == "one")
    try vault.handle().put("a", "two")
    #expect(try vault.handle().status().counter == 4)
  }

  // MARK: - Slots

  @Test func aSlotThatIsThereAgainIsShown() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    let old = vault.folder.path + "/old.db"
    try copyVault(to: old)
    let handle = vault.handle(passphrase: TestVault.passphrase)
    try handle.addPassphraseSlot(SecretBytes(copying: "new"))
    try vault.handle(passphrase: "new").removeSlot(2)
    try restore(old)
    expect(.rolledBack) { try handle.text("a") }
    var asked: [UInt32] = []
    let isAccepted = try handle.acceptRestored { differences in
      #expect(differences.slots.map(\.number) == [1, 2] && differences.makesNewKeys)
      return true
    } confirmSlot: { slot in
      asked.append(slot.number)
      return false
    }
    // The slot that was opened and that of this device stay.
    #expect(isAccepted && asked.isEmpty)
    #expect(try handle.slots().map(\.number) == [1, 2])
    #expect(try handle.verify().problems == [])
    // A slot that was restored alone is detected too.
    try vault.tamper { database in
      try database.execute(sql: "ATTACH ? AS old", arguments: [old])
      try database.execute(
        sql: """
          INSERT INTO slot SELECT 9, kind, granted, parameters, salt, made, commitment, box, sum
          FROM old.slot WHERE number = 2
          """)
    }
    #expect(try handle.text("a") == "one")
    #expect(try handle.verify().problems.count == 1)
  }

  private func accept(_ isRight: (RestoredDifferences) -> Bool) throws {
    let isAccepted = try vault.handle().acceptRestored { differences in
      #expect(isRight(differences), "\(differences)")
      return true
    }
    #expect(isAccepted)
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func anAbsurdCounterIsRefusedAtFirstSight() throws {
    try forge(counter: StateCounter.maximum + 1)
    try FileManager.default.removeItem(at: record)
    expect(.damaged) { try vault.handle().text("a") }
    #expect(!FileManager.default.fileExists(atPath: record.path))
  }

  /// A holder of T0 can do this.
  private func forge(counter: UInt64) throws {
    try vault.forgeState {
      $0.counter = counter
      $0.first = counter
    }
  }
}
