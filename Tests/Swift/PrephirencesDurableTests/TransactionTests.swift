import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesSystem
import Testing

@Suite struct TransactionTests {
  private struct Refusal: Error {}

  @Test func callsWithinJoin() throws {
    let folder = try TestFolder()
    let store = folder.store()
    let result = try store.transaction { transaction in
      try transaction.set(1, forKey: "a")
      store["b"] = 2
      store.set(dictionary: ["c": 3])
      #expect(store["a"] as? Int == 1)
      #expect(try transaction.object(forKey: "b") as? Int == 2)
      #expect(folder.otherStore()["a"] == nil)
      return store.dictionary().count
    }
    #expect(result == 3)
    #expect(folder.otherStore().dictionary().count == 3)
  }

  @Test func aThrownErrorUndoesAll() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["a"] = 0
    #expect(throws: Refusal.self) {
      try store.transaction { transaction in
        try transaction.set(1, forKey: "a")
        store["b"] = 2
        throw Refusal()
      }
    }
    #expect(store["a"] as? Int == 0)
    #expect(store["b"] == nil)
    #expect(folder.otherStore()["a"] as? Int == 0)
  }

  @Test func aRehearsalWithinChangesNothing() throws {
    let folder = try TestFolder()
    let store = folder.store()
    try store.transaction { transaction in
      try transaction.set(1, forKey: "a")
      try store.rehearse([("a", .integer(2)), ("b", nil)], inPieces: false)
      #expect(try transaction.object(forKey: "a") as? Int == 1)
    }
    #expect(folder.otherStore()["a"] as? Int == 1)
  }

  @Test func aFailedPartUndoesItself() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["b"] = 0
    let changes = Received<String>()
    let observation = store.addObserver(PreferenceObserver(keys: nil) { changes.append($0.key) })
    try store.transaction { transaction in
      try transaction.set(1, forKey: "a")
      try? store.transaction { part in
        try part.removeAll()
        try part.set(2, forKey: "b")
        throw Refusal()
      }
      #expect(try transaction.object(forKey: "a") as? Int == 1)
      try store.transaction { try $0.set(3, forKey: "c") }
    }
    observation.cancel()
    #expect(changes.all == ["a", "c"])
    for store in [store, folder.otherStore()] {
      #expect(store.dictionary() as? [String: Int] == ["a": 1, "b": 0, "c": 3])
      #expect(store["b"] as? Int == 0)
    }
  }

  @Test func updatesOfManyThreadsAddUp() async throws {
    let folder = try TestFolder()
    let key = DurablePreferences.Key<Int>("count", default: 0)
    await withTaskGroup { group in
      for number in 0..<4 {
        let store = number.isMultiple(of: 2) ? folder.store() : folder.otherStore()
        group.addTask { for _ in 0..<50 { _ = try? store.update(key) { $0 += 1 } } }
      }
    }
    #expect(folder.store()[key] == 200)
  }

  @Test func replacingNeedsTheExpectedValue() throws {
    let folder = try TestFolder()
    let store = folder.store()
    let key = DurablePreferences.Key<Int>("port", default: 80)
    #expect(try !store.replace(key, expecting: 80, with: 1))
    #expect(try store.replace(key, expecting: nil, with: 1))
    #expect(try !folder.otherStore().replace(key, expecting: nil, with: 2))
    #expect(try folder.otherStore().replace(key, expecting: 1, with: nil))
    #expect(try !store.hasValue(for: key))
    try store.storeObject(1.0, forKey: "port")
    #expect(try !store.replaceValue(forKey: "port", expecting: 1, with: 2))
  }

  @Test func anotherStoreSeesEachChange() throws {
    let folder = try TestFolder()
    let (one, other) = (folder.store(), folder.otherStore())
    for number in 0..<100 {
      one["key"] = number
      #expect(other["key"] as? Int == number)
      other.removeObject(forKey: "key")
      #expect(one["key"] == nil)
    }
    one.set(dictionary: ["a": 1, "b": 2])
    other.clearAll()
    #expect(one.dictionary().isEmpty)
    #expect(one["a"] == nil)
  }

  /// They waited for 10 seconds, and then both failed.
  @Test func transactionsThatWaitForEachOtherEnd() throws {
    let folder = try TestFolder()
    let stores = ["a", "b", "c"].map { folder.store($0) }
    let begun = Received<Int>()
    let errors = Received<PreferencesError>()
    let ended = DispatchGroup()
    for index in stores.indices {
      ended.enter()
      Thread.detachNewThread {
        do {
          try stores[index].transaction { _ in
            begun.append(index)
            while begun.all.count < stores.count { usleep(1000) }
            try stores[(index + 1) % stores.count].storeObject(index, forKey: "key")
          }
        } catch {
          if let error = error as? PreferencesError { errors.append(error) }
        }
        ended.leave()
      }
    }
    ended.wait()
    #expect(errors.all.map(\.code) == [.timedOut])
    let message = try #require(errors.all.first?.message)
    #expect(message.contains("waits for that of this thread"))
    #expect(message.contains("always in the same order: /"))
    #expect(message.hasSuffix(".preferences"))
  }

  /// It was reported as transactions of several suites that wait for each other.
  @Test func processThatHoldsTheLockIsNamed() throws {
    let folder = try TestFolder()
    let store = DurablePreferences(
      suiteName: "suite", folder: folder.path, timeout: .milliseconds(50))
    try store.storeObject(1, forKey: "key")
    let holder = Process()
    holder.executableURL = URL(filePath: "/usr/bin/env")
    holder.arguments = [
      "flock", "--no-fork", folder.path + "/suite.preferences-lock", "sh", "-c", "echo; exec cat",
    ]
    let (input, output) = (Pipe(), Pipe())
    (holder.standardInput, holder.standardOutput) = (input, output)
    try holder.run()
    defer {
      kill(holder.processIdentifier, SIGKILL)
      holder.waitUntilExit()
    }
    #expect(output.fileHandleForReading.availableData.count > 0)
    let number = holder.processIdentifier
    let busy = #expect(throws: PreferencesError.self) { try store.storeObject(2, forKey: "key") }
    #expect(busy?.code == .timedOut)
    #expect(busy?.message.hasPrefix("process \(number) used the preferences for too long") == true)
    kill(number, SIGSTOP)
    while !RunningProcess(number).isStopped { usleep(1000) }
    let stopped = #expect(throws: PreferencesError.self) {
      try store.storeObject(2, forKey: "key")
    }
    #expect(stopped?.code == .timedOut)
    #expect(
      stopped?.message.hasPrefix("process \(number) uses the preferences, but it is stopped; ")
        == true)
    #expect(stopped?.message.contains("transaction") == false)
  }
}
