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

  /// Moves everything into a store that was locked while the first item was copied; another program
  /// changes the source meanwhile.
  private func moveAsking(
    _ change: @escaping @Sendable (InMemoryCredentialStore) throws -> Void
  ) throws -> (report: MigrationReport, wasFree: [Bool]) {
    let (isFree, content, wasFree) = (isFree, scene.source.content, Record<Bool>())
    let target = AskingStore(scene.target, .test("b")) {
      wasFree.add(isFree())
      #expect(throws: Never.self) { try change(content) }
    }
    let report = try scene.migration(from: scene.source, to: target).run()
    return (report, wasFree.values)
  }

  @Test func aQuestionIsAskedWithoutTheLockAndItBeginsAgain() throws {
    let (report, wasFree) = try moveAsking {
      try $0.add("a", "new")
      try $0.add("c", "c")
    }
    #expect(wasFree == [true])
    #expect(report.isComplete && report.copiedCount == 3 && report.unchangedCount == 0)
    #expect(try scene.target.texts() == ["a": "new", "b": "b", "c": "c"])
  }

  @Test func whatWasRemovedDuringAQuestionDoesNotComeBack() throws {
    let (report, _) = try moveAsking { _ = try $0.remove(.test("a")) }
    #expect(report.obstacles.map(\.identity) == [.test("a")])
    #expect(report.incompleteServices == [.test("")] && report.completeServices.isEmpty)
  }
}

/// A store that must be unlocked before it takes a credential.
private final class AskingStore: ForwardingStore, BuiltInStore {
  let content: ScriptedStore
  private let identity: CredentialIdentity
  private let question: PostponedQuestion?
  private let ask: @Sendable () -> Void
  private let isUnlocked: Record<Bool>

  init(
    _ store: ScriptedStore, _ identity: CredentialIdentity, _ question: PostponedQuestion? = nil,
    _ isUnlocked: Record<Bool> = Record(), ask: @escaping @Sendable () -> Void
  ) {
    content = store
    self.identity = identity
    self.question = question
    self.isUnlocked = isUnlocked
    self.ask = ask
  }

  func postponing(_ question: PostponedQuestion) -> any BuiltInStore {
    AskingStore(content, identity, question, isUnlocked, ask: ask)
  }

  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> Credential {
    if let question, credential.identity == identity, isUnlocked.values.isEmpty {
      throw question.postpone { [self] () throws(KeychainError) in
        isUnlocked.add(true)
        ask()
      }
    }
    return try content.set(credential, secret: secret, mode: mode, keepsDates: keepsDates)
  }
}
