internal import PrephirencesCommandLine

/// What people type who know other tools for secrets, and what to type here.
enum OtherToolsUsage {
  /// Returns what to type instead of the arguments of a command; `nil` if no other tool takes them.
  static func ofArguments(_ arguments: [String], of command: String) -> OtherUsage? {
    for argument in arguments {
      let option = String(argument.prefix { $0 != "=" })
      if let hint = hint(option, command) {
        return OtherUsage("unknown option '\(option)'", hint: hint)
      }
    }
    return nil
  }

  private static func hint(_ option: String, _ command: String) -> String? {
    switch (command, option) {
    case ("read", "-n"), ("read", "--no-newline"), ("get", "-n"), ("get", "--no-newline"):
      "--newline never leaves the newline out; into a pipe or file, none is written"
    case ("inject", "-i"), ("inject", "--in-file"), ("inject", "-o"), ("inject", "--out-file"):
      "write '\(path) inject TEMPLATE --output FILE', or - for standard input"
    case ("list", "--format"), ("show", "--format"), ("doctor", "--format"), ("status", "--format"),
      ("get", "--format"):
      "--json prints JSON"
    case ("set", "--stdin"):
      "leave it out: the secret is read from standard input if that is no terminal"
    default: nil
    }
  }

  private static var path: String { KeychainCommandContext.current.commandPath }
}
