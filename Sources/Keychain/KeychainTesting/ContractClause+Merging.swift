internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Testing

extension ContractClause {
  static let merging = [
    ContractClause(
      "merging keeps what the update leaves out", needs: .versions,
      checkOpened: { opened in
        let store = opened.store
        let expires = Date(timeIntervalSince1970: 2_000_000_000)
        let old = try store.put(
          "old",
          Credential(
            password("a"), accessibility: opened.contract.unusualAccessibility, label: "L",
            comment: "C",
            contentType: "T", expires: expires,
            attributes: ["keep": "1", "change": "2", "drop": "3"]
          ))
        let merged = try store.merge(
          "new", password("a"),
          CredentialUpdate(
            comment: .set("D"), contentType: .clear, attributes: [("change", "two"), ("drop", nil)])
        )
        let new = merged.credential
        #expect(new.accessibility == old.accessibility && new.label == "L" && new.comment == "D")
        #expect(new.contentType == nil && new.expires == expires)
        #expect(new.attributes == ["keep": "1", "change": "two"])
        #expect(new.created == old.created)
        #expect(merged.replaced == old)
        #expect(try store.credential(for: password("a")) == new)
        #expect(try store.text(password("a")) == "new")
        #expect(try store.accounts(CredentialQuery(attributes: ["change": "two"])) == ["a"])
        #expect(try store.accounts(CredentialQuery(attributes: ["drop": "3"])) == [])
      }),
    ContractClause(
      "merging adds what is absent",
      checkOpened: { opened in
        let store = opened.store
        let unusual = opened.contract.unusualAccessibility
        let merged = try store.merge(
          "s", password("a"), CredentialUpdate(accessibility: unusual, label: .set("L")))
        #expect(merged.replaced == nil)
        #expect(merged.credential.accessibility == unusual && merged.credential.label == "L")
        #expect(try store.credential(for: password("a")) == merged.credential)
        #expect(try store.text(password("a")) == "s")
        #expect(try store.merge("s", password("b")).credential.accessibility == .whenUnlocked)
      }),
    ContractClause(
      "merging changes the accessibility", needs: .versions,
      checkOpened: { opened in
        let store = opened.store
        try store.put("1", Credential(password("a"), label: "L"))
        for accessibility in opened.contract.accessibilities {
          try store.merge("2", password("a"), CredentialUpdate(accessibility: accessibility))
          let read = try #require(try store.credential(for: password("a")))
          #expect(read.accessibility == accessibility && read.label == "L")
        }
        #expect(try store.text(password("a")) == "2")
      }),
    ContractClause("merging checks the mode, and fails without a change", needs: .versions) {
      store in
      let first = try store.merge("1", password("a"), mode: .addOnly).credential
      let version = StoreMode.replace(version: first.version)
      expect(.alreadyExists) { try store.merge("x", password("a"), mode: .addOnly) }
      let second = try store.merge("2", password("a"), mode: version).credential
      expect(.versionConflict) { try store.merge("x", password("a"), mode: version) }
      #expect(try store.text(password("a")) == "2")
      #expect(try store.credential(for: password("a")) == second)
      expect(.notFound) { try store.merge("x", password("b"), mode: version) }
      #expect(try store.credential(for: password("b")) == nil)
    },
    ContractClause("a merge that is refused leaves the old credential", needs: .versions) { store in
      let old = try store.put("old", password("a"))
      let reserved = CredentialUpdate(label: .set("L"), attributes: [("service", "v")])
      let long = CredentialUpdate(
        comment: .set(String(repeating: "c", count: Credential.maximumMetadataCount)))
      for account in ["a", "b"] {
        expect(.invalidArgument) { try store.merge("new", password(account), reserved) }
        expect(.tooLarge) { try store.merge("new", password(account), long) }
      }
      #expect(try store.credential(for: password("a")) == old)
      #expect(try store.text(password("a")) == "old")
      #expect(try store.credential(for: password("b")) == nil)
    },
    ContractClause("writers that merge at once lose nothing", needs: .versions) { store in
      let perWriter = 4
      try await inParallel { writer in
        for number in 0..<perWriter {
          try store.merge(
            "\(writer).\(number)", password("one"),
            CredentialUpdate(attributes: [("k\(writer).\(number)", "v")]))
        }
      }
      let read = try #require(try store.credential(for: password("one")))
      #expect(read.attributes.count == writers * perWriter)
      #expect(try store.accounts(CredentialQuery()) == ["one"])
    },
  ]
}

extension CredentialStore {
  /// Merges text as a secret.
  @discardableResult
  fileprivate func merge(
    _ text: String, _ identity: CredentialIdentity, _ update: CredentialUpdate = CredentialUpdate(),
    mode: StoreMode = .addOrReplace
  ) throws -> MergedCredential {
    try merge(update, secret: SecretBytes(copying: text), into: identity, mode: mode)
  }
}
