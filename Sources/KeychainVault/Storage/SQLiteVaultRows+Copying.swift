internal import GRDB
internal import KeychainCredentials

extension SQLiteVaultRows {
  func copyAll(to path: String) throws(KeychainError) {
    do {
      let target = try DatabaseQueue(path: path, configuration: Self.targetConfiguration)
      try target.writeWithoutTransaction { try database.backup(to: $0) }
      try target.close()
    } catch {
      throw SQLiteErrors.translateCopying(error, path: self.path, target: path)
    }
  }

  private static var targetConfiguration: Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
    }
    return configuration
  }
}
