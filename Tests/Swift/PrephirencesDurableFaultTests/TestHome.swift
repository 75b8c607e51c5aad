import FaultTesting
import Foundation
import Glibc

/// A home folder with the preferences of one suite, which is removed with this object.
final class TestHome: Sendable {
  let folder: URL
  let suite = "settings"

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "durable-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var config: String { folder.path + "/config" }
  var database: String { "\(config)/\(suite).preferences" }
  var log: String { database + "-wal" }
  var lock: String { database + "-lock" }

  var environment: [String: String] {
    ["HOME": folder.path, "XDG_CONFIG_HOME": config, "SWIFT_BACKTRACE": "enable=no"]
  }

  /// Returns the size of a file; 0 if it is missing.
  static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Runs a command in a process of its own.
  ///
  /// - Returns: The lines that it has printed.
  func run(_ arguments: String...) throws -> [String] {
    try Child(arguments, in: self).ended().lines
  }

  /// Returns all values, as a new process reads them.
  func contents() throws -> [String: String] {
    var contents: [String: String] = [:]
    for line in try run("dump") {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2 { contents[String(words[0])] = String(words[1]) }
    }
    return contents
  }
}
