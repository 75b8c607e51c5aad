import Foundation
import Glibc

/// A process that is sent lines and answers with lines.
final class Conversation {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var pending: [UInt8] = []

  convenience init(_ command: String...) throws { try self.init(command) }

  init(_ command: [String]) throws {
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func send(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

  /// Sends a line, and returns the numbers of the answer.
  func ask(_ question: String, within seconds: Int32 = 30) throws -> [Double] {
    send(question + "\n")
    guard let answer = line(within: seconds) else { throw BenchmarkVaults.Failure() }
    return answer.split(separator: " ").compactMap { Double($0) }
  }

  /// Returns the next line; `nil` if there is none within the time.
  func line(within seconds: Int32 = 30) -> String? {
    while true {
      if let end = pending.firstIndex(of: 10) {
        defer { pending.removeSubrange(...end) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var descriptor = pollfd(
        fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, seconds * 1000) > 0 else { return nil }
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
