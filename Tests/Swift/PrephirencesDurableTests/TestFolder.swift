import Foundation
import Prephirences
import PrephirencesDurable

/// A folder for preferences, which is removed with the object.
final class TestFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/durable-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func store(_ suiteName: String = "suite", isOnNetwork: Bool? = nil) -> DurablePreferences {
    DurablePreferences(suiteName: suiteName, folder: path, isOnNetwork: isOnNetwork)
  }

  /// Returns preferences with a connection and a cache of their own, as another process has.
  func otherStore(_ suiteName: String = "suite", isOnNetwork: Bool? = nil) -> DurablePreferences {
    DurablePreferences(
      suiteName: suiteName, folder: path, isOnNetwork: isOnNetwork, timeout: .seconds(11))
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// The files of the folder that this process has open, also removed ones.
  var openNames: [String] {
    let files = FileManager.default
    let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { number in
      let path = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + number)
      guard let path, path.hasPrefix(realPath + "/") else { return nil }
      return String(path.dropFirst(realPath.count + 1))
    }
  }

  private var realPath: String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

  func write(_ data: Data, to name: String) throws {
    try data.write(to: URL(fileURLWithPath: path + "/" + name))
  }

  func size(of name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return attributes[.size] as? Int ?? -1
  }
}
