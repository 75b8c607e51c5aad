internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Files of property lists")
struct PlistFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func otherFilesAreNotReplaced() throws {
    #expect(mkfifo(folder("pipe"), 0o600) == 0)
    for path in [".", "..", "/", "", folder.path, folder("pipe"), "/dev/null"] {
      let plist = Plist(["a": 1], filePath: path)
      #expect(!plist.write() && plist.lastError?.code != .unstorable, "\(path)")
    }
    var status = stat()
    #expect(stat(folder("pipe"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
  }

  @Test func pathsDoNotEndAtZero() throws {
    let plist = Plist(["a": 1], filePath: folder("a\0b"))
    #expect(!plist.write() && !plist.write(false) && !plist.read())
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func linksAreFollowed() throws {
    #expect(symlink("b/c", folder("a")) == 0 && mkdir(folder("b"), 0o700) == 0)
    let plist = Plist(["a": 1], filePath: folder("a"))
    #expect(plist.write() && Plist(filePath: folder("b/c"))?["a"] as? Int == 1)
  }

  @Test func failuresHaveTheSystemsReason() throws {
    let failure = #expect(throws: PreferencesError.self) { try Plist(contentsOfFile: folder.path) }
    #expect(failure?.systemCode == EISDIR)
    let full = Plist(["a": 1], filePath: "/dev/full")
    #expect(!full.write(false) && full.lastError?.systemCode == ENOSPC)
  }

  /// A folder that its user may write but not read cannot be synced, which is no failure.
  @Test func filesOfUnreadableFoldersAreReplaced() throws {
    let path = folder("a.plist")
    try Plist(["a": 1], filePath: path).writeFile()
    #expect(chmod(path, 0o640) == 0 && chmod(folder.path, 0o300) == 0)
    defer { chmod(folder.path, 0o700) }
    try Plist(["a": 2], filePath: path).writeFile()
    #expect(chmod(folder.path, 0o700) == 0)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    #expect(Plist(filePath: path)?["a"] as? Int == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.plist"])
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func referencesAreRefused(_ format: PropertyListSerialization.PropertyListFormat) throws {
    let path = folder("a.plist")
    try Plist(["a": "CF$UID"], filePath: path, format: format).writeFile()
    #expect(Plist(filePath: path)?["a"] as? String == "CF$UID")
    let values: [PreferencesDictionary] = [
      ["CF$UID": 1], ["a": ["CF$UID": 1]], ["a": [["CF$UID": 2.5]]], ["\u{feff}a": 1],
    ]
    for values in values {
      let plist = Plist(values, filePath: path, format: format)
      #expect(!plist.write() && plist.lastError?.code == .unstorable)
    }
    #expect(Plist(filePath: path)?["a"] as? String == "CF$UID")
  }

  @Test(arguments: ["CF$UID", "CF&#36;UID", "<![CDATA[CF$UID]]>"])
  func referencesAreDamage(_ key: String) throws {
    let reference = "<dict><key>\(key)</key><integer>1</integer></dict>"
    for value in [reference, "<array>\(reference)</array>"] {
      let text = "<plist version=\"1.0\"><dict><key>a</key>\(value)</dict></plist>"
      try Data(text.utf8).write(to: URL(filePath: folder("a.plist")))
      #expect(Plist(filePath: folder("a.plist")) == nil)
    }
  }

  /// Foundation reads every character that it has written, other programs do not.
  @Test func filesAreReadByOtherPrograms() throws {
    let values: PreferencesDictionary = [
      "control": "a\u{1}b", "zero": ["\0"], "none": ["a": "\u{FFFE}"], "line\r": "a\r\nb\rc\n",
    ]
    try Plist(values, filePath: folder("a.plist")).writeFile()
    let bytes = try Data(contentsOf: URL(filePath: folder("a.plist")))
    #expect(bytes.allSatisfy { $0 >= 0x20 || $0 == 0x0A || $0 == 0x09 })
    #expect(bytes.range(of: Data("\u{FFFE}".utf8)) == nil)
    let read = try Plist(contentsOfFile: folder("a.plist"))
    #expect((read["line\r"] as? String)?.utf8.elementsEqual("a\r\nb\rc\n".utf8) == true)
    #expect(read["control"] as? String == "a\u{1}b" && read["zero"] as? [String] == ["\0"])
    #expect(read["none"] as? [String: String] == ["a": "\u{FFFE}"])
  }
}
