import Foundation
import Glibc

/// A process that is sent lines and answers with lines.
final class Conversation {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var pending: [UInt8] = []

  init(_ command: String...) throws {
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func send(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

  /// Returns the next line; `nil` if there is none within 30 seconds.
  func line() -> String? {
    while true {
      if let end = pending.firstIndex(of: 10) {
        defer { pending.removeSubrange(...end) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var descriptor = pollfd(
        fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, 30_000) > 0 else { return nil }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      pending += data
    }
  }

  /// Closes the input, and waits for the end of the process.
  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
