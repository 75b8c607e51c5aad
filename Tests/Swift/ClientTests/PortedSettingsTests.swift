import Foundation
import TestPrograms
import Testing

/// Runs the service whose settings were ported from an application for iOS.
@Suite("Ported settings")
struct PortedSettingsTests {
  @Test func settingsPersist() throws {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: home) }
    #expect(
      try run(home: home) == """
        serverURL: none
        launchCount: 0
        recentHosts:\(" ")
        logLevel: info
        limits: none
        pageSize: 20
        title: none
        tags: none
        sync: none
        lastSync: none
        quota: none
        port: 443

        """)
    #expect(
      try run(home: home) == """
        serverURL: https://notes.example.com/api?v=2
        launchCount: 1
        recentHosts: host1
        logLevel: debug
        limits: 10 in 1.5
        pageSize: 100
        title: Notes
        tags: new
        sync: true 16
        lastSync: 1.25
        quota: 18446744073709551615
        port: 8443

        """)
    #expect(try run(home: home).contains("recentHosts: host1,host2\n"))
  }

  private func run(home: URL) throws -> String {
    let process = Process()
    process.executableURL = try TestPrograms.url("PortedSettings")
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
