package import ArgumentParser

/// A command of this package: it does not use the commands above it, and its help has examples.
package protocol PackageCommand: DocumentedCommand {
  /// Says what may be wrong with a command line, besides what its message says.
  ///
  /// - Parameters:
  ///   - message: The sentence of the argument parser or of the command.
  ///   - hasUnknownDash: Whether an argument begins with a dash and is not an option.
  /// - Returns: A hint, which is shown before the one about help; `nil` for none.
  static func usageHint(for message: String, hasUnknownDash: Bool) -> String?

  /// Returns whether a message reports an argument too many, which may be the value of an unknown
  /// option.
  static func isAboutExtraArgument(_ message: String) -> Bool
}

extension PackageCommand {
  package static func usageHint(for message: String, hasUnknownDash: Bool) -> String? { nil }
  package static func isAboutExtraArgument(_ message: String) -> Bool { false }
}

/// A command whose manual page has parts that the commands of a library share.
package protocol DocumentedCommand: ParsableCommand {
  /// The parts of the page that are in no command's definition.
  static var manual: CommonManual { get }
}
