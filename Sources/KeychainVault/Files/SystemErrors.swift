internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
package import SystemPackage

extension KeychainError {
  /// A failed system call on a file.
  static func system(_ error: Errno, _ action: String, _ path: String) -> Self {
    let recovery: Recovery? =
      switch error {
      case .noSpace: "free some space, and try again"
      case .readOnlyFileSystem: "the medium can be read, not written"
      case .permissionDenied: "check the permissions of its folders"
      default: nil
      }
    return Self(
      .inputOutput, "cannot \(action) \(path): \(error.words)", recovery: recovery,
      underlying: .system(errno: error.rawValue))
  }
}

extension Errno {
  /// The error of the system call that just failed.
  static var current: Errno { Errno(rawValue: errno) }

  /// The system's words for the error, without a capital.
  package var words: String {
    let text = description
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
