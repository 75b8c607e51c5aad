import FaultTesting
import Foundation
import Glibc
import Prephirences
import PrephirencesDurable
import Testing

@Suite("Damaged files", .timeLimit(.minutes(14)))
struct DamageTests {
  private static let values = 60

  /// The database of a suite without a log, and its counter.
  private static let sample = Result {
    let home = try TestHome()
    let child = try Child(in: home)
    for command in ["bulk k \(values)", "set long x9000", "checkpoint"] {
      guard child.ask(command) == [] else { throw NoSample() }
    }
    _ = child.killed()
    return (
      database: try Data(contentsOf: URL(filePath: home.database)),
      lock: try Data(contentsOf: URL(filePath: home.lock))
    )
  }

  private func home(_ database: Data, lock: Bool = true) throws -> TestHome {
    let home = try TestHome()
    mkdir(home.config, 0o700)
    try home.write(database, "\(home.suite).preferences")
    if lock { try home.write(Self.sample.get().lock, "\(home.suite).preferences-lock") }
    return home
  }

  /// Changes a byte, and reads everything: each value is right or a failure.
  ///
  /// Reading changes nothing, and writing empties nothing.
  @Test(arguments: 0..<2)
  func aByteIsChanged(_ part: Int) throws {
    let intact = try Self.sample.get().database
    var random = SplitMix(state: UInt64(part))
    var counts: [String: Int] = [:]
    for _ in 0..<Thoroughness.tried(1500) {
      let offset =
        part == 0
        ? Int.random(in: 0..<intact.count, using: &random)
        : Int.random(in: 0..<200, using: &random)
      var changed = intact
      changed[offset] ^= UInt8.random(in: 1...255, using: &random)
      let place: Comment = "byte \(offset) is \(changed[offset])"
      let home = try home(changed)
      let store = home.store()
      let failures = readValues(of: store, place)
      #expect(try Data(contentsOf: URL(filePath: home.database)) == changed, place)
      counts["\(failures > 0 ? "failure" : "values")", default: 0] += 1
      do {
        try store.storeObject(1, forKey: "new")
      } catch {
        check(error, place)
      }
      #expect(TestHome.size(of: home.database) >= intact.count, place)
    }
    print("changed bytes: \(counts)")
  }

  /// Reads each value, which is right or a failure.
  private func readValues(of store: DurablePreferences, _ place: Comment) -> Int {
    var failures = 0
    for number in 0..<Self.values {
      do {
        #expect(try store.fetchObject(forKey: "k\(number)") as? Int == number, place)
      } catch {
        failures += 1
        check(error, place)
      }
    }
    if failures == 0, store.lastError == nil {
      let found = store.dictionary()
      #expect(found.count == Self.values + 1 || store.lastError != nil, place)
    }
    return failures
  }

  // MARK: - The log

  /// What a process that was killed has left: the database, its log, and the lock with the record.
  private static let killed = Result {
    let home = try TestHome()
    let child = try Child(in: home)
    for command in ["bulk k \(values / 2)", "checkpoint"]
      + (values / 2..<values).map({
        "set k\($0) \($0)"
      })
    {
      guard child.ask(command) == [] else { throw NoSample() }
    }
    guard child.ask("set long x9000") == [] else { throw NoSample() }
    _ = child.killed()
    return try [home.database, home.log, home.lock].map { try Data(contentsOf: URL(filePath: $0)) }
  }

  private func home(killed files: [Data]) throws -> TestHome {
    let home = try TestHome()
    mkdir(home.config, 0o700)
    for (name, data) in zip(["", "-wal", "-lock"], files) where !data.isEmpty {
      try home.write(data, "\(home.suite).preferences\(name)")
    }
    return home
  }

  /// Changes a byte of the database, the log, or the lock.
  @Test(arguments: 0..<3)
  func aByteIsChangedAfterAKill(_ file: Int) throws {
    let intact = try Self.killed.get()
    var random = SplitMix(state: UInt64(file))
    var counts: [String: Int] = [:]
    for _ in 0..<Thoroughness.tried(1000) {
      let offset = Int.random(in: 0..<intact[file].count, using: &random)
      var files = intact
      files[file][offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let place: Comment = "file \(file), byte \(offset) is \(files[file][offset])"
      let home = try home(killed: files)
      let store = home.store()
      let failures = readValues(of: store, place)
      counts[failures > 0 ? "failure" : "values", default: 0] += 1
      if failures > 0 {
        #expect(throws: PreferencesError.self, place) {
          try store.storeObject(1, forKey: "k1")
          _ = try store.fetchAllObjects()
        }
      }
    }
    print("changed bits of file \(file): \(counts)")
    // The log has every page that a change since the checkpoint touches.
    #expect(file == 2 ? counts["failure"] == nil : file == 0 || counts["failure"] ?? 0 > 0)
  }

  /// SQLite checks a log only when it opens one that nobody uses.
  @Test func aBitOfALogInUseIsChanged() throws {
    var random = SplitMix(state: 7)
    var failures = 0
    for _ in 0..<Thoroughness.tried(200) {
      let home = try TestHome()
      let child = try Child(in: home)
      for command in ["bulk k \(Self.values)", "set long x9000"] {
        #expect(child.ask(command) == [])
      }
      var log = try Data(contentsOf: URL(filePath: home.log))
      let offset = Int.random(in: 0..<log.count, using: &random)
      log[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let handle = try FileHandle(forUpdating: URL(filePath: home.log))
      try handle.write(contentsOf: log)
      try handle.close()
      failures += readValues(of: home.store(), "byte \(offset) is \(log[offset])")
      _ = child.killed()
    }
    #expect(failures > 0)
  }

  @Test(arguments: ["removed", "emptied", "its header is changed", "an old database"])
  func changesThatWereMadeAreMissing(_ kind: String) throws {
    var files = try Self.killed.get()
    switch kind {
    case "removed": files[1] = Data()
    case "emptied": files[1] = Data(count: files[1].count)
    case "its header is changed": files[1][20] ^= 1
    default:
      let home = try home(killed: files)
      #expect(try home.run("checkpoint") == [])
      // All of it is in the database; then the older one is restored.
      files = [files[0], Data(), try Data(contentsOf: URL(filePath: home.lock))]
    }
    let home = try home(killed: files)
    let store = home.store()
    for attempt in [
      { _ = try store.fetchObject(forKey: "k1") }, { try store.storeObject(1, forKey: "new") },
      { try store.open() }, { try store.synchronize() }, { _ = try store.fetchAllObjects() },
      { try store.removeAllObjects() },
    ] {
      let error = #expect(throws: PreferencesError.self) { try attempt() }
      #expect(error?.code == .rolledBack, "\(error as Any)")
    }
    // What is left can be looked at.
    let left = try store.fetchReadablePairs()
    #expect(left.pairs.count == Self.values / 2)
    #expect(left.otherKeysFailure?.code == .rolledBack)
    #expect(try home.run("get", "k1").first?.hasPrefix("error rolledBack") ?? false)
    #expect(try store.acceptRestored() == Int64(Self.values / 2 + 1))
    #expect(try store.acceptRestored() == 0)
    try store.storeObject("new", forKey: "k59")
    #expect(try home.contents().count == Self.values / 2 + 1)
    #expect(try store.fetchObject(forKey: "k1") as? Int == 1)
  }

  /// A copy of the folder that was made while a process copied the log has this, too, and its record
  /// may be of any time.
  @Test(arguments: [true, false])
  func oldDatabaseNextToANewerLogIsDamaged(hasOldRecord: Bool) throws {
    let files = try Self.killed.get()
    let home = try home(killed: files)
    #expect(try home.run("checkpoint") == [])
    let child = try Child(in: home)
    #expect(child.ask("set k1 other") == [])
    _ = child.killed()
    let mixed = try self.home(killed: [
      files[0], try Data(contentsOf: URL(filePath: home.log)),
      hasOldRecord ? files[2] : try Data(contentsOf: URL(filePath: home.lock)),
    ])
    let store = mixed.store()
    let error = #expect(throws: PreferencesError.self) { try store.fetchObject(forKey: "k59") }
    #expect(error?.code == .damaged && error?.message.contains(mixed.log) == true)
    #expect(throws: PreferencesError.self) { try store.storeObject(1, forKey: "new") }
    unlink(mixed.log)
    #expect(throws: PreferencesError.self) { try store.fetchObject(forKey: "k59") }
    #expect(try store.acceptRestored() > 0)
    #expect(try store.fetchObject(forKey: "k1") as? Int == 1)
  }

  /// A power failure takes what was not synchronized, and that is no damage.
  @Test func afterAnotherBootOnlySynchronizedChangesCount() throws {
    var files = try Self.killed.get()
    files[1] = Data()
    files[2] = CommitRecordBytes.afterAnotherBoot(files[2])
    let home = try home(killed: files)
    #expect(try home.contents().count == Self.values / 2)
    // What was synchronized is missed all the same.
    files[0] = try Self.created.get()
    let older = try self.home(killed: files)
    #expect(try older.run("get", "k1").first?.hasPrefix("error rolledBack") ?? false)
  }

  /// A database that was only created.
  private static let created = Result {
    let home = try TestHome()
    let child = try Child(in: home)
    guard child.ask("set k1 0") == [] else { throw NoSample() }
    _ = child.killed()
    return try Data(contentsOf: URL(filePath: home.database))
  }

  private func check(_ error: any Error, _ place: Comment) {
    let codes: [PreferencesError.Code] = [
      .damaged, .inputOutput, .readOnly, .rolledBack, .unsupportedFormat,
    ]
    let code = (error as? PreferencesError)?.code
    #expect(code.map { codes.contains($0) } ?? false, "\(place): \(error)")
  }

  @Test(arguments: ["empty", "text", "cut", "short", "foreign", "newer", "header"])
  func aFileThatIsNoSuite(_ kind: String) throws {
    let intact = try Self.sample.get().database
    var bytes = intact
    switch kind {
    case "empty": bytes = Data()
    case "text": bytes = Data("theme = dark\n".utf8)
    case "cut": bytes = intact.prefix(intact.count / 2)
    case "short": bytes = intact.prefix(50)
    // The application's number, and the version of the format.
    case "foreign": bytes.replaceSubrange(68..<72, with: [1, 2, 3, 4])
    case "newer":
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
      bytes = PageSums.sealed(bytes)
    default: bytes.replaceSubrange(0..<100, with: Data(count: 100))
    }
    let home = try home(Data(bytes))
    let store = home.store()
    let expected: PreferencesError.Code = kind == "newer" ? .unsupportedFormat : .damaged
    for attempt in [
      { _ = try store.fetchObject(forKey: "k1") }, { try store.storeObject(1, forKey: "new") },
      { try store.open() }, { try store.synchronize() },
      { try store.transaction { _ in try store.storeObject(1, forKey: "new") } },
    ] {
      let error = #expect(throws: PreferencesError.self) { try attempt() }
      #expect(error?.code == expected, "\(kind): \(error as Any)")
      #expect(error?.message.contains(home.database) ?? false, "\(error as Any)")
    }
    store.set(1, forKey: "new")
    #expect(store.lastError?.code == expected)
    #expect(store.object(forKey: "k1") == nil)
    #expect(store.lastError?.code == expected)
    #expect(try Data(contentsOf: URL(filePath: home.database)) == Data(bytes))
  }

  /// A process was killed when it had made the file.
  @Test func anEmptyFileWithoutCounterIsNew() throws {
    let home = try home(Data(), lock: false)
    let store = home.store()
    #expect(try store.fetchObject(forKey: "a") == nil)
    try store.storeObject(1, forKey: "a")
    #expect(try home.contents() == ["a": "1"])
  }

  // MARK: - One value

  /// What a row with a value that cannot be decoded has.
  private static let damages = ["kind = 99", "kind = 2, value = x'ff'", "kind = -1"]

  /// A suite of which another process has damaged `k1`, perhaps while a store of this process had it
  /// open.
  private func home(
    damagedBy change: String, whileOpen isOpen: Bool = true
  ) throws -> (TestHome, DurablePreferences) {
    let home = try TestHome()
    #expect(try home.run("bulk", "k", "3") == [])
    let store = home.store()
    if isOpen { #expect(store.dictionary().count == 3) }
    damage(home, change)
    return (home, store)
  }

  private func damage(_ home: TestHome, _ change: String) {
    home.query("UPDATE state SET generation = generation + 1")
    home.query(
      "UPDATE preference SET generation = (SELECT generation FROM state), \(change) "
        + "WHERE key = CAST('k1' AS BLOB)")
  }

  @Test(arguments: damages, [true, false])
  func aDamagedValueHidesNoOther(_ change: String, _ isOpen: Bool) throws {
    let (home, store) = try home(damagedBy: change, whileOpen: isOpen)
    #expect(store.dictionary().keys.sorted() == ["k0", "k2"])
    #expect(store.lastError?.code == .damaged)
    #expect(store.lastError?.message.contains("'k1'") == true)
    let error = #expect(throws: PreferencesError.self) { try store.fetchAllObjects() }
    #expect(error?.code == .damaged)
    #expect(throws: PreferencesError.self) { try store.fetchObject(forKey: "k1") }
    #expect(try store.fetchObject(forKey: "k0") as? Int == 0)
    try store.storeObject(5, forKey: "k2")
    try store.transaction { _ in try store.storeObject(6, forKey: "k0") }
    #expect(store.dictionary().mapValues { $0 as? Int } == ["k0": 6, "k2": 5])
    #expect(try home.contents() == ["k0": "6", "k2": "5"])
  }

  @Test(arguments: damages)
  func aDamagedValueIsReplacedOrRemoved(_ change: String) throws {
    let (home, store) = try home(damagedBy: change)
    try store.storeObject(7, forKey: "k1")
    #expect(try home.contents() == ["k0": "0", "k1": "7", "k2": "2"])
    damage(home, change)
    try store.storeObject(nil, forKey: "k1")
    #expect(try home.contents() == ["k0": "0", "k2": "2"])
    damage(home, change)
    store.clearAll()
    #expect(store.lastError == nil)
    #expect(try home.contents() == [:])
  }

  @Test(arguments: damages)
  func observersGetTheDamageOfAValueAndOtherChanges(_ change: String) throws {
    let home = try TestHome()
    let observer = try Child(in: home)
    #expect(observer.ask("bulk k 3") == [])
    #expect(observer.ask("report-failures") == [])
    #expect(observer.ask("observe") == ["ready"])
    damage(home, change)
    #expect(try home.run("set", "k2", "5") == [])
    var lines: [String] = []
    while lines.count < 2, let line = observer.line() { lines.append(line) }
    #expect(lines.contains { $0.hasPrefix("failure error damaged") && $0.contains("'k1'") })
    #expect(lines.contains { $0.hasPrefix("change k2 value 5") })
    #expect(try home.run("set", "k1", "7") == [])
    #expect(observer.line()?.hasPrefix("change k1 value 7") ?? false)
    #expect(try home.run("remove", "k1") == [])
    #expect(observer.line()?.hasPrefix("change k1 absent") ?? false)
  }

  /// The file becomes damaged or is lost while two processes use it.
  @Test(arguments: ["removed", "replaced", "renamed", "emptied"])
  func aFileInUse(_ kind: String) throws {
    let home = try TestHome()
    let one = try Child(in: home)
    let two = try Child(in: home)
    #expect(one.ask("bulk k 50") == [])
    #expect(one.ask("checkpoint") == [])
    #expect(two.ask("get k1") == ["value 1"])
    let database = home.database
    switch kind {
    case "removed": for suffix in ["", "-wal", "-shm", "-lock"] { unlink(database + suffix) }
    case "replaced":
      let other = try TestHome()
      #expect(try other.run("set", "k1", "other") == [])
      for suffix in ["-wal", "-shm", "-lock"] { unlink(database + suffix) }
      for suffix in ["", "-wal"] { rename(other.database + suffix, database + suffix) }
    case "renamed": rename(database, database + ".old")
    default: truncate(database, 0)
    }
    // Readers look for another file now and then.
    usleep(300_000)
    let answers = ["get k2", "set new 1", "get new", "set k1 mine", "get k1"].map { one.ask($0) }
    switch kind {
    case "removed", "renamed", "replaced":
      #expect(answers[1] == [])
      #expect(answers[2] == ["value 1"])
      #expect(answers[4] == ["value mine"])
      // The other process has moved on to the same file.
      usleep(300_000)
      #expect(two.ask("get new") == ["value 1"])
      #expect(two.ask("get k2") == ["absent"])
      #expect(try home.contents() == ["new": "1", "k1": "mine"])
      if kind == "renamed" {
        #expect(TestHome.size(of: database + ".old") > 4096)
      }
    default:
      #expect(answers[1].first?.hasPrefix("error damaged") ?? false)
      #expect(try home.run("get", "k1").first?.hasPrefix("error damaged") ?? false)
      #expect(try home.run("set", "k1", "1").first?.hasPrefix("error damaged") ?? false)
    }
  }

  private struct NoSample: Error {}
}
