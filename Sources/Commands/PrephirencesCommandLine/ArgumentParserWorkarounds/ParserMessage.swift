// Workaround for swift-argument-parser, whose errors are English sentences: they do not report the
// missing argument or the command as values. Unnecessary once its errors are public values.

/// The argument parser's errors about a command line, in the style of this package.
enum ParserMessage {
  /// Returns what is wrong with a command line, in the style of this package.
  ///
  /// Messages of a command's author stay unchanged: a name such as GitHub keeps its capital.
  ///
  /// - Parameters:
  ///   - message: The sentence of the parser or of the command.
  ///   - path: The commands that the line names.
  ///   - isOfHost: Whether the message comes from a host's author.
  /// - Returns: The sentence to show.
  static func fault(_ message: String, _ path: CommandPath, isOfHost: Bool) -> String {
    if let word = path.unknownWord { return noCommand(word, path) }
    // The value of an unknown option looks like an extra argument.
    if let command = path.command as? any PackageCommand.Type,
      command.isAboutExtraArgument(message), let option = path.unknownOption
    {
      return noOption(option, path)
    }
    if !isOfHost, let command = path.command as? any PackageCommand.Type,
      !command.showsExtraArguments, message.lowercased().contains("unexpected argument")
    {
      return "there is an argument too many; it is not shown, as it may be a secret"
    }
    return isOfHost ? message : Words.inOurStyle(onOneLine(message))
  }

  /// Returns a message of the parser on one line; some have several.
  private static func onOneLine(_ message: String) -> String {
    message.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
      .replacing(". Please ", with: "; please ")
  }

  static func noCommand(_ word: String, _ path: CommandPath) -> String {
    let names = path.commandsMeant(by: word).map { "'\($0)'" }
    let meant = names.isEmpty ? "" : "; did you mean \(names.joined(separator: " or "))?"
    return "there is no command '\(word)'\(meant)"
  }

  private static func noOption(_ option: String, _ path: CommandPath) -> String {
    let meant = path.optionResembling(option).map { "; did you mean '\($0)'?" } ?? ""
    return "unknown option '\(option)'\(meant)"
  }

  /// Returns whether an error of the argument parser wraps one of a command's own `validate()`.
  ///
  /// The parser has no public name for that, so this reads its private fields. An error that is not
  /// recognised counts as the parser's.
  static func isOfHost(_ error: any Error) -> Bool {
    let fault = Mirror(reflecting: error).children.first { $0.label == "parserError" }?.value
    return fault.map { Mirror(reflecting: $0).children.first?.label } == "userValidationError"
  }
}

extension UserInterface {
  /// Reports what is wrong with a command line.
  ///
  /// - Parameters:
  ///   - message: The argument parser's sentence.
  ///   - details: Its whole text, which ends with where to find help.
  ///   - path: The commands that the line names.
  ///   - isOfHost: Whether the message comes from a host's author, and not from the parser.
  func reportUsage(_ message: String, details: String, path: CommandPath, isOfHost: Bool = false) {
    let other = path.otherUsage
    error(other?.message ?? ParserMessage.fault(message, path, isOfHost: isOfHost))
    if let hint = other?.hint ?? path.usageHint(for: message) { self.hint(hint) }
    hintAtHelp(in: details)
  }

  /// Reports the failure of a command, in its author's words.
  ///
  /// - Parameters:
  ///   - message: The author's sentence.
  ///   - details: The argument parser's whole text, which may end with where to find help.
  func reportFailure(_ message: String, details: String) {
    error(message)
    hintAtHelp(in: details.hasSuffix("for more information.") ? details : "")
  }

  private func hintAtHelp(in details: String) {
    let parts = details.split(separator: "See '").last?.split(separator: "'")
    if details.contains("See '"), let command = parts?.first { hint("see '\(command)'") }
  }
}
