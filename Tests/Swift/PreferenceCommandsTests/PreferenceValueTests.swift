// Values keep the type with which they are written, in whichever form the command line has them.

import CommandTesting
import Testing

@testable import PreferenceCommands

@Suite("Values of preferences that commands write and read")
struct PreferenceValueTests {
  private let program = TestedPreferences()

  @Test(
    arguments: [
      ("string", "a b", "a b"), ("int", "9223372036854775807", "9223372036854775807"),
      ("int", "18446744073709551615", "18446744073709551615"), ("bool", "YES", "true"),
      ("float", "0.1", "0.1"), ("double", "1", "1.0"), ("data", "DEADbeef", "deadbeef"),
      ("date", "2027-01-31T12:00:00.25+01:00", "2027-01-31T11:00:00.25Z"),
      ("url", "https://example.com/a?b", "https://example.com/a?b"),
      ("decimal", "12345678901234567890.5", "12345678901234567890.5"),
      ("uuid", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
    ])
  func typeIsKept(kind: String, text: String, printed: String) {
    #expect(program.inWeb("write", "key", text, "--type", kind).isSilent)
    #expect(program.inWeb("read", "key", "--type", kind).printed(printed + "\n"))
    #expect(program.listed == "key\t\(kind)\t\(printed)\n")
  }

  @Test func textIsTextWhateverItLooksLike() {
    program.inWeb("write", "key", "8080")
    #expect(program.listed == "key\tstring\t8080\n")
    program.inWeb("write", "key", "8080", "--type", "int")
    let refused = program.inWeb("write", "key", "9090")
    #expect(refused.failed(79) && refused.hints.contains("--type int"))
    #expect(!refused.messages.contains("9090"))
    #expect(program.listed == "key\tint\t8080\n")
  }

  @Test(
    arguments: [
      ("0001-01-01T00:30:00+01:00", "0000-12-31T23:30:00Z"),
      ("-0043-03-15T12:00:00.125Z", "-0043-03-15T12:00:00.125Z"),
      ("+12345-01-01 00:00Z", "+12345-01-01T00:00:00Z"),
      ("1e+300 s after 2001-01-01T00:00:00Z", "1e+300 s after 2001-01-01T00:00:00Z"),
    ])
  func dateOfAnyYearIsRead(written: String, printed: String) {
    #expect(program.inWeb("write", "date", "--type", "date", "--", written).isSilent)
    #expect(program.inWeb("read", "date").printed(printed + "\n"))
  }

  @Test func spellingsOfDefaultsAreUnderstood() {
    for words in [
      ["offset", "-int", "-5"], ["list", "-array", "a", "-int", "1", "b"],
      ["list", "-array-add", "c"], ["pairs", "-dict", "a", "1", "b", "-float", "0.5"],
      ["pairs", "-dict-add", "c", "-bool", "yes"],
      ["date", "-date", "2027-01-31 12:00:00 +0100"],
    ] { #expect(program.inWeb(["write"] + words).isSilent) }
    #expect(
      program.listed == """
        date\tdate\t2027-01-31T11:00:00Z
        list\tarray\t["a",1,"b","c"]
        offset\tint\t-5
        pairs\tdict\t{"a":"1","b":0.5,"c":true}

        """)
  }

  @Test(
    arguments: [
      ["--domain", "other"], ["-d", "other"], ["--if-absent"], ["-q"], ["--expect=x"],
    ])
  func optionIsNotAnElement(_ options: [String]) {
    for form in ["-array", "-dict", "-array-add"] {
      let refused = program.inWeb(["write", "key", form, "a", "b"] + options)
      #expect(refused.failed(64, "before"))
    }
    #expect(program.domainCount == 0)
  }

  @Test func elementsBeginWithDashesAfterTheirType() {
    program.inWeb("write", "list", "-array", "-5", "-string", "--quiet", "-int", "-7")
    program.inWeb("write", "other", "-array", "-currentHost", "-app")
    program.inWeb("write", "text", "-string", "-g")
    #expect(
      program.listed == """
        list\tarray\t["-5","--quiet",-7]
        other\tarray\t["-currentHost","-app"]
        text\tstring\t-g

        """)
    #expect(program.inWeb("write", "-g", "-string", "-g").failed(64))
  }

  @Test(arguments: ["array", "dict"])
  func elementsAreNotReadFromInput(form: String) {
    let refused = program.inWeb("write", "key", "-", "--type", form, input: #"["a"]"#)
    #expect(refused.failed(64, "--json"))
    #expect(program.inWeb("write", "key", "-", "--json", input: #"["a"]"#).code == 0)
    #expect(program.inWeb("list").output == "key\tarray\t[\"a\"]\n")
  }

  @Test(
    arguments: [
      ("-array", "elements"), ("-array-add", "elements"), ("-dict", "keys and values"),
      ("-dict-add", "keys and values"),
    ])
  func elementsAreNeeded(option: String, needed: String) {
    #expect(program.inWeb("write", "key", option).failed(64, "\(option) needs \(needed) after it"))
  }

  @Test(arguments: [("array", "[]\n"), ("dict", "{}\n")])
  func emptyCollectionNeedsItsType(form: String, printed: String) {
    #expect(program.inWeb("write", "key", "-\(form)").hints.contains("--type \(form)"))
    #expect(program.inWeb("write", "key", "--type", form).isSilent)
    #expect(program.inWeb("read", "key").printed(printed))
  }

  @Test func valueIsReadFromStandardInput() {
    program.inWeb("write", "text", "-", input: "two\nlines\n")
    #expect(program.inWeb("read", "text", "--raw").printed("two\nlines"))
    program.inWeb("write", "text", "-", "--raw", input: "line\n")
    #expect(program.inWeb("read", "text", "--raw").printed("line\n"))
    let bytes = Array<UInt8>(0...255)
    program.inWeb(["write", "bytes", "-", "--raw", "--type", "data"], input: bytes)
    #expect(program.inWeb("read", "bytes", "--raw").bytes == bytes)
    #expect(program.inWeb(["write", "text", "-"], input: [0xff]).code == 65)
    #expect(program.inWeb("read", "text", "--raw").output == "line\n")
  }

  @Test func valueIsChangedOnlyAsExpected() {
    func write(_ words: String...) -> Int32 {
      program.inWeb(["write", "--type", "int"] + words).code
    }
    #expect(program.inWeb("write", "key", "value", "--expect", "other").failed(75))
    #expect(program.domainCount == 0)
    #expect(write("key", "1", "--if-absent") == 0)
    #expect(write("key", "2", "--if-absent") == 75)
    #expect(write("key", "2", "--expect", "5") == 75)
    #expect(write("key", "2", "--expect", "1") == 0)
    #expect(program.inWeb("write", "other", "2", "--expect", "1").failed(75))
    #expect(program.listed == "key\tint\t2\n")
  }
}
