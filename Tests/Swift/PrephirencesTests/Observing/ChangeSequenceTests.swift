import Foundation
import Prephirences
import Testing

@Suite("Changes as a sequence")
struct ChangeSequenceTests {
  private let store = SampleStore()

  @Test func changesFromTheBeginningOfTheSequence() async {
    var changes = store.changes(forKey: "a", initial: true).makeAsyncIterator()
    #expect(await changes.next()?.text == "a = nil")
    store["a"] = 1
    #expect(await changes.next()?.text == "a: nil -> 1")
    Task { [store] in store["a"] = 2 }
    #expect(await changes.next()?.text == "a: 1 -> 2")
  }

  @Test func slowReaderFindsOneChangeForEachKey() async {
    let changes = store.allChanges()
    for value in 1...1000 {
      store["a"] = value
      store["b"] = -value
    }
    store["c"] = 1
    store["c"] = nil as Any?
    store["d"] = 1
    var texts: [String] = []
    for await change in changes {
      texts.append(change.text)
      if change.key == "d" { break }
    }
    #expect(texts == ["a: nil -> 1000", "b: nil -> -1000", "d: nil -> 1"])
  }

  @Test func sequenceEndsWithTheStore() async {
    let changes: PreferenceChanges
    do {
      let store = SampleStore()
      changes = store.changes(forKeys: ["a"])
      store["a"] = 1
    }
    var texts: [String] = []
    for await change in changes { texts.append(change.text) }
    #expect(texts == ["a: nil -> 1"])
  }

  @Test func sequenceEndsWithItsTask() async {
    let task = Task { [store] in
      var count = 0
      for await _ in store.allChanges() { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value == 0)
  }

  @Test @MainActor func readerMayBelongToAnActor() async {
    var values: [Int] = []
    for await change in store.changes(forKey: "a", initial: true) {
      values.append(change.newValue as? Int ?? 0)
      if values.count == 3 { break }
      store["a"] = values.count
    }
    #expect(values == [0, 1, 2])
  }
}
