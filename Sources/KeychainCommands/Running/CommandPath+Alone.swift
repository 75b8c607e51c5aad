internal import ArgumentParser

extension CommandPath {
  /// The command, parsed without the commands above it; `nil` where those may have a say.
  ///
  /// The parser looks at every command of the program before it comes to the one that is named, which
  /// takes most of the time that reading a secret does. Whatever this finds wrong is left to the root,
  /// whose messages name the whole path: only success counts.
  func parsedAlone() -> (any ParsableCommand)? {
    // A host's own commands may reach for those above them.
    guard let command = command as? any KeychainSubcommand.Type,
      command.configuration.subcommands.isEmpty, groups.allSatisfy({ $0.takesNoArguments })
    else { return nil }
    do {
      let parsed = try command.parseAsRoot(Array(rest))
      // Else it is the parser's own command that prints help.
      guard type(of: parsed) == command else { return nil }
      // Last, since the root checks again what is left to it, and a host's check may do something.
      for group in groups { try group.validateEmpty() }
      return parsed
    } catch {
      return nil
    }
  }
}

extension ParsableCommand {
  /// Whether the command declares no arguments: each would be a stored property.
  fileprivate static var takesNoArguments: Bool { MemoryLayout<Self>.size == 0 }

  /// Checks what the command checks before those below it run.
  fileprivate static func validateEmpty() throws {
    var command = Self()
    try command.validate()
  }
}
