import KeychainCredentials
import Testing

/// Expects a call to fail with one of these codes.
func expect(
  oneOf codes: Set<KeychainError.Code>, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Any?
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  #expect(
    error.map { codes.contains($0.code) } ?? false, "\(error as Any)",
    sourceLocation: sourceLocation)
}

/// Expects a call to fail with a code.
func expect(
  _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Any?
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  #expect(error?.code == code, "\(error as Any)", sourceLocation: sourceLocation)
}
