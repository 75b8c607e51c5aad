import SwiftyUserDefaults

/// A class of the main actor, as views have, that keeps its observations.
@MainActor
final class Screen {
  private let adapter: DefaultsAdapter<DefaultsKeys>
  private var observer: (any DefaultsDisposable)?
  private var observers: [any DefaultsDisposable] = []
  private(set) var titles: Set<String> = []

  init(_ adapter: DefaultsAdapter<DefaultsKeys>) { self.adapter = adapter }

  func appear() {
    observer = adapter.observe(\.name, options: [.initial, .new]) { [weak self] update in
      Task { @MainActor in self?.titles.insert(update.newValue.flatMap { $0 } ?? "nobody") }
    }
    observers.append(adapter.observe(\.launches) { _ in })
  }

  deinit {
    observer?.dispose()
    for observer in observers { observer.dispose() }
  }
}

/// An actor that keeps its observation, and changes a value.
actor Counter {
  private let adapter: DefaultsAdapter<DefaultsKeys>
  private var observer: (any DefaultsDisposable)?
  private(set) var seen: [Int?] = []

  init(_ adapter: DefaultsAdapter<DefaultsKeys>) { self.adapter = adapter }

  func count() {
    observer = adapter.observe(\.launches) { [weak self] update in
      Task { await self?.see(update.newValue) }
    }
    adapter.launches += 1
  }

  private func see(_ value: Int?) { seen.append(value) }

  deinit { observer?.dispose() }
}
