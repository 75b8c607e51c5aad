internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesCommandLine

/// Standard output, with failures as those of the keychain.
enum CommandOutput {
  /// Writes text; fails without standard output.
  static func write(_ text: String) throws(KeychainError) {
    do throws(CommandLineError) {
      try StandardOutput.write(text)
    } catch {
      throw KeychainError(error)
    }
  }

  /// Writes a secret without making a string of it.
  static func write(_ secret: borrowing SecretBytes) throws(KeychainError) {
    do throws(CommandLineError) {
      try StandardOutput.checkOpen()
    } catch {
      throw KeychainError(error)
    }
    do throws(SecretsError) {
      try secret.write(toFileDescriptor: StandardOutput.descriptor)
    } catch {
      throw .outputFailed(errno: error.systemError)
    }
  }

  /// Returns a value as JSON.
  static func json(_ value: some Encodable) throws(KeychainError) -> String {
    do throws(CommandLineError) {
      return try JSONText.text(value)
    } catch {
      throw KeychainError(error)
    }
  }
}
