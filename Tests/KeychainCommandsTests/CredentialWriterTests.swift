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

  @Test func conditionsAreKept() throws {
    try write(CredentialUpdate(), condition: .mustBeNew)
    #expect(throws: KeychainError.self) { try write(CredentialUpdate(), condition: .mustBeNew) }
    let version = try #require(try store.credential(for: identity)).version
    try write(CredentialUpdate(), condition: .mustHave(version: version))
    #expect(throws: KeychainError.self) {
      try write(CredentialUpdate(), condition: .mustHave(version: version))
    }
  }

  @Test func emptySecretReplacesAnotherOnlyWhenAllowed() throws {
    try write(CredentialUpdate(), secret: "")
    try write(CredentialUpdate(), secret: "s")
    let error = #expect(throws: KeychainError.self) { try write(CredentialUpdate(), secret: "") }
    #expect(error?.code == .invalidArgument)
    #expect(try store.secret(for: identity)?.secret.count == 1)
    let writer = CredentialWriter(store: store, patience: .seconds(60), allowsEmpty: true)
    try writer.write(
      identity, update: CredentialUpdate(), secret: try SecretBytes(copying: ""), condition: .none)
    #expect(try store.secret(for: identity)?.secret.count == 0)
  }

  @Test func everyWriterOfOneCredentialSucceeds() async throws {
    let (writer, identity) = (writer, identity)
    try await withThrowingTaskGroup { group in
      for number in 0..<50 {
        group.addTask {
          try writer.write(
            identity, update: CredentialUpdate(attributes: [("k\(number)", "v")]),
            secret: try SecretBytes(copying: "s"), condition: .none)
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.credential(for: identity)?.attributes.count == 50)
  }

  private func write(
    _ update: CredentialUpdate, secret: String = "s",
    condition: CredentialWriter.Condition = .none
  ) throws {
    try writer.write(
      identity, update: update, secret: try SecretBytes(copying: secret), condition: condition)
  }
}
