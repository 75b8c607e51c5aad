// The code with which a command-line program stores a token, compiled like a client's: with one
// import and without access to `package` declarations.
public import Keychain

/// Stores a token and reads it back.
public func keepToken(_ token: String, in keychain: KeychainPreferences) throws -> Int? {
  do {
    try keychain.set(token, for: "api")
    if let token = try keychain.string(for: "api") { return token.count }
  } catch  where error.code == .locked {
    print("unlock the keychain first")
  }
  return nil
}

/// The same in asynchronous code.
public func keepToken(_ token: String, in keychain: KeychainPreferences) async throws -> Int? {
  try await keychain.set(token, for: "api")
  return try await keychain.string(for: "api")?.count
}
