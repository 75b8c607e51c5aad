internal import Glibc
internal import PrephirencesSystem

/// The standard streams of a command.
package struct Console: Sendable {
  /// Read unless a file is named.
  package let input: StandardStream

  /// For what was requested, and nothing else.
  package let output: StandardStream

  /// For messages to a person.
  package let error: StandardStream

  package init(input: StandardStream, output: StandardStream, error: StandardStream) {
    (self.input, self.output, self.error) = (input, output, error)
  }

  static let process = Self(
    input: StandardStream(STDIN_FILENO), output: StandardStream(STDOUT_FILENO),
    error: StandardStream(STDERR_FILENO))
}

/// A standard stream of a command.
package struct StandardStream: Sendable {
  package let descriptor: Int32

  /// The width of the terminal that is assumed, or `nil` to ask the descriptor.
  private let columns: Int?

  /// Creates a stream from a descriptor.
  ///
  /// With `columns`, the stream counts as a terminal of this width.
  package init(_ descriptor: Int32, columns: Int? = nil) {
    (self.descriptor, self.columns) = (descriptor, columns)
  }

  package var isTerminal: Bool { columns != nil || isatty(descriptor) == 1 }

  /// The number of columns, or `nil` if the stream is not a terminal.
  package var width: Int? { columns ?? TerminalWidth.columns(of: descriptor) }

  /// Whether the stream was closed when the program began.
  package var wasClosed: Bool { StandardDescriptors.wasClosed(descriptor) }

  /// Fails if the stream was closed when the program began.
  package func checkOpen() throws(CommandLineError) {
    guard !wasClosed else { throw .outputFailed(errno: EBADF) }
  }

  /// Writes text; fails if the stream was closed when the program began.
  package func write(_ text: String) throws(CommandLineError) {
    try write(Array(text.utf8))
  }

  /// Writes bytes; fails if the stream was closed when the program began.
  package func write(_ bytes: [UInt8]) throws(CommandLineError) {
    try checkOpen()
    guard writeAll(bytes, to: descriptor) else { throw .outputFailed(errno: errno) }
  }
}
