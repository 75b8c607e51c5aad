import CommandTesting
import Foundation

@testable import PrephirencesCommandLine

/// A home folder of a test, with a program `prefs` in its first folder of `PATH`.
///
/// The program is a script that answers every call: the commands themselves run in the test's process.
final class ClientHome: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "client-home-\(UUID().uuidString)"
    try makeFolder("bin")
    try write("#!/bin/sh\n", to: "bin/prefs", mode: 0o755)
    try link("executable", to: file("bin/prefs"))
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The variables of a person who lives here.
  var environment: [String: String] {
    ["HOME": path, "PATH": "\(bin):/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"]
  }

  /// The program, over an empty store in memory.
  var program: TestedProgram {
    var program = TestedProgram(environment: environment)
    program.executable = file("executable")
    return program
  }

  /// The folder of the program, the first of `PATH`.
  var bin: String { file("bin") }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func makeFolder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(
      atPath: file(name), withIntermediateDirectories: true)
    return file(name)
  }

  /// Writes a file; the folders above it are made.
  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    try write(Array(text.utf8), to: name, mode: mode)
  }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String, mode: Int = 0o600) throws -> String {
    let url = URL(fileURLWithPath: file(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    try setMode(mode, of: name)
    return url.path
  }

  func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
  }

  func mode(of name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: target)
  }

  /// Where a link leads; `nil` if there is none.
  func target(of name: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: file(name))
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  /// What a file has; `nil` if there is none.
  func text(of name: String) -> String? {
    FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
  }

  func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
  }
}

extension CommandRun {
  /// Standard output as the JSON that a client reads.
  func answer<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }

  /// The messages as one line, however they are wrapped.
  var saidInOneLine: String {
    messages.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
