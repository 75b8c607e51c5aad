/// Where a program keeps files of the user, by the XDG base directory specification, also for processes
/// without a home.
package struct UserFolders: Sendable {
  package let environment: EnvironmentVariables

  /// The name of the program's folder in each of the base folders.
  package let name: String

  package init(_ name: String, environment: EnvironmentVariables) {
    self.name = name
    self.environment = environment
  }

  /// Whether a variable names the place of the data; otherwise it follows from the home folder.
  package var namesData: Bool { environment.absolutePath("XDG_DATA_HOME") != nil }

  /// Whether a variable names the place of the state; otherwise it follows from the home folder.
  package var namesState: Bool { environment.absolutePath("XDG_STATE_HOME") != nil }

  /// The folder of what the user has.
  ///
  /// - Throws: ``FileError`` with ``FileError/Kind/noPlace(reason:)``, as the other functions do.
  package func data() throws(FileError) -> String {
    try folder("XDG_DATA_HOME", belowHome: ".local/share")
  }

  /// The folder of what is true of this machine alone.
  package func state() throws(FileError) -> String {
    try folder("XDG_STATE_HOME", belowHome: ".local/state")
  }

  /// The folder of what the user sets up.
  package func configuration() throws(FileError) -> String {
    try folder("XDG_CONFIG_HOME", belowHome: ".config")
  }

  /// The folder of what is lost when the user logs out; `nil` if there is no session.
  package var runtime: String? {
    environment.absolutePath("XDG_RUNTIME_DIR").map { $0 + "/" + name }
  }

  private func folder(_ variable: String, belowHome: String) throws(FileError) -> String {
    try base(variable, belowHome: belowHome) + "/" + name
  }

  private func base(_ variable: String, belowHome: String) throws(FileError) -> String {
    if let path = environment.absolutePath(variable) { return path }
    let home = HomeFolder(environment)
    if case .usable(let path) = home { return path + "/" + belowHome }
    // systemd makes this folder for a service that asks for it, and gives a list if for several.
    if let folder = environment.absolutePath("STATE_DIRECTORY")?.split(separator: ":").first {
      return String(folder)
    }
    throw FileError(.noPlace(reason: home.reason), "")
  }
}
