import CFaultVFS
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesSystem

extension TestHome {
  /// Returns the store of this process on the suite.
  func store(isOnNetwork: Bool? = nil) -> DurablePreferences {
    Self.store(suiteName: suite, in: self, isOnNetwork: isOnNetwork)
  }

  /// Its deadline is short, because a lock that a fault holds is never released.
  static func store(
    suiteName: String, in home: TestHome, isOnNetwork: Bool? = nil
  ) -> DurablePreferences {
    DurablePreferences(
      suiteName: suiteName, folder: home.config, isOnNetwork: isOnNetwork,
      timeout: .milliseconds(30))
  }

  /// Creates a file of the suite's folder.
  func write(_ data: Data, _ name: String) throws {
    guard
      FileManager.default.createFile(
        atPath: "\(config)/\(name)", contents: data, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
  }

  /// What SQLite finds wrong with the database; `ok` if nothing is.
  func integrity() -> String {
    var text = [CChar](repeating: 0, count: 1000)
    database_check(database, &text, Int32(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
