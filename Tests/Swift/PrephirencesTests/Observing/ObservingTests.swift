import Foundation
import Prephirences
import Testing

@Suite("Observing preferences")
struct ObservingTests {
  private let store = SampleStore()
  private let recorder = ChangeRecorder()

  @Test func oneKey() {
    let observation = store.observe(forKey: "a", recorder.record)
    store.set(1, forKey: "a")
    store["b"] = 1
    store["a"] = 2
    store.removeObject(forKey: "a")
    #expect(recorder.texts == ["a: nil -> 1", "a: 1 -> 2", "a: 2 -> nil"])
    #expect(recorder.all.last?.newValue == nil)
    observation.cancel()
    store["a"] = 3
    #expect(recorder.all.count == 3)
  }

  @Test func severalKeysAndAll() {
    let all = ChangeRecorder()
    let observations = [
      store.observe(forKeys: ["a", "b"], recorder.record), store.observeAll(all.record),
    ]
    for key in ["a", "c", "b"] { store[key] = "x" }
    #expect(recorder.texts == ["a: nil -> x", "b: nil -> x"])
    #expect(all.all.map(\.key) == ["a", "c", "b"])
    withExtendedLifetime(observations) {}
  }

  @Test func initialValuesAreReportedOnRequest() {
    store["b"] = 1
    let all = ChangeRecorder()
    let observations = [
      store.observe(forKeys: ["b", "a"], initial: true, recorder.record),
      store.observeAll(initial: true, all.record),
    ]
    #expect(recorder.texts == ["a = nil", "b = 1"])
    #expect(all.texts == ["b = 1"])
    withExtendedLifetime(observations) {}
  }

  @Test func observationEndsWithItsToken() {
    do {
      let observation = store.observeAll(recorder.record)
      store["a"] = 1
      withExtendedLifetime(observation) {}
    }
    store["a"] = 2
    #expect(recorder.texts == ["a: nil -> 1"])
  }

  @Test func equalValueOfAnotherTypeIsAChange() {
    let observation = store.observe(forKey: "a", recorder.record)
    for value in [1, 1, 1.0, true, [1, ["x": Double.nan]], [1, ["x": Double.nan]]] as [Any] {
      store["a"] = value
    }
    #expect(recorder.all.count == 4)
    store["a"] = "e\u{301}"
    store["a"] = "\u{e9}"
    #expect(recorder.all.count == 6)
    withExtendedLifetime(observation) {}
  }

  @Test func wrappedNilIsReportedAsMissing() {
    store["a"] = 1
    let observation = store.observe(forKey: "a", recorder.record)
    store["a"] = Optional<Optional<Int>>.some(nil) as Any
    #expect(recorder.texts == ["a: 1 -> nil"])
    withExtendedLifetime(observation) {}
  }

  @Test func handlerMayChangeAndEnd() {
    let ended = Locked<PreferenceObservation?>(nil)
    let observation = store.observe(forKey: "a") { [store, recorder] change in
      recorder.record(change)
      guard let value = change.newValue as? Int else { return }
      if value < 5 { store["a"] = value + 1 } else { ended.withLock { $0 }?.cancel() }
    }
    ended.withLock { $0 = observation }
    store["a"] = 1
    store["a"] = 100
    #expect(recorder.all.map { $0.newValue as? Int } == [1, 2, 3, 4, 5])
  }

  @Test func handlerMayBeginAnObservation() {
    let inner = Locked<PreferenceObservation?>(nil)
    let observation = store.observe(forKey: "a") { [store, recorder] _ in
      let observation = store.observe(forKey: "a", initial: true, recorder.record)
      inner.withLock { $0 = observation }
    }
    store["a"] = 1
    #expect(recorder.texts == ["a = 1"])
    observation.cancel()
    store["a"] = 2
    #expect(recorder.texts == ["a = 1", "a: 1 -> 2"])
  }

  @Test func changesDuringHandlerMergePerKey() {
    let observation = store.observeAll { [store, recorder] change in
      recorder.record(change)
      guard change.key == "go" else { return }
      for value in 1...100 {
        store["a"] = value
        store["b"] = -value
      }
    }
    store["go"] = true
    #expect(recorder.texts == ["go: nil -> true", "a: nil -> 100", "b: nil -> -100"])
    withExtendedLifetime(observation) {}
  }

  @Test func valuesMayBeNestedDeeply() {
    func nested() -> Any { (0..<5000).reduce(1 as Any) { value, _ in [value] } }
    let store = SampleStore()
    store["a"] = nested()
    let observation = store.observe(forKey: "a") { [recorder] _ in
      recorder.record(PreferenceChange("b", to: 1))
    }
    store["a"] = nested()
    #expect(recorder.texts.count == 1)
    withExtendedLifetime(observation) {}
  }

  @Test func storeIsNotKeptAlive() {
    weak var weakStore: SampleStore?
    let observation: PreferenceObservation
    do {
      let store = SampleStore()
      weakStore = store
      observation = store.observeAll(initial: true, recorder.record)
      store["a"] = 1
    }
    #expect(weakStore == nil)
    observation.cancel()
    #expect(recorder.texts == ["a: nil -> 1"])
  }
}
