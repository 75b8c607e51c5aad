internal import ForwardingStores
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import KeychainVaultTesting
internal import PrephirencesSystem
internal import Testing

/// What happens while a migration holds the exclusive lock of the choice of store.
@Suite("Migration while others wait", .timeLimit(.minutes(10)))
struct MigrationAloneTests {
  let scene: MigrationScene

  init() throws {
    scene = try MigrationScene()
    for account in ["a", "b"] { try scene.source.add(account, account) }
  }

  /// Whether the lock is free.
  private var isFree: @Sendable () -> Bool {
    let lock = ChoiceLock(StateFolder(environment: EnvironmentVariables(scene.place.environment)))
    return {
      let held = try? lock.shared(within: .zero)
      return held != nil
    }
  }

  /// Lets another program change the source once, as soon as the exclusive lock is held.
  private func whenAlone(_ change: @escaping @Sendable (InMemoryCredentialStore) throws -> Void) {
    let (isFree, content, done) = (isFree, scene.source.content, Record<Bool>())
    scene.source.script { (_, call) throws(KeychainError) in
      guard call == .search, done.values.isEmpty, !isFree() else { return }
      done.add((try? change(content)) != nil)
    }
  }

  @Test func progressIsNotReportedWhileOthersWait() throws {
    whenAlone { try $0.add("c", "c") }
    let (isFree, shown, wasFree) = (isFree, Record<VaultProgress>(), Record<Bool>())
    try scene.migration().run {
      shown.add($0)
      wasFree.add(isFree())
    }
    #expect(try scene.target.texts() == ["a": "a", "b": "b", "c": "c"])
    #expect(wasFree.values == [true, true, true])
    #expect(shown.values.map(\.completed) == [1, 2, 3] && shown.values.last?.total == 3)
  }

  @Test func removalThatAsksIsPostponed() throws {
    whenAlone { _ = try $0.remove(.test("a")) }
    let (isFree, wasFree) = (isFree, Record<Bool>())
    let target = AskingStore(scene.target) { wasFree.add(isFree()) }
    let report = try scene.migration(from: scene.source, to: target).run()
    #expect(wasFree.values == [true])
    #expect(report.isComplete && report.copiedCount == 1)
    #expect(try scene.target.texts() == ["b": "b"])
  }
}

/// A store that asks before it removes an item.
private final class AskingStore: ForwardingStore, BuiltInStore {
  let content: ScriptedStore
  private let question: PostponedQuestion?
  private let ask: @Sendable () -> Void

  init(
    _ store: ScriptedStore, _ question: PostponedQuestion? = nil,
    ask: @escaping @Sendable () -> Void
  ) {
    content = store
    self.question = question
    self.ask = ask
  }

  func postponing(_ question: PostponedQuestion) -> any BuiltInStore {
    AskingStore(content, question, ask: ask)
  }

  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    guard try content.credential(for: identity) != nil else { return false }
    guard !(question?.forbidsDialogs ?? false) else { throw KeychainError(.refused, "it asks") }
    ask()
    return try content.remove(identity, expectedVersion: expectedVersion)
  }
}
