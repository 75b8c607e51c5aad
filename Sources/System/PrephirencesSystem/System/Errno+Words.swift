internal import Glibc
package import SystemPackage

extension Errno {
  /// The error of the system call that just failed.
  package static var current: Errno { Errno(rawValue: errno) }

  /// The system's text for the error, without a capital, and the limit to raise if one is reached.
  package var words: String {
    let text = description
    let words = text.prefix(1).lowercased() + text.dropFirst()
    guard self == .tooManyOpenFiles else { return words }
    return words
      + "; raise the limit of this process with LimitNOFILE= of its service, or 'ulimit -n'"
  }

  /// The same for a thread that cannot be started.
  package var wordsOfThread: String {
    guard self == .resourceTemporarilyUnavailable else { return words }
    return "too many threads; raise TasksMax= of the service, or 'ulimit -u'"
  }
}
