internal import Keychain
internal import KeychainCredentials
internal import KeychainVault
internal import KeychainVaultTesting
internal import PrephirencesSystem
internal import Synchronization
internal import Testing

/// A program past the choice of store that writes while its service moves, in every order with the calls of
/// the migration.
@Suite("Migration next to a following writer", .timeLimit(.minutes(10)))
struct MigrationWriterTests {
  /// It had chosen the source: it writes there, and if it finds that the service has moved, it writes
  /// to the target, and removes its first write.
  private final class Writer: Sendable {
    private struct State {
      var calls = 0
      var hasMoved = false
      var steps: [Int]
      var version: UInt64?
    }

    private let scene: MigrationScene
    private let state: Mutex<State>

    init(_ scene: MigrationScene, at calls: [Int]) {
      self.scene = scene
      state = Mutex(State(steps: calls.reversed()))
    }

    var hasMoved: Bool { state.withLock(\.hasMoved) }

    func noteMove() { state.withLock { $0.hasMoved = true } }

    /// Called before each call of the migration.
    func callBegins() {
      state.withLock { state in
        state.calls += 1
        while let next = state.steps.last, state.calls >= next, take(&state) {}
      }
    }

    /// Performs the remaining steps after the migration has ended.
    func finish() { state.withLock { state in while !state.steps.isEmpty, take(&state) {} } }

    /// Performs the next step, if it is due.
    private func take(_ state: inout State) -> Bool {
      let source = scene.source.content
      switch state.steps.count {
      case 3: state.version = (try? source.add("a", "new"))?.version
      case 2:
        guard state.hasMoved else { return false }
        _ = try? scene.target.content.add("a", "new")
      default: _ = try? source.remove(.test("a"), expectedVersion: state.version)
      }
      state.steps.removeLast()
      return true
    }
  }

  @Test func laterWritesAreKept() throws {
    var lastCall = 2
    var first = 1
    while first < lastCall {
      for second in first...lastCall {
        for third in second...lastCall {
          let scene = try MigrationScene()
          try scene.source.add("a", "old")
          let writer = Writer(scene, at: [first, second, third])
          for store in [scene.source, scene.target] {
            store.script { (_, _) throws(KeychainError) in writer.callBegins() }
          }
          try scene.move { $0.whenComplete = { _ in writer.noteMove() } }.run()
          lastCall = max(lastCall, scene.source.callCount + scene.target.callCount)
          writer.finish()
          let calls = "calls \(first), \(second), \(third)"
          let own = writer.hasMoved ? scene.target : scene.source
          #expect(try own.content.texts() == ["a": "new"], "\(calls)")
          if writer.hasMoved { #expect(try scene.source.content.texts().isEmpty, "\(calls)") }
        }
      }
      first += 1
    }
    #expect(lastCall > 7)
  }
}

/// Writes by others to a store that their service is leaving or has left.
@Suite("Migration next to writers past the choice", .timeLimit(.minutes(10)))
struct MigrationLateWriterTests {
  let scene: MigrationScene

  init() throws {
    scene = try MigrationScene()
    try scene.source.add("a", "old")
  }

  private var lock: ChoiceLock {
    ChoiceLock(StateFolder(environment: EnvironmentVariables(scene.place.environment)))
  }

  @Test func lateWritesStayAndAreReported() throws {
    let source = scene.source.content
    let report = try scene.move {
      $0.whenComplete = { _ in
        _ = try? source.add("a", "late")
        _ = try? source.add("b", "late, too")
      }
    }.run()
    #expect(report.obstacles.map(\.identity) == [.test("a"), .test("b")])
    #expect(report.obstacles.map(\.reason.code) == [.versionConflict, .versionConflict])
    #expect(report.removedCount == 0 && !report.isComplete)
    #expect(try scene.source.texts() == ["a": "late", "b": "late, too"])
    #expect(try scene.target.texts() == ["a": "old"])
  }

  @Test func lateRemovalsAreNotReported() throws {
    let source = scene.source.content
    let report = try scene.move { $0.whenComplete = { _ in _ = try? source.remove(.test("a")) } }
      .run()
    #expect(report.isComplete && report.removedCount == 0)
    #expect(try scene.target.texts() == ["a": "old"])
  }

  @Test func lockIsExclusiveWhileCopyingAndFreeBeforeAndAfter() throws {
    let lock = lock
    let (opening, copying, removing) = (Record<Bool>(), Record<Bool>(), Record<Bool>())
    let isFree: @Sendable () -> Bool = {
      let held = try? lock.shared(within: .zero)
      return held != nil
    }
    scene.source.script { (count, call) throws(KeychainError) in
      if count == 1 { opening.add(isFree()) }
      if call == .remove { removing.add(isFree()) }
    }
    scene.target.script { (_, call) throws(KeychainError) in
      if call == .write { copying.add(isFree()) }
    }
    try scene.move { $0.whenComplete = { _ in copying.add(isFree()) } }.run()
    #expect(opening.values == [true] && removing.values == [true])
    #expect(copying.values == [false, false])
    _ = try lock.exclusive(within: .zero)
  }

  @Test func aWriterThatWasStoppedEndsTheRun() throws {
    let held = try lock.shared(within: .zero)
    let error = #expect(throws: KeychainError.self) {
      try scene.move { $0.deadline = .milliseconds(100) }.run()
    }
    #expect(error?.code == .busy)
    #expect(try scene.source.texts() == ["a": "old"])
    extendLifetime(held)
  }

  @Test func olderItemDoesNotReplaceItemInUse() throws {
    try scene.target.add("a", "newer")
    let report = try scene.move {
      $0.isOverwriting = true
      $0.isChosen = { _ in true }
    }.run()
    #expect(report.obstacles.map(\.reason.code) == [.refused])
    #expect(try scene.target.texts() == ["a": "newer"])
    #expect(try scene.source.texts() == ["a": "old"])
    try scene.source.add("a", "newest")
    let second = try scene.move {
      $0.isOverwriting = true
      $0.isChosen = { _ in true }
    }.run()
    #expect(second.isComplete && second.replacedCount == 1)
    #expect(try scene.target.texts() == ["a": "newest"])
  }

  @Test func noEndIsAChoice() throws {
    let machine = try Machine()
    let ends: [(any CredentialStore, any CredentialStore)] = [
      (machine.store(), scene.target), (scene.source, machine.store()),
    ]
    for (source, target) in ends {
      let migration = scene.migration(from: source, to: target)
      expect(.invalidArgument) { try migration.run() }
      expect(.invalidArgument) { _ = try migration.rehearse() }
    }
    #expect(try scene.source.texts() == ["a": "old"] && scene.target.texts().isEmpty)
  }
}
