import Foundation
import KeychainVaultTesting

/// All files of a test's vault at one moment: the vault, its record and the device secret.
struct VaultFiles {
  private let contents: [String: Data]

  /// Reads the files of a vault that is not in use.
  init(of vault: TestVault) throws {
    var contents: [String: Data] = [:]
    for path in try Self.paths(in: vault) {
      contents[path] = try Data(contentsOf: URL(filePath: path))
    }
    self.contents = contents
  }

  /// Restores the files as new ones, and removes all others.
  func restore(to vault: TestVault) throws {
    for path in try Self.paths(in: vault) { try FileManager.default.removeItem(atPath: path) }
    for (path, data) in contents {
      guard
        FileManager.default.createFile(
          atPath: path, contents: data, attributes: [.posixPermissions: 0o600])
      else { throw CocoaError(.fileWriteUnknown) }
    }
  }

  private static func paths(in vault: TestVault) throws -> [String] {
    let paths = FileManager.default.enumerator(atPath: vault.folder.path) ?? .init()
    return paths.compactMap { ($0 as? String).map { vault.folder.path + "/" + $0 } }.filter {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }
}
