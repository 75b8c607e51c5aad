package import ArgumentParser
internal import Synchronization

/// The commands of this package that a program has mounted.
///
/// Whether a type conforms to a protocol takes the runtime a search through all conformances of the
/// program. What is known here is found by its identity.
package enum MountedCommands {
  private struct Known {
    let type: any PackageCommand.Type
    let library: String
  }

  private static let known = Mutex<[Known]>([])

  /// Remembers commands, for the definition of the group that has them.
  ///
  /// - Parameters:
  ///   - commands: The commands.
  ///   - library: The name of the group that has all commands of their library.
  /// - Returns: The same commands.
  package static func list(
    _ commands: [any PackageCommand.Type], of library: String
  ) -> [any ParsableCommand.Type] {
    known.withLock { known in
      for command in commands { known.append(Known(type: command, library: library)) }
    }
    return commands.map { $0 }
  }

  /// Returns the command of this package that a type is; `nil` if its group has not been defined.
  static func command(_ type: any ParsableCommand.Type) -> (any PackageCommand.Type)? {
    find(type)?.type
  }

  /// Returns the library of a command; `nil` if its group has not been defined.
  package static func library(of type: any ParsableCommand.Type) -> String? {
    find(type)?.library
  }

  private static func find(_ type: any ParsableCommand.Type) -> Known? {
    known.withLock { known in
      for command in known where command.type == type { return command }
      return nil
    }
  }
}
