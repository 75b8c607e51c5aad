import Foundation

/// A folder for the files of a test, which is removed with the object.
final class SyncFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/shared-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
