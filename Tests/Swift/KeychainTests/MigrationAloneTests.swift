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

  /// Moves everything between stores of which one asks about items; another program changes the
  /// source at the first question.
  private func move(
    _ asking: AskingStore.Kind,
    _ change: @escaping @Sendable (InMemoryCredentialStore) throws -> Void = { _ in }
  ) throws -> (report: MigrationReport, wasFree: [Bool]) {
    let (isFree, content, wasFree) = (isFree, scene.source.content, Record<Bool>())
    let ask: @Sendable () -> Void = {
      wasFree.add(isFree())
      guard wasFree.values.count == 1 else { return }
      #expect(throws: Never.self) { try change(content) }
    }
    let (source, target): (any CredentialStore, any CredentialStore) =
      asking == .reading
      ? (AskingStore(scene.source, asking, ask: ask), scene.target)
      : (scene.source, AskingStore(scene.target, asking, ask: ask))
    return (try scene.migration(from: source, to: target).run(), wasFree.values)
  }

  @Test func aQuestionIsAskedWithoutTheLockAndItBeginsAgain() throws {
    let (report, wasFree) = try move(.writing(.test("b"))) {
      try $0.add("a", "new")
      try $0.add("c", "c")
    }
    #expect(wasFree == [true])
    #expect(report.isComplete && report.copiedCount == 3 && report.unchangedCount == 0)
    #expect(try scene.target.texts() == ["a": "new", "b": "b", "c": "c"])
  }

  @Test func whatWasRemovedDuringAQuestionDoesNotComeBack() throws {
    let (report, _) = try move(.writing(.test("b"))) { _ = try $0.remove(.test("a")) }
    #expect(report.obstacles.map(\.identity) == [.test("a")])
    #expect(report.incompleteServices == [.test("")] && report.completeServices.isEmpty)
  }

  /// As KeePassXC does unless it is told otherwise.
  @Test func aStoreMayAskAboutEveryItem() throws {
    for number in 1...20 { try scene.source.add("\(number)", "secret") }
    let (report, wasFree) = try move(.reading)
    #expect(wasFree == Array(repeating: true, count: 22))
    #expect(report.isComplete && report.copiedCount == 22)
  }
}

/// A store that asks once before it shows an item, or takes one.
private final class AskingStore: ForwardingStore, BuiltInStore {
  enum Kind: Equatable {
    case reading
    case writing(CredentialIdentity)
  }

  let content: ScriptedStore
  private let kind: Kind
  private let ask: @Sendable () -> Void
  private let asked: Record<CredentialIdentity>
  private let isQuiet: Bool

  init(
    _ store: ScriptedStore, _ kind: Kind, asked: Record<CredentialIdentity> = Record(),
    isQuiet: Bool = false, ask: @escaping @Sendable () -> Void
  ) {
    content = store
    self.kind = kind
    self.asked = asked
    self.isQuiet = isQuiet
    self.ask = ask
  }

  func quiet(forbiddingDialogs: Bool) -> any BuiltInStore {
    AskingStore(content, kind, asked: asked, isQuiet: true, ask: ask)
  }

  private func ask(about identity: CredentialIdentity) throws(KeychainError) {
    guard !asked.values.contains(identity) else { return }
    let answer: @Sendable () throws(KeychainError) -> Void = { [asked, ask] in
      asked.add(identity)
      ask()
    }
    if isQuiet { throw KeychainError(.busy, "it asks first", need: Need(answer)) }
    try answer()
  }

  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    if kind == .reading { try ask(about: identity) }
    return try content.secret(for: identity)
  }

  func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    if kind == .writing(request.identity) { try ask(about: request.identity) }
    return try content.set(request, secret: secret)
  }
}
