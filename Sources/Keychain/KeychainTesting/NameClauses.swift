internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem
internal import Testing

extension ContractClause {
  static let searching = [
    ContractClause("a search matches each field, and all of them together") { store in
      let internet = InternetPassword(
        server: "host", protocol: "https", port: 443, path: "/p", account: "net")
      try store.put(
        "1", Credential(password("a", service: "s1"), attributes: ["k": "v", "l": "w"]))
      try store.put(
        "2", Credential(password("b", service: "s1", group: "g"), attributes: ["k": "v"]))
      try store.put("3", password("a", service: "s2"))
      try store.put("4", CredentialIdentity(.internetPassword(internet)))
      let cases: [(CredentialQuery, [String])] = [
        (CredentialQuery(), ["a", "a", "b", "net"]),
        (CredentialQuery(accessGroup: ""), ["a", "a", "net"]),
        (CredentialQuery(accessGroup: "g"), ["b"]),
        (CredentialQuery(service: "s1"), ["a", "b"]),
        (CredentialQuery(account: "a"), ["a", "a"]),
        (CredentialQuery(service: "s1", account: "a"), ["a"]),
        (CredentialQuery(server: "host"), ["net"]),
        (CredentialQuery(protocol: "https"), ["net"]),
        (CredentialQuery(port: 443), ["net"]),
        (CredentialQuery(path: "/p"), ["net"]),
        (CredentialQuery(server: "host", port: 80), []),
        (CredentialQuery(service: "s1", server: "host"), []),
        (CredentialQuery(service: "s"), []),
        (CredentialQuery(attributes: ["k": "v"]), ["a", "b"]),
        (CredentialQuery(attributes: ["k": "v", "l": "w"]), ["a"]),
        (CredentialQuery(attributes: ["k": "w"]), []),
        (CredentialQuery(accessGroup: "g", attributes: ["k": "v"]), ["b"]),
      ]
      for (query, accounts) in cases {
        #expect(try store.accounts(query).sorted() == accounts, "\(query)")
      }
    },
    ContractClause("results are ordered by the bytes of their names") { store in
      for account in ["é", "b", "Z", "", "a", "ab"] { try store.put("s", password(account)) }
      #expect(
        try store.accounts(CredentialQuery(service: "service")) == ["", "Z", "a", "ab", "b", "é"])
    },
  ]

  static let naming = [
    ContractClause("names compare as bytes") { store in
      let precomposed = "\u{E9}"
      let decomposed = "e\u{301}"
      try store.put("1", Credential(password(precomposed), attributes: ["n": precomposed]))
      try store.put("2", Credential(password(decomposed), attributes: ["n": decomposed]))
      #expect(try store.text(password(precomposed)) == "1")
      #expect(try store.text(password(decomposed)) == "2")
      #expect(try store.accounts(CredentialQuery()).count == 2)
      for name in [precomposed, decomposed] {
        let byAccount = try store.accounts(CredentialQuery(account: name))
        let byAttribute = try store.accounts(CredentialQuery(attributes: ["n": name]))
        #expect(byAccount.map { Array($0.utf8) } == [Array(name.utf8)])
        #expect(byAttribute.map { Array($0.utf8) } == [Array(name.utf8)])
      }
      try store.remove(password(precomposed))
      #expect(try store.text(password(decomposed)) == "2")
    },
    ContractClause("names may be empty, and hold any character") { store in
      let names = ["", " ", "-x", "a\nb", "a\0b", "a", "\u{1F511}", "../x", "'", "%"]
      for name in names { try store.put(name, password(name, service: name)) }
      for name in names {
        #expect(try store.text(password(name, service: name)) == name)
        #expect(try store.accounts(CredentialQuery(service: name)) == [name])
      }
    },
    ContractClause("service and account do not run into each other") { store in
      try store.put("1", password("c", service: "ab"))
      try store.put("2", password("bc", service: "a"))
      try store.put("3", password("", service: "abc"))
      #expect(try store.text(password("c", service: "ab")) == "1")
      #expect(try store.text(password("bc", service: "a")) == "2")
      #expect(try store.text(password("", service: "abc")) == "3")
    },
    ContractClause("groups are separate") { store in
      for group in ["", "g", "h"] { try store.put("in \(group)", password("a", group: group)) }
      try store.remove(password("a", group: "h"))
      #expect(try store.text(password("a")) == "in ")
      #expect(try store.text(password("a", group: "g")) == "in g")
      #expect(try store.text(password("a", group: "h")) == nil)
    },
    ContractClause("each name of an internet password distinguishes it") { store in
      let first = InternetPassword(
        server: "s", protocol: "p", port: 1, path: "/", account: "a", securityDomain: "d",
        authenticationType: "t")
      var others = [InternetPassword](repeating: first, count: 7)
      others[0].server = "S"
      others[1].protocol = "P"
      others[2].port = 2
      others[3].path = "/x"
      others[4].account = "A"
      others[5].securityDomain = "D"
      others[6].authenticationType = "T"
      let all = ([first] + others).map { CredentialIdentity(.internetPassword($0)) }
      for (number, identity) in all.enumerated() { try store.put("\(number)", identity) }
      for (number, identity) in all.enumerated() {
        #expect(try store.text(identity) == "\(number)")
      }
    },
    ContractClause("reserved and empty attribute names are refused") { store in
      let reserved = ["service", "account", "username", "access-group", "xdg:schema", "server", ""]
      for name in reserved {
        expect(.invalidArgument) {
          try store.put("s", Credential(password("a"), attributes: [name: "v"]))
        }
      }
      #expect(try store.credential(for: password("a")) == nil)
      try store.put("s", password("a"))
      expect(.invalidArgument) {
        try store.update(password("a"), with: CredentialUpdate(attributes: [("service", "v")]))
      }
    },
  ]

  static let renaming = [
    ContractClause(
      "renaming moves the secret and the attributes",
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
      let seen = PosixMutex(0)
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
      let seen = PosixMutex<[CredentialChange]>([])
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
