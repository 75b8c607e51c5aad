internal import Testing

@testable internal import KeychainSecrets

/// A type with a secret, like one in an application.
private final class Session {
  let name = "session"
  let token: SecretBytes
  init(token: String) throws { self.token = try SecretBytes(copying: token) }
}

@Suite("Printing")
struct PrintingTests {
  // `"\(secret)"` does not compile, because the type is not copyable; a type that contains one can
  // be printed.
  @Test func holderShowsNothing() throws {
    let text = "correct horse battery staple"
    let session = try Session(token: text)
    var dumped = ""
    dump(session, to: &dumped)
    for shown in [dumped, "\(session)", String(reflecting: session)] {
      #expect(shown.contains("horse") == false)
      #expect(shown.contains("Session"))
    }
  }

  @Test func errorsSayWhatHappened() {
    let errors: [KeychainError] = [
      .libraryUnavailable, .outOfMemory, .notAuthentic, .wrongLength, .refusedParameters,
      .inputOutput(errno: 9),
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    #expect(KeychainError.inputOutput(errno: 9).description.contains("9"))
    #expect(KeychainError.inputOutput(errno: 9).underlying == .system(errno: 9))
  }
}
