import Foundation
import PrephirencesSystem
import Testing

@testable import PrephirencesCommandLine

@Suite("Durations and dates on the command line")
struct TextParsingTests {
  @Test(arguments: [
    ("0s", Duration.zero), ("10s", .seconds(10)),
    ("500ms", .milliseconds(500)), ("2m", .seconds(120)), ("1h30m", .seconds(5400)),
    ("90d", .seconds(90 * 86_400)), ("1w", .seconds(604_800)), ("1y", .seconds(31_536_000)),
  ])
  func durationIsRead(_ text: String, _ expected: Duration) {
    #expect(DurationText.parse(text) == expected)
  }

  @Test(arguments: [
    "", "s", "-1s", "+1s", "1.5h", "1 h", "10x", "1h30", "٣s", "1S", "9223372036854775807y",
    "1001y", "99999999999999999999s", "ms5",
  ])
  func nonsenseIsNotADuration(_ text: String) {
    #expect(DurationText.parse(text) == nil)
  }

  @Test func numberWithoutUnitIsNotADuration() {
    #expect(DurationText.parse("90") == nil && DurationText.lacksUnit("90"))
    #expect(!DurationText.lacksUnit("") && !DurationText.lacksUnit("9x"))
    let error = #expect(throws: (any Error).self) { try DurationText.argument("30") }
    #expect("\(error.map { "\($0)" } ?? "")".contains("30s for seconds, or 30m for minutes"))
  }

  @Test(arguments: [
    ("30d", "30d"), ("1y", "365d"), ("36h", "1d12h"), ("90m", "1h30m"), ("1500ms", "1s500ms"),
    ("0s", "0s"),
  ])
  func durationIsWritten(_ text: String, _ written: String) throws {
    #expect(DurationText.text(try #require(DurationText.parse(text))) == written)
  }

  @Test(arguments: [
    ("1970-01-01", 0.0), ("2027-01-31", 1_801_353_600), ("2027-01-31T12:00:00Z", 1_801_396_800),
    ("2027-01-31 12:00", 1_801_396_800), ("2027-01-31T12:00:00+02:00", 1_801_389_600),
    ("2027-01-31T12:00:00.25-00:30", 1_801_398_600.25), ("2028-02-29", 1_835_395_200),
  ])
  func dateIsRead(_ text: String, _ seconds: Double) {
    let utc = LocalTime { _ in 0 }
    #expect(DateText.parse(text, local: utc)?.timeIntervalSince1970 == seconds)
  }

  /// Includes clock changes in both directions, also at midnight, and a skipped day.
  @Test(arguments: [
    ("Europe/Berlin", "2027-01-31T12:00", "2027-01-31T11:00:00Z"),
    ("Europe/Berlin", "2027-07-31T12:00", "2027-07-31T10:00:00Z"),
    ("Europe/Berlin", "2027-03-28T01:59:59", "2027-03-28T00:59:59Z"),
    ("Europe/Berlin", "2027-03-28T02:30", "2027-03-28T01:30:00Z"),
    ("Europe/Berlin", "2027-03-28T03:00", "2027-03-28T01:00:00Z"),
    ("Europe/Berlin", "2027-10-31T02:30", "2027-10-31T00:30:00Z"),
    ("Europe/Berlin", "2027-10-31T03:00", "2027-10-31T02:00:00Z"),
    ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00", "2011-12-30T20:00:00Z"),
    ("Pacific/Kiritimati", "2027-01-01", "2026-12-31T10:00:00Z"),
    ("Australia/Lord_Howe", "2027-10-03T02:15", "2027-10-02T15:45:00Z"),
  ])
  func dateWithoutZoneIsLocal(_ zone: String, _ text: String, _ expected: String) throws {
    let zone = try #require(TimeZone(identifier: zone))
    let local = LocalTime { zone.secondsFromGMT(for: $0) }
    #expect(DateText.parse(text, local: local).map(DateText.text) == expected)
  }

  @Test(arguments: [
    "", "2027", "2027-02-29", "2027-13-01", "2027-00-10", "2027-01-32", "2027-1-1",
    "2027-01-31T24:01", "2027-01-31T12", "2027-01-31T12:60", "2027-01-31T12:00:00+25:00",
    "31.1.2027", "2027-01-31T12:00:00 Z",
  ])
  func nonsenseIsNotADate(_ text: String) {
    #expect(DateText.parse(text) == nil)
  }

  @Test(arguments: [
    ("2027-01-30T23:00:00Z", 3600, "2027-01-31"), ("2027-01-31T00:00:00Z", 0, "2027-01-31"),
    ("2027-01-31T00:00:00Z", -3600, "2027-01-30"), ("", 3600, ""),
  ])
  func dayWithoutZoneIsLocal(_ moment: String, _ offset: Int, _ day: String) {
    #expect(DateText.day(ofMoment: moment, local: LocalTime { _ in offset }) == day)
  }

  @Test func writtenDateReadsBack() {
    let date = Date(timeIntervalSince1970: 1_801_396_800)
    #expect(DateText.text(date) == "2027-01-31T12:00:00Z")
    #expect(DateText.parse(DateText.text(date)) == date)
  }
}

@Suite("Names that patterns select")
struct NamePatternTests {
  @Test(arguments: [
    ("", ""), ("a", "a"), ("*", ""), ("*", "anything/at.all"), ("a*", "a"), ("*b", "ab"),
    ("a*c*e", "abcde"), ("*a*", "xax"), ("**", "x"), ("?", "é"), ("??", "e\u{301}"), ("a?c", "a/c"),
    ("[abc]", "b"), ("[a-c]x", "cx"), ("[!a-c]", "d"), ("[^a-c]", "d"), ("[]]", "]"), ("[!]]", "a"),
    ("[a-]", "-"), ("[-a]", "-"), ("[\\]]", "]"), ("[a\\-c]", "-"), ("\\*", "*"), ("\\[a]", "[a]"),
    ("[a", "[a"), ("a\\", "a\\"), (".*", ".hidden"), ("*.*", "a.b.c"), ("*ab", "aab"),
    ("[😀-😂]", "😁"),
  ])
  func matches(_ pattern: String, _ name: String) {
    #expect(NamePattern(pattern).matches(name))
  }

  @Test(arguments: [
    ("", "a"), ("a", ""), ("a", "A"), ("a", "ab"), ("?", ""), ("?", "ab"), ("a*c", "abcd"),
    ("*b", "ba"), ("[a-c]", "d"), ("[!a-c]", "b"), ("[!a]", ""), ("[c-a]", "b"), ("\\*", "a"),
    ("[a", "a"), ("é", "e\u{301}"),
  ])
  func doesNotMatch(_ pattern: String, _ name: String) {
    #expect(!NamePattern(pattern).matches(name))
  }

  @Test(.timeLimit(.minutes(1)))
  func hostilePatternsEnd() {
    let name = String(repeating: "a", count: 5000)
    #expect(!NamePattern(String(repeating: "*a", count: 200) + "b").matches(name))
  }
}

@Suite("Words and examples for a shell")
struct ShellTextTests {
  @Test(arguments: [
    ("plain-1.2@x", "plain-1.2@x"), ("", "''"), ("two words", "'two words'"),
    ("it's", "'it'\\''s'"), ("it's\nhere \\", "$'it\\'s\\012here\\040\\\\'"),
    ("`x`", "$'\\140x\\140'"),
    ("a\u{202E}", "$'a\\342\\200\\256'"), ("$(x)", "'$(x)'"), ("~", "'~'"), ("é", "'é'"),
  ])
  func wordsAreQuotedForShells(_ word: String, _ quoted: String) {
    #expect(ShellText.quoted(word) == quoted)
  }

  @Test(arguments: [
    ("  a b c", "  a b c"),
    ("  prefs keychain get alice", "  prefs keychain \\\n    get alice"),
    ("  say 'one two three four five'", "  say \\\n    'one two three four five'"),
    (
      "  curl \"a $(prefs get alice bob)\" x",
      "  curl \"a $(prefs \\\n    get alice \\\n    bob)\" x"
    ),
    ("  averyveryverylongwordindeed x", "  averyveryverylongwordindeed \\\n    x"),
  ])
  func examplesAreBrokenWhereAShellTakesIt(line: String, broken: String) {
    #expect(line.exampleBroken(to: 20) == broken)
  }
}

@Suite("The source of manual pages")
struct RoffTests {
  @Test(arguments: [
    ("plain", "plain"), ("a-b", "a\\-b"), (".dot", "\\&.dot"), ("'q", "\\(aqq"),
    ("\\t", "\\et"), ("…", "\\[u2026]"),
  ])
  func nothingInTextIsActedOn(text: String, source: String) {
    #expect(Roff.escaped(text) == source)
  }
}
