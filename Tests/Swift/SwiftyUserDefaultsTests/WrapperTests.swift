import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

private struct Settings {
  @SwiftyUserDefault var count: Int
  @SwiftyUserDefault var name: String?

  init(_ adapter: DefaultsAdapter<DefaultsKeys>, _ options: SwiftyUserDefaultOptions) {
    _count = SwiftyUserDefault(keyPath: \.count, adapter: adapter, options: options)
    _name = SwiftyUserDefault(keyPath: \.name, adapter: adapter, options: options)
  }
}

@Suite struct WrapperTests {
  @Test(arguments: [[], .cached, .observed, [.cached, .observed]] as [SwiftyUserDefaultOptions])
  func usesItsAdapter(_ options: SwiftyUserDefaultOptions) {
    let defaults = makeAdapter()
    let settings = Settings(defaults, options)
    #expect(settings.count == 0)
    settings.count = 2
    settings.count += 1
    settings.name = "joe"
    #expect(defaults.count == 3)
    #expect(settings.count == 3)
    #expect(settings.name == "joe")
    settings.name = nil
    #expect(!defaults.hasKey(\.name))
    #expect(settings.name == nil)
  }

  @Test func aReadFillsTheCache() {
    let defaults = makeAdapter()
    let settings = Settings(defaults, .cached)
    #expect(settings.count == 0)
    defaults.count = 5
    #expect(settings.count == 0)
    settings.count = 6
    #expect(settings.count == 6)
  }

  @Test func observedCacheFollowsTheStore() {
    let defaults = makeAdapter()
    let settings = Settings(defaults, [.cached, .observed])
    #expect(settings.count == 0)
    defaults.count = 5
    #expect(settings.count == 5)
    defaults.remove(\.count)
    #expect(settings.count == 0)
  }
}
