internal import KeychainCredentials
internal import PrephirencesSystem

extension ServiceOperation {
  /// Runs an operation on the connection of the process.
  ///
  /// If the provider has ended since the last call, which only the first message shows, a second
  /// attempt uses a new connection, unless something may have been written.
  static func run<Result: ~Copyable>(
    _ configuration: SecretServiceConfiguration, _ question: PostponedQuestion? = nil,
    _ body: (ServiceOperation) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let address = try BusAddress(environment: configuration.environment)
    let slot = ConnectionPool.slot(for: address)
    let deadline = Deadline(after: configuration.deadline)
    let first = ServiceOperation(
      try slot.connect(deadline), configuration, deadline, question)
    do throws(KeychainError) {
      return try body(first)
    } catch {
      guard let failure = first.failure, failure.endsConnection else { throw error }
      slot.drop(first.connection)
      guard failure.isUndelivered, !first.mustNotRepeat else { throw error }
    }
    let second = ServiceOperation(
      try slot.connect(deadline), configuration, deadline, question)
    do throws(KeychainError) {
      return try body(second)
    } catch {
      if second.failure?.endsConnection ?? false { slot.drop(second.connection) }
      throw error
    }
  }
}
