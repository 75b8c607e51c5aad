import Foundation
import Prephirences

/// A temporary folder, which is removed with this object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// A test's own `UserDefaults`, whose file is removed with this object.
final class TemporaryDefaults {
  let name = "sample-\(UUID().uuidString)"
  let defaults: UserDefaults

  init() throws {
    guard let defaults = UserDefaults(suiteName: name) else { throw CocoaError(.fileNoSuchFile) }
    self.defaults = defaults
  }

  deinit {
    defaults.removePersistentDomain(forName: name)
    defaults.synchronize()
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
    try? FileManager.default.removeItem(atPath: "\(folder)/\(name).plist")
  }
}
