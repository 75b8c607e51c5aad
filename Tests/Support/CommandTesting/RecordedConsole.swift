import Glibc
package import PrephirencesCommandLine

/// A console whose input is given, and whose output and messages are recorded.
///
/// The streams are files without a name, so that a command reads and writes them as it does those of
/// a process.
package final class RecordedConsole: Sendable {
  /// What the command gets.
  package let console: Console

  /// Creates a console.
  ///
  /// - Parameters:
  ///   - input: What standard input has.
  ///   - inputIsTerminal: Whether standard input is taken for a terminal.
  ///   - columns: The width of the terminal that output and messages go to; `nil` for pipes.
  package init(input: [UInt8] = [], inputIsTerminal: Bool = false, columns: Int? = nil) {
    let source = Self.file()
    precondition(input.withUnsafeBytes { write(source, $0.baseAddress, $0.count) } == input.count)
    lseek(source, 0, SEEK_SET)
    console = Console(
      input: StandardStream(source, columns: inputIsTerminal ? columns ?? 80 : nil),
      output: StandardStream(Self.file(), columns: columns),
      error: StandardStream(Self.file(), columns: columns))
  }

  private static func file() -> Int32 {
    var name = Array("/tmp/prephirences-console.XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    precondition(descriptor >= 0, "no file for a stream: \(errno)")
    unlink(name)
    return descriptor
  }

  deinit {
    for stream in [console.input, console.output, console.error] { close(stream.descriptor) }
  }

  /// What was written to standard output.
  package var output: [UInt8] { Self.contents(of: console.output) }

  /// What was written to standard error.
  package var messages: String { String(decoding: Self.contents(of: console.error), as: UTF8.self) }

  private static func contents(of stream: StandardStream) -> [UInt8] {
    var contents: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = pread(stream.descriptor, &part, part.count, off_t(contents.count)),
      count > 0
    {
      contents += part[..<count]
    }
    return contents
  }
}

/// How a command line ended, and what it wrote.
package struct CommandRun: Sendable {
  /// The exit code.
  package let code: Int32

  /// What was written to standard output.
  package let bytes: [UInt8]

  /// What was written to standard error.
  package let messages: String

  /// Creates a result from what a console recorded.
  package init(code: Int32, _ console: RecordedConsole) {
    (self.code, bytes, messages) = (code, console.output, console.messages)
  }

  /// Standard output as text.
  package var output: String { String(decoding: bytes, as: UTF8.self) }
}
