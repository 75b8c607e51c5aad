import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainCommands

@Suite("Storing in place")
struct CredentialWriterTests {
  private let store = InMemoryCredentialStore()
  private let identity = CredentialIdentity.genericPassword(service: "s", account: "a")

  private var writer: CredentialWriter { CredentialWriter(store: store, patience: .seconds(60)) }

  @Test func newSecretKeepsWhatIsKnown() throws {
    try write(CredentialUpdate(accessibility: .always, label: .set("L"), attributes: [("k", "v")]))
    try write(CredentialUpdate(comment: .set("C")))
    let credential = try #require(try store.credential(for: identity))
    #expect(credential.accessibility == .always)
    #expect(credential.label == "L" && credential.comment == "C")
    #expect(credential.attributes["k"] == "v")
  }

  @Test func expiryAndContentTypeGoWithTheOldSecret() throws {
    try write(CredentialUpdate(contentType: .set("text/plain"), expires: .set(.distantPast)))
    try write(CredentialUpdate())
    let credential = try #require(try store.credential(for: identity))
    #expect(credential.expires == nil && credential.contentType == nil)
  }

  @Test func expiryThatGoesIsReturned() throws {
    let date = Date(timeIntervalSince1970: 4_000_000_000)
    #expect(try write(CredentialUpdate(expires: .set(date))).lostExpiry == nil)
    #expect(try write(CredentialUpdate(expires: .set(date))).lostExpiry == nil)
    #expect(try write(CredentialUpdate()).lostExpiry == date)
    #expect(try write(CredentialUpdate()).lostExpiry == nil)
  }

  @Test func expiryStaysWhenItIsToBeKept() throws {
    let date = Date(timeIntervalSince1970: 4_000_000_000)
    try write(CredentialUpdate(contentType: .set("text/plain"), expires: .set(date)))
    let keeping = CredentialWriter(store: store, patience: .seconds(60), keepsExpiry: true)
    let written = try keeping.write(
      identity, update: CredentialUpdate(), secret: try SecretBytes(copying: "t"), condition: .none)
    #expect(written.lostExpiry == nil && written.credential.expires == date)
    #expect(written.credential.contentType == nil)
  }

  @Test func conditionsAreKept() throws {
    try write(CredentialUpdate(), condition: .mustBeNew)
    #expect(throws: KeychainError.self) { try write(CredentialUpdate(), condition: .mustBeNew) }
    let version = try #require(try store.credential(for: identity)).version
    try write(CredentialUpdate(), condition: .mustHave(version: version))
    #expect(throws: KeychainError.self) {
      try write(CredentialUpdate(), condition: .mustHave(version: version))
    }
  }

  @Test func everyWriterOfOneCredentialSucceeds() async throws {
    let (writer, identity) = (writer, identity)
    try await withThrowingTaskGroup { group in
      for number in 0..<50 {
        group.addTask {
          _ = try writer.write(
            identity, update: CredentialUpdate(attributes: [("k\(number)", "v")]),
            secret: try SecretBytes(copying: "s"), condition: .none)
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.credential(for: identity)?.attributes.count == 50)
  }

  @discardableResult
  private func write(
    _ update: CredentialUpdate, secret: String = "s",
    condition: CredentialWriter.Condition = .none
  ) throws -> CredentialWriter.Written {
    try writer.write(
      identity, update: update, secret: try SecretBytes(copying: secret), condition: condition)
  }
}
