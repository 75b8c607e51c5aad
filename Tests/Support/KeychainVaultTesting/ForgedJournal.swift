package import Foundation

/// A journal that an attacker might place next to a vault.
package enum ForgedJournal {
  /// Returns a journal that changes no page when SQLite rolls it back, and that names a
  /// super-journal, which SQLite then deletes.
  package static func naming(_ victim: String, beside vault: TestVault) throws -> Data {
    let database = try Data(contentsOf: URL(filePath: vault.path))
    let pageCount = UInt32(database[16]) << 8 | UInt32(database[17])
    var journal = magic
    for field in [0, 1, UInt32(database.count) / pageCount, sector, pageCount] { append(field) }
    journal.count = Int(sector)
    let name = Data(victim.utf8)
    append(1)
    journal += name
    append(UInt32(name.count))
    append(name.reduce(0) { $0 + UInt32($1) })
    return journal + magic

    func append(_ field: UInt32) {
      withUnsafeBytes(of: field.bigEndian) { journal.append(contentsOf: $0) }
    }
  }

  private static let magic = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
  private static let sector: UInt32 = 512
}

extension TestVault {
  /// Creates a private file next to the vault.
  package func putBeside(_ suffix: String, _ contents: Data) throws {
    guard
      FileManager.default.createFile(
        atPath: path + suffix, contents: contents, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
  }
}
