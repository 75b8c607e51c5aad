internal import Foundation
internal import KeychainCredentials
internal import Synchronization
internal import Testing

extension ContractClause {
  static let renaming = [
    ContractClause(
      "renaming moves the secret and what is known about it",
      checkOpened: { opened in
        let store = opened.store
        let full = Credential(
          password("a"), accessibility: opened.contract.unusualAccessibility, label: "L",
          comment: "C",
          contentType: "T", expires: Date(timeIntervalSince1970: 2_000_000_000),
          attributes: ["k": "v"])
        let first = try store.put("secret", full)
        try await Task.sleep(for: .milliseconds(5))
        let renamed = try store.rename(password("a"), to: password("b"))
        var expected = first
        expected.identity = password("b")
        #expect(renamed.modified > first.modified)
        #expect(try store.credential(for: password("b")) == renamed)
        #expect(renamed.created == first.created && renamed.expires == first.expires)
        #expect(renamed.accessibility == first.accessibility && renamed.label == "L")
        #expect(renamed.comment == "C" && renamed.contentType == "T")
        #expect(renamed.attributes == expected.attributes && renamed.identity == expected.identity)
        #expect(try store.text(password("b")) == "secret")
        #expect(try store.credential(for: password("a")) == nil)
        #expect(try store.accounts(CredentialQuery(attributes: ["k": "v"])) == ["b"])
        #expect(try store.accounts(CredentialQuery(account: "a")) == [])
      }),
    ContractClause("renaming reaches other groups, services and kinds") { store in
      let internet = InternetPassword(server: "host", port: 443, account: "net")
      let names = [
        password("a"), password("a", group: "g"), password("a", service: "other", group: "g"),
        CredentialIdentity(.internetPassword(internet)),
        CredentialIdentity(.internetPassword(internet), accessGroup: "h"), password("z"),
      ]
      try store.put("secret", names[0])
      for (old, new) in zip(names, names.dropFirst()) {
        try store.rename(old, to: new)
        #expect(try store.search(CredentialQuery()).credentials.map(\.identity) == [new])
        #expect(try store.text(new) == "secret")
        #expect(try store.text(old) == nil)
      }
      #expect(try store.accounts(CredentialQuery(accessGroup: "g")) == [])
      #expect(try store.accounts(CredentialQuery(service: "service")) == ["z"])
    },
    ContractClause("renaming refuses a name that is taken, and absence") { store in
      try store.put("first", password("a"))
      try store.put("second", password("b"))
      expect(.alreadyExists) { try store.rename(password("a"), to: password("b")) }
      expect(.notFound) { try store.rename(password("c"), to: password("d")) }
      expect(.notFound) { try store.rename(password("c"), to: password("b")) }
      expect(.notFound) { try store.rename(password("c"), to: password("c")) }
      #expect(try store.text(password("a")) == "first")
      #expect(try store.text(password("b")) == "second")
      #expect(try store.accounts(CredentialQuery()) == ["a", "b"])
    },
    ContractClause("renaming checks the version", needs: .versions) { store in
      let first = try store.put("1", password("a"))
      let second = try store.put("2", password("a"))
      for name in ["a", "b"] {
        expect(.versionConflict) {
          try store.rename(password("a"), to: password(name), expectedVersion: first.version)
        }
      }
      let third = try store.rename(
        password("a"), to: password("b"), expectedVersion: second.version)
      #expect(third.version != second.version)
      #expect(try store.accounts(CredentialQuery()) == ["b"])
    },
    ContractClause("renaming to the same name changes nothing") { store in
      let seen = Mutex(0)
      let first = try store.put("secret", password("a"))
      let observation = store.observe { _ in seen.withLock { $0 += 1 } }
      #expect(try store.rename(password("a"), to: password("a")) == first)
      #expect(try store.credential(for: password("a")) == first)
      try await Task.sleep(for: .milliseconds(20))
      #expect(seen.withLock(\.self) == 0)
      observation.cancel()
    },
    ContractClause("names that only look the same are other names to rename to") { store in
      let names = ["\u{E9}", "e\u{301}", "E\u{301}"]
      try store.put("secret", password(names[0]))
      for (old, new) in zip(names, names.dropFirst()) {
        try store.rename(password(old), to: password(new))
        let accounts = try store.accounts(CredentialQuery())
        #expect(accounts.map { Array($0.utf8) } == [Array(new.utf8)])
        #expect(try store.text(password(new)) == "secret")
        #expect(try store.text(password(old)) == nil)
      }
    },
    ContractClause("observers see the old name go and the new one come", needs: .observation) {
      store in
      try store.put("secret", password("a"))
      let seen = Mutex<[CredentialChange]>([])
      let observation = store.observe { change in seen.withLock { $0.append(change) } }
      try store.rename(password("a"), to: password("b"))
      expect(.notFound) { try store.rename(password("a"), to: password("c")) }
      try await eventually { seen.withLock { $0.count } >= 2 }
      #expect(
        seen.withLock(\.self) == [
          CredentialChange(password("a"), .removed), CredentialChange(password("b"), .added),
        ])
      observation.cancel()
    },
    ContractClause("a name that is too long is refused, and the credential stays") { store in
      try store.put("secret", password("a"))
      let long = String(repeating: "n", count: Credential.maximumMetadataCount + 1)
      expect(.tooLarge) { try store.rename(password("a"), to: password(long)) }
      #expect(try store.accounts(CredentialQuery()) == ["a"])
    },
  ]
}
