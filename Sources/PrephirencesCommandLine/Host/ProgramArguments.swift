internal import CCommandLine
internal import Glibc

/// The arguments of the program, from the C library.
///
/// Swift reads its own from `/proc`. If that is not mounted, Swift has no arguments, and no command
/// would ever be found.
package enum ProgramArguments {
  /// The arguments, with the program's name first; invalid UTF-8 is repaired.
  ///
  /// The array is empty if neither the C library nor Swift has them.
  package static var texts: [String] {
    pointers.compactMap { $0.map { String(cString: $0) } }
  }

  /// The arguments as the C library has them.
  package static var pointers: [UnsafePointer<CChar>?] {
    let count = ccommandline_argument_count()
    guard count == 0 else { return (0..<count).map { ccommandline_argument($0) } }
    return (0..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0].map { UnsafePointer($0) } }
  }
}
