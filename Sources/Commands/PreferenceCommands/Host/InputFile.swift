internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// What comes through a pipe or from a file.
enum InputFile {
  static let deadlineHelp: ArgumentHelp = .init(
    "How long the input may take to end: 500ms, 30s, 2m", valueName: "time")

  /// More is a mistake.
  static let limit = 64 << 20

  /// Reads a file, or standard input if the path is `-`.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - timeout: How long it may take to end; `nil` to wait for it.
  /// - Returns: What was read.
  /// - Throws: ``CommandLineError``, with ``ExitCodes/tryAgain`` if it did not end in time.
  static func read(_ path: String, within timeout: Duration?) throws(CommandLineError) -> Data {
    // A century is as good as no limit.
    let deadline = Deadline(after: timeout ?? .seconds(3_000_000_000))
    guard path == "-" else { return try read(file: path, deadline) }
    guard !StandardDescriptors.wasClosed(STDIN_FILENO) else { throw .inputClosed(nil) }
    return try read(STDIN_FILENO, "standard input", deadline)
  }

  private static func read(
    file path: String, _ deadline: Deadline
  ) throws(CommandLineError) -> Data {
    // A named pipe is opened without waiting for its writer, and waited for below.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = errno
      guard code == ENOENT else { throw .cannotOpen(path, errno: code) }
      throw CommandLineError(ExitCodes.notFound, "there is no file '\(path)'")
    }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
      // Until there is a writer, reading would end at once.
      try awaitInput(descriptor, "'\(path)'", deadline)
    }
    guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw .cannotOpen(path, errno: errno) }
    return try read(descriptor, "'\(path)'", deadline)
  }

  private static func awaitInput(
    _ descriptor: Int32, _ name: String, _ deadline: Deadline
  ) throws(CommandLineError) {
    guard deadline.awaitInput(descriptor) else {
      throw CommandLineError(
        ExitCodes.tryAgain, "\(name) did not end in time",
        hint: "end what writes it, or wait longer with --deadline")
    }
  }

  private static func read(
    _ descriptor: Int32, _ name: String, _ deadline: Deadline
  ) throws(CommandLineError) -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      try awaitInput(descriptor, name, deadline)
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 {
        guard errno != EINTR else { continue }
        throw .cannotRead(name, errno: errno)
      }
      guard count > 0 else { return data }
      data.append(contentsOf: buffer.prefix(count))
      guard data.count <= limit else {
        throw CommandLineError(ExitCodes.refused, "\(name) has more than 64 MiB")
      }
    }
  }
}

extension Data {
  /// The bytes as text; `nil` if they are not UTF-8.
  var utf8Text: String? { String(validating: self, as: UTF8.self) }
}
