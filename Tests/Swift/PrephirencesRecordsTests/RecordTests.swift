#if RecordPreferences
internal import Foundation
internal import GRDB
internal import PrephirencesRecords
internal import Testing

private struct Settings: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "settings"

  var id: Int
  var theme: String?
}

@Suite("Rows of a database as preferences")
struct RecordTests {
  private let database: DatabaseQueue
  private let preferences: MutableManageObjectPreferences

  init() throws {
    database = try DatabaseQueue()
    try database.write { database in
      try database.execute(
        sql: """
          CREATE TABLE settings (id INTEGER PRIMARY KEY, theme TEXT, size INTEGER, scale REAL,
            "is on" BOOLEAN, since DATETIME, picture BLOB, name TEXT NOT NULL DEFAULT 'x', other);
          INSERT INTO settings (id, theme, size) VALUES (1, 'dark', 3), (2, 'light', 4);
          """)
    }
    preferences = MutableManageObjectPreferences(
      ManagedRecord(in: database, table: "settings", key: 1))
  }

  private func code(_ body: () throws -> Void) -> PreferencesError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? PreferencesError)?.code
    }
  }

  @Test func columnsAreKeys() {
    #expect(preferences["theme"] as? String == "dark" && preferences.integer(forKey: "size") == 3)
    #expect(preferences.keys().contains("is on") && preferences["scale"] == nil)
    #expect(preferences.dictionary().keys.sorted() == ["id", "name", "size", "theme"])
  }

  @Test func valuesKeepTheTypesOfTheirColumns() throws {
    let date = Date(timeIntervalSince1970: 1_000_000.125)
    try preferences.setValues([
      "is on": true, "since": date, "picture": Data([0, 1]), "scale": 2, "size": UInt8(7),
      "theme": try #require(URL(string: "https://example.org/a")),
    ])
    #expect(preferences["is on"] as? Bool == true && preferences["since"] as? Date == date)
    #expect(preferences["picture"] as? Data == Data([0, 1]))
    let scale = preferences["scale"].map { type(of: $0) == Double.self }
    #expect(scale == true && preferences["scale"] as? Double == 2)
    #expect(preferences["size"] as? Int == 7)
    #expect(preferences.url(forKey: "theme")?.host == "example.org")
    for value in [Int.min, .max] {
      preferences.set(value, forKey: "size")
      #expect(preferences["size"] as? Int == value)
    }
    preferences["other"] = 0.5
    #expect(preferences["other"] as? Double == 0.5)
  }

  @Test func setChangesOneColumnOfOneRow() throws {
    preferences["theme"] = "blue"
    preferences.removeObject(forKey: "size")
    let other = ManageObjectPreferences(ManagedRecord(in: database, table: "settings", key: 2))
    #expect(other["theme"] as? String == "light" && other["size"] as? Int == 4)
    #expect(preferences["theme"] as? String == "blue" && !preferences.hasObject(forKey: "size"))
  }

  @Test func refusedColumnValueIsReported() {
    preferences["unknown"] = 1
    #expect((preferences.lastError as? PreferencesError)?.code == .unknownKey)
    for (key, value) in [
      ("size", "text"), ("size", 1.5), ("size", true), ("theme", 1), ("is on", 1),
      ("since", "yesterday"), ("picture", "text"), ("scale", "1"), ("scale", Double.nan),
      ("theme", ["a"]), ("other", ["a": 1]), ("size", UInt64.max),
    ] as [(String, Any)] {
      #expect(code { try preferences.setValue(value, forKey: key) } == .typeMismatch, "\(key)")
    }
    #expect(throws: DatabaseError.self) { try preferences.setValue(nil, forKey: "name") }
    #expect(preferences["theme"] as? String == "dark" && preferences["size"] as? Int == 3)
  }

  @Test func severalAreSetTogetherOrNotAtAll() {
    preferences.set(dictionary: ["theme": "blue", "size": "text"])
    #expect(preferences["theme"] as? String == "dark" && preferences.lastError != nil)
    preferences.set(dictionary: ["theme": "blue", "size": 5])
    #expect(preferences["theme"] as? String == "blue" && preferences["size"] as? Int == 5)
    preferences.set(dictionary: ["theme": NSNull(), "size": 6])
    #expect(preferences["theme"] as? String == "blue" && preferences["size"] as? Int == 6)
    preferences["theme", .archive] = 1...2
    #expect((preferences.lastError as? PreferencesError)?.code == .unstorable)
  }

  @Test func clearingKeepsWhatMustHaveAValue() {
    preferences.clearAll()
    #expect(preferences.dictionary() as? [String: AnyHashable] == ["id": 1, "name": "x"])
  }

  @Test func rowsAndTablesThatAreMissingAreReported() {
    let row = MutableManageObjectPreferences(
      ManagedRecord(in: database, table: "settings", key: 9))
    #expect(row.dictionary().isEmpty && row["theme"] == nil)
    #expect(code { try row.setValue("x", forKey: "theme") } == .notFound)
    let table = ManageObjectPreferences(ManagedRecord(in: database, table: "none", key: 1))
    #expect(table["theme"] == nil && table.keys().isEmpty && table.lastError != nil)
    #expect(code { _ = try table.value(forKey: "theme") } == .notFound)
    let key = ManageObjectPreferences(ManagedRecord(in: database, table: "settings", key: 1, 2))
    #expect(code { _ = try key.value(forKey: "theme") } == .typeMismatch)
  }

  @Test func aRecordOfTheProgramWillDo() throws {
    let settings = try database.read { try Settings.fetchOne($0, key: 2) }
    let managed = try ManageObjectPreferences(try #require(settings), in: database)
    #expect(managed["theme"] as? String == "light")
    let mutable: any MutablePreferencesType = MutableManagedObjectPreferences(managed.record)
    mutable["theme"] = "blue"
    #expect(try database.read { try Settings.fetchOne($0, key: 2)?.theme } == "blue")
  }

  @Test func compositeAndMissingKeysWork() throws {
    try database.write { database in
      try database.execute(
        sql: """
          CREATE TABLE pairs (a TEXT, b INTEGER, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
          CREATE TABLE plain (v TEXT);
          INSERT INTO pairs VALUES ('x', 1, 'one'), ('x', 2, 'two');
          INSERT INTO plain VALUES ('first'), ('second');
          """)
    }
    let pair = ManageObjectPreferences(ManagedRecord(in: database, table: "pairs", key: "x", 2))
    #expect(pair["v"] as? String == "two")
    let row = ManageObjectPreferences(ManagedRecord(in: database, table: "plain", key: 2))
    #expect(row["v"] as? String == "second")
  }

  @Test func writeJoinsProgramsTransaction() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try database.write { _ in
        preferences["theme"] = "blue"
        #expect(preferences["theme"] as? String == "blue")
        throw Stop()
      }
    }
    #expect(preferences["theme"] as? String == "dark")
  }

  @Test func observersAreNotified() throws {
    nonisolated(unsafe) var seen: [String?] = []
    let observation = preferences.observe(forKey: "theme") { seen.append($0.newValue as? String) }
    preferences["theme"] = "blue"
    preferences["theme"] = 3
    observation.cancel()
    #expect(seen == ["blue"])
  }

  @Test func threadsShareARow() async {
    await withTaskGroup { group in
      for number in 0..<8 {
        group.addTask { [preferences] in
          for _ in 0..<20 {
            preferences["size"] = number
            _ = preferences.dictionary()
          }
        }
      }
    }
    #expect((0..<8).contains(preferences.integer(forKey: "size")))
  }
}
#endif
