import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

/// Random operations on a desktop keyring and an in-memory store, which must have the same results.
///
/// `DESKTOP_OPERATIONS` sets their number, and `DESKTOP_SEED` the seed.
@Suite("Random operations", .timeLimit(.minutes(60)))
struct RandomOperationTests {
  @Test func gnomeKeyringKeepsWhatMemoryKeeps() throws {
    let desktop = try Desktop(.gnomeKeyring)
    var pair = StorePair(desktop.store(), seed: Self.seed)
    var again: Child?
    defer { again?.end() }
    for round in 0..<5 {
      try pair.run(Self.count / 5)
      // Acknowledged changes survive any end of the daemon.
      kill(again?.process ?? desktop.providerProcess, SIGKILL)
      again?.wait()
      desktop.waitForEndOfProvider()
      again = try desktop.startGnomeKeyring(password: desktop.environment["DESKTOP_PASSWORD"])
      try pair.compareEverything("after restart \(round)")
    }
  }

  @Test func keePassXCKeepsWhatMemoryKeeps() throws {
    let desktop = try Desktop(.keePassXC)
    var pair = StorePair(desktop.store { $0.interaction = .allowed }, seed: Self.seed)
    try pair.run(Self.count / 2)
    try pair.compareEverything("at the end")
  }

  private static let count = environmentNumber("DESKTOP_OPERATIONS").map { Int($0) } ?? 500
  private static let seed = environmentNumber("DESKTOP_SEED") ?? 1

  private static func environmentNumber(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }
}

/// Reproducible random numbers from a seed (SplitMix64).
private struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

/// Two stores that receive the same operations.
private struct StorePair {
  let subject: SecretServiceStore
  let model = InMemoryCredentialStore()
  var numbers: SeededNumbers
  var number = 0

  init(_ subject: SecretServiceStore, seed: UInt64) {
    self.subject = subject
    numbers = SeededNumbers(state: seed)
  }

  private static let names = [
    "", "a", "A", "a b", "ä", "a\u{308}", "line\nbreak", "{TITLE}", "\\", "gh:x.y",
  ]
  private static let identities =
    names.map { CredentialIdentity.genericPassword(service: "s", account: $0) }
    + names.map { .genericPassword(service: $0, account: "me") }
    + names.prefix(4).map { .genericPassword(service: "s", account: "a", accessGroup: "g" + $0) }
    + names.prefix(5).map {
      CredentialIdentity(
        .internetPassword(
          InternetPassword(server: "h", protocol: "https", port: 1, path: $0, account: "a")))
    }

  mutating func run(_ count: Int) throws {
    for _ in 0..<count {
      number += 1
      try step()
    }
    try compareEverything("at operation \(number)")
  }

  /// Compares all that both stores return.
  func compareEverything(_ place: Comment) throws {
    try #expect(Self.summary(subject) == Self.summary(model), place)
  }

  private mutating func step() throws {
    let identity = pick(Self.identities)
    let kind = Int.random(in: 0..<12, using: &numbers)
    let credential = randomCredential(identity)
    let secret = randomSecret()
    let other = pick(Self.identities)
    // Uses each store's own version, or one that it never returned.
    let isVersioned = Bool.random(using: &numbers)
    let isStale = isVersioned && Int.random(in: 0..<4, using: &numbers) == 0
    let update = CredentialUpdate(label: .set(pick(Self.names)), comment: .clear)
    let outcomes = try [subject as any CredentialStore, model].map { store in
      let version = try store.credential(for: identity)?.version
      let expected = isVersioned ? (version ?? 7) + (isStale ? 1 : 0) : nil
      return try Self.outcome {
        switch kind {
        case 0...3: try Self.text(store.set(credential, secret: SecretBytes(copying: secret)))
        case 4:
          try Self.text(
            store.set(credential, secret: SecretBytes(copying: secret), mode: .addOnly))
        case 5:
          try Self.text(
            store.set(
              credential, secret: SecretBytes(copying: secret),
              mode: .replace(version: expected ?? version ?? 7)))
        case 6: try Self.text(store.update(identity, with: update, expectedVersion: expected))
        case 7: try Self.text(store.rename(identity, to: other, expectedVersion: expected))
        case 8, 9: try "\(store.remove(identity, expectedVersion: expected))"
        case 10: try Self.secretText(store, identity)
        default: try "\(store.search(CredentialQuery(service: "s")).credentials.map(Self.text))"
        }
      }
    }
    #expect(outcomes[0] == outcomes[1], "operation \(number), kind \(kind), \(identity)")
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &numbers)]
  }

  private mutating func randomCredential(_ identity: CredentialIdentity) -> Credential {
    var credential = Credential(identity, accessibility: pick([.whenUnlocked, .afterFirstUnlock]))
    if Bool.random(using: &numbers) { credential.label = pick(Self.names) }
    if Bool.random(using: &numbers) { credential.comment = pick(Self.names) }
    for _ in 0..<Int.random(in: 0..<3, using: &numbers) {
      credential.attributes[pick(["x", "Title", "url", "key word"])] = pick(Self.names)
    }
    return credential
  }

  private mutating func randomSecret() -> String {
    String(
      String.UnicodeScalarView(
        (0..<Int.random(in: 0..<40, using: &numbers)).map { _ in
          Unicode.Scalar(UInt8.random(in: 0..<128, using: &numbers))
        }))
  }

  private static func outcome(_ body: () throws -> String) throws -> String {
    do { return try body() } catch let error as KeychainError { return "\(error.code)" }
  }

  /// Describes a credential without versions and dates, which differ between stores.
  private static func text(_ credential: Credential) -> String {
    """
    \(credential.identity.debugText) \(credential.accessibility) \(credential.label ?? "-") \
    \(credential.comment ?? "-") \(credential.attributes.map { [$0.name, $0.value] })
    """
  }

  private static func secretText(
    _ store: some CredentialStore, _ identity: CredentialIdentity
  ) throws -> String {
    guard let stored = try store.secret(for: identity) else { return "none" }
    return text(stored.credential) + " " + (stored.secret.withBytes { $0.text } ?? "no text")
  }

  private static func summary(_ store: some CredentialStore) throws -> [String] {
    try store.search(CredentialQuery()).credentials.map { try secretText(store, $0.identity) }
  }
}

extension CredentialIdentity {
  /// All names as bytes, which distinguish identities.
  fileprivate var debugText: String { "\(Array("\(self)".utf8)) \(Array(accessGroup.utf8))" }
}
