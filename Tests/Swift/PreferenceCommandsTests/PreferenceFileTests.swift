// Exports and imports: the formats, what they lose, and what is no file of preferences.

import CommandTesting
import Foundation
import Testing

@testable import PreferenceCommands

@Suite("Exports and imports of preferences")
struct PreferenceFileTests {
  private let program = TestedPreferences()

  @Test(arguments: ["all.json", "all.plist"])
  func exportIsImportedWithItsTypes(name: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    for words in [
      ["float", "-float", "0.1"], ["date", "-date", "2027-01-31T12:00:00.123Z"],
      ["tag", "--json", #"{"$dict": {"$date": "no date"}}"#], ["data", "-data", "00ff"],
    ] { program.inWeb(["write"] + words) }
    #expect(program.inWeb("export", path, "--exact").code == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(program.inWeb("export", path).failed(75))
    #expect(program.inWeb("export", path, "--overwrite", "--exact").code == 0)
    #expect(program.run("import", path, "--domain", "other").code == 0)
    // A property list has one type for numbers with a fraction.
    let kept = program.listed.split(separator: "\n").filter { !$0.hasPrefix("float") }
    let imported = program.run("list", "--domain", "other").output.split(separator: "\n")
    #expect(kept.count == 3 && imported.filter { !$0.hasPrefix("float") } == kept)
    #expect(
      imported.contains(
        name.hasSuffix("json") ? "float\tfloat\t0.1" : "float\tdouble\t0.10000000149011612"))
  }

  @Test func exportNamesWhatItRounds() {
    program.inWeb("write", "date", "--type", "date", "2027-01-31T12:00:00.25Z")
    let rounded = program.inWeb("export")
    #expect(rounded.messages.contains("rounded down to seconds: 'date'; --exact"))
    #expect(!rounded.output.contains("Prephirences"))
    let exact = program.inWeb("export", "--exact")
    #expect(exact.code == 0 && exact.messages.isEmpty)
    program.run(["import", "-", "--domain", "other"], input: exact.bytes)
    #expect(
      program.run("read", "date", "--domain", "other").printed("2027-01-31T12:00:00.25Z\n"))
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func propertyListOfAnotherProgramIsImported(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let values = ["a": 1, "b": [true, 1.5], "c": ["d": Data([0, 1])]] as NSDictionary
    let data = try PropertyListSerialization.data(
      fromPropertyList: values, format: format, options: 0)
    #expect(program.inWeb(["import", "-", "--replace"], input: [UInt8](data)).code == 0)
    #expect(try dictionary(program.inWeb("export")) == values)
  }

  @Test(
    arguments: [
      (#"{"a\u0001": 1}"#, #"\u"#), (#"{"\uffff": 1}"#, #"\u"#),
      (#"{"a": [{"b\u0001": 1}]}"#, "'a'"),
    ])
  func keyThatXMLLacksIsReported(values: String, key: String) throws {
    #expect(program.inWeb("import", "-", input: values).code == 0)
    for command in ["export", "read"] {
      let refused = program.inWeb(command, "--plist")
      #expect(refused.failed(64, "JSON") && refused.messages.contains(key))
      let exported = try json(program.inWeb(command, "--json").bytes)
      #expect(try exported == json(Array(values.utf8)))
    }
  }

  @Test func otherProgramsReadExports() throws {
    let kept = #""line": "a\r\nb\rc\n", "key\r\n": ["\r", {"a\r": "\n"}]"#
    let archived =
      #""control": "a\u0001b", "zero": ["\u0000"], "none": {"a": "\ufffe"}, "last": "\uffff""#
    #expect(program.inWeb("import", "-", input: "{\(kept), \(archived)}").code == 0)
    let exported = program.inWeb("export", "--plist")
    let values = try dictionary(exported)
    #expect(values["line"] as? String == "a\r\nb\rc\n")
    #expect(values["key\r\n"] as? NSArray == ["\r", ["a\r": "\n"]])
    #expect(values["control"] is Data && (values["zero"] as? [Any])?.first is Data)
    #expect((values["none"] as? [String: Any])?["a"] is Data)
    program.run(["import", "-", "--domain", "other"], input: exported.bytes)
    #expect(program.run("list", "--domain", "other").output == program.listed)
  }

  @Test func importMergesOrReplaces() {
    program.inWeb("write", "old", "1")
    let merged = program.inWeb(
      "import", "-", input: #"{"new": 1, "none": null, "list": [null, 2]}"#)
    #expect(merged.code == 0 && merged.bytes.isEmpty)
    #expect(merged.messages.contains("left out null: 'none', 'list[0]'"))
    #expect(program.listed == "list\tarray\t[2]\nnew\tint\t1\nold\tstring\t1\n")
    program.inWeb("import", "-", "--replace", input: #"{"new": 2}"#)
    #expect(program.listed == "new\tint\t2\n")
    #expect(program.inWeb("import", "/missing/missing.json").failed(44))
  }

  @Test(
    arguments: [
      ("", ""), ("{", ""), ("[1]", ""), (#"{"a": 1, "a": 2}"#, ""), ("<plist>", ""),
      (#"{ "a" : 1, }"#, ""), (" ", ""), ("\n", ""), ("\t\r\n", ""),
      ("<dict>\n<key>a</key><data>?</data></dict>", "line 2: the text of <data> is not base64"),
      // What `defaults` prints doesn't say which values are numbers, so an int would become text.
      (
        "{\n    \"a b\" = 2;\n    list =     (\n        x,\n        \"y z\"\n    );\n}\n",
        "defaults export"
      ),
    ])
  func invalidFileReplacesNothing(text: String, message: String) {
    program.inWeb("write", "key", "value")
    for options in [
      [], ["--plist"], ["--replace"], ["--replace", "--plist"], ["--replace", "--json"],
    ] {
      let refused = program.inWeb(["import", "-"] + options, input: Array(text.utf8))
      #expect(refused.failed(65))
      #expect(options.contains("--json") || refused.messages.contains(message) || message.isEmpty)
    }
    #expect(program.listed == "key\tstring\tvalue\n")
  }

  @Test func invalidTextReplacesNothing() {
    program.inWeb("write", "key", "value")
    #expect(program.inWeb(["import", "-", "--replace"], input: [0xff]).failed(65))
    #expect(
      program.inWeb(["import", "-", "--replace"], input: Self.repeatingList)
        .failed(65, "repeats its parts too often"))
    #expect(program.listed == "key\tstring\tvalue\n")
  }

  /// A binary property list with arrays of two references to the next one, of which each would become
  /// two: without end.
  private static var repeatingList: [UInt8] {
    var list = Array("bplist00".utf8) + [0xd1, 0, 1, 0, 2, 0x51, 0x61]
    for next: UInt8 in 3..<60 { list += [0xa2, 0, next, 0, next] }
    let last = UInt16(list.count)
    list += Array("Qx".utf8)
    let offsets: [UInt16] = [8, 13] + Array(stride(from: 15, to: last, by: 5)) + [last]
    let table = UInt64(list.count)
    for offset in offsets { list += Self.bytes(of: offset) }
    list += [0, 0, 0, 0, 0, 0, 2, 2]
    for number in [UInt64(offsets.count), 0, table] { list += Self.bytes(of: number) }
    return list
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  private func dictionary(_ exported: CommandRun) throws -> NSDictionary {
    try #require(
      PropertyListSerialization.propertyList(from: Data(exported.bytes), options: [], format: nil)
        as? NSDictionary)
  }

  private func json(_ bytes: [UInt8]) throws -> NSDictionary {
    try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
  }
}

/// A folder of a test, which is removed with this object.
final class TemporaryFolder: Sendable {
  private let url = FileManager.default.temporaryDirectory.appending(path: "prefs-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.path + "/" + name }
}
