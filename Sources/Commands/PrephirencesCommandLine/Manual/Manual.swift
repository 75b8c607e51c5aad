internal import ArgumentParser
internal import Glibc
internal import PrephirencesSystem

/// The manual pages of a program, one for each command.
struct Manual {
  /// The program's option that writes them; it is used alone, like the parser's option for
  /// completions.
  static let option = "--generate-man-pages"

  let pages: [ManualPage]

  /// Describes the running program.
  init(_ root: any ParsableCommand.Type) throws(CommandLineError) {
    let program = try CommandDescription.program(root)
    pages = program.all.map {
      ManualPage(
        command: $0, program: program, version: root.configuration.version,
        common: Self.common(root, $0))
    }
  }

  /// Writes a file for each page, and replaces an existing one.
  ///
  /// - Parameter folder: The folder, which is created if its parent exists.
  /// - Throws: ``CommandLineError`` with ``ExitCodes/inputOutput``.
  func write(to folder: String) throws(CommandLineError) {
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw .cannotWrite(folder, errno: errno)
    }
    for page in pages { try Self.write(page.text, to: folder + "/" + page.fileName) }
  }

  /// Returns what the manual page of a command shares with those of its library.
  private static func common(
    _ root: any ParsableCommand.Type, _ command: CommandDescription
  ) -> CommonManual? {
    let path = CommandPath(root, Array(command.words.dropFirst()))
    return (path.command as? any DocumentedCommand.Type)?.manual
  }

  private static func write(_ text: String, to path: String) throws(CommandLineError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .cannotWrite(path, errno: errno) }
    let isWritten = writeAll(text, to: descriptor)
    let error = errno
    guard close(descriptor) == 0, isWritten else {
      throw .cannotWrite(path, errno: isWritten ? errno : error)
    }
  }
}

extension CommandLineError {
  static let manualWithoutFolder = CommandLineError(
    ExitCodes.usage, "\(Manual.option) takes the folder for the pages, and nothing else")
}
