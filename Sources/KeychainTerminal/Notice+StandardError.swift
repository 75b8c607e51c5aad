internal import Glibc
internal import KeychainCredentials
public import KeychainVault

extension Notice {
  /// Writes a notice to standard error, as a line that begins with the name of the program.
  ///
  /// It is what a command-line program gives as the closure for notices:
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(
  ///   service: "com.example.deploy", interaction: .terminal, notice: Notice.writeToStandardError)
  /// ```
  ///
  /// What a terminal would act on is escaped. A failure to write is not told.
  ///
  /// - Parameter notice: The notice.
  @Sendable
  public static func writeToStandardError(_ notice: Notice) {
    let message = notice.description.replacing("`", with: "'").visible
    writeAll("\(ProgramName.current): \(message)\n", to: STDERR_FILENO)
  }
}

/// What the program calls itself where it speaks to a person.
enum ProgramName {
  static var current: String {
    let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
    return name.flatMap { $0.isEmpty ? nil : $0.visible } ?? "keychain"
  }
}
