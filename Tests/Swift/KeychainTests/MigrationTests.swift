internal import Foundation
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import KeychainVaultTesting
internal import PrephirencesSystem
internal import Testing

@testable import KeychainStores

@Suite("Migration", .timeLimit(.minutes(10)))
struct MigrationTests {
  let scene: MigrationScene

  init() throws { scene = try MigrationScene() }

  @Test func everythingArrivesWithItsDates() throws {
    try scene.source.fill()
    let before = try scene.source.contents()
    let report = try scene.migration().run()
    #expect(try scene.target.contents() == before)
    #expect(try scene.source.contents() == before, "nobody asked for a removal")
    #expect(report.copiedCount == before.count && report.removedCount == 0 && report.isComplete)
    #expect(report.completeServices.count == 3 && report.incompleteServices.isEmpty)
  }

  @Test func aSecondRunFindsEverythingThere() throws {
    try scene.source.fill()
    let count = try scene.source.contents().count
    try scene.migration().run()
    let after = try scene.target.contents()
    let report = try scene.migration().run()
    #expect(report.copiedCount == 0 && report.unchangedCount == count && report.isComplete)
    #expect(try scene.target.contents() == after)
    let last = try scene.move().run()
    #expect(last.removedCount == count && last.copiedCount == 0)
    #expect(try scene.source.contents().isEmpty)
    #expect(try scene.target.contents() == after)
  }

  @Test func servicesChangeOverBeforeAnythingIsRemoved() throws {
    try scene.source.fill()
    let count = try scene.source.contents().count
    let told = Record<(CredentialIdentity, Int)>()
    let content = scene.source.content
    try scene.move {
      $0.whenComplete = { service in
        told.add((service, (try? content.search(CredentialQuery()).credentials.count) ?? -1))
      }
    }.run()
    let names = told.values.map(\.0)
    #expect(names.count == 3 && names.contains(.test("", service: "second")))
    #expect(told.values.allSatisfy { $0.1 == count })
  }

  @Test func aServiceThatCannotChangeOverLosesNothing() throws {
    try scene.source.fill()
    let before = try scene.source.contents()
    let move = scene.move {
      $0.whenComplete = { _ throws(KeychainError) in throw KeychainError(.inputOutput, "full") }
    }
    #expect(throws: KeychainError.self) { try move.run() }
    #expect(try scene.source.contents() == before)
  }

  @Test func differingCredentialIsKept() throws {
    try scene.source.add("same", "1")
    try scene.source.add("differs", "source")
    try scene.target.add("differs", "target")
    let report = try scene.move().run()
    #expect(report.obstacles.map(\.identity) == [.test("differs")])
    #expect(report.obstacles.map(\.reason.code) == [.alreadyExists])
    #expect(report.copiedCount == 1 && report.removedCount == 0 && !report.isComplete)
    #expect(report.completeServices.isEmpty && report.incompleteServices == [.test("")])
    #expect(try scene.source.texts() == ["same": "1", "differs": "source"])
    #expect(try scene.target.texts() == ["same": "1", "differs": "target"])
  }

  @Test(arguments: [
    CredentialUpdate(label: .set("e\u{301}")), CredentialUpdate(comment: .set("")),
    CredentialUpdate(contentType: .set("a/b")), CredentialUpdate(accessibility: .always),
    CredentialUpdate(expires: .set(.distantFuture)),
    CredentialUpdate(attributes: [("name", "value")]),
  ])
  func everyDetailCounts(_ update: CredentialUpdate) throws {
    try scene.source.set(
      Credential(.test("a"), label: "\u{E9}"), secret: SecretBytes(copying: "s"))
    try scene.migration().run()
    try scene.target.update(.test("a"), with: update)
    let report = try scene.move().run()
    #expect(report.obstacles.count == 1 && report.removedCount == 0)
  }

  @Test func overwritingReplacesWhatDiffers() throws {
    try scene.source.add("differs", "source")
    try scene.target.add("differs", "target")
    let report = try scene.move { $0.isOverwriting = true }.run()
    #expect(report.replacedCount == 1 && report.copiedCount == 1 && report.removedCount == 1)
    #expect(try scene.target.texts() == ["differs": "source"])
    #expect(try scene.source.texts().isEmpty)
  }

  @Test func deviceBoundItemStaysWithItsService() throws {
    try scene.source.add("bound", "1", .whenUnlockedThisDeviceOnly)
    try scene.source.add("free", "2")
    try scene.source.set(
      Credential(.test("x", service: "second")), secret: SecretBytes(copying: "3"))
    let report = try scene.move().run()
    #expect(report.obstacles.map(\.identity) == [.test("bound")])
    #expect(report.obstacles.map(\.reason.code) == [.refused])
    #expect(try scene.target.texts() == ["free": "2", "x": "3"])
    // A service uses one store only, so its movable items stay where the others are.
    #expect(try scene.source.texts() == ["bound": "1", "free": "2"])
    #expect(report.completeServices == [.test("", service: "second")])
    #expect(report.strandedCount == 1)
  }

  @Test func serviceIsCompleteOnlyWithAllGroups() throws {
    try scene.source.add("a", "1", group: "team")
    try scene.source.add("b", "2")
    let first = try scene.move { $0.accessGroup = "team" }.run()
    #expect(first.copiedCount == 1 && first.removedCount == 0)
    #expect(first.incompleteServices == [.test("")])
    let second = try scene.move { $0.accessGroup = "" }.run()
    #expect(second.copiedCount == 1 && second.completeServices == [.test("")])
    #expect(second.removedCount == 1)
    #expect(try scene.move().run().removedCount == 1)
    #expect(try scene.source.texts().isEmpty)
    #expect(try scene.target.texts() == ["a": "1", "b": "2"])
  }

  @Test func onlyWhatIsNamedMoves() throws {
    try scene.source.fill()
    #expect(try scene.move { $0.service = "second" }.run().copiedCount == 1)
    #expect(try scene.target.texts() == ["other": "second"])
    #expect(try scene.move { $0.server = "example.com" }.run().copiedCount == 1)
    #expect(try scene.target.texts() == ["other": "second", "me": "internet"])
  }

  @Test func aRehearsalChangesNothing() throws {
    try scene.source.fill()
    try scene.source.add("bound", "1", .alwaysThisDeviceOnly)
    try scene.target.add("plain", "differs")
    let before = (try scene.source.contents(), try scene.target.contents())
    let told = Record<CredentialIdentity>()
    let report = try scene.move { $0.whenComplete = { told.add($0) } }.rehearse()
    #expect(try scene.source.contents() == before.0 && scene.target.contents() == before.1)
    #expect(told.values.isEmpty)
    #expect(report.copiedCount == 10 && report.obstacles.count == 2)
    #expect(report.completeServices.count == 2 && report.removedCount == 2)
    let real = try scene.move().run()
    #expect(real == report)
  }

  @Test func lockedStoreIsReportedBeforeAnythingChanges() throws {
    let locked = FailingStore()
    try locked.content.add("a", "1")
    locked.fail(.locked)
    try scene.source.add("b", "2")
    let ends: [(any CredentialStore, any CredentialStore)] = [
      (locked, scene.target), (scene.source, locked),
    ]
    for (source, target) in ends {
      let error = #expect(throws: KeychainError.self) {
        try scene.migration(from: source, to: target).run()
      }
      #expect(error?.code == .locked)
    }
    #expect(locked.writes == 0)
    #expect(try scene.target.contents().isEmpty)
  }

  @Test func longCredentialsAreNamedAndNothingMoves() throws {
    for account in ["a", "b", "c"] { try scene.source.add(account, "secret") }
    for account in ["b", "c"] { scene.source.lengthen(.test(account)) }
    for isDryRun in [true, false] {
      let error = #expect(throws: KeychainError.self) {
        _ = try isDryRun ? scene.move().rehearse() : scene.move().run()
      }
      #expect(error?.code == .tooLarge)
      let message = error?.message ?? ""
      #expect(message.contains("'b' of") && message.contains("'c' of"))
      #expect(!message.contains("'a' of") && message.contains("nothing was changed"))
    }
    #expect(try scene.target.contents().isEmpty)
    #expect(try scene.source.texts().count == 3)
  }

  @Test func storeThatAltersItemsGetsNothing() throws {
    try scene.source.add("a", "secret")
    scene.target.mangle()
    let report = try scene.move().run()
    #expect(report.obstacles.map(\.reason.code) == [.damaged])
    #expect(try scene.source.texts() == ["a": "secret"])
    #expect(try scene.target.contents().isEmpty)
  }

  @Test func twoAtOnceAreOneTooMany() throws {
    try scene.source.add("a", "1")
    let lock = try StateLock(
      "migration.lock", in: StateFolder(environment: EnvironmentVariables(scene.place.environment)))
    let error = #expect(throws: KeychainError.self) { try scene.move().run() }
    #expect(error?.code == .busy)
    extendLifetime(lock)
  }

  @Test func progressEndsWhereItShould() throws {
    try scene.source.fill()
    let told = Record<VaultProgress>()
    try scene.move().run { told.add($0) }
    let values = told.values
    #expect(values.map(\.completed) == Array(1...22))
    #expect(values.last?.total == 22)
  }
}
