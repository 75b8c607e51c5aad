import ArgumentParser
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("What a new secret changes about its credential")
struct SecretUpdateTests {
  private let old = Credential(
    .genericPassword(service: "s", account: "a"), label: "L", contentType: "text/plain",
    expires: Date(timeIntervalSince1970: 4_000_000_000), attributes: ["k": "v"])

  private func merged(_ arguments: String..., keepingExpiry: Bool = false) throws -> Credential {
    try CredentialOptions.parse(arguments).updateOfSecret(keepingExpiry: keepingExpiry)
      .applied(to: old)
  }

  @Test func expiryAndContentTypeGoWithOldSecret() throws {
    let new = try merged("--comment", "C")
    #expect(new.expires == nil && new.contentType == nil)
    #expect(new.label == "L" && new.comment == "C" && new.attributes == ["k": "v"])
  }

  @Test func keptExpiryStaysWithoutContentType() throws {
    let new = try merged(keepingExpiry: true)
    #expect(new.expires == old.expires && new.contentType == nil)
  }

  @Test func givenExpiryAndContentTypeAreSet() throws {
    let new = try merged("--expires", "2027-01-31T00:00:00Z", "--content-type", "x/y")
    #expect(new.expires == Date(timeIntervalSince1970: 1_801_353_600) && new.contentType == "x/y")
    #expect(try merged("--expires", "never").expires == nil)
  }
}
