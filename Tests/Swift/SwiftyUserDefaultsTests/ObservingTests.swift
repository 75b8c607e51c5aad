import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

@Suite struct ObservingTests {
  private struct Seen: Equatable {
    var old: Int?
    var new: Int?
    var isPrior = false
  }

  private func observe(
    _ defaults: DefaultsAdapter<DefaultsKeys>, _ options: NSKeyValueObservingOptions
  ) -> (Received<Seen>, any DefaultsDisposable) {
    let seen = Received<Seen>()
    let observer = defaults.observe(\.count, options: options) {
      seen.add(Seen(old: $0.oldValue, new: $0.newValue, isPrior: $0.isPrior))
    }
    return (seen, observer)
  }

  @Test func oldAndNewValues() {
    let defaults = makeAdapter()
    let (seen, observer) = observe(defaults, [.old, .new])
    defaults.count = 1
    defaults.count = 1
    defaults.count += 1
    defaults.remove(\.count)
    #expect(seen.all == [Seen(old: 0, new: 1), Seen(old: 1, new: 2), Seen(old: 2, new: 0)])
    observer.dispose()
    defaults.count = 7
    #expect(seen.all.count == 3)
  }

  @Test func initialValue() {
    let defaults = makeAdapter()
    defaults.count = 5
    let (seen, observer) = observe(defaults, [.initial, .new, .old])
    #expect(seen.all == [Seen(old: 0, new: 5)])
    observer.dispose()
  }

  @Test func priorUpdatesComeFirst() {
    let defaults = makeAdapter()
    let (seen, observer) = observe(defaults, [.prior, .new, .old])
    defaults.count = 5
    #expect(seen.all == [Seen(old: 0, new: 0, isPrior: true), Seen(old: 0, new: 5)])
    observer.dispose()
  }

  @Test func unaskedValuesAreDefaults() {
    let defaults = makeAdapter()
    let (seen, observer) = observe(defaults, [])
    defaults.count = 5
    #expect(seen.all == [Seen(old: 0, new: 0)])
    observer.dispose()
  }

  @Test func endsWithItsToken() {
    let defaults = makeAdapter()
    let (seen, _) = observe(defaults, [.new])
    defaults.count = 5
    #expect(seen.all.isEmpty)
  }

  @Test func handlerMayReadAndWrite() {
    let defaults = makeAdapter()
    let seen = Received<Int>()
    let observer = defaults.observe(key: DefaultsKeys().count) { _ in
      let value = defaults.count
      seen.add(value)
      if value < 3 { defaults.count += 1 }
    }
    defaults.count = 1
    #expect(seen.all == [1, 2, 3])
    observer.dispose()
  }

  @Test func typedValuesAndUserDefaults() {
    let defaults = makeAdapter()
    let seen = Received<[Point]?>()
    let observer = defaults.defaults.observe(DefaultsKeys().points) { seen.add($0.newValue) }
    defaults.points.append(Point(x: 1, y: 2))
    #expect(seen.all == [[Point(x: 1, y: 2)]])
    observer.dispose()
  }

  @Test func sequenceOfOneKey() async {
    let defaults = makeAdapter()
    var values = defaults.values(\.count).makeAsyncIterator()
    #expect(await values.next() == 0)
    defaults.count = 4
    #expect(await values.next() == 4)
  }

  @Test func sequenceOfSeveralKeys() async throws {
    let defaults = makeAdapter()
    var values = defaults.values(\.count, \.name).makeAsyncIterator()
    var next = try #require(await values.next())
    #expect(next == (0, nil))
    defaults.name = "joe"
    next = try #require(await values.next())
    #expect(next == (0, "joe"))
  }
}
