internal import CPrephirencesSystem
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

extension ProgramArguments {
  /// Returns the bytes of the last arguments, which need not be text.
  ///
  /// - Parameter texts: The last arguments, as text in which invalid UTF-8 is repaired.
  /// - Returns: Their bytes; those of the texts if the program got other arguments.
  package static func bytes(ofLast texts: [String]) -> [[UInt8]] {
    let last = pointers.suffix(texts.count)
    guard last.count == texts.count else { return texts.map { Array($0.utf8) } }
    return zip(last, texts).map { pointer, text in
      guard let pointer, String(cString: pointer).utf8.elementsEqual(text.utf8) else {
        return Array(text.utf8)
      }
      return UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map {
        UInt8(bitPattern: $0)
      }
    }
  }
}
