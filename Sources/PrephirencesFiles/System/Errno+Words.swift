internal import Glibc
package import SystemPackage

extension Errno {
  /// The error of the system call that just failed.
  package static var current: Errno { Errno(rawValue: errno) }

  /// The system's text for the error, without a capital.
  package var words: String {
    let text = description
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
