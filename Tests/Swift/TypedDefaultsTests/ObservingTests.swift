internal import Foundation
internal import Prephirences
internal import Testing
internal import TypedDefaults

@Suite("Observing stores")
struct ObservingTests {
  @Test func closureGetsNewAndOldValue() {
    let seen = Recorder<[Int?]>()
    let store = InMemoryStore<Launches>()
    store.set(Launches(count: 0))
    let observation = store.observe(initial: true) { seen.record([$0?.count, $1?.count]) }
    store.set(Launches(count: 1))
    store.set(Launches(count: 1))
    store.remove()
    observation.cancel()
    store.set(Launches(count: 2))
    #expect(seen.all == [[0, nil], [1, 0], [nil, 1]])
  }

  @Test func sequenceHasTheChanges() async {
    let store = AnyStore(InMemoryStore<Launches>())
    var changes = store.changes(initial: true).makeAsyncIterator()
    #expect(await changes.next()?.isInitial == true)
    store.set(Launches(count: 1))
    #expect(await changes.next()?.newValue == Launches(count: 1))
    store.set(Launches(count: 2))
    let change = await changes.next()
    #expect(change?.oldValue == Launches(count: 1))
    #expect(change?.newValue == Launches(count: 2))
  }

  @Test func ownStoresReportNoChanges() async {
    struct Own: DefaultStoreType {
      func set(_ value: Launches) {}
      func get() -> Launches? { nil }
      func remove() {}
    }
    let store = AnyStore(Own())
    #expect(store.lastError == nil)
    for await change in store.changes() { Issue.record("\(change)") }
  }
}
