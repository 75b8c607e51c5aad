internal import Foundation
internal import Keychain
internal import Testing

@Suite("Keychain preferences")
struct KeychainPreferencesTests {
  @Test func theDocumentsSpellings() {
    let keychain = preferences()
    keychain["anUserName"] = "password-encoded"
    #expect(keychain.stringForKey("anUserName") == "password-encoded")
    #expect(keychain[string: "anUserName"] == "password-encoded")
    keychain.accessibility = .AccessibleAfterFirstUnlock
    #expect(keychain.accessible == .afterFirstUnlock)
    keychain.accessGroup = "AKEY.shared"
    #expect(!keychain.hasObject(forKey: "anUserName"))
    keychain[data: "d"] = Data([1])
    #expect(keychain[data: "d"] == Data([1]))
    #expect(keychain[attribute: "d"]?.accessibility == .afterFirstUnlock)
    #expect(keychain[attribute: "d"]?.identity.accessGroup == "AKEY.shared")
    keychain[data: "d"] = nil
    #expect(keychain[attribute: "d"] == nil)
  }

  @Test func sharedInstanceIsNamedAfterProgramAndReplaceable() {
    let shared = KeychainPreferences.sharedInstance
    #expect(shared === KeychainPreferences.sharedInstance)
    #expect(shared.service == Bundle.main.executableURL?.lastPathComponent)
    #expect(shared.accessibility == .whenUnlocked && shared.accessGroup == nil)
    let replacement = preferences()
    KeychainPreferences.sharedInstance = replacement
    defer { KeychainPreferences.sharedInstance = shared }
    #expect(KeychainPreferences.sharedInstance === replacement)
  }

  @Test func absenceIsNilAndAStatus() throws {
    let keychain = preferences()
    #expect(keychain.lastStatus == nil)
    #expect(keychain["k"] == nil && keychain.lastStatus == errSecItemNotFound)
    #expect(keychain.lastError == nil)
    keychain["k"] = 1
    #expect(keychain.lastStatus == errSecSuccess)
    #expect(keychain.integer(forKey: "k") == 1 && keychain.lastStatus == errSecSuccess)
    keychain.removeObject(forKey: "k")
    #expect(keychain.lastStatus == errSecSuccess)
    keychain.removeObject(forKey: "k")
    #expect(keychain.lastStatus == errSecItemNotFound)
    #expect(try keychain.string(for: "k") == nil && !keychain.removeValue(for: "k"))
    #expect(try keychain.secret(for: "k") == nil)
  }

  @Test func failedReadIsReportedAndNothingWritten() throws {
    let store = FailingStore()
    let keychain = preferences(store)
    keychain["k"] = "old"
    let writes = store.writes
    for code in [KeychainError.Code.locked, .damaged, .incorrectSecret] {
      store.fail(code)
      keychain["k"] = "new"
      #expect(keychain.lastError?.code == code)
      #expect(keychain["k"] == nil && keychain.lastError?.code == code)
      #expect(keychain.string(forKey: "k") == nil && keychain.lastError?.code == code)
      #expect(!keychain.hasObject(forKey: "k") && keychain.lastError?.code == code)
      #expect(keychain.keys() == [] && keychain.lastError?.code == code)
      #expect(keychain.dictionary().isEmpty && keychain.lastError?.code == code)
      keychain.clearAll()
      #expect(keychain.lastError?.code == code)
      #expect(throws: KeychainError.self) { try keychain.allKeys() }
      #expect(throws: KeychainError.self) { try keychain.set("new", for: "k") }
      #expect(throws: KeychainError.self) { try keychain.contains("k") }
    }
    #expect(store.writes == writes)
    store.fail(nil)
    #expect(keychain["k"] as? String == "old" && keychain.lastError == nil)
  }

  @Test func expiredValueFailsUntilSetAgain() throws {
    let keychain = preferences()
    try keychain.set("old", for: "k")
    try keychain.update(CredentialUpdate(expires: .set(Date(timeIntervalSinceNow: -1))), for: "k")
    #expect(keychain["k"] == nil && keychain.lastStatus == errSecCertificateExpired)
    #expect(throws: KeychainError.self) { try keychain.string(for: "k") }
    #expect(try keychain.contains("k"))
    try keychain.set("new", for: "k")
    #expect(try keychain.string(for: "k") == "new")
  }

  @Test func settingKeepsWhatWasNotedAboutTheCredential() throws {
    let keychain = preferences()
    try keychain.set("old", for: "k")
    try keychain.update(
      CredentialUpdate(label: .set("L"), comment: .set("C"), attributes: [("a", "b")]), for: "k")
    keychain.accessibility = .always
    try keychain.set(Data([1]), for: "k")
    let credential = try #require(try keychain.credential(for: "k"))
    #expect(credential.label == "L" && credential.comment == "C")
    #expect(credential.attributes == ["a": "b"] && credential.accessibility == .always)
    #expect(credential.contentType == "application/octet-stream")
  }

  @Test func servicesServersAndGroupsAreSeparate() throws {
    let store = InMemoryCredentialStore()
    let all = [
      KeychainPreferences(service: "a", store: store),
      KeychainPreferences(service: "b", store: store),
      KeychainPreferences(service: "a", accessGroup: "g", store: store),
      KeychainPreferences(server: "a", store: store),
      KeychainPreferences(server: "a", protocol: "https", store: store),
      KeychainPreferences(server: "a", port: 1, store: store),
      KeychainPreferences(server: "a", path: "/", store: store),
      KeychainPreferences(server: "a", securityDomain: "d", store: store),
      KeychainPreferences(server: "a", authenticationType: "t", store: store),
    ]
    for (number, keychain) in all.enumerated() { try keychain.set(number, for: "k") }
    for (number, keychain) in all.enumerated() {
      #expect(keychain.dictionary() as? [String: Int] == ["k": number])
    }
    for (number, keychain) in all.enumerated() {
      keychain.clearAll()
      #expect(try keychain.allKeys() == [])
      #expect(try all.dropFirst(number + 1).allSatisfy { try $0.allKeys() == ["k"] })
    }
    #expect(all[0].service == "a" && all[0].server == nil && all[3].server == "a")
  }

  @Test func keysCompareAsBytes() throws {
    let keychain = preferences()
    keychain["\u{E9}"] = 1
    keychain["e\u{301}"] = 2
    #expect(keychain["\u{E9}"] as? Int == 1 && keychain["e\u{301}"] as? Int == 2)
    #expect(try keychain.allKeys().count == 2)
  }

  @Test func secretsNeedNoString() throws {
    let keychain = preferences()
    let bytes = try SecretBytes(copying: ([0, 1, 255] as [UInt8]).span.bytes)
    let set: (borrowing SecretBytes) throws -> Void = { try keychain.set($0, for: "k") }
    try set(bytes)
    #expect(keychain.data(forKey: "k") == Data([0, 1, 255]))
    guard let read = try keychain.secret(for: "k") else {
      Issue.record("the secret is absent")
      return
    }
    let count = read.count
    #expect(count == 3)
  }

  @Test func asynchronousCodeBlocksNoThreadOfThePool() async throws {
    let keychain = preferences()
    let isInTask = try await keychain.perform { keychain in
      try keychain.set("1", for: "k")
      return withUnsafeCurrentTask { $0 != nil }
    }
    #expect(!isInTask)
    guard let secret = try await keychain.perform({ try $0.secret(for: "k") }) else {
      Issue.record("the secret is absent")
      return
    }
    let count = secret.count
    #expect(count == 1)
    let error = await #expect(throws: KeychainError.self) {
      try await keychain.perform { try $0.update(CredentialUpdate(), for: "absent") }
    }
    #expect(error?.code == .notFound)
  }

  @Test func threadsShareOneInstance() throws {
    let keychain = preferences()
    DispatchQueue.concurrentPerform(iterations: 64) { number in
      keychain["own \(number)"] = number
      keychain["shared"] = number
    }
    #expect(try keychain.allKeys().count == 65)
    #expect((0..<64).allSatisfy { keychain.integer(forKey: "own \($0)") == $0 })
    #expect(keychain["shared"] is Int)
  }

  @Test func everyFailureKindHasItsOwnNumber() {
    let codes: [KeychainError.Code] = [
      .notFound, .alreadyExists, .versionConflict, .invalidArgument, .damaged, .rolledBack,
      .foreign, .noStore, .inputOutput, .timedOut, .busy, .ambiguous, .locked, .incorrectSecret,
      .refused, .unsupportedFormat, .otherDevice, .insecurePermissions, .tooLarge, .expired,
      .cancelled, .insufficientMemory, .undecodable, .outcomeUnknown,
    ]
    for code in codes {
      let status = KeychainError(code, "").status
      #expect(status != errSecSuccess && status != errSecInternalComponent, "\(code)")
      #expect((status == errSecItemNotFound) == (code == .notFound), "\(code)")
    }
    #expect(KeychainError(.internalFailure, "").status == errSecInternalComponent)
    #expect(KeychainError(.locked, "").status == -25308)
    #expect(KeychainError(.incorrectSecret, "").status == -25293)
  }
}
