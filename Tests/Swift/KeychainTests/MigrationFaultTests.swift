internal import Foundation
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import KeychainVaultTesting
internal import Testing

/// Faults, and changes by other programs, while credentials move.
@Suite("Migration under faults", .timeLimit(.minutes(10)))
struct MigrationFaultTests {
  let scene: MigrationScene

  init() throws { scene = try MigrationScene() }

  // Each call of each store fails once; the next run must complete the migration.
  @Test(arguments: [true, false])
  func nothingIsLostByAFailureAnywhere(failsInSource: Bool) throws {
    var number = 0
    var isDone = false
    while !isDone {
      number += 1
      let scene = try MigrationScene()
      try scene.source.fill()
      let before = try scene.source.contents()
      (failsInSource ? scene.source : scene.target).fail(at: number)
      isDone = (try? scene.move().run()) != nil
      scene.source.script(nil)
      scene.target.script(nil)
      let between = try scene.source.contents() + scene.target.contents()
      #expect(Set(between) == Set(before), "call \(number)")
      let report = try scene.move().run()
      #expect(report.isComplete)
      #expect(try scene.target.contents() == before, "call \(number)")
      #expect(try scene.source.contents().isEmpty)
    }
    #expect(number > 20)
  }

  // Another program writes before each call in turn: its last value must arrive.
  @Test func concurrentWritesArrive() throws {
    var number = 0
    var isDone = false
    while !isDone {
      number += 1
      let scene = try MigrationScene()
      for account in ["a", "b", "c"] { try scene.source.add(account, "old") }
      let content = scene.source.content
      let moment = number
      let written = Record<Int>()
      scene.source.script { (count, _) throws(KeychainError) in
        guard count == moment else { return }
        written.add(count)
        _ = try? content.add("b", "new")
        _ = try? content.add("d", "added")
      }
      try scene.move().run()
      isDone = written.values.isEmpty
      let expected = ["a": "old", "b": "new", "c": "old", "d": "added"]
      var texts = try scene.target.texts()
      // Changes after the last check stay in the source, for the next run.
      texts.merge(try scene.source.texts()) { $1 }
      #expect(isDone || texts == expected, "call \(moment)")
      let rest = try scene.source.texts()
      scene.source.script(nil)
      let report = try scene.move { $0.isOverwriting = !rest.isEmpty }.run()
      #expect(report.isComplete, "call \(moment)")
      #expect(try isDone || scene.target.texts() == expected, "call \(moment)")
      #expect(try scene.source.texts().isEmpty)
    }
    #expect(number > 8)
  }

  /// Its copy may be the last one, if the source was lost.
  @Test func aCopyWhoseOriginalWasRemovedMeanwhileIsKept() throws {
    for account in ["a", "b"] { try scene.source.add(account, "1") }
    let content = scene.source.content
    scene.target.script { (_, call) throws(KeychainError) in
      if call == .write { _ = try? content.remove(.test("a")) }
    }
    let report = try scene.move().run()
    #expect(report.obstacles.map(\.identity) == [.test("a")])
    #expect(report.obstacles.map(\.reason.code) == [.refused])
    #expect(report.incompleteServices == [.test("")] && report.removedCount == 0)
    #expect(try scene.target.texts() == ["a": "1", "b": "1"])
    #expect(try scene.source.texts() == ["b": "1"])
  }

  @Test func concurrentWritesToTargetAreKept() throws {
    try scene.source.add("a", "source")
    let content = scene.target.content
    let once = Record<Bool>()
    scene.target.script { (_, call) throws(KeychainError) in
      guard call == .write, once.values.isEmpty else { return }
      once.add(true)
      _ = try? content.add("a", "target")
    }
    let report = try scene.move().run()
    #expect(report.obstacles.map(\.reason.code) == [.alreadyExists])
    #expect(try scene.target.texts() == ["a": "target"])
    #expect(try scene.source.texts() == ["a": "source"])
  }

  @Test func aSourceThatNeverRestsKeepsItsServices() throws {
    try scene.source.add("a", "0")
    let content = scene.source.content
    scene.source.script { (count, call) throws(KeychainError) in
      if call == .search { _ = try? content.add("a", "\(count)") }
    }
    let report = try scene.move { $0.whenComplete = { _ in Issue.record("it changes over") } }.run()
    #expect(report.obstacles.map(\.reason.code) == [.versionConflict])
    #expect(report.incompleteServices == [.test("")])
    #expect(try scene.source.contents().count == 1)
  }
}

/// Credentials of programs that share a store.
@Suite("Migration next to other programs", .timeLimit(.minutes(10)))
struct MigrationOwnershipTests {
  let scene: MigrationScene

  init() throws {
    scene = try MigrationScene()
    try scene.source.add("ours", "1")
    try scene.source.add("theirs", "2")
    scene.source.attribute(.test("theirs"))
  }

  @Test func othersKeepTheirs() throws {
    let report = try scene.move().run()
    #expect(report.otherProgramsCount == 1 && report.isComplete)
    #expect(try scene.target.texts() == ["ours": "1"])
    #expect(try scene.source.texts() == ["theirs": "2"])
  }

  @Test func otherProgramsItemsAreCopiedAndKept() throws {
    let report = try scene.move { $0.includesOtherPrograms = true }.run()
    #expect(report.copiedCount == 2 && report.removedCount == 1)
    #expect(try scene.target.texts() == ["ours": "1", "theirs": "2"])
    #expect(try scene.source.texts() == ["theirs": "2"])
    let stored = try scene.target.credential(for: .test("theirs"))
    #expect(stored?.isOfOtherProgram == false)
  }

  @Test func otherProgramsItemsAreRemovedOnRequest() throws {
    let report = try scene.move {
      $0.includesOtherPrograms = true
      $0.removesOtherPrograms = true
    }.run()
    #expect(report.removedCount == 2)
    #expect(try scene.source.texts().isEmpty)
  }

  @Test func theirsInTheTargetAreNeverReplaced() throws {
    try scene.target.add("ours", "theirs")
    scene.target.attribute(.test("ours"))
    let report = try scene.move().run()
    #expect(report.obstacles.map(\.reason.code) == [.alreadyExists])
    #expect(report.obstacles.first?.reason.message.contains("another program") == true)
    #expect(try scene.target.texts() == ["ours": "theirs"])
  }
}

/// Migrations from and to vaults.
@Suite("Migration of vaults", .timeLimit(.minutes(10)))
struct MigrationVaultTests {
  let scene: MigrationScene

  init() throws { scene = try MigrationScene() }

  @Test func aVaultTakesEverythingAndGivesItBack() throws {
    try scene.source.fill()
    let before = try scene.source.contents()
    let vault = scene.place.handle()
    try scene.migration(from: scene.source, to: vault) { $0.removesSource = true }.run()
    #expect(try vault.contents() == before)
    #expect(try vault.verify().isIntact)
    try scene.migration(from: vault, to: scene.target) { $0.removesSource = true }.run()
    #expect(try scene.target.contents() == before)
    #expect(try vault.contents().isEmpty)
  }

  @Test func deviceBoundItemMovesIntoLocalVault() throws {
    try scene.source.add("bound", "1", .alwaysThisDeviceOnly)
    let vault = scene.place.handle()
    let report = try scene.migration(from: scene.source, to: vault).run()
    #expect(report.isComplete && report.copiedCount == 1)
    #expect(try vault.credential(for: .test("bound"))?.accessibility == .alwaysThisDeviceOnly)
  }

  @Test func aLockedVaultTakesNothing() throws {
    let vault = scene.place.handle(passphrase: TestVault.passphrase)
    try vault.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: true)
    try vault.lock(all: true)
    try scene.source.add("always", "1", .always)
    try scene.source.add("unlocked", "2")
    let error = #expect(throws: KeychainError.self) {
      try scene.migration(from: scene.source, to: scene.place.handle()).run()
    }
    #expect(error?.code == .locked)
    #expect(try scene.place.handle().search(CredentialQuery()).credentials.isEmpty)
  }

  @Test func thereMustBeAVaultToMoveFrom() throws {
    let error = #expect(throws: KeychainError.self) {
      try scene.migration(from: scene.place.handle(), to: scene.target).run()
    }
    #expect(error?.code == .noStore)
  }
}
