internal import Keychain
internal import KeychainCredentials
internal import KeychainVaultTesting
internal import Testing

/// Runs after the service has changed over, for example after a killed run.
@Suite("Migration that is run again", .timeLimit(.minutes(10)))
struct MigrationAgainTests {
  let scene: MigrationScene

  /// Everything was copied, the service has the target as its store, and `a` was removed there.
  init() throws {
    scene = try MigrationScene()
    for account in ["a", "b"] { try scene.source.add(account, account) }
    try scene.target.add("b", "b")
  }

  private func again(
    _ change: (inout CredentialMigration) -> Void = { _ in }
  ) -> CredentialMigration {
    scene.migration {
      $0.isChosen = { _ in true }
      change(&$0)
    }
  }

  @Test(arguments: [true, false])
  func itemRemovedFromTargetIsNotCopied(removesSource: Bool) throws {
    let migration = again { $0.removesSource = removesSource }
    let rehearsed = try migration.rehearse()
    let report = try migration.run()
    #expect(report == rehearsed)
    #expect(report.obstacles.map(\.identity) == [.test("a")])
    #expect(report.obstacles.map(\.reason.code) == [.refused])
    #expect(report.copiedCount == 0 && report.unchangedCount == 1 && !report.isComplete)
    // The service does not move, and its remaining items in the source are removed.
    #expect(report.completeServices == [.test("")] && report.incompleteServices.isEmpty)
    #expect(report.removedCount == (removesSource ? 1 : 0) && report.strandedCount == 0)
    #expect(try scene.target.texts() == ["b": "b"])
    #expect(try scene.source.texts() == (removesSource ? ["a": "a"] : ["a": "a", "b": "b"]))
  }

  @Test func overwritingCopiesIt() throws {
    let report = try again {
      $0.isOverwriting = true
      $0.removesSource = true
    }.run()
    #expect(report.isComplete && report.copiedCount == 1 && report.removedCount == 2)
    #expect(try scene.target.texts() == ["a": "a", "b": "b"])
  }

  @Test func serviceStillInSourceIsCopied() throws {
    let report = try again { $0.isChosen = { _ in false } }.run()
    #expect(report.isComplete && report.copiedCount == 1)
    #expect(try scene.target.texts() == ["a": "a", "b": "b"])
  }

  /// They stay in the source, so they say nothing about a removal.
  @Test func otherProgramsItemsAreCopiedOnRequest() throws {
    scene.source.attribute(.test("a"))
    let report = try again { $0.includesOtherPrograms = true }.run()
    #expect(report.isComplete && report.copiedCount == 1)
    #expect(try scene.target.texts() == ["a": "a", "b": "b"])
  }
}
