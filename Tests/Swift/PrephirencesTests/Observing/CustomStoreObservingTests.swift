import Prephirences
import Testing

@Suite("Observing stores of one's own")
struct CustomStoreObservingTests {
  private let recorder = ChangeRecorder()

  @Test func objectNotifiesObserversInOneLine() {
    final class Settings: PreferencesType {
      var size = 1 {
        didSet { notifyObservers(forKey: "size", from: oldValue, to: size) }
      }

      func object(forKey key: PreferenceKey) -> PreferenceObject? { dictionary()[key] }
      func dictionary() -> PreferencesDictionary { ["size": size] }
    }
    let settings = Settings()
    let observation = settings.observe(forKey: "size", initial: true, recorder.record)
    let other = Settings()
    other.size = 7
    settings.size = 2
    settings.size = 2
    #expect(recorder.texts == ["size = 1", "size: 1 -> 2"])
    observation.cancel()
    settings.size = 3
    #expect(recorder.all.count == 2)
  }

  @Test func valueNeverChangesAndItsSequenceEnds() async {
    struct Fixed: PreferencesType {
      func object(forKey key: PreferenceKey) -> PreferenceObject? { dictionary()[key] }
      func dictionary() -> PreferencesDictionary { ["size": 1] }
    }
    var texts: [String] = []
    for await change in Fixed().allChanges(initial: true) { texts.append(change.text) }
    #expect(texts == ["size = 1"])
  }

  @Test func objectIsReleasedAndItsPlaceFreed() {
    final class Settings: PreferencesType {
      func object(forKey key: PreferenceKey) -> PreferenceObject? { nil }
      func dictionary() -> PreferencesDictionary { [:] }
    }
    weak var weakSettings: Settings?
    var observations: [PreferenceObservation] = []
    for _ in 0..<100 {
      let settings = Settings()
      weakSettings = settings
      observations.append(settings.observeAll(recorder.record))
      settings.notifyObservers(forKey: "a", from: nil, to: 1)
    }
    #expect(weakSettings == nil)
    #expect(recorder.all.count == 100)
    observations = []
  }
}
