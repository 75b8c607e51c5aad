internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Plist")
struct PlistTests {
  private let folder: TemporaryFolder
  private var path: String { folder("a.plist") }

  init() throws { folder = try TemporaryFolder() }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func bytes(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test func isWrittenAndRead() throws {
    let plist = try Plist(openingFile: path)
    plist["a"] = "b"
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(plist.write() && plist.lastError == nil)
    let read = try #require(Plist(filePath: path))
    #expect(read["a"] as? String == "b")
    #expect(DictionaryPreferences(filePath: path)?["a"] as? String == "b")
    #expect(MutableDictionaryPreferences(filePath: path)?["a"] as? String == "b")
    plist["a"] = "c"
    #expect(plist.write() && read.read() && read["a"] as? String == "c")
  }

  @Test func keepsItsFormat() throws {
    for (format, start) in [(.xml, "<?xml"), (.binary, "bplist00")]
      as [(PropertyListSerialization.PropertyListFormat, String)]
    {
      let file = folder("\(start.count).plist")
      let plist = try Plist(openingFile: file, format: format)
      plist["a"] = 1
      try plist.writeFile()
      let again = try Plist(contentsOfFile: file)
      again["b"] = 2
      try again.writeFile()
      #expect(try bytes(file).starts(with: Data(start.utf8)))
    }
  }

  @Test func eachChangeIsWrittenIfAsked() throws {
    let plist = try Plist(openingFile: path)
    plist.writeImmediatly = true
    #expect(plist.writeImmediately)
    let changes: [(Plist) -> Void] = [
      { $0["a"] = 1 }, { $0.set(2.5, forKey: "b") }, { $0.set(dictionary: ["c": 3]) },
      { $0.removeObject(forKey: "a") }, { $0.clearAll() },
    ]
    for (number, change) in changes.enumerated() {
      change(plist)
      let keys = Set(try Plist(contentsOfFile: path).dictionary().keys)
      #expect(keys == Set(plist.dictionary().keys), "change \(number)")
    }
  }

  @Test func permissionsAndLinksStay() throws {
    let target = folder("target")
    symlink("target", folder("link"))
    let plist = try Plist(openingFile: folder("link"))
    #expect(plist.write())
    #expect(try mode(target) == 0o600)
    chmod(target, 0o644)
    plist["a"] = 1
    #expect(plist.write())
    #expect(try mode(target) == 0o644)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "target")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }

  @Test func failuresAreDistinguished() throws {
    #expect(Plist(filePath: path) == nil)
    #expect(throws: PreferencesError.self) { try Plist(contentsOfFile: path) }
    let failure = #expect(throws: PreferencesError.self) {
      try DictionaryPreferences(contentsOfFile: path)
    }
    #expect(failure?.code == .notFound)
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: path))
    #expect(Plist(filePath: path) == nil && DictionaryPreferences(filePath: path) == nil)
    let damage = #expect(throws: PreferencesError.self) { try Plist(openingFile: path) }
    #expect(damage?.code == .damaged && damage?.message.contains(path) == true)
    let folderError = #expect(throws: PreferencesError.self) {
      try Plist(contentsOfFile: folder.path)
    }
    #expect(folderError?.code == .inputOutput)
    let nowhere = try Plist(openingFile: folder("no/such/folder"))
    #expect(!nowhere.write() && nowhere.lastError != nil)
  }

  @Test func damagedFilesAreNotWrittenOver() throws {
    let plist = try Plist(openingFile: path)
    plist["a"] = 1
    try plist.writeFile()
    let good = try bytes(path)
    for garbage in [Data(), good.dropLast(9), Data("[1, 2]".utf8), Data("bplist00".utf8)] {
      try Data(garbage).write(to: URL(fileURLWithPath: path))
      #expect(!plist.read())
      #expect(plist.lastError?.code == .damaged)
      #expect(!plist.write() && plist.lastError?.code == .damaged)
      #expect(try bytes(path) == Data(garbage))
      #expect(plist["a"] as? Int == 1)
    }
    try FileManager.default.removeItem(atPath: path)
    #expect(plist.write() && plist.read() && plist["a"] as? Int == 1)
  }

  @Test(arguments: [true, false])
  func unwritableValueIsRefused(_ immediately: Bool) throws {
    enum Theme: String { case dark }
    let plist = try Plist(openingFile: path)
    plist.writeImmediately = immediately
    plist["good"] = 1
    try plist.writeFile()
    let before = try bytes(path)
    let changes = ChangeRecorder()
    let observation = plist.observeAll { changes.record($0) }
    let values: [Any] = [
      1...2, [1...2], ["a": ["b": 1...2]], NSObject(), [1: 2], (1, 2), Theme.dark, Set([1]),
      ["CF$UID": 1],
    ]
    for value in values {
      #expect(plist.write() && plist.lastError == nil)
      plist["bad"] = value
      #expect(plist.lastError?.code == .unstorable && plist["bad"] == nil)
      #expect(plist.lastError?.message.contains("'bad'") == true)
      plist.set(dictionary: ["good": 2, "bad": value])
      #expect(plist.integer(forKey: "good") == 1 && plist["bad"] == nil)
      #expect(try bytes(path) == before)
    }
    observation.cancel()
    #expect(changes.all.isEmpty)
    plist["later"] = 2
    #expect(plist.write() && plist.lastError == nil)
    #expect(try Plist(contentsOfFile: path).dictionary().keys.sorted() == ["good", "later"])
  }

  @Test func unwritableInitialValuesAreReported() {
    let plist = Plist(["good": 1, "bad": 1...2], filePath: path)
    #expect(!plist.write() && plist.lastError?.code == .unstorable)
    plist["bad"] = nil
    #expect(plist.write() && plist.lastError == nil)
  }

  @Test func literalsHaveNoFile() {
    let plist: Plist = ["a": 1]
    #expect(plist["a"] as? Int == 1)
    #expect(!plist.write() && plist.lastError?.code == .notFound)
  }

  @Test func filesOfBundles() throws {
    let plist = try Plist(openingFile: folder("prefs.plist"))
    plist["a"] = 1
    try plist.writeFile()
    let bundle = try #require(Bundle(path: folder.path))
    #expect(Plist(filename: "prefs", bundle: bundle)?["a"] as? Int == 1)
    #expect(
      DictionaryPreferences(filename: "prefs", ofType: "plist", bundle: bundle)?["a"] as? Int == 1)
    #expect(Plist(filename: nil, bundle: bundle) == nil)
    #expect(Plist(filename: "absent", bundle: bundle) == nil)
  }

  @Test func dictionariesAreWritten() throws {
    let preferences: DictionaryPreferences = ["a": Date(timeIntervalSinceReferenceDate: 1.25)]
    #expect(preferences.writeToFile(path))
    #expect(
      DictionaryPreferences(filePath: path)?["a"] as? Date
        == Date(timeIntervalSinceReferenceDate: 1.25))
    try preferences.write(toFile: path, format: .binary)
    #expect(try bytes(path).starts(with: Data("bplist".utf8)))
    #expect(!preferences.writeToFile(folder("no/folder")))
    #expect(preferences.writeToFile(folder("direct"), atomically: false))
  }
}
