import Foundation
import TestPrograms
import Testing

/// Runs the program whose settings were ported from an application for iOS.
@Suite("Settings that follow the person")
struct UbiquitousSettingsTests {
  @Test func settingsPersistWithoutAnAccount() throws {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: home) }
    let empty = """
      font size: 14.0
      night: false
      last book: none
      position: 0
      bookmarks: []
      counts: []
      cover: 0 bytes
      opened: 0.0

      """
    #expect(try run(home: home) == empty)
    #expect(
      try run(home: home) == """
        font size: 15.5
        night: true
        last book: Emma
        position: 4294967296
        bookmarks: [0]
        counts: ["Emma 1"]
        cover: 3 bytes
        opened: 1.25

        """)
    #expect(try run("reset", home: home).isEmpty)
    #expect(try run(home: home) == empty)
    let names = try FileManager.default.contentsOfDirectory(atPath: home.path + "/config")
    #expect(names.contains("UbiquitousSettings.ubiquitous.preferences"))
  }

  private func run(_ arguments: String..., home: URL) throws -> String {
    let process = Process()
    process.executableURL = try TestPrograms.url("UbiquitousSettings")
    process.arguments = arguments
    process.environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.path + "/config"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: text, as: UTF8.self)
  }
}
