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

// More code of a program that renews tokens, changes values and records what they are.

/// Uses a renewed value that could not be stored instead of losing it.
func accessTokenOrUnsaved(
  in keychain: KeychainPreferences, renew: @escaping @Sendable (Tokens?) async throws -> Tokens
) async throws -> String {
  do {
    return try await keychain.value(
      Tokens.self, for: "api", expires: \.expires, validWhile: { $0.expires > .now },
      deadline: .seconds(10), renew: renew
    ).access
  } catch let error as UnsavedValueError<Tokens> {
    print(error)  // what failed and what to do next, without the tokens
    return error.value.access
  }
}

/// Renews a token that the server refused although it looks valid.
func renewedAccessToken(
  in keychain: KeychainPreferences, insteadOf refused: String,
  renew: @escaping @Sendable (Tokens?) async throws -> Tokens
) async throws -> String {
  let tokens = try await keychain.value(
    Tokens.self, for: "api", validWhile: { $0.access != refused }, renew: renew)
  return tokens.access
}

/// Checks a renewal in a test, without a server.
func checkRenewal() async throws {
  let keychain = KeychainPreferences(service: "tests", store: InMemoryCredentialStore())
  try keychain.set(Tokens(access: "a", refresh: "r", expires: .distantPast), for: "api")
  let access = try await accessToken(in: keychain) { refresh in
    Tokens(access: "b", refresh: refresh + "2", expires: .distantFuture)
  }
  assert(access == "b")
}

/// The same calls in synchronous code, with details for the user.
func count(in keychain: KeychainPreferences) throws -> Int? {
  let tokens = try keychain.waitForValue(
    Tokens.self, for: "api", expires: \.expires, validWhile: { $0.expires > .now }
  ) { old in
    Tokens(access: "a", refresh: old?.refresh ?? "r", expires: .distantFuture)
  }
  try keychain.set(
    tokens, for: "copy", expires: tokens.expires, label: "A copy", attributes: ["of": "api"])
  try keychain.update(Tokens.self, for: "copy") { $0?.access = "b" }
  return try keychain.update(Int.self, for: "count") { count in count = (count ?? 0) + 1 }
}
