internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import Testing

extension ContractClause {
  static let reading = [
    ContractClause("an absent credential is nil") { store in
      try store.put("other", password("other"))
      #expect(try store.text(password("absent")) == nil)
      #expect(try store.credential(for: password("absent")) == nil)
    },
    ContractClause(
      "everything that was stored comes back",
      checkOpened: { opened in
        let store = opened.store
        let expires = Date(timeIntervalSince1970: 2_000_000_000.123456)
        let credential = Credential(
          password("full", group: "group"), accessibility: opened.contract.unusualAccessibility,
          label: "Label",
          comment: "two\nlines", contentType: "text/plain; charset=utf-8", expires: expires,
          attributes: ["one": "1", "empty": "", "ключ": "значение"])
        let stored = try store.put("secret", credential)
        let read = try #require(try store.credential(for: credential.identity))
        #expect(read == stored)
        #expect(read.accessibility == credential.accessibility)
        #expect(read.label == "Label" && read.comment == "two\nlines")
        #expect(read.contentType == "text/plain; charset=utf-8")
        #expect(read.attributes == credential.attributes)
        #expect(try store.text(credential.identity) == "secret")
      }),
    ContractClause("the expiry is kept to the microsecond") { store in
      for offset in [0.0, 0.000001, 0.123456, 0.999999] {
        let expires = Date(timeIntervalSince1970: 1_900_000_000 + offset)
        try store.put("s", Credential(password("e"), expires: expires))
        let read = try #require(try store.credential(for: password("e"))?.expires)
        #expect(abs(read.timeIntervalSince(expires)) < 0.0000005)
      }
    },
    ContractClause("an expiry that cannot be kept is refused, and not taken for none") { store in
      try store.put("s", Credential(password("a")))
      for interval in [-Double.infinity, -1e300, .nan] {
        let expires = Date(timeIntervalSince1970: interval)
        expect(.invalidArgument) { try store.put("s", Credential(password("e"), expires: expires)) }
      }
      let stored = try store.credential(for: password("e"))
      #expect(stored == nil)
    },
    ContractClause("an expired credential is returned as any other") { store in
      try store.put("old", Credential(password("e"), expires: Date(timeIntervalSince1970: 1)))
      #expect(try store.text(password("e")) == "old")
      #expect(try store.credential(for: password("e"))?.isExpired() == true)
    },
  ]

  static let writing = [
    ContractClause("adding only refuses an existing credential") { store in
      try store.put("first", Credential(password("a")), mode: .addOnly)
      expect(.alreadyExists) { try store.put("second", Credential(password("a")), mode: .addOnly) }
      #expect(try store.text(password("a")) == "first")
    },
    ContractClause("replacing a version refuses any other, and absence", needs: .versions) {
      store in
      let first = try store.put("first", password("a"))
      let second = try store.put(
        "second", Credential(password("a")), mode: .replace(version: first.version))
      expect(.versionConflict) {
        try store.put("third", Credential(password("a")), mode: .replace(version: first.version))
      }
      #expect(try store.text(password("a")) == "second")
      expect(.notFound) {
        try store.put("x", Credential(password("b")), mode: .replace(version: second.version))
      }
      #expect(try store.text(password("b")) == nil)
    },
    ContractClause("replacing leaves one item, without the fields of the old one") { store in
      try store.put("first", Credential(password("a"), label: "L", attributes: ["k": "v"]))
      try store.put("second", password("a"))
      #expect(try store.text(password("a")) == "second")
      let read = try #require(try store.credential(for: password("a")))
      #expect(read.label == nil && read.attributes.isEmpty)
      #expect(try store.accounts(CredentialQuery()) == ["a"])
      #expect(try store.accounts(CredentialQuery(attributes: ["k": "v"])) == [])
    },
    ContractClause("no two changes share a version", needs: .versions) { store in
      var versions: [UInt64] = []
      for round in 0..<3 {
        versions.append(try store.put("\(round)", password("a")).version)
        versions.append(try store.put("\(round)", password("b")).version)
        versions.append(
          try store.update(password("a"), with: CredentialUpdate(label: .set("\(round)"))).version)
      }
      versions.append(try store.rename(password("b"), to: password("c")).version)
      try store.remove(password("a"))
      versions.append(try store.put("again", password("a")).version)
      #expect(Set(versions).count == versions.count)
      #expect(try store.credential(for: password("a"))?.version == versions.last)
    },
    ContractClause("the creation date stays, the modification date moves") { store in
      let before = Date().addingTimeInterval(-0.001)
      let first = try store.put("1", password("a"))
      #expect(first.created >= before && first.created == first.modified)
      try await Task.sleep(for: .milliseconds(5))
      let second = try store.put("2", password("a"))
      try await Task.sleep(for: .milliseconds(5))
      let third = try store.update(password("a"), with: CredentialUpdate(label: .set("L")))
      #expect(second.created == first.created && third.created == first.created)
      #expect(first.modified < second.modified && second.modified < third.modified)
      #expect(third.modified <= Date().addingTimeInterval(0.001))
      #expect(try store.credential(for: password("a")) == third)
    },
  ]

  static let updating = [
    ContractClause("an update changes what it names, and keeps the secret") { store in
      let expires = Date(timeIntervalSince1970: 2_000_000_000)
      let full = Credential(
        password("a"), label: "L", comment: "C", contentType: "T", expires: expires,
        attributes: ["keep": "1", "change": "2", "drop": "3"])
      try store.put("secret", full)
      let changed = try store.update(
        password("a"),
        with: CredentialUpdate(
          label: .set("new"),
          attributes: [("change", "two"), ("drop", nil), ("add", "4"), ("absent", nil)]))
      #expect(changed.label == "new" && changed.comment == "C" && changed.contentType == "T")
      #expect(changed.expires == expires && changed.accessibility == .whenUnlocked)
      #expect(changed.attributes == ["keep": "1", "change": "two", "add": "4"])
      #expect(try store.credential(for: password("a")) == changed)
      #expect(try store.text(password("a")) == "secret")
      #expect(try store.accounts(CredentialQuery(attributes: ["add": "4"])) == ["a"])
      #expect(try store.accounts(CredentialQuery(attributes: ["drop": "3"])) == [])
    },
    ContractClause("an update clears fields") { store in
      try store.put(
        "s",
        Credential(password("a"), label: "L", comment: "C", contentType: "T", expires: Date()))
      let cleared = try store.update(
        password("a"),
        with: CredentialUpdate(label: .clear, comment: .clear, contentType: .clear, expires: .clear)
      )
      #expect(cleared.label == nil && cleared.comment == nil)
      #expect(cleared.contentType == nil && cleared.expires == nil)
      #expect(try store.credential(for: password("a")) == cleared)
    },
    ContractClause("an update checks the version", needs: .versions) { store in
      let first = try store.put("s", password("a"))
      let update = CredentialUpdate(label: .set("L"))
      try store.update(password("a"), with: update, expectedVersion: first.version)
      expect(.versionConflict) {
        try store.update(
          password("a"), with: CredentialUpdate(label: .clear), expectedVersion: first.version)
      }
      #expect(try store.credential(for: password("a"))?.label == "L")
    },
    ContractClause("an update refuses absence") { store in
      try store.put("s", password("a"))
      expect(.notFound) {
        try store.update(password("b"), with: CredentialUpdate(label: .set("L")))
      }
      #expect(try store.credential(for: password("b")) == nil)
      #expect(try store.credential(for: password("a"))?.label == nil)
    },
  ]

  static let removing = [
    ContractClause("removing returns whether there was something") { store in
      try store.put("s", password("a"))
      try store.put("s", password("b"))
      #expect(try store.remove(password("a")))
      #expect(try !store.remove(password("a")))
      #expect(try store.text(password("a")) == nil)
      #expect(try store.accounts(CredentialQuery()) == ["b"])
    },
    ContractClause("removing checks the version", needs: .versions) { store in
      let first = try store.put("1", password("a"))
      let second = try store.put("2", password("a"))
      expect(.versionConflict) { try store.remove(password("a"), expectedVersion: first.version) }
      #expect(try store.text(password("a")) == "2")
      #expect(try store.remove(password("a"), expectedVersion: second.version))
      #expect(try !store.remove(password("a"), expectedVersion: second.version))
    },
  ]

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
      "merging adds an absent credential",
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
  @discardableResult
  fileprivate func merge(
    _ text: String, _ identity: CredentialIdentity, _ update: CredentialUpdate = CredentialUpdate(),
    mode: StoreMode = .addOrReplace
  ) throws -> MergedCredential {
    try merge(update, secret: SecretBytes(copying: text), into: identity, mode: mode)
  }
}
