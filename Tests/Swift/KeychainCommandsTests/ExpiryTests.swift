import ArgumentParser
import Foundation
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Expiry and pairs on the command line")
struct ExpiryTests {
  @Test func expiryIsDateDurationOrNever() throws {
    let now = Date(timeIntervalSince1970: 1000)
    #expect(try Expiry(parsing: "never").date(from: now) == nil)
    #expect(try Expiry(parsing: "90s").date(from: now) == Date(timeIntervalSince1970: 1090))
    #expect(try Expiry(parsing: "1970-01-02T00:00:00Z") == .at(Date(timeIntervalSince1970: 86_400)))
    #expect(throws: ValidationError.self) { try Expiry(parsing: "soon") }
    #expect(throws: ValidationError.self) { try Expiry(parsing: "90") }
  }

  @Test(arguments: [
    ("a=b", "a", "b"), ("a=", "a", ""), ("a=b=c", "a", "b=c"), ("é=\u{301}x", "é", "\u{301}x"),
  ])
  func pairIsSplitAtFirstEqualsSign(_ text: String, _ name: String, _ value: String) throws {
    let pair = try AttributePair(parsing: text)
    #expect(Array(pair.name.utf8) == Array(name.utf8))
    #expect(Array(pair.value.utf8) == Array(value.utf8))
  }

  @Test(arguments: ["", "a", "=b"])
  func pairNeedsNameAndEqualsSign(_ text: String) {
    #expect(throws: ValidationError.self) { try AttributePair(parsing: text) }
  }
}
