// Workaround for swift-argument-parser, whose errors are sentences in English: they say neither which
// argument is missing nor which command they are about. Unnecessary once its errors are public values.

/// What is wrong with a command line, of which the argument parser or a command reports something.
enum ParserMessage {
  static let dashAccount = "an account that begins with a dash goes after --"

  /// Whether the sentence of the argument parser, or ours, misses the account.
  static func isAccountMissing(_ message: String) -> Bool {
    message == UsageText.accountOrAttribute || message.contains("'<account>'")
  }

  /// What is wrong with a command line, of which the argument parser or a command says something.
  ///
  /// The parser's sentences get the style of this package. Those of a command's author stay as they are:
  /// a name such as GitHub keeps its capital.
  static func fault(_ message: String, _ path: CommandPath, isOfHost: Bool) -> String {
    if let word = path.unknownWord { return noCommand(word, path) }
    // The value of an option that there isn't looks like one argument too many.
    if message == UsageText.secretFromArgument, let option = path.unknownOption {
      return noOption(option, path)
    }
    return isOfHost ? message : Words.inOurStyle(onOneLine(message))
  }

  /// The sentences of the argument parser, some of which take several lines.
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
}

extension UserInterface {
  /// Says what is wrong with a command line.
  ///
  /// - Parameters:
  ///   - message: The argument parser's sentence.
  ///   - details: Its whole text, which ends with where to find help.
  ///   - path: The commands that the line names.
  ///   - isOfHost: Whether the sentence is not the parser's own, but that of the author of a command.
  func reportUsage(_ message: String, details: String, path: CommandPath, isOfHost: Bool = false) {
    error(ParserMessage.fault(message, path, isOfHost: isOfHost))
    if ParserMessage.isAccountMissing(message), path.hasUnknownDash {
      hint(ParserMessage.dashAccount)
    }
    hintAtHelp(in: details)
  }

  /// Says what a command failed with, in the words of its author.
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
