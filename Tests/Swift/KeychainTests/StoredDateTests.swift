internal import Foundation
internal import Testing

@testable internal import Keychain

@Suite("Dates within stored values")
struct StoredDateTests {
  struct Token: Codable, Equatable {
    var access: String
    var expires: Date
    var history: [Date] = []
    var byName: [String: Date] = [:]
    var never: Date?
  }

  private func date(_ text: String) -> Date? { Date(iso8601: text) }

  @Test func aCodableHasThemInISO8601() throws {
    let keychain = preferences()
    let token = Token(access: "t", expires: Date(timeIntervalSinceReferenceDate: 817_041_735.25))
    try keychain.set(token, for: "k")
    #expect(
      try keychain.string(for: "k")
        == #"{"access":"t","byName":{},"expires":"2026-11-22T12:02:15.25Z","history":[]}"#)
    #expect(try keychain.value(Token.self, for: "k") == token)
    try keychain.set(token.expires, for: "d")
    #expect(try keychain.string(for: "d") == "2026-11-22T12:02:15.25Z")
    #expect(keychain["d"] as? Date == token.expires)
  }

  @Test func olderOnesAreNumbersAndAreRead() throws {
    let keychain = preferences()
    try keychain.set(
      SecretBytes(
        copying: #"{"access":"t","byName":{"a":-1},"expires":817041735.25,"history":[0]}"#),
      for: "k")
    let token = try keychain.value(Token.self, for: "k")
    #expect(token?.expires == date("2026-11-22T12:02:15.25Z"))
    #expect(token?.history == [Date(timeIntervalSinceReferenceDate: 0)])
    #expect(token?.byName == ["a": Date(timeIntervalSinceReferenceDate: -1)])
    let store = InMemoryCredentialStore()
    let older = Credential(
      preferences(store).identity(for: "d"), contentType: "text/plain; charset=utf-8; type=Date")
    try store.set(older, secret: SecretBytes(copying: "817041735.25"))
    #expect(preferences(store)["d"] as? Date == token?.expires)
  }

  @Test func everyOneComesBackEqual() throws {
    let keychain = preferences()
    let random = (0..<2000).flatMap { _ in
      [Double.random(in: -62e9...252e9), .random(in: -1e9...1e9), .random(in: -2...2)]
    }
    let special: [Double] = [
      0, -0.0, 1e-9, -1e-9, 0.1, -0.1, -0.5, -86_400.5, .infinity, -.infinity, 1e300, -1e300,
      252_423_993_599.999_97, 252_423_993_600,
    ]
    let dates =
      (random + special).map(Date.init(timeIntervalSinceReferenceDate:))
      + [.distantPast, .distantFuture, Date(), Date(timeIntervalSince1970: 1_700_000_000.123_456)]
    let token = Token(access: "", expires: Date(), history: dates)
    try keychain.set(token, for: "k")
    #expect(try keychain.value(Token.self, for: "k")?.history == dates)
    for date in dates.suffix(40) {
      try keychain.set(date, for: "d")
      #expect(try keychain.value(Date.self, for: "d") == date)
    }
  }

  @Test func theTextIsWhatFoundationWrites() {
    for seconds in stride(from: -13e9, through: 250e9, by: 86_400 * 301.7).map({ $0.rounded() }) {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(date.iso8601 == date.formatted(Date.ISO8601FormatStyle()))
    }
  }

  @Test(arguments: [
    ("2026-11-22T13:02:15+01:00", "2026-11-22T12:02:15Z"),
    ("2026-11-22t13:02:15.50+0100", "2026-11-22T12:02:15.5Z"),
    ("1969-12-31 23:59:59,75-00:30", "1970-01-01T00:29:59.75Z"),
    ("2000-02-29T23:59:60Z", "2000-03-01T00:00:00Z"),
    ("1999-12-31T23:59:59.000Z", "1999-12-31T23:59:59Z"),
  ])
  func otherSpellingsAreRead(_ text: String, _ same: String) throws {
    #expect(date(text)?.iso8601 == same)
  }

  @Test(arguments: [
    "", "2026-11-22", "2026-11-22T12:02:15", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "-0000-01-01T00:00:00Z",
    "2026-11-22T24:00:00Z", "2026-11-22T12:02:15.Z", "2026-11-22T12:02:15.5+01:0",
    "2026-11-22T12:02:15ZZ", "2026-11-22T12:02:15-24:00", "+026-11-22T12:02:15Z",
    "٢٠٢٦-11-22T12:02:15Z", "2026-11-22T12:02:1\u{665}Z",
  ])
  func otherTextIsNotADate(_ text: String) {
    #expect(date(text) == nil)
  }
}
