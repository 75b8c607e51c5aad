internal import KeychainCredentials

/// Where a marker begins in a template.
struct TemplatePlace: Sendable {
  /// The number of the line, from 1.
  let line: Int

  /// The number of the character in its line, from 1.
  let column: Int

  func located(_ failure: KeychainError) -> KeychainError {
    KeychainError(
      failure.code, "line \(line), column \(column): \(failure.message)",
      recovery: failure.recovery, underlying: failure.underlying)
  }
}
