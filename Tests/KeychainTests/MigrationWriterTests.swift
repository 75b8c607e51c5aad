internal import Keychain
internal import KeychainCredentials
internal import KeychainVaultTesting
internal import Synchronization
internal import Testing

/// A program that writes while its service moves, in every order with the calls of the migration.
@Suite("Migration beside a writer that follows", .timeLimit(.minutes(10)))
struct MigrationWriterTests {
  /// What ``AutomaticStore`` does for one that had chosen the source: it writes there, finds that the
  /// service has moved, writes to the target, and takes back what it wrote first.
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

    func noteMove() { state.withLock { $0.hasMoved = true } }

    /// Is called before each call of the migration.
    func callBegins() {
      state.withLock { state in
        state.calls += 1
        while let next = state.steps.last, state.calls >= next, take(&state) {}
      }
    }

    /// Does what is left, once the migration has ended.
    func finish() { state.withLock { state in while !state.steps.isEmpty, take(&state) {} } }

    /// Takes the next step, if it is time.
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

  @Test func whatFollowsIsKept() throws {
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
          #expect(
            try scene.target.content.texts() == ["a": "new"], "calls \(first), \(second), \(third)")
          #expect(try scene.source.content.texts().isEmpty, "calls \(first), \(second), \(third)")
        }
      }
      first += 1
    }
    #expect(lastCall > 12)
  }
}
