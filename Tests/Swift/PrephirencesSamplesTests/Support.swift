import Foundation
import Prephirences

/// Represents a UIKit colour: an object that can only be archived.
final class UIColor: NSObject, NSCoding {
  let components: [Double]

  init(_ components: [Double]) { self.components = components }

  required init?(coder: NSCoder) {
    components = ["red", "green", "blue"].map { coder.decodeDouble(forKey: $0) }
  }

  func encode(with coder: NSCoder) {
    for (name, component) in zip(["red", "green", "blue"], components) {
      coder.encode(component, forKey: name)
    }
  }

  override func isEqual(_ object: Any?) -> Bool {
    (object as? UIColor)?.components == components
  }

  override var hash: Int { components.hashValue }

  static var red: UIColor { UIColor([1, 0, 0]) }
  static var blue: UIColor { UIColor([0, 0, 1]) }
  static func redColor() -> UIColor { red }
  static func blueColor() -> UIColor { blue }
}

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
