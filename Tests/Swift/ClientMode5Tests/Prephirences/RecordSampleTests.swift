#if RecordPreferences
import GRDB
import PrephirencesRecords
import Testing

private struct StoredSettings: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "settings"

  var id: Int
  var color: String?
}

@Suite("Records")
struct RecordSampleTests {
  @Test func managedObject() throws {
    let database = try DatabaseQueue()
    try database.write { database in
      try database.execute(sql: "CREATE TABLE settings (id INTEGER PRIMARY KEY, color TEXT)")
      try StoredSettings(id: 1, color: "red").insert(database)
    }
    let myManagedObject = ManagedRecord(in: database, table: "settings", key: 1)

    let managedPref = ManageObjectPreferences(myManagedObject)

    #expect(managedPref["color"] as? String == "red")
    MutableManageObjectPreferences(myManagedObject)["color"] = "blue"
    #expect(managedPref["color"] as? String == "blue")
    let saved = try database.read { try StoredSettings.fetchOne($0, key: 1) }
    #expect(saved?.color == "blue")
  }
}
#endif
