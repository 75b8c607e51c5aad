/// The folders of a program's files, by the XDG base directory specification, also for processes
/// without a home.
package struct UserFolders: Sendable {
  package let environment: EnvironmentVariables

  /// The name of the program's folder in each base folder.
  package let name: String

  package init(_ name: String, environment: EnvironmentVariables) {
    self.name = name
    self.environment = environment
  }

  /// Whether a variable names the folder of the data; otherwise it follows from the home folder.
  package var namesData: Bool { (try? environment.absolutePath("XDG_DATA_HOME")) != nil }

  /// Whether a variable names the folder of the state; otherwise it follows from the home folder.
  package var namesState: Bool { (try? environment.absolutePath("XDG_STATE_HOME")) != nil }

  /// Returns the folder of the user's data.
  package func data() throws(FileError) -> String {
    try folder("XDG_DATA_HOME", belowHome: ".local/share")
  }

  /// Returns the folder of state that belongs to this machine alone.
  package func state() throws(FileError) -> String {
    try folder("XDG_STATE_HOME", belowHome: ".local/state")
  }

  /// Returns the folder of the user's configuration.
  package func configuration() throws(FileError) -> String {
    try folder("XDG_CONFIG_HOME", belowHome: ".config")
  }

  /// Returns the folder in which each program has its configuration.
  package static func configurationBase(
    _ environment: EnvironmentVariables
  ) throws(FileError) -> String {
    try UserFolders("", environment: environment).base("XDG_CONFIG_HOME", belowHome: ".config")
  }

  /// The folder of files that are lost at logout; `nil` if there is no session.
  package func runtime() throws(FileError) -> String? {
    try environment.absolutePath("XDG_RUNTIME_DIR").map { $0 + "/" + name }
  }

  private func folder(_ variable: String, belowHome: String) throws(FileError) -> String {
    try base(variable, belowHome: belowHome) + "/" + name
  }

  private func base(_ variable: String, belowHome: String) throws(FileError) -> String {
    if let path = try environment.absolutePath(variable) { return path }
    let home = try HomeFolder(environment)
    if case .usable(let path) = home { return path + "/" + belowHome }
    // systemd creates this folder for a service that requests it, and passes a list if there are
    // several.
    if let folders = try environment.absolutePath("STATE_DIRECTORY"),
      let folder = folders.split(separator: ":").first
    {
      return String(folder)
    }
    throw FileError(.noPlace(reason: home.reason), "")
  }
}
