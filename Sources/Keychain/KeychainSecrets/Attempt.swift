/// The result of an attempt that waits neither for a person nor for a long computation.
package enum Attempt<Result> {
  case done(Result)

  /// The attempt must be repeated once this is met.
  case needs(Need)

  /// Calls `body`, which uses quiet stores, and returns what one of them needs; throws other
  /// failures.
  package init(_ body: () throws(KeychainError) -> Result) throws(KeychainError) {
    do throws(KeychainError) {
      self = .done(try body())
    } catch {
      guard let need = error.need else { throw error }
      self = .needs(need)
    }
  }

  /// Repeats an attempt, which takes its own locks; meets its needs after it has released them.
  package static func repeating(
    _ attempt: () throws(KeychainError) -> Attempt
  ) throws(KeychainError) -> Result {
    for _ in 0..<8 {
      switch try attempt() {
      case .done(let result): return result
      case .needs(let need): try need.meet()
      }
    }
    throw KeychainError(
      .busy, "the stores keep changing, or are locked again each time they were unlocked",
      recovery: .tryAgain)
  }
}

/// Something to do outside all locks before an attempt is repeated, such as asking for a passphrase
/// and hashing it.
package struct Need: Sendable {
  /// May ask a person, and may take long.
  package let meet: @Sendable () throws(KeychainError) -> Void

  package init(_ meet: @escaping @Sendable () throws(KeychainError) -> Void) { self.meet = meet }
}
