internal import Dispatch
internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem
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
      try store.set(Credential(password("a")), secret: every)
      #expect(try store.bytes(password("a")) == (0..<256).map { UInt8($0) })
    },
    ContractClause(
      "the largest secret is kept, and a larger one refused",
      checkOpened: { opened in
        let store = opened.store
        let limit = opened.contract.largestSecret
        let largest = try SecretBytes.random(count: limit)
        try store.set(Credential(password("a")), secret: largest)
        let isSame = try store.bytes(password("a")) == largest.withBytes { $0.array }
        #expect(isSame)
        let larger = try SecretBytes.random(count: limit + 1)
        do {
          try store.set(Credential(password("a")), secret: larger)
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
        expectFailure { try store.rename(password("a"), to: password("b"), expectedVersion: other) }
        expectFailure { try store.remove(password("a"), expectedVersion: other) }
        #expect(try store.text(password("a")) == "secret")
        #expect(try store.credential(for: password("a")) == first)
      }),
  ]

  static let persistence = [
    ContractClause(
      "a store that is opened again has the stored credentials",
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

  static let writers = 8

  static let concurrency = [
    ContractClause("writers at once lose nothing") { store in
      let perWriter = 10
      try await inParallel { writer in
        for number in 0..<perWriter {
          try store.put("\(writer).\(number)", password("\(writer).\(number)"))
        }
      }
      #expect(try store.accounts(CredentialQuery()).count == writers * perWriter)
      for writer in 0..<writers {
        for number in 0..<perWriter {
          #expect(try store.text(password("\(writer).\(number)")) == "\(writer).\(number)")
        }
      }
    },
    ContractClause("check-and-set counts exactly", needs: .versions) { store in
      let perWriter = 5
      try store.put("0", password("counter"))
      try await inParallel { _ in
        for _ in 0..<perWriter { try increment(password("counter"), in: store) }
      }
      #expect(try store.text(password("counter")) == "\(writers * perWriter)")
    },
    ContractClause("of writers that add one only, one succeeds") { store in
      let added = PosixMutex(0)
      try await inParallel { writer in
        do {
          try store.put("\(writer)", Credential(password("one")), mode: .addOnly)
          added.withLock { $0 += 1 }
        } catch let error as KeychainError where error.code == .alreadyExists {
        }
      }
      #expect(added.withLock(\.self) == 1)
    },
    ContractClause("work can be done off the concurrency pool") { store in
      let version = try await store.perform { try $0.put("s", password("a")).version }
      #expect(try store.credential(for: password("a"))?.version == version)
      await #expect(throws: KeychainError.self) {
        try await store.perform { try $0.update(password("b"), with: CredentialUpdate()).version }
      }
    },
  ]

  static let observing = [
    ContractClause("observers are notified of each change, until they end", needs: .observation) {
      store in
      let seen = PosixMutex<[CredentialChange]>([])
      let observation = store.observe { change in seen.withLock { $0.append(change) } }
      try store.put("1", password("a"))
      try store.put("2", password("a"))
      try store.update(password("a"), with: CredentialUpdate(label: .set("L")))
      try store.merge(CredentialUpdate(), secret: SecretBytes(copying: "3"), into: password("a"))
      try store.remove(password("a"))
      try store.remove(password("a"))
      let expected = [CredentialChange.Kind.added, .updated, .updated, .updated, .removed].map {
        CredentialChange(password("a"), $0)
      }
      try await eventually { seen.withLock { $0.count } >= expected.count }
      #expect(seen.withLock(\.self) == expected)
      observation.cancel()
      try store.put("3", password("b"))
      try await Task.sleep(for: .milliseconds(20))
      #expect(seen.withLock { $0.count } == expected.count)
    },
    ContractClause("a change that fails is not reported", needs: .observation) { store in
      let seen = PosixMutex(0)
      let observation = store.observe { _ in seen.withLock { $0 += 1 } }
      try store.put("1", password("a"))
      expect(.alreadyExists) { try store.put("2", Credential(password("a")), mode: .addOnly) }
      expect(.notFound) { try store.update(password("b"), with: CredentialUpdate()) }
      try await eventually { seen.withLock(\.self) >= 1 }
      #expect(seen.withLock(\.self) == 1)
      observation.cancel()
    },
  ]

  /// Runs a closure on several threads at the same time, with the number of each.
  static func inParallel(_ body: @escaping @Sendable (Int) throws -> Void) async throws {
    let failures = PosixMutex<[String]>([])
    await withCheckedContinuation { continuation in
      let group = DispatchGroup()
      for writer in 0..<writers {
        group.enter()
        do {
          // Writers that wait for each other need separate threads; those of a queue may share one.
          try DetachedThread.start(named: "writer") {
            do { try body(writer) } catch { failures.withLock { $0.append("\(error)") } }
            group.leave()
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
          group.leave()
        }
      }
      group.notify(queue: .global()) { continuation.resume() }
    }
    #expect(failures.withLock(\.self) == [])
  }

  private static func increment(
    _ identity: CredentialIdentity, in store: any CredentialStore
  ) throws {
    while true {
      guard let item = try store.secret(for: identity) else { return }
      let version = item.credential.version
      let value = item.secret.withBytes { $0.text }.flatMap { Int($0) } ?? 0
      do {
        try store.put("\(value + 1)", Credential(identity), mode: .replace(version: version))
        return
      } catch let error as KeychainError where error.code == .versionConflict {
        continue
      }
    }
  }
}
