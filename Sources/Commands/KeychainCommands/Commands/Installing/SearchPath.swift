internal import Glibc
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The folders in which clients look for their helpers.
struct SearchPath {
  /// The absolute ones, in order; another one depends on where the client is started.
  let folders: [String]

  init(_ value: String? = Environment.value("PATH")) {
    folders = (value ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
  }

  /// Returns whether a folder is among them, perhaps by another path.
  func contains(_ folder: String) -> Bool {
    guard let identity = FileIdentity(folder) else { return false }
    return folders.contains { FileIdentity($0) == identity }
  }

  /// Returns the first program of a name.
  func program(_ name: String) -> String? {
    folders.lazy.map { PathText.joined($0, name) }.first { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        && access(path, X_OK) == 0
    }
  }
}
