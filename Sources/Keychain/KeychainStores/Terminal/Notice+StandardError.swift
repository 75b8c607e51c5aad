internal import Glibc
internal import KeychainCredentials
public import KeychainVault
internal import PrephirencesSystem

extension Notice {
  /// Writes a notice to standard error, as a line that begins with the program's name.
  ///
  /// A command-line program passes it as the closure for notices:
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(
  ///   service: "com.example.deploy", interaction: .terminal, notice: Notice.writeToStandardError)
  /// ```
  ///
  /// Characters that a terminal would act on are escaped. Write errors are ignored.
  ///
  /// - Parameter notice: The notice.
  @Sendable
  public static func writeToStandardError(_ notice: Notice) {
    let message = notice.description.replacing("`", with: "'").visible
    writeAll("\(ProgramName.current): \(message)\n", to: STDERR_FILENO)
  }
}

/// The program's name in messages.
enum ProgramName {
  static var current: String {
    let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
    return name.flatMap { $0.isEmpty ? nil : $0.visible } ?? "keychain"
  }
}
