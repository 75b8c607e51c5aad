internal import ArgumentParser

extension ParsableCommand {
  /// How a command is called, for its help.
  ///
  /// The argument parser names every option of a command that has a dozen, over many lines, and none of
  /// one that has more. A test compares the words with the arguments.
  ///
  /// - Parameter words: The words after those that run the commands.
  /// - Returns: The whole line.
  static func usage(_ words: String) -> String { "\(keychainPath) \(words)" }
}
