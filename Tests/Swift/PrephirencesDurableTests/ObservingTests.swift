import Foundation
import Prephirences
import PrephirencesDurable
import Testing

@Suite struct ObservingTests {
  private struct Seen: Equatable {
    let old: Int?
    let new: Int?

    init(_ old: Int?, _ new: Int?) { (self.old, self.new) = (old, new) }

    init(_ change: PreferenceChange) {
      self.init(change.oldValue as? Int, change.newValue as? Int)
    }
  }

  @Test func ownChangesAreReportedInOrder() throws {
    let store = try TestFolder().store()
    let seen = Received<Seen>()
    let observation = store.observe(forKey: "key", initial: true) { seen.append(Seen($0)) }
    store["key"] = 1
    store["key"] = 1
    store["key"] = 2
    store["other"] = 3
    store.clearAll()
    #expect(seen.all == [Seen(nil, nil), Seen(nil, 1), Seen(1, 2), Seen(2, nil)])
    observation.cancel()
  }

  @Test func changesAreReportedBeforeTheSetterReturns() throws {
    let folder = try TestFolder()
    let (store, other) = (folder.store(), folder.store("other"))
    let seen = Received<Seen>()
    let observation = store.observe(forKey: "key") { change in
      other["copy"] = change.newValue
      seen.append(Seen(change))
    }
    // The thread that notices other processes is woken by each of these changes as well.
    for number in 1...300 {
      store["key"] = number
      #expect(seen.all.last?.new == number)
    }
    observation.cancel()
  }

  @Test func aTransactionIsReportedAfterIt() throws {
    let store = try TestFolder().store()
    let seen = Received<Seen>()
    let observation = store.observeAll { seen.append(Seen($0)) }
    try store.transaction { _ in
      store["a"] = 1
      store["a"] = 2
      #expect(seen.all.isEmpty)
    }
    _ = try? store.transaction { _ in
      store["a"] = 3
      throw CancellationError()
    }
    #expect(seen.all == [Seen(nil, 2)])
    observation.cancel()
  }

  @Test func changesOfOthersAreReported() async throws {
    let folder = try TestFolder()
    let (one, other) = (folder.store(), folder.otherStore())
    var changes = one.changes(forKey: "key").makeAsyncIterator()
    other["key"] = 1
    var change = await changes.next()
    #expect(change.map(Seen.init) == Seen(nil, 1))
    other["key"] = 2
    change = await changes.next()
    #expect(change.map(Seen.init) == Seen(1, 2))
    other.removeObject(forKey: "key")
    change = await changes.next()
    #expect(change.map(Seen.init) == Seen(2, nil))
  }

  @Test func typedKeysAreObserved() async throws {
    let folder = try TestFolder()
    let key = DurablePreferences.Key<Int>("key", default: 7)
    let seen = Received<Int>()
    let observation = folder.store().observe(key, initial: true) { seen.append($0.newValue) }
    folder.store()[key] = 8
    try folder.store().remove(key)
    #expect(seen.all == [7, 8, 7])
    observation.cancel()
    var changes = folder.store().changes(of: key).makeAsyncIterator()
    folder.otherStore()[key] = 9
    let change = await changes.next(isolation: #isolation)
    #expect(change?.newValue == 9)
  }

  @Test func observersMayChangeValues() throws {
    let store = try TestFolder().store()
    let observation = store.observe(forKey: "key") { change in
      if let number = change.newValue as? Int, number < 5 { store["key"] = number + 1 }
    }
    store["key"] = 1
    #expect(store["key"] as? Int == 5)
    observation.cancel()
  }
}
