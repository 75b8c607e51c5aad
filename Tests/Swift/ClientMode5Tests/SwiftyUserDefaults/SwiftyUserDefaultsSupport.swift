// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults
import Testing

/// Stands for AppKit's class in the samples: an object that can be archived.
final class NSColor: NSObject, NSCoding {
  static var white: NSColor { NSColor(white: 1) }

  let whiteComponent: Double

  init(white: Double) { whiteComponent = white }

  init?(coder: NSCoder) { whiteComponent = coder.decodeDouble(forKey: "white") }

  func encode(with coder: NSCoder) { coder.encode(whiteComponent, forKey: "white") }
}

// The sample: extending existing types.
extension NSColor: DefaultsSerializable {}

// The samples' keys, and those that they take for granted.
extension DefaultsKeys {
  var username: DefaultsKey<String?> { .init("username") }
  var launchCount: DefaultsKey<Int> { .init("launchCount", defaultValue: 0) }
  var hotkeyEnabled: DefaultsKey<Bool> { .init("hotkeyEnabled", defaultValue: false) }
  var volume: DefaultsKey<Double> { .init("volume", defaultValue: 1) }
  var strings: DefaultsKey<String> { .init("strings", defaultValue: "Strings") }
  var libraries: DefaultsKey<[String]> { .init("libraries", defaultValue: []) }
  var color: DefaultsKey<NSColor?> { .init("color") }
  var skipLogin: DefaultsKey<Bool> { .init("skipLogin", defaultValue: false) }
  var loginTries: DefaultsKey<Int> { .init("loginTries", defaultValue: 0) }
  var lastGameTime: DefaultsKey<Double?> { .init("lastGameTime") }
  var nickname: DefaultsKey<String?> { .init("nickname") }
}

extension DefaultsKeys {
  var userColorScheme: DefaultsKey<String> { .init("userColorScheme", defaultValue: "default") }
  var userThemeName: DefaultsKey<String?> { .init("userThemeName") }
  var userLastLoginDate: DefaultsKey<Date?> { .init("userLastLoginDate") }
}

/// Runs a sample in a process of its own, in which `Defaults` is empty.
///
/// The sample itself must be in the closure of an exit test; this gives it a home.
func beginSample() {
  let home = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try? FileManager.default.createDirectory(
    at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  setenv("HOME", home.path, 1)
  setenv("XDG_CONFIG_HOME", home.path, 1)
}

/// Ends the process of a sample, and removes its home.
func endSample() {
  if let home = getenv("HOME").map({ String(cString: $0) }) {
    try? FileManager.default.removeItem(atPath: home)
  }
}
