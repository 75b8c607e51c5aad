internal import Foundation
internal import Palau
internal import Prephirences
internal import Testing

@Suite("Observing entries")
struct ObservingTests {
  private let defaults = memoryDefaults()

  @Test func closureGetsChangesOfOthers() {
    let seen = Recorder<[Int?]>()
    let count: PalauDefaultsEntry<Int> = entry("count", defaults)
    let observation = count.observe { seen.record([$0, $1]) }
    count.value = 1
    defaults.set(2, forKey: "count")
    count.clear()
    observation.cancel()
    count.value = 3
    #expect(seen.all == [[1, nil], [2, 1], [nil, 2]])
  }

  @Test func closureGetsTheInitialValue() {
    let seen = Recorder<Theme?>()
    let theme: PalauDefaultsEntry<Theme> = entry("theme", defaults)
    theme.value = .dark
    let observation = theme.observe(initial: true) { new, _ in seen.record(new) }
    observation.cancel()
    #expect(seen.all == [.dark])
  }

  @Test func sequenceAppliesRules() async {
    let count: PalauDefaultsEntry<Int> = entry("count", defaults).whenNil(use: 7)
    var changes = count.changes(initial: true).makeAsyncIterator()
    #expect(await changes.next()?.newValue == 7)
    defaults.set(2, forKey: "count")
    let change = await changes.next()
    #expect(change?.newValue == 2)
    #expect(change?.oldValue == 7)
    #expect(change?.isInitial == false)
  }

  @Test func arraysAreObserved() {
    let seen = Recorder<[String]?>()
    let hosts: PalauDefaultsArrayEntry<String> = entries("hosts", defaults)
    let observation = hosts.observe { new, _ in seen.record(new) }
    hosts.value = ["a"]
    observation.cancel()
    #expect(seen.all == [["a"]])
  }
}
