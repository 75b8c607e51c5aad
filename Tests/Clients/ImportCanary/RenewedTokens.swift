import Foundation
import Keychain

struct Tokens: Codable, Sendable {
  var access: String
  var refresh: String
  var expires: Date
}

struct NotSignedIn: LocalizedError {
  var errorDescription: String? { "not signed in: run 'mytool login'" }
}

func accessToken(
  in keychain: KeychainPreferences, refresh: @escaping @Sendable (String) async throws -> Tokens
) async throws -> String {
  try await keychain.value(
    Tokens.self, for: "api", validWhile: { $0.expires > .now + 60 }
  ) { old in
    guard let old else { throw NotSignedIn() }
    return try await refresh(old.refresh)
  }.access
}
