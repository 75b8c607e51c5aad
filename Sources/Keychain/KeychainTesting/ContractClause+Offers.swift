internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Testing

extension ContractClause {
  static let limits = [
    ContractClause("any bytes are a secret") { store in
      for text in ["", "\0", "a\0b", "\n", "two\nlines\n", " ", "\u{1F511}"] {
        try store.put(text, password("a"))
        #expect(try store.bytes(password("a")) == Array(text.utf8))
      }
      let every = try SecretBytes(count: 256) { bytes in
        for value in 0..<256 {
          bytes.storeBytes(of: UInt8(value), toByteOffset: value, as: UInt8.self)
        }
      }
      try store.store(Credential(password("a")), secret: every)
      #expect(try store.bytes(password("a")) == (0..<256).map { UInt8($0) })
    },
    ContractClause(
      "the largest secret is kept, and a larger one refused",
      checkOpened: { opened in
        let store = opened.store
        let limit = opened.contract.largestSecret
        let largest = try SecretBytes.random(count: limit)
        try store.store(Credential(password("a")), secret: largest)
        let isSame = try store.bytes(password("a")) == largest.withBytes { $0.array }
        #expect(isSame)
        let larger = try SecretBytes.random(count: limit + 1)
        do {
          try store.store(Credential(password("a")), secret: larger)
          Issue.record("a secret of one byte more was stored")
        } catch let error as KeychainError {
          #expect(error.code == .tooLarge)
        }
        #expect(try store.bytes(password("a"))?.count == limit)
      }),
    ContractClause("names and texts have 64 KiB together, and no byte more") { store in
      let limit = 65_536
      let rest = limit - ["service", "a", "L", "T", "name", "value"].joined().utf8.count
      func credential(_ count: Int) -> Credential {
        Credential(
          password("a"), label: "L", comment: String(repeating: "c", count: count),
          contentType: "T", attributes: ["name": "value"])
      }
      expect(.tooLarge) { try store.put("new", credential(rest + 1)) }
      #expect(try store.credential(for: password("a")) == nil)
      let stored = try store.put("old", credential(rest))
      #expect(try store.credential(for: password("a"))?.comment?.utf8.count == rest)
      expect(.tooLarge) { try store.put("new", credential(rest + 1)) }
      expect(.tooLarge) {
        try store.update(password("a"), with: CredentialUpdate(attributes: [("name", "values")]))
      }
      #expect(try store.credential(for: password("a")) == stored)
      #expect(try store.text(password("a")) == "old")
    },
  ]

  static let accessibilities = [
    ContractClause(
      "the accessibility changes, and secret and fields stay",
      checkOpened: { opened in
        let store = opened.store
        try store.put("secret", Credential(password("a"), label: "L", attributes: ["k": "v"]))
        for accessibility in opened.contract.accessibilities + [.whenUnlocked] {
          try store.update(password("a"), with: CredentialUpdate(accessibility: accessibility))
          let read = try #require(try store.credential(for: password("a")))
          #expect(read.accessibility == accessibility && read.label == "L")
          #expect(try store.text(password("a")) == "secret")
          #expect(try store.accounts(CredentialQuery(attributes: ["k": "v"])) == ["a"])
        }
      }),
    ContractClause(
      "accessibilities that are not offered are refused",
      checkOpened: { opened in
        let store = opened.store
        try store.put("secret", password("a"))
        for accessibility in opened.contract.refusedAccessibilities {
          expect(.refused) {
            try store.put("s", Credential(password("b"), accessibility: accessibility))
          }
          expect(.refused) {
            try store.update(password("a"), with: CredentialUpdate(accessibility: accessibility))
          }
        }
        #expect(try store.credential(for: password("a"))?.accessibility == .whenUnlocked)
        #expect(try store.accounts(CredentialQuery()) == ["a"])
      }),
    ContractClause(
      "a condition on a version is checked or refused",
      checkOpened: { opened in
        let store = opened.store
        let first = try store.put("secret", Credential(password("a"), label: "L"))
        let other = first.version + 1
        expectFailure {
          try store.put("s", Credential(password("a")), mode: .replace(version: other))
        }
        expectFailure {
          try store.update(
            password("a"), with: CredentialUpdate(label: .clear), expectedVersion: other)
        }
        expectFailure {
          try store.rename(password("a"), to: password("b"), expectedVersion: other)
        }
        expectFailure { try store.remove(password("a"), expectedVersion: other) }
        #expect(try store.text(password("a")) == "secret")
        #expect(try store.credential(for: password("a")) == first)
      }),
  ]

  static let persistence = [
    ContractClause(
      "a store that is opened again has what was stored",
      checkOpened: { opened in
        let full = Credential(
          password("a", group: "g"), accessibility: opened.contract.unusualAccessibility,
          label: "L", comment: "C", contentType: "T",
          expires: Date(timeIntervalSince1970: 2_000_000_000), attributes: ["k": "v"])
        let stored = try opened.store.put("secret", full)
        let again = try opened.open()
        #expect(try again.credential(for: full.identity) == stored)
        #expect(try again.text(full.identity) == "secret")
        #expect(try again.accounts(CredentialQuery(attributes: ["k": "v"])) == ["a"])
      }),
    ContractClause(
      "a change shows in a store that was opened before",
      checkOpened: { opened in
        let before = try opened.open()
        try opened.store.put("1", password("a"))
        #expect(try before.text(password("a")) == "1")
        try opened.store.put("2", Credential(password("a"), label: "L"))
        #expect(try before.text(password("a")) == "2")
        #expect(try before.credential(for: password("a"))?.label == "L")
        try opened.store.rename(password("a"), to: password("b"))
        #expect(try before.accounts(CredentialQuery()) == ["b"])
        try opened.store.remove(password("b"))
        #expect(try before.text(password("b")) == nil)
        #expect(try before.accounts(CredentialQuery()) == [])
      }),
  ]

  private static func expectFailure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
  }
}
