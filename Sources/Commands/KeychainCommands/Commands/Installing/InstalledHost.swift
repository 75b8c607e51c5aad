internal import Glibc
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The program that runs now, as links lead to it.
struct InstalledHost {
  /// The name of the host, which the names of its links end with.
  let name: String

  /// The path of the program: the one in `PATH` if that is this program, since what an update
  /// replaces lies there; otherwise the file itself.
  let path: String

  let identity: FileIdentity
  let search: SearchPath

  /// Finds the program.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/internalFailure`` if the system does not
  ///   say which file runs.
  init(_ context: KeychainCommandContext, search: SearchPath = SearchPath()) throws(KeychainError) {
    // After an update, the kernel says that the file was deleted; `FileIdentity` still reaches it.
    let link = "/proc/self/exe"
    guard let identity = FileIdentity(link), let file = PathText.target(ofLink: link) else {
      throw KeychainError(
        .internalFailure, "the path of this program is not known", recovery: "mount /proc")
    }
    name = context.hostName
    self.search = search
    self.identity = identity
    let found = search.program(name)
    path = found.flatMap { FileIdentity($0) == identity ? $0 : nil } ?? file
  }

  /// The folder of the program.
  var folder: String { PathText.folder(of: path) }

  /// The folder for links if none is given: the program's own if it can be written and is in
  /// `PATH`; otherwise the user's, or the machine's if the user is the superuser.
  var usualFolder: String? {
    if search.contains(folder), access(folder, W_OK) == 0 { return folder }
    if geteuid() == 0 { return "/usr/local/bin" }
    return Environment.value("HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.local/bin" : nil }
  }

  /// Returns the text of a link in a folder: a name alone next to the program, so that both can be
  /// moved together.
  func linkText(in folder: String) -> String {
    FileIdentity(folder) == FileIdentity(self.folder) ? PathText.name(of: path) : path
  }
}
