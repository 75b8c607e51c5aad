import PrephirencesDurable

/// Is notified of changes, by other processes too.
func observe(_ settings: DurablePreferences) async -> [PreferenceObservation] {
  let text = settings.observe(forKey: "theme", initial: true) { change in
    print(change.newValue as? String ?? "light")
  }
  let typed = settings.observe(Settings.port) { change in
    print(change.oldValue ?? 0, change.newValue)
  }
  for await change in settings.changes(forKeys: ["host", "port"]) where change.key == "host" {
    break
  }
  for await change in settings.changes(of: Settings.port) where change.newValue > 1_024 { break }
  return [text, typed]
}
