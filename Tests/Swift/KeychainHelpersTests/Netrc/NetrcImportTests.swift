import Foundation
import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

/// Takes passwords of a netrc file into a store.
struct NetrcImportTests {
  private let store = InMemoryCredentialStore()

  private let text = """
    machine a login l password one
    machine b login l password two
    machine c login l password three
    default login l password other
    """

  private func identity(_ server: String) -> CredentialIdentity {
    CredentialIdentity(
      .internetPassword(InternetPassword(server: server, protocol: "https", account: "l")))
  }

  private func secret(_ server: String) throws -> String? {
    try store.secret(for: identity(server))?.secret.text
  }

  private func put(_ server: String, _ secret: String, expires: Date? = nil) throws {
    try store.set(
      Credential(identity(server), label: "L", contentType: "text/plain", expires: expires),
      secret: SecretBytes(copying: secret), mode: .addOrReplace)
  }

  @Test func newPasswordsAreStoredAndOthersStay() throws {
    try put("b", "newer")
    try put("c", "three")
    let report = try NetrcImport(SecretBytes(copying: text), into: store)
    #expect(report.items(.absent).map(\.identity) == [identity("a")])
    #expect(report.items(.differing).map(\.identity) == [identity("b")])
    #expect(report.items(.same).map(\.identity) == [identity("c")])
    #expect(try secret("a") == nil)
    try report.perform()
    #expect(try secret("a") == "one" && secret("b") == "newer" && secret("c") == "three")
    #expect(try report.storedEntries().map(\.host) == ["a", "c"])
  }

  @Test func longNamesAreListedAndNothingIsStored() throws {
    let rest = Credential.maximumMetadataCount - "zhttps".utf8.count
    let long = (0..<12).map {
      "machine h\($0) login \(String(repeating: "l", count: rest)) password p"
    }
    let most = "machine z login \(String(repeating: "l", count: rest)) password p"
    let error = #expect(throws: KeychainError.self) {
      let text = try SecretBytes(copying: ([most] + long).joined(separator: "\n"))
      try NetrcImport(text, into: store).perform()
    }
    #expect(error?.code == .tooLarge)
    let message = error?.message ?? ""
    #expect(message.contains("12 credentials") && message.hasSuffix("h9 (line 11); and 2 more"))
    #expect(message.contains(": h0 (line 2); ") && message.utf8.count < 500)
    #expect(try store.search(CredentialQuery()).credentials.isEmpty)
    try NetrcImport(SecretBytes(copying: most), into: store).perform()
    #expect(try store.search(CredentialQuery()).credentials.count == 1)
  }

  @Test func overwritingDropsTheExpiryAndKeepsTheLabel() throws {
    try put("b", "older", expires: .now + 60)
    try put("c", "three", expires: .now - 60)
    let report = try NetrcImport(SecretBytes(copying: text), into: store, overwriting: true)
    #expect(report.items(.differing).count == 2)
    try report.perform()
    let stored = try #require(try store.credential(for: identity("b")))
    #expect(stored.label == "L" && stored.expires == nil && stored.contentType == nil)
    #expect(try secret("b") == "two")
    #expect(try report.storedEntries().count == 3)
  }

  @Test func passwordThatExpiresLaterStaysInTheFile() throws {
    try put("c", "three", expires: .now + 60)
    let report = try NetrcImport(SecretBytes(copying: text), into: store)
    #expect(report.items(.differing).map(\.identity) == [identity("c")])
    try report.perform()
    #expect(try report.storedEntries().map(\.host) == ["a", "b"])
  }

  @Test func failureRemovesWhatWasAdded() throws {
    try put("b", "older")
    let report = try NetrcImport(SecretBytes(copying: text), into: store, overwriting: true)
    let observation = store.observe { [store] change in
      guard case .internetPassword(let password)? = change.identity?.kind else { return }
      guard password.server == "c", change.kind == .added else { return }
      store.fail(.writing, with: KeychainError(.inputOutput, "the disk is full"), times: 1)
    }
    let error = #expect(throws: KeychainError.self) { try report.perform() }
    observation.cancel()
    #expect(error?.code == .inputOutput)
    #expect(try secret("a") == nil && secret("c") == nil)
    #expect(try secret("b") == "older")
    #expect(try report.storedEntries().isEmpty)
  }

  @Test func lockedStoreIsNotWritten() throws {
    try put("b", "two")
    store.lock()
    let error = #expect(throws: KeychainError.self) {
      _ = try NetrcImport(SecretBytes(copying: text), into: store)
    }
    #expect(error?.code == .locked)
  }
}
