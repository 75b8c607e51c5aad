internal import KeychainCredentials
public import KeychainVault
internal import PrephirencesCommandLine

extension KeychainCommandContext {
  /// Writes a notice to standard error, under the host's name, with what can be done as commands of the host.
  ///
  /// A program that mounts the commands passes it as the closure for notices of its own stores. Its users
  /// then read `'mytool keychain recovery create'`, and not the name of a function:
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(
  ///   service: "com.example.deploy", interaction: .terminal,
  ///   notice: KeychainCommandContext.current.writeToStandardError)
  /// ```
  ///
  /// A line is broken to the width of a terminal. Characters that control a terminal are escaped. A failure
  /// to write is not reported. Nothing is written if `KEYCHAIN_QUIET` is not empty.
  ///
  /// - Parameter notice: The notice.
  @Sendable
  public func writeToStandardError(_ notice: Notice) {
    Self.$current.withValue(self) {
      UserInterface(hostName: hostName, isQuiet: CommonOptions.isQuietByVariable).report(notice)
    }
  }
}
