internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
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
    ContractClause("what is found is ordered by the bytes of its names") { store in
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
}
