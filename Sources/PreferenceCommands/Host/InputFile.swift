internal import Foundation
internal import Glibc
internal import PrephirencesCommandLine

/// What comes through a pipe or from a file.
enum InputFile {
  /// More is a mistake.
  static let limit = 64 << 20

  /// Reads a file, or standard input if the path is `-`.
  static func read(_ path: String) throws(CommandLineError) -> Data {
    guard path == "-" else { return try read(file: path) }
    guard !StandardDescriptors.wasClosed(STDIN_FILENO) else { throw .inputClosed(nil) }
    return try read(STDIN_FILENO, "standard input")
  }

  private static func read(file path: String) throws(CommandLineError) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let code = errno
      guard code == ENOENT else { throw .cannotOpen(path, errno: code) }
      throw CommandLineError(ExitCodes.notFound, "there is no file '\(path)'")
    }
    defer { close(descriptor) }
    return try read(descriptor, "'\(path)'")
  }

  private static func read(_ descriptor: Int32, _ name: String) throws(CommandLineError) -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
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
