import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesSystem
import Testing

@Suite struct FileTests {
  @Test func readingCreatesNoFile() throws {
    let folder = try TestFolder()
    let store = folder.store()
    #expect(store["key"] == nil)
    store.removeObject(forKey: "key")
    store.clearAll()
    try store.synchronize()
    #expect(store.dictionary().isEmpty)
    #expect(store.lastError == nil)
    #expect(folder.names.isEmpty)
  }

  @Test(arguments: ["", "a/b", "..", ".hidden", "a..b", "a\0b", String(repeating: "a", count: 201)])
  func namesOfNoFileAreRefused(_ name: String) throws {
    let store = try TestFolder().store(name)
    #expect(throws: PreferencesError.self) { try store.fetchObject(forKey: "key") }
    store["key"] = 1
    #expect(store.lastError?.code == .invalidName)
  }

  @Test func suitesAreSeparate() throws {
    let folder = try TestFolder()
    folder.store("one")["key"] = 1
    folder.store("two")["key"] = 2
    #expect(folder.otherStore("one")["key"] as? Int == 1)
    #expect(folder.names.contains("two.preferences"))
  }

  @Test func namesOfOtherBytesAreSeparate() throws {
    let folder = try TestFolder()
    let (composed, decomposed) = (folder.store("caf\u{E9}"), folder.store("cafe\u{301}"))
    composed["key"] = 1
    decomposed["key"] = 2
    #expect(composed["key"] as? Int == 1)
    #expect(folder.names.count(where: { $0.hasSuffix(".preferences") }) == 2)
  }

  @Test func filesAreClosedToOthers() throws {
    let folder = try TestFolder()
    folder.store()["key"] = 1
    for name in folder.names {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    #expect(folder.names.count == 4)
  }

  @Test func filesOpenToOthersAreRefused() throws {
    let folder = try TestFolder()
    folder.store()["key"] = 1
    let path = folder.path + "/suite.preferences-wal"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    #expect(throws: PreferencesError.self) { try folder.store().storeObject(2, forKey: "key") }
    folder.store()["key"] = 2
    #expect(folder.store().lastError == nil)
    let store = folder.store()
    store["key"] = 2
    #expect(store.lastError?.code == .insecure)
  }

  @Test func otherFilesAreDamaged() throws {
    let folder = try TestFolder()
    let path = folder.path + "/suite.preferences"
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data(repeating: 65, count: 4096),
        attributes: [.posixPermissions: 0o600]))
    let store = folder.store()
    store["key"] = 1
    #expect(store.lastError?.code == .damaged)
    #expect(store["key"] == nil)
    #expect(store.lastError?.code == .damaged)
    #expect(FileManager.default.contents(atPath: path) == Data(repeating: 65, count: 4096))
  }

  @Test func lostContentsAreReported() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["key"] = 1
    #expect(truncate(folder.path + "/suite.preferences", 0) == 0)
    store["key"] = 2
    #expect(store.lastError?.code == .damaged)
    #expect(throws: PreferencesError.self) { try folder.otherStore().fetchObject(forKey: "key") }
  }

  @Test func removedFilesAreCreatedAgain() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["key"] = 1
    for name in folder.names {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    store["other"] = 2
    #expect(store.lastError == nil)
    #expect(store["key"] == nil)
    #expect(folder.otherStore()["other"] as? Int == 2)
  }

  /// Each removal left a connection with three descriptors open.
  @Test(arguments: ["", "-lock"])
  func removedFilesAreClosed(_ suffix: String) throws {
    let folder = try TestFolder()
    let stores = [folder.store(), folder.otherStore()]
    for round in 0..<10 {
      for store in stores { store["key"] = round }
      for name in folder.names where name.hasSuffix(suffix) {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      }
    }
    for store in stores { store["key"] = 10 }
    #expect(folder.openNames.count <= 8, "\(folder.openNames)")
    #expect(!folder.openNames.isEmpty)
    #expect(folder.openNames.filter { $0.hasSuffix(" (deleted)") } == [])
    #expect(stores.map { $0["key"] as? Int } == [10, 10])
  }

  /// The log belongs to the database at the path then, too, so its locks must not be dropped.
  @Test func aReplacedDatabaseKeepsItsLogOpen() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["key"] = 1
    let path = folder.path + "/suite.preferences"
    try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
    try store.checkpoint()
    #expect(rename(path + "-copy", path) == 0)
    store["key"] = 2
    #expect(folder.openNames.contains { $0 == "suite.preferences (deleted)" })
    #expect(folder.openNames.contains { $0 == "suite.preferences-wal" })
  }

  @Test func filesInUseByOthersAreClosed() throws {
    let folder = try TestFolder()
    folder.store("first")["key"] = 1
    let lock = open(folder.path + "/first.preferences-lock", O_RDWR | O_CLOEXEC)
    #expect(flock(lock, LOCK_EX) == 0)
    // A process keeps the last suites open.
    for number in 0..<20 { folder.store("suite\(number)")["key"] = 1 }
    #expect(folder.openNames.filter { $0.hasPrefix("first.") } == ["first.preferences-lock"])
    close(lock)
    #expect(folder.store("first")["key"] as? Int == 1)
  }

  @Test func aTruncatedCounterIsCorrected() throws {
    let folder = try TestFolder()
    let (one, other) = (folder.store(), folder.otherStore())
    one["key"] = 1
    #expect(other["key"] as? Int == 1)
    #expect(truncate(folder.path + "/suite.preferences-lock", 0) == 0)
    #expect(other["key"] as? Int == 1)
    one["key"] = 2
    #expect(other["key"] as? Int == 2)
    #expect(try folder.size(of: "suite.preferences-lock") == 56)
  }

  @Test func networkFilesHaveNoLog() throws {
    let folder = try TestFolder()
    let one = folder.store(isOnNetwork: true)
    let other = folder.otherStore(isOnNetwork: true)
    one["key"] = 1
    #expect(other["key"] as? Int == 1)
    other["key"] = 2
    #expect(one["key"] as? Int == 2)
    try one.synchronize()
    #expect(!folder.names.contains("suite.preferences-wal"))
  }

  @Test func theLogStaysShort() throws {
    let folder = try TestFolder()
    let store = folder.store()
    for number in 0..<40 {
      try store.storeObject(Data(repeating: UInt8(number), count: 500_000), forKey: "\(number % 3)")
    }
    #expect(try folder.size(of: "suite.preferences-wal") < 10_000_000)
    try store.checkpoint()
    #expect(try folder.size(of: "suite.preferences-wal") == 0)
    #expect((folder.otherStore()["0"] as? Data)?.first == 39)
  }

  /// Also while the process goes on, and nobody asks for it.
  @Test func theLogIsCopiedAfterAMoment() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["key"] = 1
    #expect(try folder.size(of: "suite.preferences-wal") > 0)
    while try folder.size(of: "suite.preferences-wal") > 0 { usleep(50_000) }
    store["key"] = 2
    while try folder.size(of: "suite.preferences-wal") > 0 { usleep(50_000) }
    #expect(folder.otherStore()["key"] as? Int == 2)
  }

  @Test func noHomeIsReported() throws {
    let store = DurablePreferences(
      suiteName: "suite", folder: nil, environment: EnvironmentVariables(["HOME": "/nonexistent"]))
    store["key"] = 1
    #expect(store.lastError?.code == .noPlace)
  }
}
