internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization
internal import Testing

extension ContractClause {
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
      let added = Mutex(0)
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
      let seen = Mutex<[CredentialChange]>([])
      let observation = store.observe { change in seen.withLock { $0.append(change) } }
      try store.put("1", password("a"))
      try store.put("2", password("a"))
      try store.update(password("a"), with: CredentialUpdate(label: .set("L")))
      try store.merge(
        CredentialUpdate(), secret: SecretBytes(copying: "3"), into: password("a"))
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
      let seen = Mutex(0)
      let observation = store.observe { _ in seen.withLock { $0 += 1 } }
      try store.put("1", password("a"))
      expect(.alreadyExists) { try store.put("2", Credential(password("a")), mode: .addOnly) }
      expect(.notFound) { try store.update(password("b"), with: CredentialUpdate()) }
      try await eventually { seen.withLock(\.self) >= 1 }
      #expect(seen.withLock(\.self) == 1)
      observation.cancel()
    },
  ]

  /// Runs a closure on several threads at the same time, one for each writer.
  static func inParallel(_ body: @escaping @Sendable (Int) throws -> Void) async throws {
    let failures = Mutex<[String]>([])
    await withCheckedContinuation { continuation in
      let group = DispatchGroup()
      for writer in 0..<writers {
        group.enter()
        Thread {
          do { try body(writer) } catch { failures.withLock { $0.append("\(error)") } }
          group.leave()
        }.start()
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
