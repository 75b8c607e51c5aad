internal import Foundation
internal import Testing

@testable internal import PreferencesCore
@testable internal import Prephirences

@Suite("Property lists of others")
struct PropertyListReaderTests {
  private var values: PreferencesDictionary {
    [
      "text": "a<b>&\"'\u{1F600}\u{E9}\r\n\t", "empty": "", "true": true, "false": false,
      "small": 1, "negative": -1, "byte": 255, "wide": 65_536, "least": Int.min,
      "greatest": Int.max,
      "unsigned": UInt64.max, "real": 0.1, "tiny": Double.leastNonzeroMagnitude,
      "huge": -Double.greatestFiniteMagnitude,
      "infinite": Double.infinity, "data": Data([0, 1, 255]), "no data": Data(),
      "date": Date(timeIntervalSinceReferenceDate: 86_400), "past": Date.distantPast,
      "future": Date.distantFuture, "leap": Date(timeIntervalSinceReferenceDate: -26_870_400),
      "list": [1, "two", [3, [:] as PreferencesDictionary] as [Any]] as [Any], "none": [Any](),
      "": ["k<y": "v"] as PreferencesDictionary,
    ]
  }

  private func read(_ text: String) throws(PropertyListDamage) -> Any {
    try PropertyListReader.read(Data(text.utf8)).root.plain
  }

  private func dictionary(_ body: String) throws -> PreferencesDictionary? {
    try read("<?xml version='1.0'?><plist><dict>\(body)</dict></plist>") as? PreferencesDictionary
  }

  @Test(
    "What Foundation writes is read as it was",
    arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func foundation(format: PropertyListSerialization.PropertyListFormat) throws {
    // XML's writer of Foundation loses the smallest number of all.
    let values = values.filter { format == .binary || $0.key != "tiny" }
    let data = try PropertyListSerialization.data(
      fromPropertyList: values, format: format, options: 0)
    let read = try PropertyListReader.read(data)
    #expect(read.format.foundationFormat == format)
    let root = try #require(read.root.plain as? PreferencesDictionary)
    for (key, value) in values {
      let found = try #require(root[key])
      #expect("\(type(of: found)) \(found)" == "\(type(of: value)) \(value)", "\(key)")
      #expect(found as? Data == value as? Data, "\(key)")
    }
    #expect(root.count == values.count)
  }

  @Test("A list in UTF-16 or ISO 8859-1 is read")
  func encodings() throws {
    let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><string>\u{E9}</string>"
    let forms = [
      Data(text.unicodeScalars.map { UInt8($0.value) }), text.data(using: .utf16),
      text.data(using: .utf16BigEndian), text.data(using: .utf16LittleEndian),
      Data("\u{FEFF}<string>\u{E9}</string>".utf8),
    ]
    for form in forms {
      #expect(try PropertyListReader.read(#require(form)).root.plain as? String == "\u{E9}")
    }
  }

  @Test("XML of other writers is read")
  func otherXML() throws {
    let values = try #require(
      try dictionary(
        """
        <!-- a <b> --><key>a</key> <string attribute='>'>x<![CDATA[<&]]>y&#65;&#x42;<!-- --></string>
        <key >b</key><integer> 0x1F </integer><key>c</key><data> AQ\n I= </data><key>d</key><data/>
        <key>e</key><true></true><key>f</key><date>-0001-02-28T23:59:59Z</date><key>a b</key><array/>
        <key>g</key><integer>1</integer><key>g</key><integer>-9223372036854775808</integer>
        """))
    #expect(values["a"] as? String == "x<&yAB" && values["b"] as? Int == 31)
    #expect(values["c"] as? Data == Data([1, 2]) && values["d"] as? Data == Data())
    #expect(values["e"] as? Bool == true && values["g"] as? Int == .min)
    #expect((values["f"] as? Date)?.timeIntervalSinceReferenceDate == -63_171_964_801)
    #expect((values["a b"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "What is not valid is not read as something else",
    arguments: [
      "<data>!!!!</data>", "<data>AAA</data>", "<data>AAAA=AAA</data>", "<data>AAAAAQ=A</data>",
      "<array>\u{B}</array>", "<integer>1\u{C}</integer>", "<integer>1.5</integer>",
      "<integer/>", "<integer>18446744073709551616</integer>", "<integer>- 1</integer>",
      "<real>x</real>",
      "<real>1e400</real>", "<date>2027-02-29T00:00:00Z</date>", "<date>2027-01-01</date>",
      "<string>",
      "<string>&nbsp;</string>", "<string>&#xD800;</string>", "<true>x</true>", "<set/>",
      "<array>x</array>",
      "<dict><integer>1</integer></dict>", "<dict><key>CF$UID</key><integer>1</integer></dict>",
      "<array/><array/>", "<plist/>", "<array/>x", "", " \n", "<!-- -->",
      "<!DOCTYPE x [<!ENTITY a 'a'>]><array/>",
      "<dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict>",
      // What `defaults read` prints, where a number looks like text.
      "{ port = 9090; }", "port = 9090;", "(a, b)", "<00ff>", "word", "\u{E9}",
    ])
  func invalid(text: String) {
    #expect(throws: PropertyListDamage.self) { try read(text) }
  }

  @Test("A message names the line, but nothing of the data")
  func message() {
    let error = #expect(throws: PropertyListDamage.self) {
      try read("<array>\n<data>\nsecret</data></array>")
    }
    #expect(error?.reason == "line 3: the text of <data> is not base64")
  }

  // MARK: Work

  /// Returns a binary list of objects, which have references of one byte.
  private func binary(_ objects: [[UInt8]], offsets: [Int]? = nil, table: UInt64? = nil) -> Data {
    var data = Data("bplist00".utf8)
    var starts: [Int] = []
    for object in objects {
      starts.append(data.count)
      data += object
    }
    let end = data.count
    for offset in offsets ?? starts { data += [UInt8(offset >> 8), UInt8(offset & 255)] }
    data += [0, 0, 0, 0, 0, 0, 2, 1] as [UInt8]
    for number in [UInt64((offsets ?? starts).count), 0, table ?? UInt64(end)] as [UInt64] {
      unsafe withUnsafeBytes(of: number.bigEndian) { unsafe data.append(contentsOf: $0) }
    }
    return data
  }

  /// Arrays with two references each to the next one, from the second object on.
  private func doubling(_ count: Int) -> [[UInt8]] {
    (0..<count).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] } + [[0x51, 0x61]]
  }

  @Test("Shared references are counted as often as they occur")
  func sharedReferences() throws {
    let few = try PropertyListReader.read(binary(doubling(8))).root.plain
    #expect("\(few)".filter { $0 == "a" }.count == 256)
    for count in [20, 60, 190] {
      let error = #expect(throws: PropertyListDamage.self) {
        try PropertyListReader.read(binary(doubling(count)))
      }
      #expect(error?.reason == "it repeats its parts too often")
    }
    // The same with one long text instead of many arrays.
    let text = [0x5F, 0x11, 0x40, 0x00] + [UInt8](repeating: 0x61, count: 0x4000)
    let list = [0xAF, 0x11, 0x40, 0x00] + [UInt8](repeating: 1, count: 0x4000)
    #expect(throws: PropertyListDamage.self) { try PropertyListReader.read(binary([list, text])) }
  }

  @Test("Keys and texts that repeat are no attack")
  func repeatedKeys() throws {
    let server = ["identification": "production", "description": "a server of the company"]
    let list = Array(repeating: server, count: 2000)
    let data = try PropertyListSerialization.data(
      fromPropertyList: list, format: .binary, options: 0)
    #expect(try PropertyListReader.read(data).root.plain as? [[String: String]] == list)
  }

  @Test("Damaged frames of binary lists are refused")
  func frames() {
    #expect(throws: PropertyListDamage.self) {
      try PropertyListReader.read(binary([[0xA1, 0]]))
    }
    // The place of the table, added to its size, would be too large a number.
    #expect(throws: PropertyListDamage.self) {
      try PropertyListReader.read(binary([[0x09]], table: UInt64(Int.max)))
    }
    // Many objects in the same bytes: each would be read again.
    let list = [0xAF, 0x11, 0x10, 0x00] + [UInt8](repeating: 1, count: 0x1000)
    let offsets = Array(repeating: 8, count: 200)
    #expect(throws: PropertyListDamage.self) {
      try PropertyListReader.read(binary([list, [0x09]], offsets: offsets))
    }
    // Half a character, which would be read as another.
    #expect(throws: PropertyListDamage.self) {
      try PropertyListReader.read(binary([[0x61, 0xD8, 0x00]]))
    }
  }

  @Test(
    "The deepest value that is written is read",
    arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func depth(format: PropertyListSerialization.PropertyListFormat) throws {
    let folder = try TemporaryFolder()
    let plist = try Plist(openingFile: folder("a.plist"), format: format)
    var value: Any = "x"
    for _ in 1..<PreferenceValue.maximumDepth { value = [value] }
    plist["deep"] = value
    try plist.writeFile()
    let read = try Plist(contentsOfFile: folder("a.plist"))
    #expect("\(read["deep"] ?? "")" == "\(value)")
  }

  @Test(
    "Malformed declarations and numbers are refused",
    arguments: [
      "<?xml version=\"1.0\" enc\"oding=\"UTF-8\"?><true/>", "<?xml/ version=\"1.0\"?><true/>",
      "<real>nan(0x1)</real>",
    ])
  func malformed(text: String) {
    #expect(throws: PropertyListDamage.self) { try read(text) }
  }

  @Test("Declarations and instructions of XML are skipped")
  func declarations() throws {
    let beginning = "<?xml version = '1.0'\r\n\tencoding=\"UTF-8\" standalone='yes' ?>"
    #expect(try read(beginning + "<?xml-stylesheet a?><true/>") as? Bool == true)
    #expect(try read("<?xml-stylesheet a?><true/>") as? Bool == true)
  }

  @Test("Lists that are too deep are refused", arguments: [202, 100_000])
  func tooDeep(count: Int) {
    for (open, close) in [("<array>", "</array>"), ("(", ")"), ("{a=", ";}")] {
      let text =
        String(repeating: open, count: count) + "<00>" + String(repeating: close, count: count)
      #expect(throws: PropertyListDamage.self) {
        try read(text.replacing("<array><00>", with: "<array>"))
      }
    }
    let chain = (0..<202).map { [0xA1, UInt8($0 + 1)] } + [[0x09 as UInt8]]
    #expect(throws: PropertyListDamage.self) { try PropertyListReader.read(binary(chain)) }
  }

  @Test("Archives whose objects share parts are read")
  func archives() throws {
    // Not more levels: Foundation's archiver compares each part with the others.
    var value = NSArray(object: "a")
    for _ in 0..<4 { value = NSArray(array: [value, value]) }
    let archive = try #require(PreferenceArchive.archive(value))
    #expect(PreferenceArchive.unarchive(archive) as? NSArray == value)
  }
}
