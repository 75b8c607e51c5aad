internal import ArgumentParser

// Workaround for swift-argument-parser, which builds the tree of all commands of a program, with
// every argument, before it parses one of them. That takes most of the time of reading a secret.
// Unnecessary once the parser looks only at the commands that a line names.

extension CommandPath {
  /// The command, parsed without the commands above it; `nil` if these may change the result.
  ///
  /// If anything is wrong with the line, this is `nil`, and the root parses it again: its messages
  /// contain the whole path.
  func parsedAlone() -> (any ParsableCommand)? {
    // A host's own commands may use those above them.
    guard let command = command as? any PackageCommand.Type,
      command.configuration.subcommands.isEmpty, groups.allSatisfy({ $0.takesNoArguments })
    else { return nil }
    do {
      let parsed = try command.parseAsRoot(Array(rest))
      // Otherwise it is the parser's own command, which prints help.
      guard type(of: parsed) == command else { return nil }
      // Last, as the root checks again after `nil`, and a host's check may have effects.
      for group in groups { try group.validateEmpty() }
      return parsed
    } catch {
      return nil
    }
  }
}
